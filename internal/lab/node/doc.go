// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package node is the operating system of the lab's machines, as an administrator meets it
// over SSH: NVIDIA's driver and its tools, the PCI bus, CXL memory.
//
// No command that it receives runs anywhere: it knows the commands and the named scripts of
// the provider, and answers from the lab's memory. What is plugged in is what the lab's fabric
// has attached (package hardware); what the kernel made of it, and what a test wants to go
// wrong, is a [State] per machine.
package node
