// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephlife_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// TestLife_upgrade goes from Debian 12's Ceph to Debian 13's, two majors ahead, on hosts whose
// programs change under running daemons.
func TestLife_upgrade(t *testing.T) {
	t.Parallel()

	root := acctest.CephRoot(t)
	m := newMany(t, 3)
	rec := must(t, m.run(t).Create(t.Context()))
	fsid, before := rec.FSID, rec.Versions["overall"]

	for _, h := range []string{"h1", "h2", "h3"} {
		m.hosts.Root(h, root)
	}

	seen := must(t, m.run(t).Refresh(t.Context(), rec))
	if !slices.ContainsFunc(seen.Drift, func(s string) bool { return strings.Contains(s, "older program") }) {
		t.Fatalf("the plan does not tell the upgrade: %v", seen.Drift)
	}

	start := time.Now()
	after := must(t, m.run(t).Update(t.Context(), seen))
	t.Logf("upgraded in %s from %v to %v", time.Since(start), before, after.Versions["overall"])

	if after.FSID != fsid || len(after.OSDs) != 3 || len(after.Mons) != 3 || len(after.Versions["overall"]) != 1 {
		t.Fatalf("after the upgrade: %+v", after)
	}

	for text := range after.Versions["overall"] {
		if before[text] > 0 {
			t.Fatalf("still %s", text)
		}
	}
}
