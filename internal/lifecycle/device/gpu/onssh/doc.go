// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package onssh does the operations of [gpu.Ops] with commands on the host itself, over
// SSH or on this machine.
//
// The driver's tools are called directly; what needs a walk through /proc or /sys is one of
// a few fixed scripts (scripts.go), which print one fact a line. The exit status says
// whether a command worked; standard error only lends its words.
package onssh
