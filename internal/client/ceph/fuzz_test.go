// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"context"
	"errors"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// fuzzAnswer feeds one answer to a method: it must not panic, and an answer that is not read
// is ErrAnswer.
func fuzzAnswer(f *testing.F, file string, read func(context.Context, *ceph.Cluster) error) {
	f.Helper()

	f.Add([]byte(recorded(f, file)))

	for _, seed := range []string{"", "{}", "[]", "null", `{"a":[{}]}`, "--> [x] {y}\n{\"fsid\":1}", "[{\"name\":null,\"caps\":7}]", "{[\n[{"} {
		f.Add([]byte(seed))
	}

	f.Fuzz(func(t *testing.T, out []byte) {
		if err := read(t.Context(), always(string(out))); err != nil && !errors.Is(err, ceph.ErrAnswer) {
			t.Fatal(err)
		}
	})
}

func FuzzStatus(f *testing.F) {
	fuzzAnswer(f, "status", func(ctx context.Context, c *ceph.Cluster) error { _, err := c.Status(ctx); return err })
}

func FuzzQuorum(f *testing.F) {
	fuzzAnswer(f, "quorum_status", func(ctx context.Context, c *ceph.Cluster) error { _, err := c.Quorum(ctx); return err })
}

func FuzzMgr(f *testing.F) {
	fuzzAnswer(f, "mgr_dump", func(ctx context.Context, c *ceph.Cluster) error { _, err := c.Mgr(ctx); return err })
}

func FuzzVersions(f *testing.F) {
	fuzzAnswer(f, "versions", func(ctx context.Context, c *ceph.Cluster) error { _, err := c.Versions(ctx); return err })
}

func FuzzConfigDump(f *testing.F) {
	fuzzAnswer(f, "config_dump", func(ctx context.Context, c *ceph.Cluster) error { _, err := c.ConfigDump(ctx); return err })
}

func FuzzAuthList(f *testing.F) {
	fuzzAnswer(f, "auth_ls", func(ctx context.Context, c *ceph.Cluster) error {
		users, err := c.AuthList(ctx)
		for _, u := range users {
			if u.Key != "" {
				return errors.New("a key was kept")
			}
		}

		return err
	})
}

func FuzzAuthGet(f *testing.F) {
	fuzzAnswer(f, "auth_ls", func(ctx context.Context, c *ceph.Cluster) error { _, err := c.AuthGet(ctx, "osd.0"); return err })
}

func FuzzMetadata(f *testing.F) {
	fuzzAnswer(f, "osd_metadata", func(ctx context.Context, c *ceph.Cluster) error { _, err := c.Metadata(ctx, "osd"); return err })
}

func FuzzPoolStats(f *testing.F) {
	fuzzAnswer(f, "df", func(ctx context.Context, c *ceph.Cluster) error { _, err := c.PoolStats(ctx); return err })
}

func FuzzPoolGet(f *testing.F) {
	fuzzAnswer(f, "pool_get_all", func(ctx context.Context, c *ceph.Cluster) error { _, err := c.PoolGet(ctx, "p"); return err })
}

func FuzzCrushRules(f *testing.F) {
	fuzzAnswer(f, "crush_rules", func(ctx context.Context, c *ceph.Cluster) error { _, err := c.CrushRules(ctx); return err })
}

func FuzzErasureProfileGet(f *testing.F) {
	fuzzAnswer(f, "pool_get_all", func(ctx context.Context, c *ceph.Cluster) error { _, err := c.ErasureProfileGet(ctx, "p"); return err })
}

func FuzzFSStatus(f *testing.F) {
	fuzzAnswer(f, "fs_dump", func(ctx context.Context, c *ceph.Cluster) error { _, err := c.FSStatus(ctx); return err })
}

func FuzzFSList(f *testing.F) {
	fuzzAnswer(f, "fs_ls", func(ctx context.Context, c *ceph.Cluster) error { _, err := c.FSList(ctx); return err })
}

func FuzzPGs(f *testing.F) {
	fuzzAnswer(f, "status", func(ctx context.Context, c *ceph.Cluster) error {
		states, err := c.PGs(ctx)
		ceph.PGsHealthy(states)

		return err
	})
}

func FuzzOSDNew(f *testing.F) {
	fuzzAnswer(f, "status", func(ctx context.Context, c *ceph.Cluster) error {
		id, err := c.OSDNew(ctx, fsid, "s", "")
		if id < 0 {
			return errors.New("an id below 0")
		}

		return err
	})
}

// FuzzOSDOkToStop makes sure that a refusal is never read as a yes.
func FuzzOSDOkToStop(f *testing.F) {
	f.Add([]byte(`{"ok_to_stop":true,"osds":[0]}`), -16)
	f.Add([]byte(`{"ok_to_stop":false,"osds":[0],"bad_become_inactive":["2.2"]}`), -11)
	f.Add([]byte(`OSD(s) 0 are ok to stop`), 0)
	f.Fuzz(func(t *testing.T, out []byte, code int) {
		got, err := cluster(map[string]says{
			"osd ok-to-stop": {out: string(out), code: code}, "mgr stat": {out: string(out)},
		}).OSDOkToStop(t.Context(), 0)
		if got.OK && (code != 0 || err != nil) {
			t.Fatalf("%+v, %v", got, err)
		}
	})
}

func FuzzOSDSafeToDestroy(f *testing.F) {
	f.Add([]byte(`{"safe_to_destroy":[0,1],"active":[],"missing_stats":[],"stored_pgs":[]}`))
	f.Add([]byte(`{"safe_to_destroy":[null]}`))
	f.Fuzz(func(t *testing.T, out []byte) {
		_, _, err := always(string(out)).OSDSafeToDestroy(t.Context(), 0)
		if err != nil && !errors.Is(err, ceph.ErrAnswer) {
			t.Fatal(err)
		}
	})
}

// FuzzOSDMap makes sure that each OSD is there once, and that strays are OSDs.
func FuzzOSDMap(f *testing.F) {
	f.Add([]byte(recorded(f, "osd_dump")), []byte(recorded(f, "osd_tree")))
	f.Add([]byte(`{"epoch":1,"osds":[{"osd":1},{"osd":1}]}`), []byte(`{"nodes":[{"id":-1,"children":[-1,1]}]}`))
	f.Fuzz(func(t *testing.T, dump, tree []byte) {
		m, err := cluster(map[string]says{"osd dump": {out: string(dump)}, "osd tree": {out: string(tree)}}).OSDMap(t.Context())
		if err != nil {
			if !errors.Is(err, ceph.ErrAnswer) {
				t.Fatal(err)
			}

			return
		}

		seen := map[int]bool{}
		for _, o := range m.OSDs {
			if o.ID < 0 || seen[o.ID] {
				t.Fatalf("osd.%d is there twice, or no id", o.ID)
			}

			seen[o.ID] = true
		}

		for _, id := range m.Strays {
			if !seen[id] {
				t.Fatalf("the stray %d is no OSD", id)
			}
		}
	})
}
