// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package addresses is the arithmetic of a cluster's ip_pools: which addresses a pool has, in which
// order they are handed out, and what is wrong with a pool that a user wrote. It is pure.
//
// A pool's ranges are flattened in the order in which they are written; the usable addresses among
// them are numbered from 0. Never usable are the network and the broadcast address of IPv4 networks
// up to /30 (those of the range's prefix, and those of its subnet), every gateway of the pool, what
// is excluded, and what is set aside for a machine or a host. Networks of /31, /32, /127 and /128
// are usable entirely. Subnets are masked first. Addresses are always in their canonical form.
//
// Upstream's ip-address-manager hands out broadcast addresses and gateways, counts from the host bits
// of a subnet, and compares addresses as they were written; none of that is repeated here.
package addresses

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
)

// How a pool chooses among its free addresses.
const (
	ByIndex      = "index"      // the machine's index says which: known before anything runs
	BySequential = "sequential" // the first that nobody uses
	ByRandom     = "random"     // any that nobody uses
)

// Whose an address of a pool is.
const (
	OfMachine = "machine"
	OfHost    = "host"
)

// Pool is an entry of ip_pools, as a user writes it.
type Pool struct {
	Ranges         []Range           `json:"ranges,omitempty"`
	Prefix         int               `json:"prefix,omitempty"` // 0: the ranges', or their subnets'
	Gateway        string            `json:"gateway,omitempty"`
	DNSServers     []string          `json:"dns_servers,omitempty"`
	Allocation     string            `json:"allocation,omitempty"`      // "": [ByIndex]
	Step           int               `json:"step,omitempty"`            // 0: 1
	PreAllocations map[string]string `json:"pre_allocations,omitempty"` // addresses by name of the machine or host
	By             string            `json:"by,omitempty"`              // "": [OfMachine]
	Exclude        []string          `json:"exclude,omitempty"`         // addresses or subnets
}

// Range is one of a pool's ranges: from start, or the beginning of the subnet, to end, or the end of
// the subnet; without either, to the end of the network that start is in. Prefix, gateway and DNS
// servers of its own take the place of the pool's.
type Range struct {
	Start   string   `json:"start,omitempty"`
	End     string   `json:"end,omitempty"`
	Subnet  string   `json:"subnet,omitempty"`
	Prefix  int      `json:"prefix,omitempty"`
	Gateway string   `json:"gateway,omitempty"`
	DNS     []string `json:"dns,omitempty"`
}

// Address is an address of a pool, with what a network interface needs besides it.
type Address struct {
	Address string   `json:"address"`
	Prefix  int      `json:"prefix"`
	Gateway string   `json:"gateway"` // "": none
	DNS     []string `json:"dns"`
}

// Parse reads a pool from JSON and refuses what it does not know.
func Parse(document []byte) (Pool, error) {
	var p Pool

	d := json.NewDecoder(bytes.NewReader(document))
	d.DisallowUnknownFields()

	if err := d.Decode(&p); err != nil {
		return Pool{}, fmt.Errorf("this is no ip pool: %w", err)
	}

	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Pool{}, errors.New("this is no ip pool: something follows it")
	}

	return p, nil
}

// ParseAddress reads an address without zone; IPv4 in IPv6 clothes is IPv4.
func ParseAddress(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("%q is no IP address", s)
	}

	if a.Zone() != "" {
		return netip.Addr{}, fmt.Errorf("%q names an interface (%%%s), an address of a pool does not", s, a.Zone())
	}

	return a.Unmap(), nil
}

// parseSubnet reads a subnet and masks it.
func parseSubnet(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q is no subnet; write it as 192.0.2.0/24 or 2001:db8::/64", s)
	}

	if p.Addr().Is4In6() {
		return netip.Prefix{}, fmt.Errorf("%q is IPv4 written as IPv6; write it as IPv4", s)
	}

	return p.Masked(), nil
}
