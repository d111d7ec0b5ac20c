// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package real holds nothing but tests: they run the built provider under the
// Terraform command, against a real Ironic with simulated machines, and kill
// one or the other. scripts/test-real.sh starts what they need.
package real
