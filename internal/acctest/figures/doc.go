// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package figures holds nothing but tests: they measure the figures of
// bench/FIGURES.md with the built provider under the Terraform command and a
// real Ironic of fake hardware. `make bench` runs them; others skip them.
package figures
