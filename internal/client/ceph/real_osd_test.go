// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// uuid is another for each transport.
func (r *realCluster) uuid() string {
	if r.way == "cli" {
		return "6b1d1a2e-0000-4000-8000-00000000000c"
	}

	return "6b1d1a2e-0000-4000-8000-00000000000b"
}

func (r *realCluster) osds() {
	ctx := r.Context()

	const key, other = "AQBpKQRkAAAAABAAnRHLg2Y5ZkGfPTTg4ZbEVg==", "AQBpKQRkAAAAABAAmRHLg2Y5ZkGfPTTg4ZbEVg=="

	id, err := r.OSDNew(ctx, r.uuid(), key, "ssd")
	if err != nil || id < 2 {
		r.Fatalf("osd.%d, %v", id, err)
	}

	same, err := r.OSDNew(ctx, r.uuid(), key, "ssd")
	if err != nil || same != id {
		r.Errorf("osd.%d, %v", same, err)
	}

	_, err = r.OSDNew(ctx, r.uuid(), other, "ssd")
	r.no("another key", err, ceph.ErrExists)

	m, err := r.OSDMap(ctx)
	if err != nil || len(m.Strays) != 1 || m.Strays[0] != id || !m.OSDs[len(m.OSDs)-1].New {
		r.Errorf("strays %v, %v", m.Strays, err)
	}

	r.do("out", r.OSDOut(ctx, id))
	r.do("in", r.OSDIn(ctx, id))
	r.do("down", r.OSDDown(ctx, id))

	for end := time.Now().Add(time.Minute); ; { // the manager has no numbers of it at first
		safe, words, err := r.OSDSafeToDestroy(ctx, id)
		if safe {
			break
		}

		if err != nil || time.Now().After(end) {
			r.Errorf("safe: %q, %v", words, err)

			break
		}

		time.Sleep(time.Second) // a real cluster has its own time
	}

	safe, words, err := r.OSDSafeToDestroy(ctx, 0, id)
	if err != nil || safe {
		r.Errorf("osd.0 is safe: %q, %v", words, err)
	}

	ok, err := r.OSDOkToStop(ctx, 0, 1)
	if err != nil || ok.OK || ok.Words == "" {
		r.Errorf("all may stop: %+v, %v", ok, err)
	}

	r.no("purge who is up", r.OSDPurge(ctx, 0), ceph.ErrBusy)
	r.do("purge", r.OSDPurge(ctx, id))
	r.do("purge again", r.OSDPurge(ctx, id))

	r.do("ratios", r.OSDRatios(ctx, 0.96, 0.91, 0.86))
	r.no("a ratio above 1", r.OSDRatios(ctx, 2, 0, 0), ceph.ErrInvalid)
	r.no("an old release", r.OSDRequireRelease(ctx, "luminous"), &ceph.Error{Code: -1})
	r.do("clients", r.OSDMinCompat(ctx, "luminous"))
}

func (r *realCluster) crush() {
	ctx := r.Context()

	m, err := r.OSDMap(ctx)
	if err != nil || m.OSDs[0].Host == "" {
		r.Fatalf("%+v, %v", m, err)
	}

	host := m.OSDs[0].Host

	r.do("class", r.CrushSetClass(ctx, 0, "x-"+r.way))
	r.do("move", r.CrushMove(ctx, host, map[string]string{"root": "default", "rack": "r-" + r.way}))
	r.do("bucket", r.CrushAddBucket(ctx, "dc-"+r.way, "datacenter"))
	r.do("bucket again", r.CrushAddBucket(ctx, "dc-"+r.way, "datacenter"))
	r.do("move a bucket", r.CrushMove(ctx, "dc-"+r.way, map[string]string{"root": "default"}))
	r.do("move a rack", r.CrushMove(ctx, "r-"+r.way, map[string]string{"datacenter": "dc-" + r.way}))
	_, _, err = r.MonCommand(ctx, []byte(`{"prefix":"osd crush reweight","name":"osd.0","weight":1.0}`))
	r.do("weigh", err)
	r.do("noout", r.OSDSetGroup(ctx, "noout", host))

	m, err = r.OSDMap(ctx)
	if o := m.OSDs[0]; err != nil || o.Class != "x-"+r.way || o.Place["rack"] != "r-"+r.way || o.Place["datacenter"] != "dc-"+r.way || o.Place["root"] != "default" || o.Weight != 1 || len(m.NoOutHosts) != 1 {
		r.Errorf("%+v, %v, %v", o, m.NoOutHosts, err)
	}

	r.do("no noout", r.OSDUnsetGroup(ctx, "noout", host))
	r.do("remove a full host", r.CrushRemove(ctx, host))
	r.do("remove what is none", r.CrushRemove(ctx, "nope"))
	r.no("move what is none", r.CrushMove(ctx, "nope", map[string]string{"root": "default"}), ceph.ErrNotFound)
	r.do("class", r.CrushSetClass(ctx, 0, "hdd"))
}

func (r *realCluster) pools() {
	ctx := r.Context()
	rule, profile, pool := "rule-"+r.way, "profile-"+r.way, "pool-"+r.way

	r.do("rule", r.CrushRuleCreateReplicated(ctx, rule, "default", "osd", "hdd"))
	r.no("rule again", r.CrushRuleCreateReplicated(ctx, rule, "default", "host", ""), ceph.ErrExists)

	r.do("profile", r.ErasureProfileSet(ctx, profile, map[string]string{"k": "2", "m": "1", "crush-failure-domain": "osd"}))

	p, err := r.ErasureProfileGet(ctx, profile)
	if err != nil || p["k"] != "2" || p["plugin"] == "" {
		r.Errorf("%v, %v", p, err)
	}

	r.do("pool", r.PoolCreate(ctx, ceph.PoolSpec{Name: pool, PGNum: 1, Rule: rule, Size: 2, Autoscale: "off"}))
	r.no("pool again", r.PoolCreate(ctx, ceph.PoolSpec{Name: pool}), ceph.ErrExists)
	r.do("one copy", r.PoolCreate(ctx, ceph.PoolSpec{Name: pool + "1", PGNum: 1, Size: 1}))
	r.do("application", r.PoolApplication(ctx, pool, "rbd"))
	r.do("application", r.PoolApplication(ctx, pool+"1", "rbd"))
	r.do("quota", r.PoolQuota(ctx, pool, 1<<30, 0))
	r.do("one copy", r.PoolSet(ctx, pool, "size", "1"))
	r.do("two copies", r.PoolSet(ctx, pool, "size", "2"))
	r.do("rename", r.PoolRename(ctx, pool, pool+"x"))
	r.do("rename again", r.PoolRename(ctx, pool, pool+"x"))

	all, err := r.PoolGet(ctx, pool+"x")
	if err != nil || all["size"] != "2" || all["crush_rule"] != rule || all["pg_num"] != "1" {
		r.Errorf("%v, %v", all, err)
	}

	m, err := r.OSDMap(ctx)
	for _, one := range m.Pools {
		if one.Name == pool+"x" && (one.QuotaBytes != 1<<30 || len(one.Applications) != 1 || one.PGAutoscaleMode != "off" || one.PGNum != 1) {
			r.Errorf("%+v, %v", one, err)
		}
	}

	use, err := r.PoolStats(ctx)
	if err != nil || len(use) == 0 {
		r.Errorf("%v, %v", use, err)
	}

	r.no("rule in use", r.CrushRuleRemove(ctx, rule), ceph.ErrBusy)

	for range 2 {
		r.do("delete", r.PoolDelete(ctx, pool+"x"))
		r.do("delete", r.PoolDelete(ctx, pool+"1"))
		r.do("no profile", r.ErasureProfileRemove(ctx, profile))
		r.do("no rule", r.CrushRuleRemove(ctx, rule))
	}

	rules, err := r.CrushRules(ctx)
	if err != nil || len(rules) == 0 || rules[0].Root != "default" || rules[0].Domain == "" {
		r.Errorf("%+v, %v", rules, err)
	}
}

func (r *realCluster) fileSystems() {
	ctx := r.Context()
	name := "fs-" + r.way

	for _, pool := range []string{"m", "d", "e"} {
		r.do("pool", r.PoolCreate(ctx, ceph.PoolSpec{Name: name + pool, PGNum: 1}))
	}

	r.do("new", r.FSNew(ctx, name, name+"m", name+"d"))
	r.no("new again", r.FSNew(ctx, name, name+"m", name+"d"), ceph.ErrExists)
	r.do("set", r.FSSet(ctx, name, "max_mds", "2"))
	r.do("one more pool", r.FSAddDataPool(ctx, name, name+"e"))
	r.do("one more pool", r.FSAddDataPool(ctx, name, name+"e"))

	list, err := r.FSList(ctx)
	if err != nil || len(list) != 1 || list[0].Meta != name+"m" || len(list[0].Data) != 2 {
		r.Errorf("%+v, %v", list, err)
	}

	state, err := r.FSStatus(ctx)
	if fs := state.FileSystems[name]; err != nil || fs.MaxMDS != 2 || !fs.Joinable || len(fs.Active) != 0 {
		r.Errorf("%+v, %v", state, err)
	}

	for range 2 {
		r.do("fail", r.FSFail(ctx, name))
		r.do("remove", r.FSRemove(ctx, name))
	}

	for _, pool := range []string{"m", "d", "e"} {
		r.do("no pool", r.PoolDelete(ctx, name+pool))
	}
}
