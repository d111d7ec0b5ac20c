// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
)

// Map is an object of a configuration.
type Map = map[string]any

const (
	theGPU = "metal3_composable_gpu"

	m0 = "5a1e0000-0000-4000-8000-000000000000"
	m1 = "5a1e0000-0000-4000-8000-000000000001"
	m2 = "5a1e0000-0000-4000-8000-000000000002"
)

// farm is a fabric in memory that does at once what is ordered, unless a test says otherwise.
type farm struct {
	mu       sync.Mutex
	endpoint string
	machines []fabric.Machine
	free     int
	made     int

	down     error // of everything
	onAttach func(n int) error
	onDetach func(d fabric.Device) error
	health   fabric.Health
	panics   bool

	attached, detached, reads, asked int
}

func newFarm() *farm {
	f := &farm{endpoint: "https://fabric.test", free: 8, health: fabric.HealthOK}

	for i, id := range []string{m0, m1, m2} {
		f.machines = append(f.machines, fabric.Machine{
			ID: id, Name: fmt.Sprintf("node-%d", i), FabricID: "1", Status: "13 ACTIVE_PON", State: fabric.Ready, Power: fabric.PowerOn,
		})
	}

	return f
}

func (f *farm) lock() func() {
	f.mu.Lock()
	f.asked++

	return f.mu.Unlock
}

func (f *farm) Endpoint() string        { return f.endpoint }
func (f *farm) LockKey(m string) string { return m }

func (f *farm) Caps() fabric.Caps {
	return fabric.Caps{ReportsSerial: true, ReportsHealth: true, Types: []string{device.GPU, device.CXLMemory}}
}

func (f *farm) find(id string) *fabric.Machine {
	for i := range f.machines {
		if f.machines[i].ID == id {
			return &f.machines[i]
		}
	}

	return nil
}

func (f *farm) Machine(_ context.Context, id string) (fabric.Machine, error) {
	defer f.lock()()

	f.reads++

	if f.panics {
		panic("a bug of ours")
	}

	m := f.find(id)

	switch {
	case f.down != nil:
		return fabric.Machine{}, f.down
	case m == nil:
		return fabric.Machine{}, &fabric.Error{Op: "read machine " + id, Status: 404, Code: "E02", Message: "no such machine", Kind: fabric.ErrNotFound}
	}

	out := *m
	out.Devices = slices.Clone(m.Devices)

	return out, nil
}

func (f *farm) Machines(context.Context) ([]fabric.Machine, error) {
	defer f.lock()()

	return slices.Clone(f.machines), f.down
}

func (f *farm) Free(context.Context, string, string, string) (fabric.FreeInfo, error) {
	defer f.lock()()

	return fabric.FreeInfo{Known: true, Count: f.free, FabricID: "1"}, f.down
}

func (f *farm) Attach(_ context.Context, id string, want fabric.Want) (fabric.Hint, error) {
	defer f.lock()()

	if f.onAttach != nil {
		if err := f.onAttach(f.attached + 1); err != nil {
			return fabric.Hint{}, err
		}
	}

	f.attached++
	d := f.put(id, want.Type, want.Model)

	return fabric.Hint{Devices: []fabric.Device{d}}, nil
}

// put puts a new device on a machine.
func (f *farm) put(id, typ, model string) fabric.Device {
	f.made++
	f.free--

	d := fabric.Device{
		FabricID: fmt.Sprintf("f%02d", f.made), DeviceID: fmt.Sprintf("GPU-%02d", f.made), Serial: fmt.Sprintf("S%02d", f.made),
		Type: typ, Model: model, Health: f.health, HealthRaw: "0" + fmt.Sprint(int(f.health)), MachineID: id,
	}

	m := f.find(id)
	m.Devices = append(m.Devices, d)

	return d
}

func (f *farm) Detach(_ context.Context, id string, d fabric.Device) (fabric.Hint, error) {
	defer f.lock()()

	if f.onDetach != nil {
		if err := f.onDetach(d); err != nil {
			return fabric.Hint{}, err
		}
	}

	f.detached++
	f.take(id, d.FabricID)

	return fabric.Hint{}, nil
}

// take takes a device from a machine.
func (f *farm) take(id, fabricID string) {
	m := f.find(id)
	m.Devices = slices.DeleteFunc(m.Devices, func(o fabric.Device) bool { return o.FabricID == fabricID })
	f.free++
}

// by hand is what somebody else does on the fabric.
func (f *farm) byHand(what func()) {
	f.mu.Lock()
	defer f.mu.Unlock()

	what()
}

// left are the devices on the first machine.
func (f *farm) left() []string {
	f.mu.Lock()
	defer f.mu.Unlock()

	var out []string

	if m := f.find(m0); m != nil {
		for _, d := range m.Devices {
			out = append(out, d.FabricID)
		}
	}

	return out
}

// refused is how a fabric words that it does not want to.
var refused = &fabric.Error{Op: "attach", Method: "PATCH", Path: "/machines", Status: 400, Code: "E0077", Message: "the switch has no free port", Kind: fabric.ErrRefused}

// host is a host's operating system in memory.
type host struct {
	mu                                 sync.Mutex
	name                               string
	calls                              []string
	noDriver, blind, busy, unreachable error
	idle                               map[string]bool
}

func (h *host) did(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()

	h.calls = append(h.calls, what)
}

func (h *host) Name() string { return h.name }
func (h *host) Check(context.Context) error {
	h.did("check")
	return errors.Join(h.noDriver, h.unreachable)
}
func (h *host) Remember(context.Context) error { return h.unreachable }
func (h *host) Rescan(context.Context) error   { h.did("rescan"); return h.unreachable }
func (h *host) Finish(context.Context) error   { h.did("finish"); return nil }
func (h *host) Restore(context.Context) error  { h.did("restore"); return nil }
func (h *host) Warnings() []string             { return nil }

func (h *host) See(_ context.Context, r device.Record) (device.Record, bool, error) {
	h.did("see")
	r.BusID = "0000:1f:00.0"

	return r, h.blind == nil, h.unreachable
}

func (h *host) Release(_ context.Context, r device.Record, force bool) error {
	h.did(fmt.Sprintf("release %s force=%v", r.FabricID, force))

	if h.unreachable != nil {
		return h.unreachable
	}

	if force {
		return nil
	}

	return h.busy
}

func (h *host) Idle(context.Context, []device.Record) (map[string]bool, error) {
	return h.idle, h.unreachable
}

// world is a farm with a host, and one resource on it.
type world struct {
	*acctest.Core

	t    *testing.T
	ctx  context.Context //nolint:containedctx // of one test
	farm *farm
	host *host
}

// onFarm runs a test in virtual time with a farm of its own.
func onFarm(t *testing.T, test func(world)) {
	t.Helper()

	synctest.Test(t, func(t *testing.T) {
		w := world{t: t, ctx: t.Context(), farm: newFarm(), host: &host{name: "root@node-0:22"}}
		w.Core = w.core()
		test(w)
	})
}

func (w world) core(opts ...provider.Option) *acctest.Core {
	w.t.Helper()

	dir := w.t.TempDir()

	opts = append([]provider.Option{
		// Each command is a process of its own, with a desk of its own.
		anew(func() provider.Option { return provider.WithDesk(device.NewDesk(w.farm, device.NewJournal(dir))) }),
		provider.WithNode(func(remote.Config, string) device.Node { return w.host }),
	}, opts...)

	return acctest.NewCore(w.t, theGPU, Map{}, opts...)
}

// anew makes an option each time that a provider starts.
func anew[F ~func(O), O any](option func() F) F { return func(o O) { option()(o) } }

// gpus is a configuration of n devices on machine 0, changed by parts.
func gpus(n any, parts ...Map) Map {
	m := Map{"model": "A100", "size": n, "hosts": []any{Map{"machine_id": m0, "name": "node-0"}}}

	for _, p := range parts {
		for k, v := range p {
			m[k] = v
		}
	}

	return m
}

// node makes the host of a configuration one with a connection.
func node() Map {
	return Map{"hosts": []any{Map{"machine_id": m0, "name": "node-0", "node": Map{"host": "node-0", "user": "root"}}}}
}

// hosts is a list of machines.
func hosts(ids ...string) Map {
	var all []any
	for _, id := range ids {
		all = append(all, Map{"machine_id": id})
	}

	return Map{"hosts": all}
}

// devices are the fabric ids in the state, in order.
func (w world) devices() []string {
	var out []string

	all, _ := w.Get("devices").([]any)
	for _, d := range all {
		one, _ := d.(Map)
		id, _ := one["fabric_device_id"].(string)
		out = append(out, id)
	}

	return out
}

// first reads an attribute of the first device.
func (w world) first(name string) any {
	all, _ := w.Get("devices").([]any)
	if len(all) == 0 {
		return nil
	}

	one, _ := all[0].(Map)

	return one[name]
}

// apply wants an apply without errors, and an empty plan after it.
func (w world) apply(config Map) acctest.Outcome {
	w.t.Helper()

	o := w.Apply(w.ctx, config)
	if o.Errors != "" {
		w.t.Fatalf("apply: %s", o.Errors)
	}

	if again := w.Plan(w.ctx, config); again.Action != "" || again.Errors != "" {
		w.t.Errorf("the plan after it is %q, changes %v: %s", again.Action, again.Changed, again.Errors)
	}

	return o
}

// destroy wants a destroy without errors that leaves nothing.
func (w world) destroy() acctest.Outcome {
	w.t.Helper()

	o := w.Apply(w.ctx, nil)
	if o.Errors != "" || w.Exists() {
		w.t.Fatalf("destroy: %s", o.Errors)
	}

	return o
}
