// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package addresses

import (
	"encoding/binary"
	"math/big"
	"math/bits"
	"net/netip"
)

// number is an address as a number, or how many there are: of IPv6 there are more than a uint64 counts.
type number struct{ hi, lo uint64 }

func numberOf(a netip.Addr) number {
	b := a.As16()

	return number{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}

func (n number) addr() netip.Addr {
	var b [16]byte

	binary.BigEndian.PutUint64(b[:8], n.hi)
	binary.BigEndian.PutUint64(b[8:], n.lo)

	return netip.AddrFrom16(b).Unmap()
}

func (n number) plus(o number) number {
	lo, carry := bits.Add64(n.lo, o.lo, 0)
	hi, _ := bits.Add64(n.hi, o.hi, carry)

	return number{hi, lo}
}

func (n number) minus(o number) number {
	lo, borrow := bits.Sub64(n.lo, o.lo, 0)
	hi, _ := bits.Sub64(n.hi, o.hi, borrow)

	return number{hi, lo}
}

func (n number) less(o number) bool { return n.hi < o.hi || n.hi == o.hi && n.lo < o.lo }

func (n number) big() *big.Int {
	b := new(big.Int).SetUint64(n.hi)

	return b.Lsh(b, 64).Or(b, new(big.Int).SetUint64(n.lo))
}

var one = number{0, 1}

// lastOf returns the last address of a network.
func lastOf(p netip.Prefix) netip.Addr {
	host := p.Addr().BitLen() - p.Bits()
	n := numberOf(p.Addr())

	switch {
	case host >= 64:
		n.lo = ^uint64(0)
		n.hi |= 1<<(host-64) - 1
	default:
		n.lo |= 1<<host - 1
	}

	return n.addr()
}
