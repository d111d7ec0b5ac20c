// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cxl_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/cxl"
)

var release = []string{
	"daxctl offline-memory dax0.0", "daxctl disable-device dax0.0",
	"cxl disable-region region0", "cxl destroy-region region0", "cxl disable-memdev mem0",
}

var restore = []string{
	"cxl enable-memdev mem0", "cxl create-region -m -t ram -s 0x4000000000 -w 1 mem0", "daxctl online-memory dax0.0",
}

func TestRelease(t *testing.T) {
	t.Parallel()

	h := newHost()
	ops := cxl.New(h)

	r, err := cxl.Release(t.Context(), ops, cxl.Target{Serial: "0x0000000000001234"})
	if err != nil || r.Absent || r.Memory.Name != "mem0" || !slices.Equal(h.lines, release) {
		t.Fatalf("released %+v, error %v, ran %q", r, err, h.lines)
	}

	h.lines = nil

	over, cancel := context.WithCancel(t.Context())
	cancel()

	if err := ops.Restore(over, r); err != nil || !slices.Equal(h.lines, restore) {
		t.Errorf("ran %q, error %v", h.lines, err)
	}
}

func TestRelease_refusedAtEveryPoint(t *testing.T) {
	t.Parallel()

	for words, kind := range map[string]error{
		"libdaxctl: Device or resource busy": cxl.ErrInUse, "something new": cxl.ErrInUse, "": cxl.ErrInUse, "no such device is busy": cxl.ErrInUse,
		"libcxl: write failed: Permission denied": cxl.ErrCommand, "Error: unknown option `x'": cxl.ErrCommand, "usage: cxl list": cxl.ErrCommand,
	} {
		for _, line := range release {
			t.Run(line+": "+words, func(t *testing.T) {
				t.Parallel()

				h := newHost()
				h.answers[line] = remote.Result{Exit: 1, Stderr: []byte(words + "\n")}
				before := h.kernel.state()

				_, err := cxl.Release(t.Context(), cxl.New(h), cxl.Target{Name: "mem0"})
				if !errors.Is(err, kind) || errors.Is(err, cxl.ErrInUse) != errors.Is(kind, cxl.ErrInUse) || !strings.Contains(err.Error(), words) {
					t.Errorf("error %v", err)
				}

				if errors.Is(err, cxl.ErrNotUndone) || h.kernel.state() != before {
					t.Errorf("error %v\nthe host is %s\nand was     %s\nran %q", err, h.kernel.state(), before, h.lines)
				}
			})
		}
	}
}

// What was lost was done, or it was not: the host is as it was in either case.
func TestRelease_lostAndInterrupted(t *testing.T) {
	t.Parallel()

	for _, line := range release {
		for _, kind := range []error{remote.ErrLost, context.Canceled} {
			for _, done := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s: %v, done: %t", line, kind, done), func(t *testing.T) {
					t.Parallel()

					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()

					h := newHost()
					h.errs[line], h.does = kind, done
					h.hook = func(got string) {
						if got == line && errors.Is(kind, context.Canceled) {
							cancel()
						}
					}
					before := h.kernel.state()

					_, err := cxl.Release(ctx, cxl.New(h), cxl.Target{Name: "mem0"})
					if !errors.Is(err, kind) || errors.Is(err, cxl.ErrInUse) || errors.Is(err, cxl.ErrUnreachable) {
						t.Errorf("error %v", err)
					}

					if errors.Is(err, cxl.ErrNotUndone) || h.kernel.state() != before {
						t.Errorf("error %v\nthe host is %s\nand was     %s\nran %q", err, h.kernel.state(), before, h.lines)
					}
				})
			}
		}
	}
}

func TestRelease_undoOutlivesALostConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		h.errs[release[3]], h.does = remote.ErrLost, true
		before, lost := h.kernel.state(), time.Time{}
		h.hook = func(got string) {
			if got == release[3] {
				lost = time.Now()
				h.errs["cxl-regions mem0"] = remote.ErrUnreachable
			} else if !lost.IsZero() && time.Since(lost) > 5*time.Second {
				delete(h.errs, "cxl-regions mem0")
			}
		}

		_, err := cxl.Release(t.Context(), cxl.New(h), cxl.Target{Name: "mem0"})
		if !errors.Is(err, remote.ErrLost) || errors.Is(err, cxl.ErrNotUndone) || h.kernel.state() != before {
			t.Errorf("error %v, the host is %s and was %s", err, h.kernel.state(), before)
		}
	})
}

func TestRelease_undoFails(t *testing.T) {
	t.Parallel()

	for name, set := range map[string]func(*host){
		"no new region": func(h *host) { h.answers[restore[1]] = remote.Result{Exit: 1, Stderr: []byte("no space")} },
		"no memory":     func(h *host) { h.answers[restore[2]] = remote.Result{Exit: 1, Stderr: []byte("no space")} },
		"nothing to be seen": func(h *host) {
			h.hook = func(got string) {
				if got == restore[1] {
					h.answers["cxl-regions mem0"] = said("")
				}
			}
		},
		"of another kind": func(h *host) { h.kernel.policy = "device_dax" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := newHost()
			set(h)
			h.answers[release[4]] = remote.Result{Exit: 1, Stderr: []byte("busy")}

			_, err := cxl.Release(t.Context(), cxl.New(h), cxl.Target{Name: "mem0"})
			if !errors.Is(err, cxl.ErrInUse) || !errors.Is(err, cxl.ErrNotUndone) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestRelease_anewUnderAnotherName(t *testing.T) {
	t.Parallel()

	h := newHost()
	h.kernel.next = 4
	h.answers[release[4]] = remote.Result{Exit: 1}

	_, err := cxl.Release(t.Context(), cxl.New(h), cxl.Target{Name: "mem0"})
	if !errors.Is(err, cxl.ErrInUse) || errors.Is(err, cxl.ErrNotUndone) || h.kernel.state() != "mem0 on, region4 on ram, dax4.0 kmem online" {
		t.Errorf("error %v, %s, ran %q", err, h.kernel.state(), h.lines)
	}
}

// TestRelease_held: memory that is no part of the system's is used by those who have it open.
func TestRelease_held(t *testing.T) {
	t.Parallel()

	for list, asks := range map[string]bool{
		oneRegion: false,
		"region region0 ram 0x1 1\ndax dax0.0 region0 -\n":          false,
		"region region0 ram 0x1 1\ndax dax0.0 region0 device_dax\n": true,
		"region region0 pmem 0x1 1\n":                               true,
		"region region0 - 0x1 1\n":                                  true,
	} {
		h := newHost()
		h.answers["cxl-regions mem0"] = said(list)
		h.answers["cxl-holders region0"] = said("dax0.0 4711 qemu\npmem0 mounted at /srv\n")

		_, err := cxl.Release(t.Context(), cxl.New(h), cxl.Target{Name: "mem0"})
		if !asks {
			continue
		}

		if !errors.Is(err, cxl.ErrInUse) || !strings.Contains(err.Error(), "dax0.0 4711 qemu, pmem0 mounted at /srv") || len(h.lines) > 0 {
			t.Errorf("%q: error %v, ran %q", list, err, h.lines)
		}

		h.answers["cxl-holders region0"] = remote.Result{Exit: 77, Stderr: []byte("only root")}

		if _, err := cxl.Release(t.Context(), cxl.New(h), cxl.Target{Name: "mem0"}); !errors.Is(err, cxl.ErrCommand) || len(h.lines) > 0 {
			t.Errorf("%q: error %v, ran %q", list, err, h.lines)
		}
	}
}

func TestRelease_otherRegionsAreLeftAlone(t *testing.T) {
	t.Parallel()

	h := newHost()
	h.answers["cxl-regions mem0"] = said("region region0 pmem - 1\ndax dax0.0 region0 -\nregion region1 ram 0x1 1\ndax dax1.0 region1 device_dax\n")
	h.answers["daxctl disable-device dax1.0"] = remote.Result{Exit: 1}

	if _, err := cxl.Release(t.Context(), cxl.New(h), cxl.Target{Name: "mem0"}); !errors.Is(err, cxl.ErrInUse) || errors.Is(err, cxl.ErrNotUndone) {
		t.Errorf("error %v", err)
	}

	if want := []string{"daxctl disable-device dax1.0"}; !slices.Equal(h.lines, want) {
		t.Errorf("ran\n%s\nwant\n%s", strings.Join(h.lines, "\n"), strings.Join(want, "\n"))
	}
}

func TestRelease_nothingIsDone(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		set    func(*host)
		target cxl.Target
		absent bool
		want   error
	}{
		"not there":                   {target: cxl.Target{Serial: "0x99"}, absent: true},
		"nothing known of it":         {want: cxl.ErrInDoubt},
		"and no memory on the host":   {set: func(h *host) { h.answers["cxl-list"] = said("") }, absent: true},
		"another has its name":        {target: cxl.Target{Serial: "0x99", Name: "mem0"}, want: cxl.ErrInDoubt},
		"a serial that none showed":   {target: cxl.Target{Serial: "0xB99", Unproved: true}, want: cxl.ErrInDoubt},
		"no serial of a host":         {target: cxl.Target{Serial: "S-0001"}, want: cxl.ErrInDoubt},
		"nor is a decimal one":        {target: cxl.Target{Serial: "4660"}, want: cxl.ErrInDoubt},
		"nor one of hex digits":       {target: cxl.Target{Serial: "5A01"}, want: cxl.ErrInDoubt},
		"nor is a UUID one":           {target: cxl.Target{Serial: "d0000000-0000-4000-8000-000000000001"}, want: cxl.ErrInDoubt},
		"a name that is not there":    {target: cxl.Target{Name: "mem7"}, want: cxl.ErrInDoubt},
		"one there has no serial":     {set: func(h *host) { h.answers["cxl-list"] = said("mem0 0x0 - -\n") }, target: cxl.Target{Serial: "0x99"}, want: cxl.ErrInDoubt},
		"spread over several devices": {set: func(h *host) { h.answers["cxl-regions mem0"] = said("region region0 ram 0x1 2\n") }, target: cxl.Target{Name: "mem0"}, want: cxl.ErrInUse},
		"a region is not understood":  {set: func(h *host) { h.answers["cxl-regions mem0"] = said("region region0\n") }, target: cxl.Target{Name: "mem0"}, want: cxl.ErrCommand},
		"the script fails":            {set: func(h *host) { h.answers["cxl-list"] = remote.Result{Exit: 2} }, target: cxl.Target{Name: "mem0"}, want: cxl.ErrCommand},
		"unreachable":                 {set: func(h *host) { h.errs["cxl-list"] = remote.ErrUnreachable }, target: cxl.Target{Name: "mem0"}, want: cxl.ErrUnreachable},
		"the bastion is not reached":  {set: func(h *host) { h.errs["cxl-list"] = remote.ErrBastion }, target: cxl.Target{Name: "mem0"}, want: remote.ErrBastion},
		"the host hangs up":           {set: func(h *host) { h.errs["cxl-list"] = remote.ErrHandshake }, target: cxl.Target{Name: "mem0"}, want: remote.ErrHandshake},
		"the connection is lost":      {set: func(h *host) { h.errs["cxl-list"] = remote.ErrLost }, target: cxl.Target{Name: "mem0"}, want: remote.ErrLost},
		"wrong host key":              {set: func(h *host) { h.errs["cxl-list"] = remote.ErrHostKey }, target: cxl.Target{Name: "mem0"}, want: remote.ErrHostKey},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := newHost()
			if c.set != nil {
				c.set(h)
			}

			r, err := cxl.Release(t.Context(), cxl.New(h), c.target)
			if r.Absent != c.absent || !errors.Is(err, c.want) || len(h.lines) > 0 {
				t.Errorf("released %+v, error %v, ran %q", r, err, h.lines)
			}
		})
	}
}

func TestRelease_byName(t *testing.T) {
	t.Parallel()

	for _, target := range []cxl.Target{{Name: "mem0"}, {Serial: "S-0001", Name: "mem0"}, {Serial: "1234", Name: "mem7"}} {
		if r, err := cxl.Release(t.Context(), cxl.New(newHost()), target); err != nil || r.Memory.Name != "mem0" {
			t.Errorf("%+v: released %+v, error %v", target, r, err)
		}
	}
}

func TestRelease_noTools(t *testing.T) {
	t.Parallel()

	h := newHost()
	h.answers[release[0]] = remote.Result{Exit: 127}

	if _, err := cxl.Release(t.Context(), cxl.New(h), cxl.Target{Name: "mem0"}); !errors.Is(err, cxl.ErrNoTools) || errors.Is(err, cxl.ErrInUse) {
		t.Errorf("error %v", err)
	}
}

func TestSee(t *testing.T) {
	t.Parallel()

	both := oneMemory + "mem1 0x5678 0x1 -\n"
	mem0 := cxl.Memory{Name: "mem0", Serial: "0x1234", Bytes: 0x4000000000}

	cases := map[string]struct {
		list   string
		serial string
		before cxl.Before
		want   string
		note   string
	}{
		"by its serial":               {list: both, serial: "5678", want: "mem1"},
		"the new one":                 {list: both, before: cxl.Before{mem0}, want: "mem1"},
		"the fabric's serial differs": {list: both, serial: "S-0001", before: cxl.Before{mem0}, want: "mem1"},
		"and nothing is remembered":   {list: oneMemory, serial: "S-0001", want: "mem0"},
		"another number":              {list: both, serial: "0x99", before: cxl.Before{mem0}, note: `has the serial "0x99"`},
		"two are new":                 {list: both, before: cxl.Before{}, note: "2 memory devices are new"},
		"none is new":                 {list: oneMemory, before: cxl.Before{mem0}, note: "no new memory device among the 1"},
		"none at all":                 {note: "no new memory device among the 0"},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := newHost()
			h.answers["cxl-list"] = said(c.list)

			got, err := cxl.See(t.Context(), cxl.New(h), c.serial, c.before)
			if err != nil || got.Memory.Name != c.want || got.Visible != (c.want != "") || !strings.Contains(got.Note, c.note) {
				t.Errorf("saw %+v, error %v", got, err)
			}
		})
	}
}

func TestRestore_comesBackAfterAScan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		h.kernel = kernel{mem: "mem3"}
		h.answers["cxl-list"] = said("")
		h.hook = func(line string) {
			if line == "pci-rescan" {
				h.answers["cxl-list"] = said(strings.ReplaceAll(oneMemory, "mem0", "mem3"))
			}
		}

		err := cxl.New(h).Restore(t.Context(), cxl.Released{Memory: cxl.Memory{Name: "mem0", Serial: "0x1234"}, Regions: []cxl.Region{{Name: "region0", Type: "ram", Size: "0x1"}}})
		if want := []string{"pci-rescan", "cxl enable-memdev mem3", "cxl create-region -m -t ram -s 0x1 -w 1 mem3"}; err != nil || !slices.Equal(h.lines, want) {
			t.Errorf("ran %q, error %v", h.lines, err)
		}
	})
}

func TestRestore_neverComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHost()
		h.answers["cxl-list"] = said("")
		start := time.Now()

		err := cxl.New(h).Restore(t.Context(), cxl.Released{Memory: cxl.Memory{Name: "mem0"}})
		if err == nil || time.Since(start) > 2*time.Minute || !strings.Contains(err.Error(), "the kernel does not have it") {
			t.Errorf("after %s: %v", time.Since(start), err)
		}

		if err := cxl.New(h).Restore(t.Context(), cxl.Released{Absent: true}); err != nil {
			t.Error(err)
		}
	})
}

func TestSameSerial(t *testing.T) {
	t.Parallel()

	for _, same := range [][2]string{{"0x1234", "1234"}, {"0x00ab", "0xAB"}, {" 0xAB-CD", "abcd"}} {
		if !cxl.SameSerial(same[0], same[1]) {
			t.Errorf("%q", same)
		}
	}

	for _, other := range [][2]string{{"", ""}, {"0x0", "0"}, {"0x1", "0x2"}, {"", "0x1"}} {
		if cxl.SameSerial(other[0], other[1]) {
			t.Errorf("%q", other)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{oneMemory, oneRegion, "mem0\n", "mem0 - - -", "region r ram 1 x", "dax d r -", "mem0 1 9223372036854775807 9223372036854775807"} {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, s string) {
		for _, m := range cxl.ParseList(s) {
			if m.Name == "" || m.Bytes < 0 {
				t.Errorf("memory %+v", m)
			}
		}

		all, err := cxl.ParseRegions(s)
		if err != nil && (!errors.Is(err, cxl.ErrCommand) || len(all) > 0) {
			t.Errorf("regions %v, error %v", all, err)
		}

		for _, r := range all {
			if r.Name == "" || r.Ways < 1 {
				t.Errorf("region %+v", r)
			}
		}
	})
}
