// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/pool"
)

// in runs a test on a cluster, in virtual time.
func in(t *testing.T, test func(t *testing.T, m *mon, c *api.Cluster)) {
	t.Helper()

	synctest.Test(t, func(t *testing.T) {
		m := newMon()
		test(t, m, api.New(m))
	})
}

func TestCreate(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, m *mon, c *api.Cluster) {
		t.Helper()

		w := pool.Wanted{Name: "p", Type: pool.Replicated, Size: 2, MinSize: 2, Application: "rbd", Place: pool.Place{Domain: "rack", Class: "ssd"}}

		seen, made, err := pool.Create(t.Context(), c, w)
		if err != nil || !made || seen.Name != "p" || seen.Size != 2 || seen.MinSize != 2 || seen.Rule.Name != "p" || !seen.Rule.Own || seen.Rule.Place != (pool.Place{Domain: "rack", Class: "ssd", Root: "default"}) {
			t.Errorf("got %+v, %t: %v", seen, made, err)
		}

		before := len(m.changes)

		if _, made, err := pool.Create(t.Context(), c, w); made || !errors.Is(err, pool.ErrExists) || len(m.changes) != before {
			t.Errorf("a second one: %t, %v, %v", made, err, m.changes[before:])
		}

		if _, err := pool.Update(t.Context(), c, pool.Which{ID: seen.ID, Name: "p"}, w); err != nil || len(m.changes) != before {
			t.Errorf("what is so already is changed: %v, %v", m.changes[before:], err)
		}
	})
}

func TestCreate_refusedLeavesNothing(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, m *mon, c *api.Cluster) {
		t.Helper()

		m.refuse["osd pool create"] = &api.Error{Code: -34, Status: "pg_num 999 would be too many"}

		_, made, err := pool.Create(t.Context(), c, pool.Wanted{Name: "p", Place: pool.Place{Domain: "osd"}})
		if made || err == nil || !strings.Contains(err.Error(), "too many") {
			t.Errorf("%t, %v", made, err)
		}

		if len(m.rules) != 1 {
			t.Errorf("the rule is left: %v", m.rules)
		}
	})
}

// TestCreate_failsHalfWay tells that the pool stands, also where the verb was given up.
func TestCreate_failsHalfWay(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, m *mon, c *api.Cluster) {
		t.Helper()

		m.refuse["osd pool application enable"] = &api.Error{Code: -22, Status: "no such application"}

		seen, made, err := pool.Create(t.Context(), c, pool.Wanted{Name: "p", Application: "x"})
		if !made || err == nil || seen.Name != "p" || seen.ID == 0 {
			t.Errorf("got %+v, %t: %v", seen, made, err)
		}
	})

	in(t, func(t *testing.T, m *mon, _ *api.Cluster) {
		t.Helper()

		ctx, cancel := context.WithCancel(t.Context())
		c := api.New(&stopping{mon: m, at: "osd pool create", cancel: cancel})

		seen, made, err := pool.Create(ctx, c, pool.Wanted{Name: "p", Application: "x"})
		if !made || err == nil || seen.ID == 0 {
			t.Errorf("got %+v, %t: %v", seen, made, err)
		}
	})
}

// TestCreate_answerIsLost makes the pool and says so to nobody.
func TestCreate_answerIsLost(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		makes, dead bool
		err, want   error
		made        bool
	}{
		"lost, and the pool stands":        {makes: true, err: api.ErrLost, made: true},
		"timed out, and the pool stands":   {makes: true, err: api.ErrTimedOut, made: true},
		"lost, and there is no pool":       {err: api.ErrLost, want: api.ErrLost},
		"lost, and nobody can look either": {makes: true, dead: true, err: api.ErrLost, want: pool.ErrUnsure},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			in(t, func(t *testing.T, m *mon, _ *api.Cluster) {
				t.Helper()

				deaf := &deaf{mon: m, makes: c.makes, dead: c.dead, err: c.err}

				seen, made, err := pool.Create(t.Context(), api.New(deaf), pool.Wanted{Name: "p", Place: pool.Place{Domain: "osd"}})
				if made != c.made || !errors.Is(err, c.want) || made && seen.ID == 0 {
					t.Errorf("got %+v, %t: %v", seen, made, err)
				}

				if _, left := m.rules["p"]; left != c.makes {
					t.Errorf("rules: %v", m.rules)
				}
			})
		})
	}
}

// deaf loses the answer to the creation of a pool.
type deaf struct {
	*mon

	makes, dead, over bool
	err               error
}

func (d *deaf) MonCommand(ctx context.Context, cmd []byte) ([]byte, string, error) {
	create := strings.Contains(string(cmd), "osd pool create")

	switch {
	case d.over, create && !d.makes:
		return nil, "", d.err
	case create:
		_, _, _ = d.mon.MonCommand(ctx, cmd)
		d.over = d.dead

		return nil, "", d.err
	default:
		return d.mon.MonCommand(ctx, cmd)
	}
}

// stopping ends the verb right after a command.
type stopping struct {
	*mon

	at     string
	cancel func()
}

func (s *stopping) MonCommand(ctx context.Context, cmd []byte) ([]byte, string, error) {
	out, status, err := s.mon.MonCommand(ctx, cmd)
	if strings.Contains(string(cmd), s.at) {
		s.cancel()
	}

	return out, status, err
}

// TestCreate_groupsThatNeverComeUp is a warning: the pool is as wanted, and cannot be used.
func TestCreate_groupsThatNeverComeUp(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, m *mon, _ *api.Cluster) {
		t.Helper()

		w := &slowStart{mon: m}

		seen, made, err := pool.Create(t.Context(), api.New(w), pool.Wanted{Name: "p"})
		if err != nil || !made || len(seen.Warnings) != 1 || !strings.Contains(seen.Warnings[0], "nothing can be written") {
			t.Errorf("got %v, %t: %v", seen.Warnings, made, err)
		}
	})
}

type slowStart struct{ *mon }

func (s *slowStart) MonCommand(ctx context.Context, cmd []byte) ([]byte, string, error) {
	if p := s.find("p"); p != nil {
		p.creating = 2
	}

	return s.mon.MonCommand(ctx, cmd)
}

func TestUpdate_rules(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, m *mon, c *api.Cluster) {
		t.Helper()

		update := func(name string, place pool.Place) pool.Seen {
			t.Helper()

			seen, err := pool.Update(t.Context(), c, pool.Which{ID: 1}, pool.Wanted{Name: name, Place: place})
			if err != nil {
				t.Fatal(err)
			}

			return seen
		}

		m.add("p")

		if seen := update("p", pool.Place{}); seen.Rule.Name != "replicated_rule" || seen.Rule.Own {
			t.Errorf("a pool that nobody placed moved: %+v", seen.Rule)
		}

		if seen := update("p", pool.Place{Domain: "host"}); seen.Rule.Name != "replicated_rule" {
			t.Errorf("what the rule says anyway made another one: %+v", seen.Rule)
		}

		if seen := update("p", pool.Place{Domain: "osd"}); seen.Rule.Name != "p" {
			t.Errorf("got %+v", seen.Rule)
		}

		if seen := update("p", pool.Place{Domain: "rack", Class: "nvme"}); seen.Rule.Name != "p_rack_nvme" {
			t.Errorf("got %+v", seen.Rule)
		}

		if _, left := m.rules["p"]; left || len(m.rules) != 2 {
			t.Errorf("the old rule is left: %v", m.rules)
		}

		if seen := update("q", pool.Place{Domain: "rack", Class: "nvme"}); seen.Rule.Name != "q_rack_nvme" || !seen.Rule.Own || len(m.rules) != 2 {
			t.Errorf("renamed: %+v, %v", seen.Rule, m.rules)
		}

		m.rules["q"], m.rules["q_row"] = ruleOf{"other", "row", ""}, ruleOf{"other", "row", ""}

		if _, err := pool.Update(t.Context(), c, pool.Which{ID: 1}, pool.Wanted{Name: "q", Place: pool.Place{Domain: "row"}}); err == nil || !strings.Contains(err.Error(), "q and q_row") {
			t.Errorf("rules of the same names that say something else: %v", err)
		}
	})
}

func TestUpdate_settings(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, m *mon, c *api.Cluster) {
		t.Helper()

		p := m.add("p")
		p.apps = []string{"old"}

		w := pool.Wanted{
			Name: "p", Size: 2, MinSize: 2, Autoscale: "off", PGNum: 64, Application: "new", QuotaBytes: 7, Compression: "force",
			Parameters: map[string]string{"target_size_ratio": "0.2", "nodelete": "true"},
		}

		if _, err := pool.Update(t.Context(), c, pool.Which{Name: "p"}, w); err != nil {
			t.Fatal(err)
		}

		for key, want := range map[string]string{
			"size": "2", "min_size": "2", "pg_num": "64", "pg_autoscale_mode": "off", "max_bytes": "7", "compression_mode": "force", "nodelete": "true", "target_size_ratio": "",
		} {
			if p.set[key] != want {
				t.Errorf("%s is %q, want %q", key, p.set[key], want)
			}
		}

		if !slices.Equal(p.apps, []string{"new"}) {
			t.Errorf("applications: %v", p.apps)
		}

		// The autoscaler would take it back.
		if _, err := pool.Update(t.Context(), c, pool.Which{Name: "p"}, pool.Wanted{Name: "p", Autoscale: "on", PGNum: 8}); err != nil || p.set["pg_num"] != "64" {
			t.Errorf("%s groups: %v", p.set["pg_num"], err)
		}

		if _, err := pool.Update(t.Context(), c, pool.Which{Name: "p"}, pool.Wanted{Name: "p", Unset: []string{"target_size_ratio", "absent"}}); err != nil || p.set["target_size_ratio"] != "0" {
			t.Errorf("a number is unset by %q: %v", p.set["target_size_ratio"], err)
		}
	})
}

func TestUpdate_failureTellsWhatWasReached(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, m *mon, c *api.Cluster) {
		t.Helper()

		m.add("p")
		m.refuse["osd pool set-quota"] = &api.Error{Code: -22, Status: "no quota today"}

		seen, err := pool.Update(t.Context(), c, pool.Which{Name: "p"}, pool.Wanted{Name: "p", Size: 2, QuotaBytes: 1})
		if err == nil || !strings.Contains(err.Error(), "no quota today") || seen.Size != 2 || seen.QuotaBytes != 0 {
			t.Errorf("got %+v: %v", seen.Pool, err)
		}
	})
}

// TestOptions_arePutBack sets options of the monitors for the moment, in all that can happen.
func TestOptions_arePutBack(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		was    string // empty: not set
		lag    int
		refuse string
		fails  bool
	}{
		"not set before":                   {},
		"false before":                     {was: "false"},
		"true before":                      {was: "true"},
		"the monitors learn of it late":    {was: "false", lag: 3},
		"the monitors never learn of it":   {lag: 1000, fails: true},
		"it fails for a reason of its own": {refuse: "osd pool delete", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			in(t, func(t *testing.T, m *mon, cl *api.Cluster) {
				t.Helper()

				m.add("p")

				m.lag = c.lag
				if c.was != "" {
					m.config["mon_allow_pool_delete"] = c.was
				}

				if c.refuse != "" {
					m.refuse[c.refuse] = &api.Error{Code: -16, Status: "pool is in use by a file system"}
				}

				_, err := pool.Delete(t.Context(), cl, pool.Which{Name: "p"}, false)
				if (err != nil) != c.fails || (m.find("p") != nil) != c.fails {
					t.Errorf("got %v, and the pool is there: %t", err, m.find("p") != nil)
				}

				if now := m.config["mon_allow_pool_delete"]; now != c.was || len(m.notes) > 0 {
					t.Errorf("the option was %q and is %q; notes: %v", c.was, now, m.notes)
				}
			})
		})
	}
}

func TestOptions_sizeOne(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, m *mon, c *api.Cluster) {
		t.Helper()

		if _, _, err := pool.Create(t.Context(), c, pool.Wanted{Name: "p", Size: 1}); err == nil || m.find("p") != nil {
			t.Errorf("one copy without being asked for: %v", err)
		}

		seen, _, err := pool.Create(t.Context(), c, pool.Wanted{Name: "p", Size: 1, AllowSizeOne: true})
		if err != nil || seen.Size != 1 || len(m.config) != 0 {
			t.Errorf("got %+v, and %v is set: %v", seen.Pool, m.config, err)
		}
	})
}

// TestOptions_ofAKilledRun are put back by the next one.
func TestOptions_ofAKilledRun(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, m *mon, c *api.Cluster) {
		t.Helper()

		left := func() {
			m.config["mon_allow_pool_delete"], m.notes["metal3/permit/mon_allow_pool_delete"] = "true", `{"set":true,"value":"false"}`
			m.config["mon_allow_pool_size_one"], m.notes["metal3/permit/mon_allow_pool_size_one"] = "true", `{"set":false}`
		}
		asBefore := func() bool {
			_, one := m.config["mon_allow_pool_size_one"]

			return m.config["mon_allow_pool_delete"] == "false" && !one && len(m.notes) == 0
		}

		left()

		if _, _, err := pool.Create(t.Context(), c, pool.Wanted{Name: "p"}); err != nil || !asBefore() {
			t.Errorf("create: %v, %v: %v", m.config, m.notes, err)
		}

		left()

		if _, err := pool.Delete(t.Context(), c, pool.Which{Name: "p"}, false); err != nil || !asBefore() {
			t.Errorf("delete: %v, %v: %v", m.config, m.notes, err)
		}
	})
}

// TestRule_ofSomebodyElse has the name that ours would have.
func TestRule_ofSomebodyElse(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, m *mon, c *api.Cluster) {
		t.Helper()

		m.rules["p"] = ruleOf{"default", "osd", ""}
		m.add("p").rule = "p"

		if seen, err := pool.Update(t.Context(), c, pool.Which{ID: 1}, pool.Wanted{Name: "q"}); err != nil || seen.Rule.Name != "p" {
			t.Errorf("it was renamed: %+v, %v", seen.Rule, err)
		}

		if _, err := pool.Update(t.Context(), c, pool.Which{ID: 1}, pool.Wanted{Name: "p", Place: pool.Place{Domain: "rack"}}); err != nil || len(m.rules) != 3 {
			t.Errorf("it was removed: %v, %v", m.rules, err)
		}

		m.add("other").rule = "p_rack" // ours, and another pool has taken it

		if seen, err := pool.Update(t.Context(), c, pool.Which{ID: 1}, pool.Wanted{Name: "q"}); err != nil || seen.Rule.Name != "p_rack" {
			t.Errorf("a rule of another pool was renamed: %+v, %v", seen.Rule, err)
		}
	})
}

// TestPlace_aPartOfIt takes the failure domain of the first rule.
func TestPlace_aPartOfIt(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, m *mon, c *api.Cluster) {
		t.Helper()

		m.rules["replicated_rule"] = ruleOf{"default", "osd", ""}

		w := pool.Wanted{Name: "zz", Place: pool.Place{Class: "ssd"}}

		seen, _, err := pool.Create(t.Context(), c, w)
		if err != nil || seen.Rule.Place != (pool.Place{Domain: "osd", Class: "ssd", Root: "default"}) {
			t.Errorf("got %+v, %v", seen.Rule, err)
		}

		before := len(m.changes)

		if _, err := pool.Update(t.Context(), c, pool.Which{ID: 1}, w); err != nil || len(m.changes) != before {
			t.Errorf("changed: %v, %v", m.changes[before:], err)
		}
	})
}

func TestOptions_thatCannotBePutBack(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, m *mon, c *api.Cluster) {
		t.Helper()

		m.add("p")
		m.refuse["config rm"] = &api.Error{Code: -1, Status: "no"}

		_, err := pool.Delete(t.Context(), c, pool.Which{Name: "p"}, false)
		if err == nil || !strings.Contains(err.Error(), "mon_allow_pool_delete") || !strings.Contains(err.Error(), "put back") {
			t.Errorf("got %v", err)
		}
	})
}

func TestDelete(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		objects  int64
		late     int64
		noMgr    bool
		withData bool
		want     error
		says     string
	}{
		"an empty pool goes":                       {},
		"objects keep it":                          {objects: 7, want: pool.ErrHoldsData, says: "7 objects with 70 bytes"},
		"objects that are not told of yet keep it": {late: 3, want: pool.ErrHoldsData, says: "3 objects"},
		"objects go with it where that is meant":   {objects: 7, withData: true},
		"without a manager nobody knows":           {noMgr: true, want: api.ErrNoManager},
		"without a manager it goes where told so":  {noMgr: true, withData: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			in(t, func(t *testing.T, m *mon, cl *api.Cluster) {
				t.Helper()

				m.add("other").rule = "p_rack"
				m.add("p").rule = "p"
				m.notes["metal3/rule/p"] = "p"
				m.rules["p"], m.rules["p_rack"] = ruleOf{"default", "osd", ""}, ruleOf{"default", "rack", ""}
				m.objects["p"], m.late, m.noMgr = c.objects, c.late, c.noMgr

				_, err := pool.Delete(t.Context(), cl, pool.Which{ID: 2, Name: "p"}, c.withData)
				if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.says) {
					t.Fatalf("got %v", err)
				}

				if (m.find("p") == nil) != (c.want == nil) {
					t.Error("the pool is there, or is not")
				}

				if _, left := m.rules["p"]; left != (c.want != nil) {
					t.Errorf("rules: %v", m.rules)
				}

				if c.want == nil {
					if _, err := pool.Delete(t.Context(), cl, pool.Which{ID: 2, Name: "p"}, false); err != nil {
						t.Errorf("a pool that is gone: %v", err)
					}
				}
			})
		})
	}
}

// TestLook_theNumberCounts meets another pool of the same name.
func TestLook_theNumberCounts(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, m *mon, c *api.Cluster) {
		t.Helper()

		m.add("p").id = 9

		if _, err := pool.Look(t.Context(), c, pool.Which{ID: 4, Name: "p"}); !errors.Is(err, pool.ErrNoPool) || !strings.Contains(err.Error(), "number 9") {
			t.Errorf("got %v", err)
		}

		if _, err := pool.Delete(t.Context(), c, pool.Which{ID: 4, Name: "p"}, true); err != nil || m.find("p") == nil {
			t.Errorf("another pool was deleted: %v", err)
		}

		m.find("p").name = "renamed"

		if seen, err := pool.Look(t.Context(), c, pool.Which{ID: 9, Name: "p"}); err != nil || seen.Name != "renamed" {
			t.Errorf("got %+v, %v", seen, err)
		}
	})
}

// TestLook_oneAnswerIsNotEnough has a map without a pool that is there.
func TestLook_oneAnswerIsNotEnough(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, m *mon, c *api.Cluster) {
		t.Helper()

		m.add("p").unlisted = true

		if _, err := pool.Look(t.Context(), c, pool.Which{ID: 1, Name: "p"}); !errors.Is(err, api.ErrAnswer) || errors.Is(err, pool.ErrNoPool) {
			t.Errorf("got %v", err)
		}

		if _, err := pool.Look(t.Context(), c, pool.Which{Name: "absent"}); !errors.Is(err, pool.ErrNoPool) {
			t.Errorf("got %v", err)
		}
	})
}

func TestSameValue(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"0.2", "0.20000000298023224", true},
		{"true", "1", true},
		{"false", "0", true},
		{"zstd", "zstd", true},
		{"zstd", "lz4", false},
		{"1", "2", false},
		{"", "0", false},
		{"5", "5.0", true},
		{"64K", "65536", true},
		{"1G", "1073741824", true},
		{"1Gi", "1073741824", true},
		{"1GiB", "1G", true},
		{"1G", "1000000000", false},
		{"0", "unset", true},
		{"K", "0", false},
		{"NaN", "NaN0", false},
		{"B", "i", false},
		{"1B", "1", false},
	} {
		if pool.SameValue(c.a, c.b) != c.same {
			t.Errorf("%q and %q", c.a, c.b)
		}
	}
}
