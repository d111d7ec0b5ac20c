// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

func TestCluster_goneIsNoError(t *testing.T) {
	t.Parallel()

	forgiving := []string{
		"AuthRemove", "ConfigKeyRemove", "ConfigRemove", "CrushRemove", "CrushRuleRemove", "ErasureProfileRemove", "FSFail", "FSRemove",
		"MgrFail", "MonRemove", "OSDPurge", "PoolDelete",
	}

	for name, c := range tells() {
		if name == "OSDOut none" {
			continue
		}

		err := c.call(t.Context(), ceph.New(&script{other: says{code: -2}}))
		if slices.Contains(forgiving, name) != (err == nil) || (err != nil && !errors.Is(err, ceph.ErrNotFound)) {
			t.Errorf("%s, gone: %v", name, err)
		}

		if err := c.call(t.Context(), ceph.New(&script{other: says{code: -13}})); !errors.Is(err, ceph.ErrPermission) {
			t.Errorf("%s, not allowed: %v", name, err)
		}
	}
}

func TestCluster_thereAlready(t *testing.T) {
	t.Parallel()

	for name, words := range map[string]string{
		"PoolCreate": "pool 'p' already exists", "FSNew": "filesystem 'f' already exists", "CrushRuleCreateReplicated": "rule r already exists",
	} {
		call := tells()[name].call
		if err := call(t.Context(), ceph.New(&script{other: says{status: words}})); !errors.Is(err, ceph.ErrExists) {
			t.Errorf("%s: %v", name, err)
		}
	}

	if err := cluster(map[string]says{"osd crush rm": {code: -39}}).CrushRemove(t.Context(), "h1"); err != nil {
		t.Errorf("a bucket that is not empty: %v", err)
	}
}

func TestCluster_secretsNeverInErrors(t *testing.T) {
	t.Parallel()

	const word = "hunter2-hunter2"

	key := "AQ" + strings.Repeat("Cd", 18) + "=="

	calls := map[string]func(context.Context, *ceph.Cluster) error{
		"osd new":       func(x context.Context, c *ceph.Cluster) error { _, err := c.OSDNew(x, fsid, word, ""); return err },
		"auth import":   func(x context.Context, c *ceph.Cluster) error { return c.AuthImport(x, []byte("[a]\n key = "+word)) },
		"config set":    func(x context.Context, c *ceph.Cluster) error { return c.ConfigSet(x, "mgr", "a", word) },
		"config-key":    func(x context.Context, c *ceph.Cluster) error { return c.ConfigKeySet(x, "a", []byte(word)) },
		"dashboard":     func(x context.Context, c *ceph.Cluster) error { return c.DashboardUser(x, "a", word, "r") },
		"auth get":      func(x context.Context, c *ceph.Cluster) error { _, err := c.AuthGet(x, "a"); return err },
		"auth ls":       func(x context.Context, c *ceph.Cluster) error { _, err := c.AuthList(x); return err },
		"get-or-create": func(x context.Context, c *ceph.Cluster) error { _, err := c.AuthGetOrCreate(x, "a", nil); return err },
	}

	for _, name := range slices.Sorted(maps.Keys(calls)) {
		secret := word
		if strings.Contains(name, "auth get") || name == "auth ls" || name == "get-or-create" {
			secret = key // nothing secret goes in
		}

		for _, code := range []int{0, -22} {
			echo := "cannot take '" + secret + "' or " + key
			err := calls[name](t.Context(), ceph.New(&script{other: says{out: echo, status: echo, code: code}}))

			if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), key)) {
				t.Errorf("%s shows it: %v", name, err)
			}

			var e *ceph.Error
			if errors.As(err, &e) && strings.Contains(string(e.Out), secret) {
				t.Errorf("%s keeps it: %s", name, e.Out)
			}
		}
	}
}

func TestCluster_saysThatItIsMeant(t *testing.T) {
	t.Parallel()

	for prefix, name := range map[string]string{"osd pool create": "PoolCreate with all", "fs fail": "FSFail"} {
		s := &script{other: says{code: -1, status: "are you sure?"}}

		err := tells()[name].call(t.Context(), ceph.New(s))
		if !errors.Is(err, &ceph.Error{Code: -1}) || len(s.sent) != 2 || strings.Contains(s.sent[0].cmd, "yes_i") ||
			!strings.Contains(s.sent[1].cmd, `"yes_i_really_mean_it":true`) {
			t.Errorf("%s: %v, %v", prefix, err, s.sent)
		}
	}

	s := &script{other: says{code: -1}}
	if err := tells()["PoolCreate"].call(t.Context(), ceph.New(s)); err == nil || len(s.sent) != 1 {
		t.Errorf("%v, %v", err, s.sent)
	}
}

func TestOSDRatios_areParts(t *testing.T) {
	t.Parallel()

	for _, r := range []float64{-0.1, 1.01, 95, math.NaN(), math.Inf(1)} {
		s := &script{}
		if err := ceph.New(s).OSDRatios(t.Context(), 0.95, r, 0.85); !errors.Is(err, ceph.ErrInvalid) || len(s.sent) != 0 {
			t.Errorf("%v: %v, %v", r, err, s.sent)
		}
	}
}

func TestError_words(t *testing.T) {
	t.Parallel()

	for code, want := range map[int]string{-1: "operation not permitted", -28: "no space left", -39: "not empty", -9999: "errno 9999"} {
		err := cluster(map[string]says{"osd in": {code: code}}).OSDIn(t.Context(), 1)
		if err == nil || err.Error() != "ceph osd in: "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestError_whatTheTransportKnows(t *testing.T) {
	t.Parallel()

	for _, kinds := range [][]error{{ceph.ErrNoManager}, {ceph.ErrNoQuorum}, {ceph.ErrNoManager, ceph.ErrLost}} {
		known := errors.Join(append(kinds, &ceph.Error{Code: -110, Status: "timed out"})...)
		s := &script{other: says{err: known}}

		_, err := ceph.New(s).PGs(t.Context())
		for _, kind := range append(kinds, ceph.ErrTimedOut) {
			if !errors.Is(err, kind) {
				t.Errorf("%v, want %v", err, kind)
			}
		}

		if len(s.sent) != 1 || !strings.Contains(err.Error(), "ceph pg stat: timed out") {
			t.Errorf("%v after %v, want no second question", err, s.sent)
		}
	}
}

func TestAuthGetOrCreate_answers(t *testing.T) {
	t.Parallel()

	const user = `[{"entity":"mgr.a","key":"AQxyz","caps":{"mon":"allow profile mgr"}}]`

	for name, c := range map[string]struct {
		make, get says
		want      string
		err       error
	}{
		"made, or there":   {make: says{out: "\n" + user}, want: "AQxyz"},
		"other caps":       {make: says{code: -22, status: "key for mgr.a exists but cap mon does not match"}, get: says{out: user}, want: "AQxyz"},
		"caps that are no": {make: says{code: -22, status: "mon capability parse failed"}, err: ceph.ErrInvalid},
		"another user":     {make: says{out: `[{"entity":"mgr.b","key":"AQxyz"}]`}, err: ceph.ErrAnswer},
		"no key":           {make: says{out: `[{"entity":"mgr.a"}]`}, err: ceph.ErrAnswer},
		"nothing":          {err: ceph.ErrAnswer},
	} {
		key, err := cluster(map[string]says{"auth get-or-create": c.make, "auth get": c.get}).AuthGetOrCreate(t.Context(), "mgr.a", nil)
		if key != c.want || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%s: %q, %v", name, key, err)
		}
	}
}

func TestOSDSafeToDestroy_answers(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		says  says
		safe  bool
		words string
		err   error
	}{
		"all":                   {says: says{out: `{"safe_to_destroy":[0,3],"active":[],"missing_stats":[],"stored_pgs":[]}`}, safe: true},
		"one of two":            {says: says{out: `{"safe_to_destroy":[3],"active":[0]}`}, words: "OSDs [0] hold placement groups"},
		"none, and yet success": {says: says{out: `{"safe_to_destroy":[],"active":[0,3]}`}, words: "[0 3]"},
		"busy":                  {says: says{code: -16, status: "OSD(s) 0 have 3 pgs currently mapped to them."}, words: "3 pgs"},
		"not known":             {says: says{code: -11, status: "no stats yet"}, words: "no stats"},
		"what is no id":         {says: says{out: `{"safe_to_destroy":[null,"x",3]}`}, words: "OSDs"},
		"no list":               {says: says{out: `{"safe_to_destroy":null}`}, err: ceph.ErrAnswer},
		"nothing":               {err: ceph.ErrAnswer},
	} {
		safe, words, err := cluster(map[string]says{"osd safe-to-destroy": c.says}).OSDSafeToDestroy(t.Context(), 0, 3)
		if safe != c.safe || !strings.Contains(words, c.words) || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%s: %v, %q, %v", name, safe, words, err)
		}
	}

	if safe, _, _ := always(`{"safe_to_destroy":[]}`).OSDSafeToDestroy(t.Context()); safe {
		t.Error("no OSDs are safe")
	}
}

func TestOSDNew_answers(t *testing.T) {
	t.Parallel()

	for out, want := range map[string]int{"\n{\"osdid\":3}": 3, "3\n": 3, `{"osdid":"4"}`: 4, `{"osdid":0}`: 0} {
		if id, err := always(out).OSDNew(t.Context(), fsid, "s", ""); err != nil || id != want {
			t.Errorf("%q: %d, %v", out, id, err)
		}
	}

	for _, out := range []string{"", "{}", `{"osdid":null}`, `{"osdid":"x"}`, `{"osdid":-1}`, "-1", `{"osdid":1.5}`} {
		if id, err := always(out).OSDNew(t.Context(), fsid, "s", ""); !errors.Is(err, ceph.ErrAnswer) {
			t.Errorf("%q: %d, %v", out, id, err)
		}
	}

	taken := cluster(map[string]says{"osd new": {code: -17, status: "entity osd.3 exists but key does not match"}})
	if _, err := taken.OSDNew(t.Context(), fsid, "s", ""); !errors.Is(err, ceph.ErrExists) {
		t.Errorf("%v, want ErrExists", err)
	}
}

func TestMonOkToStop_answers(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		says says
		want ceph.OkToStop
		err  error
	}{
		"yes":      {says: says{status: "quorum should be preserved (b,c) after stopping [a]"}, want: ceph.OkToStop{OK: true, Words: "quorum should be preserved (b,c) after stopping [a]"}},
		"no":       {says: says{code: -16, status: "not enough monitors"}, want: ceph.OkToStop{Words: "not enough monitors"}},
		"an error": {says: says{code: -22}, err: ceph.ErrInvalid},
	} {
		fake := cluster(map[string]says{"mon ok-to-stop": c.says, "mon ok-to-rm": c.says})

		for _, ask := range []func(context.Context, string) (ceph.OkToStop, error){fake.MonOkToStop, fake.MonOkToRemove} {
			got, err := ask(t.Context(), "a")
			if diff := cmp.Diff(c.want, got); diff != "" || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
				t.Errorf("%s: %v\n%s", name, err, diff)
			}
		}
	}
}

func TestPGs_answers(t *testing.T) {
	t.Parallel()

	for out, want := range map[string][]ceph.PGState{
		`{"pg_ready":true,"pg_summary":{"num_pg_by_state":[{"name":"active+clean","num":1}],"num_pgs":1}}`: {{State: "active+clean", Count: 1}},
		`{"num_pg_by_state":[{"name":"peering","num":"2"}],"num_pgs":2}`:                                   {{State: "peering", Count: 2}},
		`{"pg_ready":false,"pg_summary":{"num_pg_by_state":[]}}`:                                           {{State: "unknown", Count: 1}},
		`{"pg_ready":true,"pg_summary":{"num_pg_by_state":[]}}`:                                            {},
	} {
		got, err := always(out).PGs(t.Context())
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", out, err, diff)
		}
	}
}
