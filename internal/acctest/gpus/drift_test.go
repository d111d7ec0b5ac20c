// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpus_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// drift is what happens behind Terraform's back, and what a refresh and a plan make of it.
type drift struct {
	by     func(w world, ids []string)
	says   string
	fails  bool
	size   int // after the refresh
	action string
	mends  int // devices that the next apply attaches
	kinds  []kind
}

// TestGPU_drift has two devices on machine 0 of two, and changes the fabric by hand.
func TestGPU_drift(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]drift{
		"11.27 a device vanished from its chassis": {by: func(w world, ids []string) {
			w.edit(func(d *hardware.Device) { d.Gone = d.Gone || same(ids[0], *d) })
		}, says: "are gone", size: 1, action: "update", mends: 1},
		"11.27 a device was detached by hand": {by: func(w world, ids []string) {
			w.detach(ids[0])
		}, says: "Somebody detached", size: 1, action: "update", mends: 1},
		"11.27 both were": {by: func(w world, ids []string) {
			w.detach(ids...)
		}, says: "are gone", size: 0, action: "update", mends: 2, kinds: some},
		"11.27 a device became critical": {by: func(w world, ids []string) {
			w.edit(func(d *hardware.Device) {
				if same(ids[0], *d) {
					d.OpStatus = "2"
				}
			})
		}, says: "is critical", size: 2},
		"11.27 a device has a warning": {by: func(w world, ids []string) {
			w.edit(func(d *hardware.Device) {
				if same(ids[0], *d) {
					d.OpStatus = "1"
				}
			})
		}, says: "has a warning", size: 2, kinds: some},
		"11.27 a device was moved to our other machine": {by: func(w world, ids []string) {
			w.edit(func(d *hardware.Device) {
				if same(ids[0], *d) {
					d.Machine = machine.Name(1)
				}
			})
		}, says: "Somebody moved it", size: 1, action: "update", mends: 1},
		"11.27 a device was moved to a machine of others": {by: func(w world, ids []string) {
			w.edit(func(d *hardware.Device) {
				if same(ids[0], *d) {
					d.Machine = machine.Name(2)
				}
			})
		}, says: "no longer shows", size: 1, action: "update", mends: 1, kinds: some},
		"11.27 somebody attached one more": {by: func(w world, _ []string) { w.foreign(0, 1, a100) }, size: 2, kinds: some},
		"11.27 a machine without devices was deleted": {by: func(w world, _ []string) {
			w.record(1, func(r *hardware.Record) { r.Deleted = true })
		}, says: "is gone from the fabric", size: 2, kinds: []kind{fm}},
		"11.27 the machine with the devices was deleted": {by: func(w world, ids []string) {
			w.detach(ids...)
			w.record(0, func(r *hardware.Record) { r.Deleted = true })
		}, says: "is gone from the fabric", size: 0, action: "update", kinds: []kind{fm}},
		"11.27 the fabric is down": {by: func(w world, _ []string) {
			w.far.Inject(labfabric.Fault{Times: -1, Status: 503, Body: "down"})
		}, says: "The state is kept", fails: true, size: 2, kinds: some},
		"11.27 the fabric drops every connection": {by: func(w world, _ []string) {
			w.far.Inject(labfabric.Fault{Times: -1, DropBefore: true})
		}, says: "The state is kept", fails: true, size: 2, kinds: some},
		"11.27 the manager shows a page": {by: func(w world, _ []string) {
			w.far.Inject(labfabric.Fault{Match: "GET /**", Times: -1, Status: 200, Body: "<html>maintenance</html>"})
		}, says: "The state is kept", fails: true, size: 2},
	} {
		on := c.kinds
		if on == nil {
			on = kinds
		}

		for _, k := range on {
			t.Run(name+", "+k.name, func(t *testing.T) {
				t.Parallel()

				inLab(t, setup{kind: k, strange: true}, func(w world) { w.drifts(c) })
			})
		}
	}
}

func (w world) drifts(c drift) {
	w.t.Helper()

	config := gpus(2, on(0, 1))
	w.apply(config)
	c.by(w, w.devices())

	before := w.Dump()

	o := w.Refresh(w.ctx)
	if (o.Errors != "") != c.fails || !o.Says(c.says) || c.says == "" && strings.TrimSpace(o.Warnings) != "" {
		w.t.Errorf("errors %q, warnings %q", o.Errors, o.Warnings)
	}

	if c.fails {
		if w.Dump() != before {
			w.t.Errorf("the state is %v, and was %s", w.State(), before)
		}

		return
	}

	if w.Get("size") != int64(c.size) {
		w.t.Errorf("size %v, devices %v", w.Get("size"), w.Get("devices"))
	}

	for range 2 { // the second refresh finds what the first one left
		p := w.Plan(w.ctx, config)
		if p.Action != c.action || p.Errors != "" || slices.Contains(p.Changed, "size") != (c.action != "") {
			w.t.Errorf("the plan is %q, changes %v: %s", p.Action, p.Changed, p.Errors)
		}
	}

	if c.mends == 0 {
		return
	}

	already := w.attached()

	w.apply(config)

	if n := w.attached() - already; n != c.mends || len(w.devices()) != 2 || w.Get("state") != "Running" {
		w.t.Errorf("%d attached: %v", n, w.State())
	}
}

// detach takes devices away as somebody else does.
func (w world) detach(ids ...string) {
	w.t.Helper()

	all, err := w.far.Devices()
	if err != nil {
		w.t.Fatal(err)
	}

	err = w.far.Change(func(tx store.Tx, now time.Time) error {
		for _, d := range all {
			if slices.ContainsFunc(ids, func(id string) bool { return same(id, d) }) {
				if err := hardware.DetachForeign(tx, now, d.ID, 0); err != nil {
					return err //nolint:wrapcheck // for the test
				}
			}
		}

		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestGPU_machinesGone deletes the only machine of a resource.
func TestGPU_machinesGone(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		by     func(w world)
		exists bool
	}{
		"11.27 it is answered with 200 and status 17": {func(w world) { w.record(0, func(r *hardware.Record) { r.Deleted = true }) }, false},
		"11.27 it is answered with 404 of the manager": {func(w world) {
			w.far.Inject(labfabric.Fault{Match: labfabric.FMMachine, Times: -1, Status: 404, Body: `{"status":404,"detail":{"code":"E020404","message":"machine not found"}}`})
		}, false},
		"11.27 it is answered with 404 of a proxy": {func(w world) {
			w.far.Inject(labfabric.Fault{Match: labfabric.FMMachine, Times: -1, Status: 404, Body: "<html>404 page not found</html>"})
		}, true},
		"11.27 it is answered with an empty list": {func(w world) {
			w.far.Inject(labfabric.Fault{Match: labfabric.FMMachine, Times: -1, Edit: labfabric.Set("machines", []any{})})
		}, true},
		"11.27 the fabric shows no machine at all": {func(w world) {
			w.record(0, func(r *hardware.Record) { r.Deleted = true })
			w.far.Inject(labfabric.Fault{Match: labfabric.FMMachines, Times: -1, Edit: labfabric.Set("machines", []any{})})
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{strange: true}, func(w world) {
				w.apply(gpus(2))
				c.by(w)

				o := w.Refresh(w.ctx)
				if w.Exists() != c.exists || (o.Errors != "") != c.exists {
					t.Errorf("exists %v: %s %s", w.Exists(), o.Errors, o.Warnings)
				}

				if c.exists {
					w.count(2)
				}

				// A destroy does not take the one for the other either.
				if o := w.Apply(w.ctx, nil); w.Exists() != c.exists {
					t.Errorf("destroy: exists %v: %s", w.Exists(), o.Errors)
				}
			})
		})
	}
}

// TestGPU_mistakenDevice destroys where another device has the place of ours.
func TestGPU_mistakenDevice(t *testing.T) {
	t.Parallel()

	t.Run("11.27 what is not ours any more is not detached", func(t *testing.T) {
		t.Parallel()

		inLab(t, setup{strange: true}, func(w world) {
			w.apply(gpus(1))

			id := w.devices()[0]
			w.detach(id)

			// Somebody else attached the same device for himself: only the time tells.
			w.foreign(0, 1, a100)
			w.Refresh(w.ctx)

			if got := w.devices(); len(got) != 1 || got[0] != id {
				t.Errorf("devices %v: the same device on the same machine is ours as far as anybody can tell", got)
			}
		})
	})
}

// TestGPU_anotherFabric changes the address of the fabric under a resource.
func TestGPU_anotherFabric(t *testing.T) {
	t.Parallel()

	t.Run("11.27 another fabric that knows nothing is no proof", func(t *testing.T) {
		t.Parallel()

		inLab(t, setup{}, func(w world) {
			w.apply(gpus(2))

			before := w.Dump()
			block, _ := w.Provider["fabric"].(Map)
			block["endpoint"] = "http://" + labfabric.Host + ":80/"

			// The same manager under another spelling is the same.
			if o := w.Refresh(w.ctx); o.Errors != "" || len(w.devices()) != 2 {
				t.Errorf("another spelling: %s", o.Errors)
			}

			block["endpoint"] = "http://node-1.lab"

			if o := w.Refresh(w.ctx); o.Errors == "" || len(w.devices()) != 2 {
				t.Errorf("another service: %s; the state is %v, and was %s", o.Errors, w.State(), before)
			}

			if o := w.Apply(w.ctx, nil); o.Errors == "" || len(w.devices()) != 2 {
				t.Errorf("destroy on another service: %s", o.Errors)
			}

			w.count(2)
		})
	})
}
