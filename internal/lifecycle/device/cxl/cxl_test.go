// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cxl_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/cxl"
)

const (
	oneMemory = "mem0 0x1234 0x4000000000 0x0\n"
	oneRegion = "region region0 ram 0x4000000000 1\ndax dax0.0 region0 kmem\n"
)

// host is a [remote.Host] which says what it was told, and nothing for every other command.
type host struct {
	answers map[string]remote.Result
	errs    map[string]error
	dynamic func(line string) (remote.Result, bool)
	hook    func(line string)

	mu    sync.Mutex
	lines []string // of cxl and daxctl
}

func (h *host) Name() string { return "root@node-0:22" }

func (h *host) Run(ctx context.Context, cmd remote.Command) (remote.Result, error) {
	line := strings.Join(cmd.Args, " ")
	if len(cmd.Args) == 0 {
		name, _, _ := strings.Cut(strings.TrimPrefix(cmd.Script, "# metal3: "), "\n")
		line = strings.Join(append([]string{name}, cmd.Params...), " ")
	}

	h.mu.Lock()
	defer h.mu.Unlock()

	if h.hook != nil {
		h.hook(line)
	}

	if len(cmd.Args) > 0 || line == "pci-rescan" {
		h.lines = append(h.lines, line)
	}

	if err := ctx.Err(); err != nil {
		return remote.Result{}, err
	}

	if h.dynamic != nil {
		if res, ok := h.dynamic(line); ok {
			return res, nil
		}
	}

	return h.answers[line], h.errs[line]
}

func (h *host) ReadFile(context.Context, string) ([]byte, error) {
	return nil, errors.New("not asked for")
}

func (h *host) WriteFile(context.Context, string, []byte, string, fs.FileMode) error {
	return errors.New("not asked for")
}

func (h *host) Close() error { return nil }

func said(out string) remote.Result { return remote.Result{Stdout: []byte(out)} }

func newHost() *host {
	return &host{answers: map[string]remote.Result{"cxl-list": said(oneMemory), "cxl-regions mem0": said(oneRegion)}, errs: map[string]error{}}
}

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

	// What undoes the steps before the one that failed, and the failed one where a part of
	// it may have been done.
	undone := map[string][]string{
		release[0]: {"daxctl online-memory dax0.0"},
		release[1]: {"daxctl online-memory dax0.0"},
		release[2]: {"daxctl enable-device dax0.0", "daxctl online-memory dax0.0"},
		release[3]: {"cxl enable-region region0", "daxctl enable-device dax0.0", "daxctl online-memory dax0.0"},
		release[4]: restore[1:],
	}

	for i, line := range release {
		t.Run(line, func(t *testing.T) {
			t.Parallel()

			h := newHost()
			h.answers[line] = remote.Result{Exit: 1, Stderr: []byte("libdaxctl: Device or resource busy\n")}

			_, err := cxl.Release(t.Context(), cxl.New(h), cxl.Target{Name: "mem0"})
			if !errors.Is(err, cxl.ErrInUse) || !strings.Contains(err.Error(), "Device or resource busy") || strings.Contains(err.Error(), "put back") {
				t.Errorf("error %v", err)
			}

			if want := append(slices.Clone(release[:i+1]), undone[line]...); !slices.Equal(h.lines, want) {
				t.Errorf("ran\n%s\nwant\n%s", strings.Join(h.lines, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func TestRelease_lostAndInterrupted(t *testing.T) {
	t.Parallel()

	for i, line := range release {
		for _, kind := range []error{remote.ErrLost, context.Canceled} {
			t.Run(fmt.Sprintf("%s: %v", line, kind), func(t *testing.T) {
				t.Parallel()

				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()

				h := newHost()
				h.errs[line] = kind
				h.hook = func(got string) {
					if got == line && errors.Is(kind, context.Canceled) {
						cancel()
					}
				}

				_, err := cxl.Release(ctx, cxl.New(h), cxl.Target{Name: "mem0"})
				if !errors.Is(err, kind) || errors.Is(err, cxl.ErrInUse) || errors.Is(err, cxl.ErrUnreachable) != errors.Is(kind, remote.ErrLost) {
					t.Errorf("error %v", err)
				}

				if len(h.lines) <= i+1 || h.lines[len(h.lines)-1] != "daxctl online-memory dax0.0" {
					t.Errorf("ran %q: what may have been done is not undone", h.lines)
				}
			})
		}
	}
}

func TestRelease_otherRegionsAreEnabledAgain(t *testing.T) {
	t.Parallel()

	h := newHost()
	h.answers["cxl-regions mem0"] = said("region region0 pmem - 1\ndax dax0.0 region0 -\nregion region1 ram 0x1 1\ndax dax1.0 region1 device_dax\n")
	h.answers["cxl disable-region region1"] = remote.Result{Exit: 1}

	if _, err := cxl.Release(t.Context(), cxl.New(h), cxl.Target{Name: "mem0"}); !errors.Is(err, cxl.ErrInUse) {
		t.Errorf("error %v", err)
	}

	want := []string{
		"daxctl disable-device dax0.0", "daxctl disable-device dax1.0", "cxl disable-region region0", "cxl destroy-region region0", "cxl disable-region region1",
		"cxl create-region -m -t pmem -w 1 mem0", "daxctl enable-device dax1.0",
	}
	if !slices.Equal(h.lines, want) {
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
		"nothing known of it":         {absent: true},
		"another has its name":        {target: cxl.Target{Serial: "0x99", Name: "mem0"}, want: cxl.ErrCommand},
		"a serial that none showed":   {target: cxl.Target{Serial: "0xB99", Unproved: true}, want: cxl.ErrCommand},
		"no serial of a host":         {target: cxl.Target{Serial: "S-0001"}, want: cxl.ErrCommand},
		"nor is a UUID one":           {target: cxl.Target{Serial: "d0000000-0000-4000-8000-000000000001"}, want: cxl.ErrCommand},
		"spread over several devices": {set: func(h *host) { h.answers["cxl-regions mem0"] = said("region region0 ram 0x1 2\n") }, target: cxl.Target{Name: "mem0"}, want: cxl.ErrInUse},
		"a region is not understood":  {set: func(h *host) { h.answers["cxl-regions mem0"] = said("region region0\n") }, target: cxl.Target{Name: "mem0"}, want: cxl.ErrCommand},
		"the script fails":            {set: func(h *host) { h.answers["cxl-list"] = remote.Result{Exit: 2} }, target: cxl.Target{Name: "mem0"}, want: cxl.ErrCommand},
		"unreachable":                 {set: func(h *host) { h.errs["cxl-list"] = remote.ErrUnreachable }, target: cxl.Target{Name: "mem0"}, want: cxl.ErrUnreachable},
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
		scanned := false
		h := newHost()
		h.dynamic = func(line string) (remote.Result, bool) {
			scanned = scanned || line == "pci-rescan"

			return said(strings.ReplaceAll(oneMemory, "mem0", "mem3")), line == "cxl-list" && scanned
		}
		h.answers["cxl-list"] = said("")

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
