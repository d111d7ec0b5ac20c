// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"errors"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
)

func TestShare_Of(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		share          string
		size, up, down int
	}{
		"a number":                  {"2", 10, 2, 2},
		"a number beyond the pool":  {"5", 3, 5, 5},
		"a percentage":              {"40%", 10, 4, 4},
		"a percentage with a rest":  {"40%", 4, 2, 1},
		"a percentage of few":       {"40%", 2, 1, 0},
		"a percentage of none":      {"40%", 0, 0, 0},
		"all":                       {"100%", 3, 3, 3},
		"nothing":                   {"0", 3, 0, 0},
		"nothing, as a percentage":  {"0%", 3, 0, 0},
		"the least that is not all": {"99%", 3, 3, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s, err := cluster.ParseShare(c.share)
			if err != nil || s.Of(c.size, true) != c.up || s.Of(c.size, false) != c.down || s.String() != c.share {
				t.Errorf("%s, %v: of %d it is %d and %d", s, err, c.size, s.Of(c.size, true), s.Of(c.size, false))
			}
		})
	}
}

func TestShare_Tolerates(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		share     string
		size, ill int
		tolerated bool
	}{
		"a number that is not reached":        {"2", 10, 1, true},
		"a number that is reached":            {"2", 10, 2, true},
		"a number that is passed":             {"2", 10, 3, false},
		"a share that is reached":             {"40%", 10, 4, true},
		"a share that is passed":              {"40%", 10, 5, false},
		"a share rounds down":                 {"40%", 4, 2, false},
		"a share of few machines is none":     {"40%", 2, 1, false},
		"all of them":                         {"100%", 3, 3, true},
		"none of them":                        {"0", 3, 1, false},
		"a share of none, and none is ill":    {"0%", 3, 0, true},
		"an empty pool has nothing to forbid": {"40%", 0, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s, err := cluster.ParseShare(c.share)
			if err != nil {
				t.Fatal(err)
			}

			err = s.Tolerates("gpu", c.size, c.ill)
			if (err == nil) != c.tolerated || (err != nil && !errors.Is(err, nodes.ErrNotAllowed)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestParseShare_refuses(t *testing.T) {
	t.Parallel()

	for _, s := range []string{"", "%", "-1", "+1", "-1%", "1.5", "101%", "40 %", " 40%", "many", "99999999999"} {
		if share, err := cluster.ParseShare(s); err == nil {
			t.Errorf("%q became %s", s, share)
		}
	}
}

func FuzzParseShare(f *testing.F) {
	for _, seed := range []string{"2", "40%", "", "%", "-1", "007", "١"} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, s string) {
		share, err := cluster.ParseShare(s)
		if err != nil {
			return
		}

		if again, err := cluster.ParseShare(share.String()); err != nil || again != share {
			t.Errorf("%q became %s, and that %s, %v", s, share, again, err)
		}

		if down, up := share.Of(10, false), share.Of(10, true); down < 0 || down > up || up > down+1 {
			t.Errorf("%q of 10 is %d and %d", s, down, up)
		}
	})
}
