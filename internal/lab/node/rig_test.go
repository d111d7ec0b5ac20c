// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/node"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu/onssh"
)

const name = "node-0"

// rig is a lab whose first machine somebody works on, with the real client and operations.
type rig struct {
	t    *testing.T
	lab  *lab.Lab
	host remote.Host
	ops  gpu.Ops
}

// bubble runs a test on a lab in virtual time.
func bubble(t *testing.T, f func(r *rig)) {
	t.Helper()

	synctest.Test(t, func(t *testing.T) {
		l, err := lab.Open(lab.Options{Machines: 2})
		if err != nil {
			t.Fatal(err)
		}

		h, err := remote.New(config(l))
		if err != nil {
			t.Fatal(err)
		}

		f(&rig{t: t, lab: l, host: h, ops: onssh.New(h)})

		if err := h.Close(); err != nil {
			t.Error(err)
		}

		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

func config(l *lab.Lab) remote.Config {
	return remote.Config{Host: name + ".lab", PrivateKey: l.SSHKey(), HostKey: l.HostKey(name + ".lab"), Dial: l.Dial}
}

func (r *rig) tx(f func(tx store.Tx) error) {
	r.t.Helper()

	if err := r.lab.Store.Update(f); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) change(f func(*node.State)) {
	r.t.Helper()
	r.tx(func(tx store.Tx) error { return node.Change(tx, name, f) })
}

func (r *rig) state() (s node.State) {
	r.t.Helper()
	r.tx(func(tx store.Tx) (err error) {
		s, err = node.Load(tx, name)

		return err
	})

	return s
}

// attach makes the fabric attach a device at once.
func (r *rig) attach(typ string) (d hardware.Device) {
	r.t.Helper()

	// The lab makes its devices at the first need.
	if _, err := r.host.Run(r.t.Context(), remote.Command{Args: []string{"true"}}); err != nil {
		r.t.Fatal(err)
	}

	r.tx(func(tx store.Tx) (err error) {
		d, err = hardware.Attach(tx, time.Now(), name, hardware.Pick(typ, ""), 0)

		return err
	})

	return d
}

func (r *rig) detach(d hardware.Device) {
	r.t.Helper()
	r.tx(func(tx store.Tx) error { return hardware.Detach(tx, time.Now(), d.ID, 0) })
}

// run runs a command that must succeed.
func (r *rig) run(args ...string) string {
	r.t.Helper()

	res, err := r.host.Run(r.t.Context(), remote.Command{Args: args})
	if err != nil || res.Exit != 0 {
		r.t.Fatalf("%v: %+v %v", args, res, err)
	}

	return string(res.Stdout)
}

func (r *rig) release(d hardware.Device, force bool) (gpu.Released, error) {
	return gpu.Release(r.t.Context(), r.ops, gpu.Target{ID: d.Serial, BusID: d.Slot}, gpu.Options{Force: force})
}

// visible are the UUIDs that nvidia-smi shows.
func (r *rig) visible() []string {
	r.t.Helper()

	all, err := r.ops.Visible(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}

	out := []string{}
	for _, g := range all {
		out = append(out, g.UUID)
	}

	return out
}
