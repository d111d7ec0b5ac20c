// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cxl is what happens on a host's operating system when CXL memory comes or goes:
// see it, take it out of use, give it back.
//
// No operator does this; the order of the steps is that of the cxl and daxctl tools' own
// manuals. [Ops] are the operations on one host, [New] does them with commands there. What
// the operating system refuses to give up is in use: nothing is ever forced, for the
// contents of memory in use would be lost, and the host with it.
package cxl

import (
	"context"
	"errors"
	"strings"
)

// The kinds of failure that a caller can tell apart with errors.Is.
var (
	ErrInUse       = errors.New("the memory is in use")
	ErrInDoubt     = errors.New("the memory cannot be told from the other of the host")
	ErrNotUndone   = errors.New("not everything could be put back")
	ErrUnreachable = errors.New("the host cannot be reached")
	ErrCommand     = errors.New("the command failed on the host") // the host was reached and says no, or nothing that can be read
	ErrNoTools     = errors.New("the host lacks the cxl or daxctl tool")
)

// Memory is a CXL memory device as the kernel shows it.
type Memory struct {
	Name   string // mem0
	Serial string // as the kernel shows it: 0x…; may be empty
	Bytes  int64  // 0: not known
}

// Label is how people know a memory device.
func (m Memory) Label() string {
	if m.Serial == "" {
		return m.Name
	}

	return m.Name + " (serial " + m.Serial + ")"
}

// Region is a range of addresses which a memory device serves.
type Region struct {
	Name    string
	Type    string // ram or pmem
	Size    string // as the kernel shows it
	Ways    int    // memory devices that share it
	Devices []Dax
}

// Dax is what the kernel makes of a region.
type Dax struct {
	Name   string // dax0.0
	Driver string // kmem, device_dax; empty: none, nobody can use it
}

// RAM reports whether a device is part of the system's memory.
func (d Dax) RAM() bool { return d.Driver == "kmem" }

// Released is what a release did, for [Ops.Restore].
type Released struct {
	Memory  Memory
	Absent  bool // the host did not have it; nothing was done
	Regions []Region
}

// Ops are the operations on one host. Each is bounded by its context.
type Ops interface {
	// Name is how people know the host.
	Name() string
	// List lists the CXL memory devices that the kernel has.
	List(ctx context.Context) ([]Memory, error)
	// Release takes a memory device out of use: its memory offline, its regions gone, itself
	// disabled. What fails is undone before it returns, else it is ErrNotUndone too; a refusal
	// is ErrInUse.
	Release(ctx context.Context, m Memory) (Released, error)
	// Restore gives the memory back after the fabric did not take it. It has time of its own.
	Restore(ctx context.Context, r Released) error
	// Rescan makes the kernel look for new devices on the PCI bus.
	Rescan(ctx context.Context) error
}

// SameSerial compares serial numbers, which some show with 0x and some without, some with
// leading zeros.
func SameSerial(a, b string) bool {
	a, b = bareSerial(a), bareSerial(b)

	return a != "" && a == b
}

// isSerial reports whether a text can be a serial of CXL: a number of 64 bits, which the
// kernel shows in hexadecimal digits. A UUID is none.
func isSerial(s string) bool {
	s = bareSerial(s)

	return s != "" && len(s) <= 16 && strings.Trim(s, "0123456789abcdef") == ""
}

// isShown reports whether a serial is one as a host shows it. A decimal number, or the
// number of a board, may have nothing but hexadecimal digits too.
func isShown(s string) bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(s)), "0x") && isSerial(s)
}

func bareSerial(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	s = strings.NewReplacer("-", "", ":", "").Replace(strings.TrimPrefix(s, "0x"))

	return strings.TrimLeft(s, "0")
}
