// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package onhost does what [ceph.Host] names with commands on the host itself, over SSH or on
// this machine.
//
// Each method is one fixed script, or two. A script is POSIX shell (dash, bash, busybox), names
// itself in its first line, and prints facts a line; the exit status says whether it worked, and
// standard error lends its words. Secrets go through standard input.
//
// Reading order: onhost.go (how a script is run), look.go (what is there), then write.go,
// mon.go, daemon.go, start.go, stop.go; slot.go, disks.go and wipe.go are about devices.
package onhost
