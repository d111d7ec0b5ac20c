// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package gpukill holds nothing but tests: they run the built provider under the Terraform
// command against the lab's fabric manager, which is a process of its own, and end the one,
// the other or both in the middle of work on GPUs; and they attach GPUs to hosts behind a
// real SSH server, whose kernel and driver they play.
package gpukill
