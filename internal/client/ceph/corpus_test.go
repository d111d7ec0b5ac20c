// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

func TestOCEPH01_textAroundTheAnswer(t *testing.T) {
	t.Parallel()

	const tree = `{"nodes":[{"id":-1,"name":"default","type":"root","children":[-2]},` +
		`{"id":-2,"name":"h1","type":"host","children":[0]},{"id":0,"name":"osd.0","type":"osd","device_class":"ssd"}],"stray":[]}`

	const dump = `{"epoch":3,"osds":[{"osd":0,"up":1,"in":1}],"pools":[]}`

	for name, c := range map[string]struct {
		before, after string
		bad           bool
	}{
		"an empty line before":          {before: "\n"},
		"lines of a tool before":        {before: "--> Zapping: /dev/sdb\n--> use {x} or [y]\n"},
		"text after":                    {after: "\nDone [1] {2}"},
		"brackets in a banner":          {before: "[WARN] {\"a\":1} [] {\"nodes\":7}\n"},
		"other documents before":        {before: "{}\n[]\n{\"epoch\":\"x\"} [{\"epoch\":1}]\n"},
		"text before on the same line":  {before: "warning: deprecated {option} "},
		"an open bracket in a banner":   {before: "hint: {[ \n"},
		"a document that is cut off":    {before: `{"x":`, bad: true},
		"a cut list, with a whole list": {before: "[\n", bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m, err := cluster(map[string]says{
				"osd dump": {out: c.before + dump + c.after}, "osd tree": {out: c.before + tree + c.after},
			}).OSDMap(t.Context())

			if c.bad {
				if !errors.Is(err, ceph.ErrAnswer) {
					t.Fatalf("%v, want ErrAnswer", err)
				}

				return
			}

			if err != nil || len(m.OSDs) != 1 || m.OSDs[0].Host != "h1" || m.OSDs[0].Class != "ssd" {
				t.Fatalf("%+v, %v", m, err)
			}
		})
	}
}

func TestOCEPH01_nothingIsNeverNoOSDs(t *testing.T) {
	t.Parallel()

	const key = "AQCZ0bRmAAAAABAAq1jW7Gk7pXWu0X0bqQdY2A=="

	for name, c := range map[string]struct {
		out, status, want string
	}{
		"nothing at all":      {want: "it said nothing"},
		"blank lines":         {out: "\n \n", want: "it said nothing"},
		"JSON in the words":   {status: `{"epoch":1,"osds":[]}`, want: `with the words "{\"epoch\":1`},
		"a key in the answer": {out: "key = " + key + " and more", want: "(hidden)"},
		"a key in a document": {out: `{"cephx_secret":"` + key + `"}`, want: "(hidden)"},
		"no list of OSDs":     {out: `{"epoch":1}`, want: "epoch"},
		"half a document":     {out: `{"epoch":1,"osds":[{"osd":0}`, want: "epoch"},
		"a very long answer":  {out: strings.Repeat("no ", 5000), want: "…"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := cluster(map[string]says{
				"osd dump": {out: c.out, status: c.status}, "osd tree": {out: `{"nodes":[]}`},
			}).OSDMap(t.Context())
			if !errors.Is(err, ceph.ErrAnswer) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want ErrAnswer with %s", err, c.want)
			}

			if strings.Contains(err.Error(), key) || len(err.Error()) > 300 {
				t.Errorf("it says too much: %v", err)
			}
		})
	}
}

func TestOCEPH02_okToStopSaysNo(t *testing.T) {
	t.Parallel()

	const (
		no    = "\n" + `{"ok_to_stop":false,"osds":[0],"num_ok_pgs":0,"num_not_ok_pgs":5,"bad_become_inactive":["2.2"]}` + "\n"
		yes   = `{"ok_to_stop":true,"osds":[0,1],"num_ok_pgs":1,"num_not_ok_pgs":0,"ok_become_degraded":["1.0"]}`
		words = "unsafe to stop osd(s) at this time (5 PGs are or would become offline)"
	)

	for name, c := range map[string]struct {
		says says
		want ceph.OkToStop
		err  error
	}{
		"yes":          {says: says{out: yes}, want: ceph.OkToStop{OK: true, OSDs: []int{0, 1}}},
		"a refusal":    {says: says{out: no, status: words, code: -16}, want: ceph.OkToStop{OSDs: []int{0}, Words: words, NotOK: 5, BadPGs: []string{"2.2"}}},
		"not known":    {says: says{out: `{"ok_to_stop":false,"osds":[0],"unknown_pgs":["1.0"]}`, status: "1 pgs have unknown state", code: -11}, want: ceph.OkToStop{OSDs: []int{0}, Words: "1 pgs have unknown state", BadPGs: []string{"1.0"}}},
		"words alone":  {says: says{status: words, code: -16}, want: ceph.OkToStop{Words: words}},
		"nothing":      {says: says{code: -16}, want: ceph.OkToStop{Words: "busy"}},
		"a lie":        {says: says{out: yes, code: -16}, want: ceph.OkToStop{OSDs: []int{0, 1}, Words: "busy"}},
		"old yes":      {says: says{status: "OSD(s) 0 are ok to stop without reducing availability"}, want: ceph.OkToStop{OK: true, OSDs: []int{0, 1}, Words: "OSD(s) 0 are ok to stop without reducing availability"}},
		"empty":        {err: ceph.ErrAnswer},
		"EPERM":        {says: says{code: -1}, err: &ceph.Error{Code: -1}},
		"EACCES":       {says: says{code: -13}, err: ceph.ErrPermission},
		"out of time":  {says: says{code: -110}, err: ceph.ErrTimedOut},
		"a null field": {says: says{out: `{"ok_to_stop":null}`}, err: ceph.ErrAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := cluster(map[string]says{
				"osd ok-to-stop": c.says, "mgr stat": {out: `{"available":true,"active_name":"x"}`},
			}).OSDOkToStop(t.Context(), 0, 1)
			if !errors.Is(err, c.err) || (c.err == nil) != (err == nil) {
				t.Fatalf("%v, want %v", err, c.err)
			}

			if len(got.OSDs) == 0 {
				got.OSDs = nil
			}

			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOCEPH03_commandsThatNeverReturn(t *testing.T) {
	t.Parallel()

	calls := map[string]func(context.Context, *ceph.Cluster) error{
		"osd ok-to-stop": func(ctx context.Context, c *ceph.Cluster) error { _, err := c.OSDOkToStop(ctx, 0); return err },
		"osd safe-to-destroy": func(ctx context.Context, c *ceph.Cluster) error {
			_, _, err := c.OSDSafeToDestroy(ctx, 0)

			return err
		},
		"pg stat":   func(ctx context.Context, c *ceph.Cluster) error { _, err := c.PGs(ctx); return err },
		"osd purge": func(ctx context.Context, c *ceph.Cluster) error { return c.OSDPurge(ctx, 0) },
	}

	for name, c := range map[string]struct {
		stat   says
		within time.Duration
		want   error
		not    error
	}{
		"there is none":        {stat: says{out: `{"epoch":1,"available":false,"active_name":"","num_standby":0}`}, want: ceph.ErrNoManager},
		"it is told to be":     {stat: says{out: `{"available":true,"active_name":"x"}`}, want: ceph.ErrTimedOut, not: ceph.ErrNoManager},
		"nobody knows":         {stat: says{hangs: true}, want: ceph.ErrTimedOut, not: ceph.ErrNoManager},
		"the caller gives up":  {stat: says{hangs: true}, within: time.Second, want: context.DeadlineExceeded, not: ceph.ErrTimedOut},
		"the answer is no use": {stat: says{out: "?"}, want: ceph.ErrTimedOut, not: ceph.ErrNoManager},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for prefix, call := range calls {
				synctest.Test(t, func(t *testing.T) {
					ctx := t.Context()

					if c.within > 0 {
						var cancel context.CancelFunc

						ctx, cancel = context.WithTimeout(ctx, c.within)
						defer cancel()
					}

					began := time.Now()
					err := call(ctx, cluster(map[string]says{prefix: {hangs: true}, "mgr stat": c.stat}))

					if !errors.Is(err, c.want) || (c.not != nil && errors.Is(err, c.not)) {
						t.Errorf("%s: %v", prefix, err)
					}

					if took := time.Since(began); took > time.Minute {
						t.Errorf("%s took %s", prefix, took)
					}
				})
			}
		})
	}
}

func TestOCEPH03_monitorsThatNeverAnswer(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		c := ceph.New(&script{other: says{hangs: true}})

		if _, err := c.Status(t.Context()); !errors.Is(err, ceph.ErrNoQuorum) {
			t.Errorf("%v, want ErrNoQuorum", err)
		}

		b := ceph.New(&batchScript{script: script{other: says{hangs: true}}})

		if _, err := b.Snapshot(t.Context()); !errors.Is(err, ceph.ErrNoQuorum) {
			t.Errorf("%v, want ErrNoQuorum", err)
		}
	})
}

func TestOCEPH06_statesOfGroups(t *testing.T) {
	t.Parallel()

	for state, healthy := range map[string]bool{
		"active+clean": true, "active+clean+scrubbing+deep": true, "active+clean+scrubbing": true, "active+clean+snaptrim": true,
		"active+clean+snaptrim_wait": true, "active+clean+scrubbing+deep+snaptrim_wait": true,
		"active+undersized": false, "active+undersized+degraded": false, "active+clean+laggy": false, "unknown": false,
		"active+clean+remapped": false, "peering": false, "active": false, "clean": false, "": false, "active+scrubbing": false,
		"active+clean+new-in-a-later-release": false,
	} {
		bad := ceph.PGsHealthy([]ceph.PGState{{State: "active+clean", Count: 4}, {State: state, Count: 1}, {State: "peering", Count: 0}})
		if (len(bad) == 0) != healthy {
			t.Errorf("%q: %v", state, bad)
		}
	}

	if bad := ceph.PGsHealthy(nil); bad != nil {
		t.Errorf("no groups: %v", bad)
	}
}
