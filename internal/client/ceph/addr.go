// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

// Addrs is the address vector of a daemon.
type Addrs []Addr

// Addr is one address of a daemon.
type Addr struct {
	Type string // v2, v1, any
	Host string // without brackets
	Port int
}
