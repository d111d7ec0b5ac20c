// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
)

func TestRefresh_drift(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(b *bench)
		check  func(b *bench, r device.Refreshed, err error) string
	}{
		"nothing": {func(*bench) {}, func(_ *bench, r device.Refreshed, err error) string {
			return expect(err == nil && len(r.Devices) == 2 && len(r.Lost)+len(r.Unmanaged)+len(r.Gone)+len(r.Warnings) == 0, r)
		}},
		"a device vanished": {func(b *bench) { b.devices[0].MachineID = "" }, func(_ *bench, r device.Refreshed, err error) string {
			return expect(err == nil && len(r.Devices) == 1 && len(r.Lost) == 1, r)
		}},
		"a device became critical": {func(b *bench) { b.devices[0].Health = fabric.HealthCritical }, func(_ *bench, r device.Refreshed, err error) string {
			return expect(err == nil && len(r.Devices) == 2 && r.Devices[0].Health == fabric.HealthCritical && len(r.Warnings) == 1, r)
		}},
		"a device moved": {func(b *bench) { b.devices[0].MachineID = "m1" }, func(_ *bench, r device.Refreshed, err error) string {
			return expect(err == nil && len(r.Devices) == 2 && r.Devices[0].State == device.Missing && strings.Contains(r.Warnings[0], "m1"), r)
		}},
		"somebody else put one there": {func(b *bench) { b.put("u05") }, func(_ *bench, r device.Refreshed, err error) string {
			return expect(err == nil && len(r.Devices) == 2 && fmt.Sprint(r.Unmanaged) == "[u05]", r)
		}},
		"the machine is gone": {func(b *bench) { b.machines = []string{"m1"} }, func(_ *bench, r device.Refreshed, err error) string {
			return expect(err == nil && len(r.Devices) == 0 && len(r.Lost) == 2 && fmt.Sprint(r.Gone) == "[m0]", r)
		}},
		"the fabric is down": {func(b *bench) { b.lostRead = func() bool { return true } }, func(_ *bench, r device.Refreshed, err error) string {
			return expect(err != nil && len(r.Devices) == 0, r)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench()
				res := fine(t, b.create(t.Context()))
				c.change(b)

				r, err := b.desk().Refresh(t.Context(), device.Reading{Type: "gpu", Model: "A100", Machines: []string{"m0", "m1"}, Devices: res.Devices})
				if words := c.check(b, r, err); words != "" {
					t.Errorf("%s, %v", words, err)
				}
			})
		})
	}
}

func expect(ok bool, r device.Refreshed) string {
	if ok {
		return ""
	}

	return fmt.Sprintf("%+v", r)
}

// TestRefresh_sharesReads: 100 resources on 20 machines cost 20 reads.
func TestRefresh_sharesReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPool(20, 0)
		desk := device.NewDesk(p, nil)

		refresh := func() {
			var wg sync.WaitGroup
			for i := range 100 {
				wg.Go(func() {
					if _, err := desk.Refresh(t.Context(), device.Reading{Type: "gpu", Model: "A100", Machines: []string{fmt.Sprintf("m%d", i%20)}}); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
		}

		if refresh(); p.reads != 20 {
			t.Errorf("%d reads", p.reads)
		}

		time.Sleep(time.Minute)

		if refresh(); p.reads != 40 {
			t.Errorf("%d reads: what was read a minute ago is old", p.reads)
		}
	})
}

func TestImport_ids(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		id    string
		found int
		words string // of the error
	}{
		"all of a model":              {"m0/gpu/A100", 2, ""},
		"the fabric's own scheme":     {"fsas-cdi://m0/gpu/A100", 2, ""},
		"one device":                  {"m0/u01", 1, ""},
		"two devices":                 {"m0/u01,u00", 2, ""},
		"a device twice":              {"m0/u01, u01", 1, ""},
		"no machine":                  {"/gpu/A100", 0, "must be"},
		"nothing behind":              {"m0/", 0, "must be"},
		"no slash":                    {"m0", 0, "must be"},
		"no model":                    {"m0/gpu/", 0, "model is missing"},
		"another type":                {"m0/fpga/X", 0, "neither"},
		"a model that is not there":   {"m0/gpu/H100", 0, "it has: gpu A100 u00"},
		"a device that is not there":  {"m0/u77", 0, "u77 is not on machine m0"},
		"a machine that is not there": {"m7/gpu/A100", 0, "machine m7"},
		"only blanks":                 {"m0/ , ", 0, "no device"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench()
				fine(t, b.create(t.Context()))

				id, err := device.ParseImportID(c.id)

				var f device.Found
				if err == nil {
					f, err = b.desk().Import(t.Context(), id)
				}

				if c.words != "" {
					if err == nil || !strings.Contains(err.Error(), c.words) {
						t.Errorf("got %v, want %q", err, c.words)
					}

					return
				}

				if err != nil || len(f.Devices) != c.found || f.Model != "A100" || f.Type != "gpu" {
					t.Errorf("%+v, %v", f, err)
				}
			})
		})
	}
}

func FuzzParseImportID(f *testing.F) {
	for _, s := range []string{"", "/", "m/gpu/A100", "m/a,b", "fsas-cdi://m/x", "m//redfish/v1/x", ",/,"} {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, s string) {
		id, err := device.ParseImportID(s)
		if err == nil && (id.Machine == "" || (id.Model == "") == (len(id.Devices) == 0)) {
			t.Errorf("%q: %+v", s, id)
		}
	})
}

func TestJournal_onDisk(t *testing.T) {
	t.Parallel()

	dir := t.TempDir() + "/journal"
	j := device.NewJournal(dir)

	if all, err := j.Of("f", "m"); err != nil || len(all) != 0 {
		t.Fatalf("an empty journal: %v, %v", all, err)
	}

	now := time.Now().UTC()
	for i, machine := range []string{"m", "M", "other"} {
		if err := j.Put(device.Intent{ID: fmt.Sprint(i), Fabric: "f", Machine: machine, Type: "gpu", Model: "A100", At: now.Add(-time.Duration(i) * time.Second), Run: j.Run()}); err != nil {
			t.Fatal(err)
		}
	}

	again := device.NewJournal(dir)

	all, err := again.Of("f", "m")
	if err != nil || len(all) != 2 || all[0].ID != "1" || !all[0].At.Equal(now.Add(-time.Second)) {
		t.Fatalf("%+v, %v", all, err)
	}

	if !j.Live(all[0]) || again.Live(all[0]) {
		t.Error("an intent lives as long as the run that wrote it")
	}

	if err := errors.Join(again.Drop("1"), again.Drop("1")); err != nil {
		t.Error(err)
	}

	if all, _ := j.Of("f", "m"); len(all) != 1 {
		t.Errorf("%+v", all)
	}
}
