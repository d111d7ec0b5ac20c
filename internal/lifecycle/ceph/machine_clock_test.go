// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// TestProblems_clocks: only what is certain counts, and only hosts of monitors count.
func TestProblems_clocks(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		ahead, by map[string]time.Duration
		mons      []string
		silent    string
		want      []string
	}{
		"clocks that agree are fine": {ahead: map[string]time.Duration{"h1": 5 * time.Second, "h2": 5*time.Second + 9*time.Millisecond, "h3": 5 * time.Second}},
		"a clock that is off is named with both hosts": {
			ahead: map[string]time.Duration{"h2": 2 * time.Second},
			want:  []string{"h1 and h2 are 2s apart", "h2 and h3 are 2s apart"},
		},
		"a clock may be behind": {
			ahead: map[string]time.Duration{"h3": -300 * time.Millisecond},
			want:  []string{"h1 and h3 are 300ms apart", "h2 and h3 are 300ms apart"},
		},
		"what was measured badly does not count": {
			ahead: map[string]time.Duration{"h2": 2 * time.Second}, by: map[string]time.Duration{"h2": 3 * time.Second},
		},
		"a host without a monitor may have any time": {
			ahead: map[string]time.Duration{"h3": time.Hour}, mons: []string{"h1", "h2"},
		},
		"a host that does not answer tells no time": {ahead: map[string]time.Duration{"h3": time.Hour}, silent: "h3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			sc := settled(t)
			if c.mons != nil {
				sc.w.Mon.Hosts = c.mons
			}

			for _, h := range []string{"h1", "h2", "h3"} {
				sc.host(h, func(s *ceph.HostSeen) { s.Clock, s.ClockBy = c.ahead[h], c.by[h] })
			}

			if c.silent != "" {
				sc.silent(c.silent)
			}

			var got []string

			for _, p := range ceph.Problems(&sc.w, &sc.s, false) {
				if strings.Contains(p, "clocks") {
					got = append(got, p)
				}
			}

			if len(got) != len(c.want) {
				t.Fatalf("got %q", got)
			}

			for i, w := range c.want {
				if !strings.Contains(got[i], w) {
					t.Errorf("%q is not in %q", w, got[i])
				}
			}
		})
	}
}
