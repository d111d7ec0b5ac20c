// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"context"
	"fmt"
	"sync"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// Fabric is a fabric manager that only answers reads, from memory, and counts them. Any other
// method panics: whoever only reads has no business there.
type Fabric struct {
	fabric.Fabric

	All  []fabric.Machine
	Pool map[string]fabric.FreeInfo // by model
	Fail map[string]error           // by method

	mu    sync.Mutex
	calls map[string]int
}

// Calls tells how often a method was called.
func (f *Fabric) Calls(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.calls[method]
}

func (f *Fabric) called(method string) error {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.calls == nil {
		f.calls = map[string]int{}
	}

	f.calls[method]++

	return f.Fail[method]
}

// Endpoint implements [fabric.Fabric].
func (f *Fabric) Endpoint() string { return "https://fabric.test" }

// Machine implements [fabric.Fabric].
func (f *Fabric) Machine(_ context.Context, id string) (fabric.Machine, error) {
	if err := f.called("Machine"); err != nil {
		return fabric.Machine{}, err
	}

	for _, m := range f.All {
		if m.ID == id {
			return m, nil
		}
	}

	return fabric.Machine{}, &fabric.Error{Op: "read machine " + id, Status: 404, Kind: fabric.ErrNotFound}
}

// Machines implements [fabric.Fabric].
func (f *Fabric) Machines(context.Context) ([]fabric.Machine, error) {
	return f.All, f.called("Machines")
}

// Free implements [fabric.Fabric].
func (f *Fabric) Free(_ context.Context, machine, typ, model string) (fabric.FreeInfo, error) {
	_ = f.called(fmt.Sprintf("Free %s %s %s", machine, typ, model)) // only counted

	return f.Pool[model], f.called("Free")
}
