// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/fs"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/pool"
)

// world is a cluster with a memory, and its hosts.
type world struct {
	api.Commander

	pools   []string
	numbers map[string]int
	apps    map[string]bool // pools that are for something
	objects map[string]int
	fs      bool
	failed  bool
	data    []string
	users   map[string]bool
	servers map[string]bool // MDS that run
	writes  string          // a pool that gets an object when the file system fails
	never   bool            // no MDS becomes active
	joins   map[string]any  // MDS: its file system
	keep    string          // a pool that cannot be deleted
	alone   bool            // no manager is active
	mute    string          // an MDS that the cluster does not hear
	sent    []string
}

func newWorld() *world {
	return &world{numbers: map[string]int{}, apps: map[string]bool{}, objects: map[string]int{}, users: map[string]bool{}, joins: map[string]any{}, servers: map[string]bool{}}
}

func (w *world) reach() *ceph.Reach {
	loc := ceph.Location{FSID: "4b5c8c0a-ff60-454b-a1b4-9747aa737d19", Hosts: []string{"h1"}, Dir: "/d"}

	return ceph.NewSession(w).Reach(loc, nil)
}

func (w *world) MonCommand(ctx context.Context, cmd []byte) ([]byte, string, error) {
	if ctx.Err() != nil {
		return nil, "", ctx.Err()
	}

	var c map[string]any
	if err := json.Unmarshal(cmd, &c); err != nil {
		return nil, "", err
	}

	prefix := fmt.Sprint(c["prefix"])
	if name := fmt.Sprint(c["pool"]); prefix == "osd pool get" && !slices.Contains(w.pools, name) {
		return nil, "", &api.Error{Code: -2, Status: "unrecognized pool '" + name + "'"}
	}

	if prefix == "config-key get" {
		return nil, "", api.ErrNotFound // nothing was noted
	}

	if out, ok := w.ask(prefix); ok {
		doc, err := json.Marshal(out)

		return doc, "", err
	}

	w.sent = append(w.sent, prefix)

	switch prefix {
	case "osd pool create":
		w.pools = append(w.pools, fmt.Sprint(c["pool"]))
	case "config set":
		w.joins[fmt.Sprint(c["who"])] = c["value"]
	case "config rm":
		delete(w.joins, fmt.Sprint(c["who"]))
	case "osd pool delete":
		if c["pool"] == w.keep {
			return nil, "", &api.Error{Code: -16, Status: "not now"}
		}

		w.pools = slices.DeleteFunc(w.pools, func(p string) bool { return p == c["pool"] })
	case "fs new":
		w.fs, w.data = true, []string{fmt.Sprint(c["data"])}
		w.apps[fmt.Sprint(c["data"])], w.apps[fmt.Sprint(c["metadata"])] = true, true
	case "fs add_data_pool":
		if !slices.Contains(w.data, fmt.Sprint(c["pool"])) {
			w.data = append(w.data, fmt.Sprint(c["pool"]))
		}
	case "fs fail":
		w.failed = true
		if w.writes != "" {
			w.objects[w.writes] = 1
		}
	case "fs set":
		w.failed = w.failed && c["var"] != "joinable"
	case "fs rm":
		w.fs = false
	case "auth get-or-create":
		w.users[fmt.Sprint(c["entity"])] = true

		return []byte(`[{"entity":"` + fmt.Sprint(c["entity"]) + `","key":"k"}]`), "", nil
	case "auth rm":
		delete(w.users, fmt.Sprint(c["entity"]))
	}

	return nil, "", nil
}

type doc = map[string]any

func (w *world) ask(prefix string) (any, bool) {
	switch prefix {
	case "osd dump":
		pools := []any{}
		for _, p := range w.pools {
			if w.numbers[p] == 0 {
				w.numbers[p] = len(w.numbers) + 1
			}

			one := doc{"pool": w.numbers[p], "pool_name": p, "size": 3, "min_size": 2, "pg_num": 8, "pg_autoscale_mode": "on", "application_metadata": doc{}}
			if w.apps[p] {
				one["application_metadata"] = doc{"cephfs": doc{}}
			}

			pools = append(pools, one)
		}

		return doc{"epoch": 1, "osds": []any{}, "pools": pools}, true
	case "osd tree":
		return doc{"nodes": []any{}}, true
	case "osd crush rule dump":
		return []any{}, true
	case "df":
		pools := []any{}
		for _, p := range w.pools {
			pools = append(pools, doc{"name": p, "stats": doc{"objects": w.objects[p]}})
		}

		return doc{"pools": pools}, true
	case "osd pool get":
		return doc{"size": 3}, true
	case "fs ls":
		if !w.fs {
			return []any{}, true
		}

		return []any{doc{"name": "f", "metadata_pool": "f-metadata", "data_pools": w.data}}, true
	case "fs dump":
		info, standbys := doc{}, []any{}

		// One serves, the others stand by.
		for i, name := range slices.Sorted(maps.Keys(w.servers)) {
			switch {
			case name == w.mute:
			case i > 0:
				standbys = append(standbys, doc{"name": name, "state": "up:standby"})
			case w.never:
				info[name] = doc{"name": name, "state": "up:rejoin"}
			default:
				info[name] = doc{"name": name, "state": "up:active"}
			}
		}

		list := []any{}
		if w.fs && !w.failed {
			list = append(list, doc{"id": 1, "mdsmap": doc{"fs_name": "f", "max_mds": 1, "info": info}})
		}

		return doc{"epoch": 1, "standbys": standbys, "filesystems": list}, true
	case "mgr dump":
		return doc{"active_name": "x", "available": !w.alone, "standbys": []any{}, "modules": []any{}, "services": doc{}}, true
	case "config dump":
		all := []any{}
		for who, fs := range w.joins {
			all = append(all, doc{"section": who, "name": "mds_join_fs", "value": fs})
		}

		return all, true
	case "mds metadata":
		return []any{}, true
	default:
		return nil, false
	}
}

// host is a host of the cluster.
type host struct {
	ceph.Host

	of      *world
	name    string
	down    bool
	foreign bool // it has no identity of the cluster
	missing bool // it has no ceph-mds
	did     []string
}

func (h *host) Name() string { return "root@" + h.name + ":22" }

func (h *host) Look(context.Context, ceph.Layout, ceph.Ask) (ceph.Facts, error) {
	if h.down {
		return ceph.Facts{}, ceph.ErrUnreachable
	}

	f := ceph.Facts{Hostname: h.name + ".lan", ConfSum: "x", Programs: map[string]string{"ceph-mds": "/usr/bin/ceph-mds"}, Root: true, CephUser: true, Identity: &ceph.Identity{Name: "c"}}
	if h.foreign {
		f.Identity = nil
	}

	if h.missing {
		f.Programs = nil
	}

	return f, nil
}

func (h *host) MakeDaemon(_ context.Context, l ceph.Layout, d ceph.Daemon, keyring []byte) error {
	if l.User != "ceph" || l.Dir != "/d" || l.FSID == "" || ceph.KeyOf(keyring, d.String()) != "k" {
		return fmt.Errorf("made of %+v, %s", l, d)
	}

	h.did = append(h.did, "make "+d.String())

	return nil
}

func (h *host) Start(_ context.Context, _ ceph.Layout, d ceph.Daemon, _ ceph.StartHow) error {
	h.did, h.of.servers[d.ID] = append(h.did, "start "+d.String()), true

	return nil
}

func (h *host) Stop(_ context.Context, _ ceph.Layout, d ceph.Daemon) error {
	h.did = append(h.did, "stop "+d.String())
	delete(h.of.servers, d.ID)

	return nil
}

func (h *host) Remove(_ context.Context, _ ceph.Layout, d ceph.Daemon) error {
	h.did = append(h.did, "remove "+d.String())

	return nil
}

func wanted(hosts ...ceph.Host) fs.Wanted {
	return fs.Wanted{
		Name: "f", Meta: pool.Wanted{Name: "f-metadata", Type: pool.Replicated}, Data: []pool.Wanted{{Name: "f-data0", Type: pool.Replicated}}, Active: 1, Hosts: hosts,
	}
}

func in(t *testing.T, test func(t *testing.T, w *world, h1, h2 *host)) {
	t.Helper()

	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		test(t, w, &host{of: w, name: "h1"}, &host{of: w, name: "h2"})
	})
}

func TestLife(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, w *world, h1, h2 *host) {
		t.Helper()

		// An earlier try left an empty pool.
		w.pools = []string{"f-metadata"}

		seen, made, err := fs.Create(t.Context(), w.reach(), wanted(h1))
		if err != nil || !made || seen.MDS["f-h1-lan"] != (fs.MDS{Host: "h1.lan", State: "active"}) || !slices.Equal(h1.did, []string{"make mds.f-h1-lan", "start mds.f-h1-lan"}) {
			t.Fatalf("got %+v, %t, did %v: %v", seen.MDS, made, h1.did, err)
		}

		if _, made, err := fs.Create(t.Context(), w.reach(), wanted(h1)); made || !errors.Is(err, fs.ErrExists) {
			t.Errorf("a second one: %v", err)
		}

		moved := wanted(h2)
		moved.Former = []ceph.Host{h1, h2}

		if _, err := fs.Update(t.Context(), w.reach(), moved, false); err != nil || !w.servers["f-h2-lan"] || w.servers["f-h1-lan"] || w.users["mds.f-h1-lan"] {
			t.Errorf("the MDS did not move: %v, %v, %v", w.servers, w.users, err)
		}

		if warnings, err := fs.Delete(t.Context(), w.reach(), fs.Removal{Name: "f", Hosts: []ceph.Host{h2}}); err != nil || len(warnings) > 0 {
			t.Fatal(warnings, err)
		}

		if w.fs || len(w.pools)+len(w.users)+len(w.servers) > 0 {
			t.Errorf("left: %v, %v, %v", w.pools, w.users, w.servers)
		}

		if _, err := fs.Delete(t.Context(), w.reach(), fs.Removal{Name: "f", Hosts: []ceph.Host{h2}}); err != nil {
			t.Errorf("one that is gone: %v", err)
		}
	})
}

// TestCreate_refusals makes nothing where something speaks against it.
func TestCreate_refusals(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, w *world, h1, h2 *host) {
		t.Helper()

		h1.down, h2.missing = true, true

		_, made, err := fs.Create(t.Context(), w.reach(), wanted(h1, h2))
		if made || err == nil || len(w.sent) > 0 || !strings.Contains(err.Error(), "root@h1:22") || !strings.Contains(err.Error(), "root@h2:22 has no ceph-mds") {
			t.Errorf("sent %v: %v", w.sent, err)
		}

		h1.down, h2.missing = false, false
		w.pools, w.apps["f-data0"] = []string{"f-data0"}, true

		if _, made, err := fs.Create(t.Context(), w.reach(), wanted(h1)); made || !errors.Is(err, pool.ErrExists) || w.fs {
			t.Errorf("a pool that is for something: %v", err)
		}
	})
}

func TestCreate_neverServed(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, w *world, h1, _ *host) {
		t.Helper()

		w.never = true

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()

		seen, made, err := fs.Create(ctx, w.reach(), wanted(h1))
		if !made || seen.Name != "f" || err == nil || !strings.Contains(err.Error(), "0 of 1 MDS are active, f-h1-lan is rejoin") {
			t.Errorf("got %+v, %t: %v", seen, made, err)
		}
	})
}

func TestDelete_dataStays(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		objects int
		writes  string
	}{
		"data that is known":                {objects: 3},
		"data that was written just before": {writes: "f-data0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			in(t, func(t *testing.T, w *world, h1, _ *host) {
				t.Helper()

				if _, _, err := fs.Create(t.Context(), w.reach(), wanted(h1)); err != nil {
					t.Fatal(err)
				}

				w.objects["f-data0"], w.writes, w.objects["f-metadata"] = c.objects, c.writes, 22

				_, err := fs.Delete(t.Context(), w.reach(), fs.Removal{Name: "f", Hosts: []ceph.Host{h1}})
				if !errors.Is(err, pool.ErrHoldsData) || !w.fs || w.failed || len(w.pools) != 2 || len(w.servers) != 1 {
					t.Errorf("got %v, and in service: %t, pools %v", err, w.fs && !w.failed, w.pools)
				}

				if _, err := fs.Delete(t.Context(), w.reach(), fs.Removal{Name: "f", Hosts: []ceph.Host{h1}, WithData: true}); err != nil || len(w.pools) > 0 {
					t.Errorf("with its data: %v", err)
				}
			})
		})
	}
}

// TestDelete_aHostIsDown keeps the file system, so that it can be deleted again.
func TestDelete_aHostIsDown(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, w *world, h1, h2 *host) {
		t.Helper()

		if _, _, err := fs.Create(t.Context(), w.reach(), wanted(h1, h2)); err != nil {
			t.Fatal(err)
		}

		h1.down = true

		_, err := fs.Delete(t.Context(), w.reach(), fs.Removal{Name: "f", Hosts: []ceph.Host{h1, h2}})
		if !errors.Is(err, ceph.ErrUnreachable) || !w.fs || len(w.pools) != 2 || w.servers["f-h2-lan"] {
			t.Errorf("got %v, pools %v, MDS %v", err, w.pools, w.servers)
		}

		h1.down = false

		if _, err := fs.Delete(t.Context(), w.reach(), fs.Removal{Name: "f", Hosts: []ceph.Host{h1, h2}}); err != nil || w.fs || len(w.servers) > 0 {
			t.Errorf("the second time: %v", err)
		}
	})
}
