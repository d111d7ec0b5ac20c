// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package host brings a bare-metal host from where it is to where it should be.
//
// machine.go decides: a table of Ironic's provision states and our goals, pure. facts.go
// says what the table looks at. steps.go does one step through a [Backend] and writes the
// journal; run.go joins them by the loop of package lifecycle. The package knows nothing
// of Terraform.
package host
