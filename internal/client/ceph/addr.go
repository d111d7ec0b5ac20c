// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// The types of addresses.
const (
	Msgr2   = "v2"
	Msgr1   = "v1"
	AnyType = "any"
)

// Addrs is the address vector of a daemon.
type Addrs []Addr

// Addr is one address of a daemon.
type Addr struct {
	Type string // v2, v1, any
	Host string // without brackets
	Port int
}

var errAddr = errors.New("not an address of Ceph")

// ParseAddrs reads what Ceph prints and people write: [v2:192.0.2.1:3300/0,v1:192.0.2.1:6789/0],
// one address alone, with or without its type, IPv6 in brackets. The nonce after the slash is dropped.
func ParseAddrs(text string) (Addrs, error) {
	list := strings.TrimSpace(text)

	// The brackets of the vector, not those of an IPv6 address.
	if inner, ok := strings.CutPrefix(list, "["); ok && strings.HasSuffix(inner, "]") {
		if _, err := parseIP(strings.TrimSuffix(inner, "]")); err != nil {
			list = strings.TrimSuffix(inner, "]")
		}
	}

	var addrs Addrs

	for one := range strings.SplitSeq(list, ",") {
		addr, err := parseAddr(strings.TrimSpace(one))
		if err != nil {
			return nil, err
		}

		addrs = append(addrs, addr)
	}

	return addrs, nil
}

func parseAddr(s string) (Addr, error) {
	a := Addr{Type: AnyType}

	for _, kind := range []string{Msgr2, Msgr1, AnyType} {
		if rest, ok := strings.CutPrefix(s, kind+":"); ok {
			a.Type, s = kind, rest
		}
	}

	s, _, _ = strings.Cut(s, "/")

	if host, err := parseIP(strings.Trim(s, "[]")); err == nil {
		a.Host = host // without a port

		return a, nil
	}

	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return Addr{}, fmt.Errorf("%w: %q", errAddr, s)
	}

	ip, err := parseIP(host)
	if err != nil {
		return Addr{}, fmt.Errorf("%w: %q", errAddr, s)
	}

	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return Addr{}, fmt.Errorf("%w: %q", errAddr, s)
	}

	a.Host, a.Port = ip, int(n)

	return a, nil
}

// parseIP reads an address in one spelling. Ceph knows no zones.
func parseIP(s string) (string, error) {
	ip, err := netip.ParseAddr(s)
	if err == nil && ip.Zone() != "" {
		err = errAddr
	}

	return ip.String(), err //nolint:wrapcheck // the caller says what it is about
}

// String is the vector as mon_host and monmaptool take it: [v2:192.0.2.1:3300,v1:192.0.2.1:6789],
// the newest protocol first.
func (a Addrs) String() string {
	if len(a) == 0 {
		return ""
	}

	list := make([]string, 0, len(a))
	for _, one := range a.sorted() {
		list = append(list, one.String())
	}

	return "[" + strings.Join(list, ",") + "]"
}

// String is the address with its type, IPv6 in brackets.
func (a Addr) String() string {
	return a.Type + ":" + net.JoinHostPort(a.Host, strconv.Itoa(a.Port))
}

// Of returns the address of a type.
func (a Addrs) Of(kind string) (Addr, bool) {
	for _, one := range a {
		if one.Type == kind {
			return one, true
		}
	}

	return Addr{}, false
}

// Equal says whether both hold the same addresses, in any order and spelling.
func (a Addrs) Equal(b Addrs) bool { return slices.Equal(a.sorted(), b.sorted()) }

// sorted is the vector in one order and spelling.
func (a Addrs) sorted() Addrs {
	out := slices.Clone(a)

	for i := range out {
		if ip, err := parseIP(out[i].Host); err == nil {
			out[i].Host = ip
		}
	}

	slices.SortFunc(out, func(x, y Addr) int {
		return cmp.Or(cmp.Compare(y.Type, x.Type), cmp.Compare(x.Host, y.Host), cmp.Compare(x.Port, y.Port))
	})

	return out
}

// MonHost is the option mon_host for these monitors, in the order of their names.
func MonHost(mons []Mon) string {
	byName := slices.Clone(mons)
	slices.SortFunc(byName, func(a, b Mon) int { return cmp.Compare(a.Name, b.Name) })

	var list []string

	for _, m := range byName {
		if text := m.Addrs.String(); text != "" {
			list = append(list, text)
		}
	}

	return strings.Join(list, ",")
}

// vectorDoc is an address vector in an answer.
type vectorDoc struct {
	List []struct {
		Type text `json:"type"`
		Addr text `json:"addr"`
	} `json:"addrvec"`
}

// addrs goes by type. What is no address, such as "(unrecognized address family 0)/0", is left out.
func (d *vectorDoc) addrs() Addrs {
	var addrs Addrs

	for _, one := range d.List {
		addr, err := parseAddr(string(one.Addr))
		if err != nil {
			continue
		}

		if one.Type != "" {
			addr.Type = string(one.Type)
		}

		addrs = append(addrs, addr)
	}

	return addrs
}
