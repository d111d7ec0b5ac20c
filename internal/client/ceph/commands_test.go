// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// tells are the methods that change something, with the commands that they send.
func tells() map[string]struct {
	call func(context.Context, *ceph.Cluster) error
	want []sent
} {
	type c = ceph.Cluster

	const u = fsid

	return map[string]struct {
		call func(context.Context, *ceph.Cluster) error
		want []sent
	}{
		"ConfigSet": {
			func(x context.Context, c *c) error { return c.ConfigSet(x, "osd/class:ssd", "a", "1") },
			mon(`{"name":"a","prefix":"config set","value":"1","who":"osd/class:ssd"}`),
		},
		"ConfigRemove":    {func(x context.Context, c *c) error { return c.ConfigRemove(x, "osd", "a") }, mon(`{"name":"a","prefix":"config rm","who":"osd"}`)},
		"ConfigKeySet":    {func(x context.Context, c *c) error { return c.ConfigKeySet(x, "k", []byte("v\xff")) }, with("v\xff", mon(`{"key":"k","prefix":"config-key set"}`))},
		"ConfigKeyRemove": {func(x context.Context, c *c) error { return c.ConfigKeyRemove(x, "k") }, mon(`{"key":"k","prefix":"config-key rm"}`)},
		"AuthCaps": {func(x context.Context, c *c) error {
			return c.AuthCaps(x, "mgr.a", map[string]string{"osd": "allow *", "mon": "allow profile mgr"})
		}, mon(`{"caps":["mon","allow profile mgr","osd","allow *"],"entity":"mgr.a","prefix":"auth caps"}`)},
		"AuthRemove":   {func(x context.Context, c *c) error { return c.AuthRemove(x, "mgr.a") }, mon(`{"entity":"mgr.a","prefix":"auth rm"}`)},
		"AuthImport":   {func(x context.Context, c *c) error { return c.AuthImport(x, []byte("[mgr.a]")) }, with("[mgr.a]", mon(`{"prefix":"auth import"}`))},
		"MonRemove":    {func(x context.Context, c *c) error { return c.MonRemove(x, "b") }, mon(`{"name":"b","prefix":"mon remove"}`)},
		"MgrFail":      {func(x context.Context, c *c) error { return c.MgrFail(x, "a") }, mon(`{"prefix":"mgr fail","who":"a"}`)},
		"ModuleEnable": {func(x context.Context, c *c) error { return c.ModuleEnable(x, "m", false) }, mon(`{"module":"m","prefix":"mgr module enable"}`)},
		"ModuleEnable by force": {
			func(x context.Context, c *c) error { return c.ModuleEnable(x, "m", true) },
			mon(`{"force":"--force","module":"m","prefix":"mgr module enable"}`),
		},
		"ModuleDisable": {func(x context.Context, c *c) error { return c.ModuleDisable(x, "m") }, mon(`{"module":"m","prefix":"mgr module disable"}`)},
		"OSDOut":        {func(x context.Context, c *c) error { return c.OSDOut(x, 1, 2) }, mon(`{"ids":["1","2"],"prefix":"osd out"}`)},
		"OSDOut none":   {func(x context.Context, c *c) error { return c.OSDOut(x) }, nil},
		"OSDIn":         {func(x context.Context, c *c) error { return c.OSDIn(x, 1) }, mon(`{"ids":["1"],"prefix":"osd in"}`)},
		"OSDDown":       {func(x context.Context, c *c) error { return c.OSDDown(x, 1) }, mon(`{"ids":["1"],"prefix":"osd down"}`)},
		"OSDPurge": {
			func(x context.Context, c *c) error { return c.OSDPurge(x, 3) },
			[]sent{{to: "mgr", cmd: `{"force":true,"id":3,"prefix":"osd purge","yes_i_really_mean_it":true}`}},
		},
		"CrushRemove": {func(x context.Context, c *c) error { return c.CrushRemove(x, "h1") }, mon(`{"name":"h1","prefix":"osd crush rm"}`)},
		"CrushSetClass": {
			func(x context.Context, c *c) error { return c.CrushSetClass(x, 3, "ssd") },
			mon(`{"ids":["3"],"prefix":"osd crush rm-device-class"}`, `{"class":"ssd","ids":["3"],"prefix":"osd crush set-device-class"}`),
		},
		"CrushSetClass none": {func(x context.Context, c *c) error { return c.CrushSetClass(x, 3, "") }, mon(`{"ids":["3"],"prefix":"osd crush rm-device-class"}`)},
		"CrushAddBucket": {
			func(x context.Context, c *c) error { return c.CrushAddBucket(x, "r1", "rack") },
			mon(`{"name":"r1","prefix":"osd crush add-bucket","type":"rack"}`),
		},
		"CrushMove": {func(x context.Context, c *c) error {
			return c.CrushMove(x, "h1", map[string]string{"root": "default", "rack": "r1"})
		}, mon(`{"args":["rack=r1","root=default"],"name":"h1","prefix":"osd crush move"}`)},
		"OSDSetGroup": {
			func(x context.Context, c *c) error { return c.OSDSetGroup(x, "noout", "h1", "h2") },
			mon(`{"flags":"noout","prefix":"osd set-group","who":["h1","h2"]}`),
		},
		"OSDUnsetGroup":     {func(x context.Context, c *c) error { return c.OSDUnsetGroup(x, "noout", "h1") }, mon(`{"flags":"noout","prefix":"osd unset-group","who":["h1"]}`)},
		"OSDRequireRelease": {func(x context.Context, c *c) error { return c.OSDRequireRelease(x, "reef") }, mon(`{"prefix":"osd require-osd-release","release":"reef"}`)},
		"OSDMinCompat":      {func(x context.Context, c *c) error { return c.OSDMinCompat(x, "reef") }, mon(`{"prefix":"osd set-require-min-compat-client","version":"reef"}`)},
		"OSDRatios": {
			func(x context.Context, c *c) error { return c.OSDRatios(x, 1, 0.9, 0) },
			mon(`{"prefix":"osd set-full-ratio","ratio":1.0}`, `{"prefix":"osd set-backfillfull-ratio","ratio":0.9}`),
		},
		"PoolCreate": {
			func(x context.Context, c *c) error { return c.PoolCreate(x, ceph.PoolSpec{Name: "p"}) },
			mon(`{"pool":"p","pool_type":"replicated","prefix":"osd pool create"}`),
		},
		"PoolCreate with all": {func(x context.Context, c *c) error {
			return c.PoolCreate(x, ceph.PoolSpec{Name: "p", PGNum: 8, Rule: "r", Size: 1, Autoscale: "off"})
		}, mon(`{"autoscale_mode":"off","pg_num":8,"pool":"p","pool_type":"replicated","prefix":"osd pool create","rule":"r","size":1}`)},
		"PoolCreate with erasure": {func(x context.Context, c *c) error {
			return c.PoolCreate(x, ceph.PoolSpec{Name: "p", ErasureProfile: "e", Size: 3})
		}, mon(`{"erasure_code_profile":"e","pool":"p","pool_type":"erasure","prefix":"osd pool create"}`)},
		"PoolSet": {func(x context.Context, c *c) error { return c.PoolSet(x, "p", "size", "2") }, mon(`{"pool":"p","prefix":"osd pool set","val":"2","var":"size"}`)},
		"PoolSet one copy": {
			func(x context.Context, c *c) error { return c.PoolSet(x, "p", "size", "1") },
			mon(`{"pool":"p","prefix":"osd pool set","val":"1","var":"size","yes_i_really_mean_it":true}`),
		},
		"PoolApplication": {
			func(x context.Context, c *c) error { return c.PoolApplication(x, "p", "rbd") },
			mon(`{"app":"rbd","pool":"p","prefix":"osd pool application enable"}`),
		},
		"PoolQuota": {
			func(x context.Context, c *c) error { return c.PoolQuota(x, "p", 5, 0) },
			mon(`{"field":"max_bytes","pool":"p","prefix":"osd pool set-quota","val":"5"}`, `{"field":"max_objects","pool":"p","prefix":"osd pool set-quota","val":"0"}`),
		},
		"PoolRename": {func(x context.Context, c *c) error { return c.PoolRename(x, "p", "q") }, mon(`{"destpool":"q","prefix":"osd pool rename","srcpool":"p"}`)},
		"PoolDelete": {
			func(x context.Context, c *c) error { return c.PoolDelete(x, "p") },
			mon(`{"pool":"p","pool2":"p","prefix":"osd pool delete","yes_i_really_really_mean_it":true}`),
		},
		"CrushRuleCreateReplicated": {
			func(x context.Context, c *c) error {
				return c.CrushRuleCreateReplicated(x, "r", "default", "host", "ssd")
			},
			mon(`{"class":"ssd","name":"r","prefix":"osd crush rule create-replicated","root":"default","type":"host"}`),
		},
		"CrushRuleRemove": {func(x context.Context, c *c) error { return c.CrushRuleRemove(x, "r") }, mon(`{"name":"r","prefix":"osd crush rule rm"}`)},
		"ErasureProfileSet": {func(x context.Context, c *c) error {
			return c.ErasureProfileSet(x, "e", map[string]string{"m": "1", "k": "2"})
		}, mon(`{"name":"e","prefix":"osd erasure-code-profile set","profile":["k=2","m=1"]}`)},
		"ErasureProfileRemove": {func(x context.Context, c *c) error { return c.ErasureProfileRemove(x, "e") }, mon(`{"name":"e","prefix":"osd erasure-code-profile rm"}`)},
		"FSNew":                {func(x context.Context, c *c) error { return c.FSNew(x, "f", "m", "d") }, mon(`{"data":"d","fs_name":"f","metadata":"m","prefix":"fs new"}`)},
		"FSSet":                {func(x context.Context, c *c) error { return c.FSSet(x, "f", "max_mds", "2") }, mon(`{"fs_name":"f","prefix":"fs set","val":"2","var":"max_mds"}`)},
		"FSAddDataPool":        {func(x context.Context, c *c) error { return c.FSAddDataPool(x, "f", "d") }, mon(`{"fs_name":"f","pool":"d","prefix":"fs add_data_pool"}`)},
		"FSFail":               {func(x context.Context, c *c) error { return c.FSFail(x, "f") }, mon(`{"fs_name":"f","prefix":"fs fail"}`)},
		"FSRemove":             {func(x context.Context, c *c) error { return c.FSRemove(x, "f") }, mon(`{"fs_name":"f","prefix":"fs rm","yes_i_really_mean_it":true}`)},
		"DashboardUser": {func(x context.Context, c *c) error { return c.DashboardUser(x, "admin", "pw", "administrator") }, with("pw", []sent{
			{to: "mgr", cmd: `{"force_password":true,"prefix":"dashboard ac-user-create","rolename":"administrator","username":"admin"}`},
			{to: "mgr", cmd: `{"force_password":true,"prefix":"dashboard ac-user-set-password","username":"admin"}`},
		})},
		"OSDNew": {
			func(x context.Context, c *c) error { _, err := c.OSDNew(x, u, "s", "ssd"); return err },
			with(`{"cephx_secret":"s","crush_device_class":"ssd"}`, mon(`{"format":"json","prefix":"osd new","uuid":"`+u+`"}`)),
		},
		"OSDOkToStop": {
			func(x context.Context, c *c) error { _, err := c.OSDOkToStop(x, 0, 1); return err },
			[]sent{{to: "mgr", cmd: `{"format":"json","ids":["0","1"],"prefix":"osd ok-to-stop"}`}},
		},
		"MonMap": {func(x context.Context, c *c) error { _, err := c.MonMap(x); return err }, mon(`{"prefix":"mon getmap"}`)},
	}
}

// mon are commands to the monitors.
func mon(cmds ...string) []sent {
	list := make([]sent, 0, len(cmds))
	for _, c := range cmds {
		list = append(list, sent{to: "mon", cmd: c})
	}

	return list
}

// with gives commands an input.
func with(in string, list []sent) []sent {
	for i := range list {
		list[i].in = in
	}

	return list
}

func TestCluster_sendsCommands(t *testing.T) {
	t.Parallel()

	for name, c := range tells() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := &script{other: says{out: `{"osdid":3,"ok_to_stop":true}`}}
			err := c.call(t.Context(), ceph.New(s))

			if diff := cmp.Diff(c.want, s.sent, cmp.AllowUnexported(sent{})); err != nil || diff != "" {
				t.Fatalf("%v\n%s", err, diff)
			}
		})
	}
}
