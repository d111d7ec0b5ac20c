// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpus_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// tunings are what is not known of CM: what its count counts, when it tells ids.
var tunings = map[string]func(*face.Tuning){
	"the count is the target":            nil,
	"the count is what is there":         func(t *face.Tuning) { t.CountActual = true },
	"ids come late, and busy is refused": func(t *face.Tuning) { t.LateID, t.RefuseBusy = true, true },
	"all of that":                        func(t *face.Tuning) { t.CountActual, t.LateID, t.RefuseBusy = true, true, true },
}

// TestGPU_cmSlow adds devices that take minutes.
func TestGPU_cmSlow(t *testing.T) {
	t.Parallel()

	for name, tune := range tunings {
		t.Run("11.28 a slow add does not grow the count, "+name, func(t *testing.T) {
			t.Parallel()

			o := lab.Options{Fabric: labfabric.Options{}}
			o.Fabric.AddTime, o.Fabric.RemoveTime = 4*time.Minute, 2*time.Minute

			inLab(t, setup{kind: cm, tune: tune, lab: o}, func(w world) {
				w.apply(gpus(2))
				w.count(2)
				w.counts("1", "2")

				w.destroy()
				w.count(0)

				if n := w.sent(labfabric.CMResize); n != 4 {
					t.Errorf("%d orders", n)
				}
			})
		})
	}
}

// counts wants these target counts in the orders that came.
func (w world) counts(want ...string) {
	w.t.Helper()

	var got []string

	for _, r := range w.far.Requests() {
		if _, rest, ok := strings.Cut(r.Body, `"device_count":`); ok {
			got = append(got, strings.TrimRight(rest[:1], ",}"))
		}
	}

	if strings.Join(got, " ") != strings.Join(want, " ") {
		w.t.Errorf("counts %v, want %v", got, want)
	}
}

// TestOGPU05_leftovers has devices on the machine that failed to come or to go.
func TestOGPU05_leftovers(t *testing.T) {
	t.Parallel()

	for name, phase := range map[string]string{"11.28 ADD_FAILED": hardware.AddFailed, "11.28 REMOVE_FAILED": hardware.RemoveFailed} {
		for how, tune := range tunings {
			if phase == hardware.AddFailed && strings.HasPrefix(how, "the count is what") || how == "all of that" {
				continue // whether such a device counts is not known: an order may then come to nothing
			}

			t.Run(name+" of nobody is named and left alone, "+how, func(t *testing.T) {
				t.Parallel()

				inLab(t, setup{kind: cm, tune: tune}, func(w world) {
					broken := w.foreign(0, 1, a100)[0]
					w.edit(func(d *hardware.Device) {
						if d.ID == broken {
							d.Phase, d.Reason = phase, "link training"
						}
					})

					o := w.apply(gpus(1))
					if !o.Says(broken) || !o.Says("link training") || len(w.devices()) != 1 || same(w.devices()[0], hardware.Device{ID: broken}) {
						t.Errorf("%v: %s", w.devices(), o.Warnings)
					}

					w.destroy()

					if left := w.on(0); len(left) != 1 || left[0].ID != broken {
						t.Errorf("left: %v", left)
					}
				})
			})
		}
	}
}

// TestGPU_cmFails has orders that end in a failure.
func TestGPU_cmFails(t *testing.T) {
	t.Parallel()

	for how, tune := range tunings {
		t.Run("11.28 a device that fails to come is given back, "+how, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: cm, tune: tune}, func(w world) {
				w.apply(gpus(1))
				w.edit(func(d *hardware.Device) {
					if d.Machine == "" {
						d.FailAdd = "link training"
					}
				})
				w.fails(gpus(2), "link training")
				w.count(1)

				w.edit(func(d *hardware.Device) { d.FailAdd = "" })
				w.apply(gpus(2))
				w.count(2)
			})
		})

		t.Run("11.28 a device that fails to go stays in the state, "+how, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: cm, tune: tune}, func(w world) {
				w.apply(gpus(2))

				id := w.devices()[0]
				w.edit(func(d *hardware.Device) {
					if same(id, *d) {
						d.FailRemove = "device is locked"
					}
				})
				w.fails(nil, "device is locked")
				w.count(1)
				w.destroy()
				w.count(0)
			})
		})
	}
}

// TestOGPU06_noSpecification asks for what the machine cannot have.
func TestOGPU06_noSpecification(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		tune   func(*face.Tuning)
		edit   func(any) any
		model  string
		size   int
		says   []string
		before int
	}{
		"11.28 no specification of the model": {model: "A100 40G", size: 1, says: []string{"no model \"A100 40G\"", "A100", "L40S"}},
		"11.28 the model in another case":     {model: "a100", size: 1, says: []string{"no model \"a100\"", "A100", "L40S"}},
		"11.28 more than the maximum":         {tune: func(t *face.Tuning) { t.MaxCount = 2 }, model: a100, size: 3, says: []string{"at most 2"}},
		"11.28 beyond the maximum, in steps":  {tune: func(t *face.Tuning) { t.MaxCount = 2 }, model: a100, size: 3, before: 2, says: []string{"at most 2"}},
		"11.28 two specifications of a model": {edit: twice, model: a100, size: 1, says: []string{"both offer"}},
		"11.28 specifications are null":       {edit: labfabric.Set("resspecs", nil), model: a100, size: 1, says: []string{"specifications"}},
		"11.28 a specification without an id": {edit: labfabric.Drop("spec_uuid"), model: a100, size: 1, says: []string{"spec_uuid"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: cm, tune: c.tune}, func(w world) {
				if c.before > 0 {
					w.apply(gpus(c.before))
				}

				if c.edit != nil {
					w.far.Inject(labfabric.Fault{Match: labfabric.CMMachine, Times: -1, Edit: c.edit})
				}

				before := w.orders()
				w.fails(gpus(c.size, Map{"model": c.model}), c.says...)
				w.count(c.before)

				if n := w.orders(); n != before {
					t.Errorf("%d orders", n-before)
				}
			})
		})
	}

	t.Run("11.28 less than the minimum", func(t *testing.T) {
		t.Parallel()

		inLab(t, setup{kind: cm, tune: func(t *face.Tuning) { t.MinCount = 1 }}, func(w world) {
			w.apply(gpus(2))
			w.fails(nil, "at least 1")
			w.count(1)
			w.far.Tune(func(t *face.Tuning) { t.MinCount = 0 })
			w.destroy()
		})
	})
}

// twice doubles every specification, the copies with ids of their own.
func twice(doc any) any {
	return labfabric.Each(func(o map[string]any) {
		all, ok := o["resspecs"].([]any)
		if !ok {
			return
		}

		for i, one := range all {
			spec, _ := one.(map[string]any)
			if id, ok := spec["spec_uuid"].(string); ok {
				other := map[string]any{}
				for k, v := range spec {
					other[k] = v
				}

				other["spec_uuid"], other["devices"] = id[:len(id)-1]+strconv.Itoa(i), []any{}
				all = append(all, other)
			}
		}

		o["resspecs"] = all
	})(doc)
}

// TestOGPU03_byHand has somebody who changes the count at the same time.
func TestOGPU03_byHand(t *testing.T) {
	t.Parallel()

	for how, tune := range tunings {
		t.Run("11.12 11.28 a device that was there is neither taken nor removed, "+how, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: cm, tune: tune}, func(w world) {
				there := w.foreign(0, 1, a100)[0]
				w.fails(gpus(1), there)
				w.apply(gpus(2, Map{"existing_devices": "ignore"}))
				w.counts("2", "3")
				w.destroy()

				if left := w.on(0); len(left) != 1 || left[0].ID != there {
					t.Errorf("left: %v", left)
				}
			})
		})

		t.Run("11.12 11.28 somebody adds one while ours is ordered: nothing is ordered from an old count, "+how, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: cm, tune: tune, strange: true}, func(w world) {
				// The third read is that of the order itself.
				var ids []string

				w.far.Inject(labfabric.Fault{Match: labfabric.CMMachine, Skip: 3, First: func(tx store.Tx, now time.Time) error { return labAttach(0, a100, &ids)(tx, now) }})

				o := w.Apply(w.ctx, gpus(1))
				ours := 0

				for _, d := range w.on(0) {
					if !d.Foreign {
						ours++
					} else if len(w.devices()) == 1 && same(w.devices()[0], d) {
						t.Errorf("the device of somebody else was taken")
					}
				}

				if ours > 1 || ours != len(w.devices()) {
					t.Errorf("ours %d, in the state %v: %s", ours, w.devices(), o.Errors)
				}
			})
		})
	}
}

// TestOGPU04_ids looks at which id goes where.
func TestOGPU04_ids(t *testing.T) {
	t.Parallel()

	for _, k := range []kind{fm, cm} {
		t.Run("11.1 the right id of each device in every order, "+k.name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: k}, func(w world) {
				w.apply(gpus(1))
				w.known()

				d := w.on(0)[0]
				w.imports(1, nil)
				w.known()
				w.far.ResetCounts()
				w.destroy()

				want, other := d.ID, d.Serial
				if k.name == cm.name {
					want, other = d.Serial, d.ID
				}

				for _, r := range w.far.Requests() {
					if r.Mutates() && (!strings.Contains(r.Body, `"`+want+`"`) || strings.Contains(r.Body, other)) {
						t.Errorf("the order was %s", r.Body)
					}
				}
			})
		})
	}
}
