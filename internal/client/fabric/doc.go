// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package fabric is what fabric managers have in common: services that rewire PCIe and CXL
// switches, so that a device of a pool belongs to a machine.
//
// The drivers are packages of their own below this one; package drivers lists them. A driver
// translates one API and decides nothing: whether an attach or a detach has come true is
// found out above, by looking (package lifecycle/device).
package fabric
