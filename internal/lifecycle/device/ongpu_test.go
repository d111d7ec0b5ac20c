// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
)

const (
	shownUUID = "GPU-aaaaaaaa-0000-4000-8000-000000000001"
	otherUUID = "GPU-bbbbbbbb-0000-4000-8000-000000000002"
)

// driver is an operating system that has idle GPUs, and removes them one by one.
type driver struct {
	gpu.Ops

	all     []gpu.GPU
	removed []string // UUIDs
	fail    error    // of a removal
}

func (d *driver) Name() string { return "node-0" }

func (d *driver) Visible(context.Context) ([]gpu.GPU, error) { return d.all, nil }

func (d *driver) Present(context.Context) ([]gpu.GPU, error) { return d.all, nil }

func (d *driver) PCI(context.Context) (out []string, err error) {
	for _, g := range d.all {
		out = append(out, g.BusID)
	}

	return out, nil
}

func (d *driver) Apps(context.Context) ([]gpu.App, error) { return nil, nil }

func (d *driver) Holders(context.Context, gpu.GPU) ([]gpu.Process, error) { return nil, nil }

func (d *driver) Draining(context.Context, gpu.GPU) (bool, error) { return false, nil }

func (d *driver) SetDrain(context.Context, gpu.GPU, bool) error { return nil }

func (d *driver) Persistence(context.Context, gpu.GPU) (bool, error) { return false, nil }

func (d *driver) SetPersistence(context.Context, gpu.GPU, bool) error { return nil }

func (d *driver) StopPersistenced(context.Context) (bool, error) { return false, nil }

func (d *driver) Init(context.Context) error { return nil }

func (d *driver) Remove(_ context.Context, g gpu.GPU, _ gpu.Removal) ([]string, error) {
	if d.fail != nil {
		return nil, d.fail
	}

	d.removed = append(d.removed, g.UUID)
	d.all = slices.DeleteFunc(d.all, func(o gpu.GPU) bool { return o == g })

	return nil, nil
}

func (d *driver) move() { d.all[0].BusID, d.all[1].BusID = d.all[1].BusID, d.all[0].BusID }

// TestGPUNode_knowsTheGPUAgain: the GPU that was seen is the one that goes, by whatever name
// the fabric has for it, also where the addresses have changed since.
func TestGPUNode_knowsTheGPUAgain(t *testing.T) {
	t.Parallel()

	for id, want := range map[string]string{
		"": shownUUID, "S-0001": "S-0001", "dddddddd-0000-4000-8000-000000000004": "dddddddd-0000-4000-8000-000000000004",
		strings.TrimPrefix(shownUUID, "GPU-"): strings.TrimPrefix(shownUUID, "GPU-"),
	} {
		d := &driver{all: []gpu.GPU{{UUID: otherUUID, BusID: "0000:20:00.0", Minor: 1}}}
		node := device.GPUNode(d)

		if err := node.Remember(t.Context()); err != nil {
			t.Fatal(err)
		}

		d.all = append(d.all, gpu.GPU{UUID: shownUUID, BusID: "0000:1f:00.0", Minor: 0})

		rec, visible, err := node.See(t.Context(), device.Record{FabricID: "f-1", DeviceID: id, Type: device.GPU})
		if err != nil || !visible || rec.DeviceID != want || rec.BusID != "0000:1f:00.0" {
			t.Errorf("id %q: %+v, %t, error %v", id, rec, visible, err)
		}

		d.move()

		if idle, err := node.Idle(t.Context(), []device.Record{rec}); err != nil || !idle["f-1"] {
			t.Errorf("id %q: idle %v, error %v", id, idle, err)
		}

		if err := node.Release(t.Context(), rec, false); err != nil || !slices.Equal(d.removed, []string{shownUUID}) {
			t.Errorf("id %q: removed %q, error %v", id, d.removed, err)
		}
	}
}

// TestGPUNode_kinds: a refusal is one only where nothing was changed, and doubt says what helps.
func TestGPUNode_kinds(t *testing.T) {
	t.Parallel()

	rec := device.Record{FabricID: "f-1", DeviceID: shownUUID, Type: device.GPU}

	for _, c := range []struct {
		fail  error
		rec   device.Record
		inUse bool
		says  string
	}{
		{fail: gpu.ErrInUse, rec: rec, inUse: true},
		{fail: fmt.Errorf("%w: %w", gpu.ErrInUse, gpu.ErrNotUndone), rec: rec, says: "put back"},
		{fail: gpu.ErrPending, rec: rec, says: "once nobody uses it"},
		{rec: device.Record{FabricID: "f-1", DeviceID: "S-0001"}, says: `skip_drain = "always"`},
	} {
		d := &driver{all: []gpu.GPU{{UUID: shownUUID, BusID: "0000:1f:00.0"}}, fail: c.fail}

		err := device.GPUNode(d).Release(t.Context(), c.rec, true)
		if err == nil || errors.Is(err, device.ErrInUse) != c.inUse || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: error %v", c.fail, err)
		}
	}
}
