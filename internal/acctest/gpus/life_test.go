// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpus_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// TestGPU_life is the whole life on every manager, with the machine's system: create, grow,
// shrink, forget and import in both forms, destroy.
func TestGPU_life(t *testing.T) {
	t.Parallel()

	for _, k := range kinds {
		t.Run("11.1 11.2 11.26 "+k.name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: k}, func(w world) {
				o := w.apply(gpus(2, nodes(0)))
				w.count(2)

				if o.Action != "create" || w.Get("state") != "Running" || w.Get("placement."+machine.ID(0)) != int64(2) {
					t.Errorf("%s: %v", o.Action, w.State())
				}

				w.known()
				w.apply(gpus(4, nodes(0)))
				w.count(4)
				w.apply(gpus(1, nodes(0)))
				w.count(1)
				w.imports(1, nodes(0))

				w.destroy()
				w.count(0)
			})
		})
	}
}

// known compares what the state says of each device with the device.
func (w world) known() {
	w.t.Helper()

	ids := map[string][]string{}
	for _, name := range []string{"fabric_device_id", "device_id", "model", "machine_id", "host_name", "state", "health", "pci_bus_id"} {
		ids[name] = attribute(w.Core, name)
	}

	for _, d := range w.on(0) {
		i := slices.IndexFunc(ids["fabric_device_id"], func(id string) bool { return same(id, d) })
		if i < 0 {
			w.t.Errorf("%s is not in the state", d.ID)

			continue
		}

		for name, want := range map[string]string{
			"device_id": d.Serial, "model": d.Model, "machine_id": machine.ID(0), "host_name": machine.Name(0), "state": "Online", "health": "ok", "pci_bus_id": d.Slot,
		} {
			if name == "pci_bus_id" && len(w.node(0).Commands) == 0 {
				continue // nobody looked
			}

			// A manager may tell the UUID without the word before it.
			if got := ids[name][i]; strings.TrimPrefix(got, "GPU-") != strings.TrimPrefix(want, "GPU-") {
				w.t.Errorf("%s of %s is %q, want %q", name, d.ID, got, want)
			}
		}
	}
}

// imports forgets the resource and imports it in both forms; the plan after each has no
// change of a device.
func (w world) imports(n int, with Map) {
	w.t.Helper()

	ids := w.devices()

	for form, id := range map[string]string{
		"all of a kind": machine.ID(0) + "/gpu/" + a100, "by name": machine.ID(0) + "/" + strings.Join(ids, ","),
	} {
		w.Forget()

		before := w.orders()
		if o := w.Import(w.ctx, id); o.Errors != "" || w.Get("size") != int64(n) || !slices.Equal(w.devices(), ids) {
			w.t.Fatalf("import, %s (%s): %v: %s", form, id, w.State(), o.Errors)
		}

		w.empty(w.Configurable())

		p := w.Plan(w.ctx, gpus(n, with))
		// Name and connection of a host are the user's to tell.
		if p.Errors != "" || p.Action == "replace" || !slices.Equal(p.Changed, []string{"hosts"}) {
			w.t.Errorf("import, %s: %q changes %v: %s", form, p.Action, p.Changed, p.Errors)
		}

		w.apply(gpus(n, with))

		if w.orders() != before {
			w.t.Errorf("import, %s: devices were touched", form)
		}
	}
}

// TestGPU_size changes the size up and down.
func TestGPU_size(t *testing.T) {
	t.Parallel()

	for _, k := range kinds {
		t.Run("11.2 1 to 4 to 2 to 0 to 1 on "+k.name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: k}, func(w world) {
				for _, n := range []int{1, 4, 2, 0, 1} {
					w.apply(gpus(n))
					w.count(n)

					if w.Get("state") != "Running" || w.Get("size") != int64(n) {
						t.Errorf("size %d: %v", n, w.State())
					}
				}

				w.destroy()
			})
		})
	}
}

// TestGPU_importOfNone has nothing of ours on the machine.
func TestGPU_importOfNone(t *testing.T) {
	t.Parallel()

	for _, k := range kinds {
		t.Run("11.26 what is not there cannot be imported, "+k.name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: k}, func(w world) {
				for _, id := range []string{machine.ID(0) + "/gpu/" + a100, machine.ID(0) + "/" + hardware.UUID("nobody"), machine.ID(99) + "/gpu/" + a100} {
					if o := w.Import(w.ctx, id); o.Errors == "" || w.Exists() {
						t.Errorf("import of %s: %v", id, w.State())
					}
				}
			})
		})
	}
}

// TestGPU_importOfOthers imports devices that somebody else attached, beside ones that stay his.
func TestGPU_importOfOthers(t *testing.T) {
	t.Parallel()

	for _, k := range kinds {
		t.Run("11.26 one of three, "+k.name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: k, lab: lab.Options{Machines: 2}}, func(w world) {
				ids := w.foreign(0, 3, a100)
				w.foreign(0, 1, l40s)

				if o := w.Import(w.ctx, machine.ID(0)+"/gpu/"+a100); o.Errors != "" || len(w.devices()) != 3 {
					t.Fatalf("import: %v: %s", w.State(), o.Errors)
				}

				name := w.devices()[slices.IndexFunc(w.devices(), func(id string) bool { return same(id, hardware.Device{ID: ids[1]}) })]
				w.Forget()

				if o := w.Import(w.ctx, machine.ID(0)+"/"+name); o.Errors != "" || len(w.devices()) != 1 || w.Get("model") != a100 {
					t.Fatalf("import: %v: %s", w.State(), o.Errors)
				}

				if others, _ := w.Get("unmanaged_devices").([]any); len(others) != 2 {
					t.Errorf("unmanaged: %v", others)
				}

				w.empty(gpus(1, Map{"hosts": []any{Map{"machine_id": machine.ID(0)}}}))
				w.destroy()

				if left := w.on(0); len(left) != 3 {
					t.Errorf("left: %v", left)
				}
			})
		})
	}
}
