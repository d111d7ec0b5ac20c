// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/bridge"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/cli"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

// TestReal_everyMethod proves that a real cluster understands every command that is sent, and
// that its answers are understood, through each transport that this build always has.
func TestReal_everyMethod(t *testing.T) {
	t.Parallel()

	one := acctest.CephOne(t, 2)

	// The tests of pools need it, and no cluster allows it by itself.
	for _, option := range []string{"mon_allow_pool_delete", "mon_allow_pool_size_one"} {
		one.CLI(t, "config", "set", "mon", option, "true")
	}

	h, err := remote.New(remote.Config{Type: remote.Local})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = h.Close() })

	b, err := bridge.Open(t.Context(), func(ctx context.Context, argv []string) (bridge.Session, error) {
		return h.Open(ctx, remote.Command{Args: argv})
	}, bridge.Config{Conf: one.Conf, Keyring: one.Keyring})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = b.Close() })

	tool := cli.New(func(ctx context.Context, argv []string, stdin []byte, limit time.Duration) (cli.Result, error) {
		r, err := h.Run(ctx, remote.Command{Args: argv, Stdin: stdin, Limit: limit})

		return cli.Result(r), err
	}, cli.Config{Conf: one.Conf, Keyring: one.Keyring})

	for _, way := range []struct {
		name string
		ceph.Commander
	}{{"bridge", b}, {"cli", tool}} {
		r := &realCluster{T: t, Cluster: ceph.New(way.Commander), one: one, way: way.name}

		for name, part := range map[string]func(){
			"reads": r.reads, "config": r.config, "users": r.users, "monitors": r.monitors, "modules": r.modules, "OSDs": r.osds,
			"CRUSH": r.crush, "pools": r.pools, "file systems": r.fileSystems,
		} {
			t.Run(way.name+" "+name, func(t *testing.T) {
				r.T = t

				part()
			})
		}
	}
}

// realCluster is a real cluster, and the test that uses it.
type realCluster struct {
	*testing.T
	*ceph.Cluster

	one *acctest.One
	way string // made a part of all names
}

// do wants success.
func (r *realCluster) do(what string, err error) {
	r.Helper()

	if err != nil {
		r.Errorf("%s: %s: %v", r.way, what, err)
	}
}

// no wants an error of this kind.
func (r *realCluster) no(what string, err, kind error) {
	r.Helper()

	if !errors.Is(err, kind) {
		r.Errorf("%s: %s: %v, want %v", r.way, what, err, kind)
	}
}

func (r *realCluster) reads() {
	ctx := r.Context()

	snap, err := r.Snapshot(ctx)
	if err != nil || snap.Status.FSID != r.one.FSID || snap.Mgr.Active != "x" || len(snap.OSDMap.OSDs) < 2 || len(snap.Quorum.Mons) != 1 {
		r.Fatalf("%+v, %v", snap, err)
	}

	for kind, name := range map[string]string{"mon": "a", "mgr": "x", "osd": "0"} {
		all, err := r.Metadata(ctx, kind)
		if err != nil || all[name].Version.Major < 16 || all[name].Hostname == "" {
			r.Errorf("%s: %+v, %v", kind, all, err)
		}
	}

	mds, err := r.Metadata(ctx, "mds")
	if err != nil || len(mds) != 0 {
		r.Errorf("%+v, %v", mds, err)
	}

	_, err = r.PGs(ctx)
	r.do("groups", err)
}

func (r *realCluster) config() {
	ctx := r.Context()
	who, name := "osd/class:"+r.way, "osd_max_backfills"

	r.do("set", r.ConfigSet(ctx, who, name, "2"))
	r.no("set what is none", r.ConfigSet(ctx, "osd", "no_such_option", "1"), ceph.ErrInvalid)

	options, err := r.ConfigDump(ctx)
	if !slices.ContainsFunc(options, func(o ceph.Option) bool {
		return o.Section == "osd" && o.Mask == "class:"+r.way && o.Name == name && o.Value == "2"
	}) {
		r.Errorf("%+v, %v", options, err)
	}

	r.do("remove", r.ConfigRemove(ctx, who, name))
	r.do("remove again", r.ConfigRemove(ctx, who, name))

	r.do("store", r.ConfigKeySet(ctx, "x/"+r.way, []byte("a\nb\x00\xff")))

	value, err := r.ConfigKeyGet(ctx, "x/"+r.way)
	if err != nil || string(value) != "a\nb\x00\xff" {
		r.Errorf("%q, %v", value, err)
	}

	r.do("forget", r.ConfigKeyRemove(ctx, "x/"+r.way))
	r.do("forget again", r.ConfigKeyRemove(ctx, "x/"+r.way))

	_, err = r.ConfigKeyGet(ctx, "x/"+r.way)
	r.no("get what is gone", err, ceph.ErrNotFound)
}

func (r *realCluster) users() {
	ctx := r.Context()
	entity, caps := "client."+r.way, map[string]string{"mon": "allow r", "osd": "allow rw pool=x"}

	key, err := r.AuthGetOrCreate(ctx, entity, caps)
	r.do("make", err)

	same, err := r.AuthGetOrCreate(ctx, entity, map[string]string{"mon": "allow *"})
	if err != nil || same != key || key == "" {
		r.Errorf("another key, %v", err)
	}

	r.do("caps", r.AuthCaps(ctx, entity, map[string]string{"mon": "allow rw"}))

	user, err := r.AuthGet(ctx, entity)
	if err != nil || user.Key != key || len(user.Caps) != 1 || user.Caps["mon"] != "allow rw" {
		r.Errorf("%v, %v", user.Caps, err)
	}

	all, err := r.AuthList(ctx)
	if err != nil || !slices.ContainsFunc(all, func(u ceph.User) bool { return u.Entity == entity && u.Key == "" }) {
		r.Errorf("%d users, %v", len(all), err)
	}

	r.do("remove", r.AuthRemove(ctx, entity))
	r.do("remove again", r.AuthRemove(ctx, entity))

	_, err = r.AuthGet(ctx, entity)
	r.no("get what is gone", err, ceph.ErrNotFound)

	r.do("import", r.AuthImport(ctx, []byte("["+entity+"]\n\tkey = "+key+"\n\tcaps mon = \"allow r\"\n")))

	user, err = r.AuthGet(ctx, entity)
	if err != nil || user.Key != key {
		r.Errorf("%v, %v", user.Caps, err)
	}
}

func (r *realCluster) monitors() {
	ctx := r.Context()

	m, err := r.MonMap(ctx)
	if err != nil || len(m) < 100 {
		r.Errorf("%d bytes, %v", len(m), err)
	}

	ok, err := r.MonOkToStop(ctx, "a")
	if err != nil || ok.OK || ok.Words == "" {
		r.Errorf("%+v, %v", ok, err)
	}

	ok, err = r.MonOkToRemove(ctx, "zz")
	if err != nil || !ok.OK {
		r.Errorf("%+v, %v", ok, err)
	}

	r.do("remove who is not there", r.MonRemove(ctx, "zz"))
	r.do("fail who is not there", r.MgrFail(ctx, "zz"))
}

func (r *realCluster) modules() {
	ctx := r.Context()

	r.no("enable what is none", r.ModuleEnable(ctx, "nope", false), ceph.ErrNotFound)
	r.no("disable what is always on", r.ModuleDisable(ctx, "balancer"), ceph.ErrInvalid)
	r.do("disable", r.ModuleDisable(ctx, "iostat"))
	r.do("by force", r.ModuleEnable(ctx, "nope", true))
	r.do("disable again", r.ModuleDisable(ctx, "nope"))
}
