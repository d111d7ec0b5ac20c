// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpus_test

import (
	"strings"
	"testing"
	"time"

	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/node"
)

// TestOGPU01_emptyStatus gives the status word of a new device in all spellings, for ever.
func TestOGPU01_emptyStatus(t *testing.T) {
	t.Parallel()

	for _, k := range []kind{fm, cm} {
		for name, c := range map[string]struct {
			edit func(any) any
			fine bool
			says string // error or warning
		}{
			"11.8 empty":                     {labfabric.Set("res_op_status", ""), false, "does not say how the device is"},
			"11.8 missing":                   {labfabric.Drop("res_op_status"), false, "does not say how the device is"},
			"11.8 null":                      {labfabric.Set("res_op_status", nil), false, "does not say how the device is"},
			"11.8 a list":                    {labfabric.Set("res_op_status", []any{}), false, "does not say how the device is"},
			"11.8 an unknown word":           {labfabric.Set("res_op_status", "9"), false, `"9"`},
			"11.8 0":                         {labfabric.Set("res_op_status", "0"), true, ""},
			"11.8 four digits":               {labfabric.Set("res_op_status", "0001"), true, ""},
			"11.8 with a blank in front":     {labfabric.Set("res_op_status", " 0"), true, ""},
			"11.8 a number":                  {labfabric.Set("res_op_status", 0), true, ""},
			"O-GPU-02 a warning is no error": {labfabric.Set("res_op_status", "1"), true, "a warning"},
		} {
			t.Run(name+", "+k.name, func(t *testing.T) {
				t.Parallel()

				inLab(t, setup{kind: k}, func(w world) {
					for _, match := range []string{k.read, k.attach} {
						w.far.Inject(labfabric.Fault{Match: match, Times: -1, Edit: c.edit})
					}

					o := w.Apply(w.ctx, gpus(1))
					w.count(1) // whatever the fabric says: what is there is in the state

					// CM need not tell how a device is: a word that says nothing is no reason to wait.
					fine := c.fine || k.name == cm.name
					if (o.Errors == "") != fine || (c.fine || !fine) && !o.Says(c.says) {
						t.Errorf("errors %q, warnings %q", o.Errors, o.Warnings)
					}

					if known := w.first("health") != "unknown"; known != c.fine {
						t.Errorf("health %s", w.first("health"))
					}

					if fine {
						w.empty(gpus(1))
					}

					// The next apply goes on with the device once the fabric tells.
					w.far.Heal()
					w.Untaint()
					w.apply(gpus(1))
					w.count(1)

					if n := w.attached(); n != 1 {
						t.Errorf("%d devices were attached", n)
					}

					w.destroy()
				})
			})
		}
	}
}

// attached counts the devices that we attached in all.
func (w world) attached() int {
	w.t.Helper()

	all, err := w.far.Effects()
	if err != nil {
		w.t.Fatal(err)
	}

	n := 0

	for _, e := range all {
		if e.Kind == hardware.KindAttach && !e.Foreign {
			n++
		}
	}

	return n
}

// TestOGPU02_critical has devices that are critical when they arrive.
func TestOGPU02_critical(t *testing.T) {
	t.Parallel()

	for _, k := range kinds {
		t.Run("11.9 critical on arrival is detached again, "+k.name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: k}, func(w world) {
				// Well while it is in the pool, and critical while it comes.
				w.edit(func(d *hardware.Device) { d.TurnsAt, d.Turns = time.Now().Add(addTime/2), "2" })
				w.fails(gpus(2, nodes(0)), "critical", "detached again")
				w.count(0)

				if n := w.attached(); n != 1 || w.Exists() {
					t.Errorf("%d were attached; state %v", n, w.State())
				}
			})
		})
	}

	t.Run("11.9 critical on arrival goes, although its host cannot let go", func(t *testing.T) {
		t.Parallel()

		inLab(t, setup{rough: true}, func(w world) {
			w.edit(func(d *hardware.Device) { d.OpStatus = "2" })
			w.system(func(s *node.State) { s.FailDrain = true })

			if o := w.fails(gpus(1, nodes(0)), "critical", "detached again"); !strings.Contains(o.Warnings, "goes without a drain") {
				t.Errorf("warnings: %s", o.Warnings)
			}

			w.count(0)
		})
	})

	t.Run("11.9 critical on arrival is kept, as on_unhealthy says", func(t *testing.T) {
		t.Parallel()

		inLab(t, setup{}, func(w world) {
			w.edit(func(d *hardware.Device) { d.OpStatus = "2" })

			if o := w.apply(gpus(2, nodes(0), Map{"on_unhealthy": "keep"})); !strings.Contains(o.Warnings, "is critical") || w.first("health") != "critical" {
				t.Errorf("%v: %s", w.Get("devices"), o.Warnings)
			}

			w.count(2)
		})
	})

	t.Run("11.9 the second of two is critical: the first goes too, or stays", func(t *testing.T) {
		t.Parallel()

		inLab(t, setup{}, func(w world) {
			sick := func(d *hardware.Device) {
				if d.Model == a100 && d.Machine == "" {
					d.OpStatus = "2"
				}
			}

			w.apply(gpus(1))
			w.edit(sick)
			w.fails(gpus(2), "critical", "Of 2 devices wanted, 1 stand")
			w.count(1)

			if w.Tainted || w.Get("size") != int64(1) || w.Get("state") != "Degraded" {
				t.Errorf("state: %v", w.State())
			}
		})
	})
}

// TestGPU_reads has managers that answer reads in all the wrong ways before anything is
// ordered: an error, and nothing is attached.
func TestGPU_reads(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		fault labfabric.Fault
		says  string
	}{
		"11.10 no machine in the answer": {labfabric.Rewritten("", labfabric.Set("machines", []any{})), "not found in answer"},
		"11.10 machines is null":         {labfabric.Rewritten("", labfabric.Set("machines", nil)), ""},
		"11.10 data is null":             {labfabric.Rewritten("", labfabric.Set("data", nil)), ""},
		"11.7 HTML with 200":             {labfabric.HTML("", 200), "HTML"},
		"11.7 truncated":                 {labfabric.Truncated(""), ""},
		"11.16 302 to another place":     {labfabric.Redirect("", "http://node-1.lab/"), "302"},
		"11.16 301 to a page":            {labfabric.Fault{Status: 301, Header: map[string]string{"Location": "/login"}}, "301"},
		"11.16 307 to another host":      {labfabric.Fault{Status: 307, Header: map[string]string{"Location": "http://ironic.lab/"}}, "307"},
		"11.10 404 of a proxy":           {labfabric.Fault{Status: 404, Body: "<html>no such page</html>"}, "404"},
		"11.10 503 for ever":             {labfabric.Overloaded("", 1, 1), "503"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{}, func(w world) {
				c.fault.Match, c.fault.Times = labfabric.FMMachine, -1
				w.far.Inject(c.fault)
				w.fails(gpus(1), c.says)

				if w.orders() != 0 || w.Exists() {
					t.Errorf("%d orders; state %v", w.orders(), w.State())
				}

				w.far.Heal()
				w.apply(gpus(1))

				// And in a refresh: the state stays as it is.
				w.far.Inject(c.fault)

				before := w.Dump()
				if o := w.Refresh(w.ctx); o.Errors == "" || w.Dump() != before {
					t.Errorf("refresh: %s; state %v", o.Errors, w.State())
				}
			})
		})
	}
}

// TestGPU_redirectedOrder never takes the answer of another place for the order's.
func TestGPU_redirectedOrder(t *testing.T) {
	t.Parallel()

	for _, k := range kinds {
		t.Run("11.16 302 of the order, "+k.name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: k}, func(w world) {
				f := labfabric.Redirect(k.attach, "/fabric_manager/api/v1/machines/"+hostID(0))
				f.Times = -1
				w.far.Inject(f)

				w.fails(gpus(1), "302")
				w.count(0)

				for _, r := range w.far.Requests() {
					if !k.tenant && strings.HasPrefix(r.Path, "/fabric_manager") {
						t.Errorf("the redirect was followed: %s %s", r.Method, r.Path)
					}
				}
			})
		})
	}
}

// TestGPU_thirdParty has somebody else who attaches at the same time.
func TestGPU_thirdParty(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		kinds []kind
		lost  bool
		fine  bool
		asks  int // at most
	}{
		"11.12 one more came and the answer names ours":   {[]kind{fm}, false, true, 1},
		"11.12 one more came and the order names ours":    {[]kind{cdim, blocks, zones}, true, true, 2},
		"11.12 one more came and nothing says which":      {[]kind{fm}, true, false, 1},
		"11.12 one more came and this fabric counts only": {[]kind{cm}, true, false, 1},
	} {
		for _, k := range c.kinds {
			t.Run(name+", "+k.name, func(t *testing.T) {
				t.Parallel()

				inLab(t, setup{kind: k, strange: !c.fine}, func(w world) {
					f := labfabric.ThirdParty(k.attach, "node-0", a100)
					f.DropAfter = c.lost

					if k.name == cm.name {
						// Before the order it would have reached the count that the order asks for.
						f.First, f.Then = nil, f.First
					}

					w.far.Inject(f)

					o := w.Apply(w.ctx, gpus(1))
					if (o.Errors == "") != c.fine || (len(w.devices()) == 1) != c.fine || !c.fine && (w.Exists() || !strings.Contains(o.Errors, "candidates")) {
						t.Errorf("%s; state %v", o.Errors, w.State())
					}

					for _, d := range w.on(0) {
						if d.Foreign && len(w.devices()) == 1 && same(w.devices()[0], d) {
							t.Errorf("the device of somebody else was taken: %v", w.devices())
						}

						if !c.fine && !strings.Contains(o.Errors, d.ID) {
							t.Errorf("%s is not named: %s", d.ID, o.Errors)
						}
					}

					if n := w.sent(k.attach); n > c.asks {
						t.Errorf("%d orders", n)
					}
				})
			})
		}
	}
}

// TestGPU_serial has managers that never tell a serial: the system does.
func TestGPU_serial(t *testing.T) {
	t.Parallel()

	for name, k := range map[string]kind{"11.17 no serial, FM": fm, "11.17 an empty one, FM": fm, "11.17 null, FM": fm, "11.17 nothing has a UUID, CDIM": cdim} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: k, tune: func(t *face.Tuning) { t.CDIM.NoUUID, t.Misspelt = true, true }}, func(w world) {
				f := labfabric.Fault{Times: -1, Match: "", Edit: labfabric.Drop("res_serial_num")}

				switch {
				case strings.Contains(name, "empty"):
					f.Edit = labfabric.Set("res_serial_num", "")
				case strings.Contains(name, "null"):
					f.Edit = labfabric.Set("res_serial_num", nil)
				}

				if k.name == fm.name {
					w.far.Inject(f)
				}

				w.system(func(s *node.State) { s.Hotplug, s.LazyUUID = 20*time.Second, true })

				config := gpus(2, nodes(0))
				w.apply(config)
				w.known()

				w.Refresh(w.ctx)
				w.known() // a refresh does not forget what the system said

				w.destroy()
				w.count(0)
			})
		})
	}
}
