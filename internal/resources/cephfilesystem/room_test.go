// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephfilesystem_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
)

const (
	fsid = "4b5c8c0a-ff60-454b-a1b4-9747aa737d19"
	way  = fsid + "@h1,h2/var/lib/c"
)

type doc = map[string]any

// world is a cluster of two hosts in memory.
type world struct {
	mu      sync.Mutex
	fs      bool
	closed  bool
	pools   []string // by number; "": deleted
	data    []string
	mds     []string // those that run
	started int
	keep    string // a pool that cannot be deleted
}

type host struct {
	ceph.Host

	of   *world
	name string
}

func (h host) Name() string { return "root@" + h.name }

func (h host) Connect(context.Context, ceph.Layout) (api.Commander, error) {
	return session{of: h.of}, nil
}

func (h host) Look(context.Context, ceph.Layout, ceph.Ask) (ceph.Facts, error) {
	return ceph.Facts{Hostname: h.name, ConfSum: "x", Programs: map[string]string{"ceph-mds": "/usr/bin/ceph-mds"}, Identity: &ceph.Identity{Name: "c", FSID: fsid}}, nil
}

func (h host) MakeDaemon(context.Context, ceph.Layout, ceph.Daemon, []byte) error { return nil }

func (h host) Start(_ context.Context, _ ceph.Layout, d ceph.Daemon, _ ceph.StartHow) error {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()

	h.of.started++

	if !slices.Contains(h.of.mds, d.ID) {
		h.of.mds = append(h.of.mds, d.ID)
	}

	return nil
}

func (h host) Stop(_ context.Context, _ ceph.Layout, d ceph.Daemon) error {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()

	h.of.mds = slices.DeleteFunc(h.of.mds, func(id string) bool { return id == d.ID })

	return nil
}

func (h host) Remove(context.Context, ceph.Layout, ceph.Daemon) error { return nil }

type session struct {
	api.Commander

	of *world
}

func (session) Close() error { return nil }

func (s session) MonCommand(_ context.Context, cmd []byte) ([]byte, string, error) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()

	var c doc
	if err := json.Unmarshal(cmd, &c); err != nil {
		return nil, "", err
	}

	out, err := s.of.answer(c)
	if text, is := out.(string); is || err != nil {
		return []byte(text), "", err
	}

	text, err := json.Marshal(out)

	return text, "", err
}

func (w *world) answer(c doc) (any, error) {
	name, _ := c["pool"].(string)

	switch c["prefix"] {
	case "fsid":
		return fsid, nil
	case "osd pool create":
		w.pools = append(w.pools, name)
	case "osd pool delete":
		if name == w.keep {
			return "", &api.Error{Code: -16, Status: "not now"}
		}

		w.pools[slices.Index(w.pools, name)] = ""
	case "fs new":
		w.fs, w.data = true, []string{c["data"].(string)}
	case "fs fail":
		w.closed = true
	case "fs set":
		w.closed = w.closed && c["var"] != "joinable"
	case "fs rm":
		w.fs = false
	case "auth get-or-create":
		return []any{doc{"entity": c["entity"], "key": "k"}}, nil
	case "config-key get":
		return "", api.ErrNotFound // nothing was noted
	case "osd pool get":
		if !slices.Contains(w.pools, name) {
			return "", &api.Error{Code: -2, Status: "unrecognized pool"}
		}

		return doc{"size": 3}, nil
	default:
		return w.look(c["prefix"]), nil
	}

	return "", nil
}

func (w *world) look(prefix any) any {
	pools, use, info, standbys, list := []any{}, []any{}, doc{}, []any{}, []any{}

	for i, p := range w.pools {
		if p != "" {
			pools = append(pools, doc{"pool": i + 1, "pool_name": p, "size": 3, "min_size": 2, "pg_num": 8, "pg_autoscale_mode": "on", "application_metadata": doc{}})
			use = append(use, doc{"name": p, "stats": doc{"objects": 0}})
		}
	}

	for i, id := range w.mds {
		if i == 0 && !w.closed {
			info[id] = doc{"name": id, "state": "up:active"}
		} else {
			standbys = append(standbys, doc{"name": id, "state": "up:standby"})
		}
	}

	flags := 0
	if w.closed {
		flags = 1
	}

	if w.fs {
		list = append(list, doc{"id": 1, "mdsmap": doc{"fs_name": "f", "max_mds": 1, "info": info, "flags": flags}})
	}

	switch prefix {
	case "osd dump":
		return doc{"epoch": 1, "osds": []any{}, "pools": pools}
	case "osd tree":
		return doc{"nodes": []any{}}
	case "df":
		return doc{"pools": use}
	case "mgr dump":
		return doc{"active_name": "x", "available": true, "standbys": []any{}, "modules": []any{}, "services": doc{}}
	case "fs dump":
		return doc{"epoch": 1, "standbys": standbys, "filesystems": list}
	case "fs ls":
		if w.fs {
			return []any{doc{"name": "f", "metadata_pool": "f-metadata", "data_pools": w.data}}
		}

		return []any{}
	case "osd crush rule dump", "mds metadata", "config dump":
		return []any{}
	default:
		return ""
	}
}

func made(t *testing.T) (*world, *acctest.Core) {
	t.Helper()

	w := &world{}
	core := acctest.NewCore(t, "metal3_ceph_filesystem", nil, provider.WithCephHost(func(cfg remote.Config) ceph.Host { return host{of: w, name: cfg.Host} }))

	if o := core.Apply(t.Context(), plain()); o.Errors != "" || o.Action != "create" || w.started != 2 {
		t.Fatalf("%s, started %d", o.Errors, w.started)
	}

	return w, core
}

func plain(more ...acctest.Map) acctest.Map {
	m := acctest.Map{"cluster_id": way, "name": "f"}

	for _, of := range more {
		for k, v := range of {
			m[k] = v
		}
	}

	return m
}

// TestFilesystem_missingMDS plans what a loss of MDS needs, and the apply does it.
func TestFilesystem_missingMDS(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		lose func(w *world)
		says string
	}{
		"all are gone":       {func(w *world) { w.mds = nil }, "0 of 1 MDS are active"},
		"one is gone":        {func(w *world) { w.mds = w.mds[:1] }, "hears 1 MDS, and there are 2 hosts"},
		"it is not joinable": {func(w *world) { w.closed = true }, "not joinable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, core := made(t)

			if o := core.Plan(t.Context(), plain()); o.Action != "" || o.Warnings+o.Errors != "" {
				t.Errorf("nothing is missing: %s %v %s %s", o.Action, o.Changed, o.Warnings, o.Errors)
			}

			c.lose(w)

			o := core.Apply(t.Context(), plain())
			if o.Action != "update" || o.Errors != "" || !strings.Contains(o.Warnings, c.says) || len(w.mds) != 2 || w.closed {
				t.Errorf("%s: %v, closed %t: %s %s", o.Action, w.mds, w.closed, o.Warnings, o.Errors)
			}

			if o := core.Plan(t.Context(), plain()); o.Action != "" || o.Warnings+o.Errors != "" {
				t.Errorf("it is not whole: %s %v %s %s", o.Action, o.Changed, o.Warnings, o.Errors)
			}
		})
	}
}

// TestFilesystem_flags are changed without a word to hosts.
func TestFilesystem_flags(t *testing.T) {
	t.Parallel()

	w, core := made(t)

	o := core.Apply(t.Context(), plain(acctest.Map{"deletion_protection": true, "timeouts": acctest.Map{"update": "1m"}}))
	if o.Action != "update" || o.Errors+o.Warnings != "" || w.started != 2 || core.Get("deletion_protection") != true || core.Get("timeouts.update") != "1m" {
		t.Errorf("%s: %s, started %d", o.Action, o.Errors, w.started)
	}
}

// TestFilesystem_poolsAreLeft keeps what could not be deleted in the state until it is gone.
func TestFilesystem_poolsAreLeft(t *testing.T) {
	t.Parallel()

	w, core := made(t)
	core.Provider = nil
	w.keep = "f-metadata"

	if o := core.Apply(t.Context(), nil); !strings.Contains(o.Errors, "pool f-metadata is left") || !core.Exists() || w.fs {
		t.Fatalf("%s, in the state: %t", o.Errors, core.Exists())
	}

	o := core.Refresh(t.Context())
	if !core.Exists() || !strings.Contains(o.Warnings, "f-metadata") || o.Errors != "" {
		t.Errorf("a refresh forgets: %s %s", o.Warnings, o.Errors)
	}

	core.Replaces = true

	if o := core.Plan(t.Context(), plain()); o.Action != "replace" || o.Errors != "" {
		t.Errorf("an apply does %q: %s", o.Action, o.Errors)
	}

	w.keep = ""

	if o := core.Apply(t.Context(), nil); o.Errors != "" || core.Exists() || slices.ContainsFunc(w.pools, func(p string) bool { return p != "" }) {
		t.Errorf("%s, left %v", o.Errors, w.pools)
	}
}
