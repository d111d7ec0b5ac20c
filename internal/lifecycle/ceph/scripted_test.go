// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// stage is three hosts that show what a scene says, and note what is done on them.
type stage struct {
	*scene

	answers map[string]string // of the cluster, by the prefix of a command; nil: no monitor answers
	// look is asked before the scene is shown; nil: the scene counts.
	look func(host string, l ceph.Layout) (ceph.Facts, error)
	// before is told of everything that is to be done on a host, and may have it fail.
	before func(ctx context.Context, what string) error

	mu   sync.Mutex
	done []string
}

// staged puts the hosts of a scene on a stage.
func staged(t *testing.T, sc *scene) *stage {
	t.Helper()

	st := &stage{scene: sc, answers: answersOf(sc)}
	for i := range sc.w.Hosts {
		sc.w.Hosts[i].Host = &actor{stage: st, name: sc.w.Hosts[i].Name}
	}

	return st
}

func (st *stage) run() *ceph.Run { return &ceph.Run{Wanted: st.w} }

// did reports whether something was done whose words begin like this.
func (st *stage) did(words string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()

	return slices.ContainsFunc(st.done, func(s string) bool { return strings.HasPrefix(s, words) })
}

func (st *stage) note(ctx context.Context, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)

	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}

	st.mu.Lock()
	st.done = append(st.done, what)
	st.mu.Unlock()

	if st.before != nil {
		return st.before(ctx, what)
	}

	return nil
}

// known is the state of a cluster whose apply ended well.
func known() ceph.Record {
	rec := ceph.Record{FSID: fsid, AdminKey: "k", MonSecret: "m", LastMon: 3, Ready: true, Mons: map[string]ceph.MonRecord{}, OSDs: map[int]ceph.OSDRecord{}}

	for i, name := range []string{"h1", "h2", "h3"} {
		rec.Mons[string(rune('a'+i))] = ceph.MonRecord{Host: name, InQuorum: true}
		rec.OSDs[i] = ceph.OSDRecord{Host: name, UUID: uuidOf(i), Path: "/dev/sdb", Device: "/dev/sdb", Up: true, In: true}
	}

	return rec
}

func uuidOf(i int) string { return fmt.Sprintf("00000000-0000-4000-8000-00000000000%d", i) }

// actor is one host of a stage.
type actor struct {
	ceph.Host

	stage *stage
	name  string
	slot  *ceph.Slot // that MakeSlot returns
}

func (a *actor) Name() string { return "root@" + a.name }

func (a *actor) Look(_ context.Context, l ceph.Layout, _ ceph.Ask) (ceph.Facts, error) {
	if a.stage.look != nil {
		return a.stage.look(a.name, l)
	}

	return a.stage.shown(a.name)
}

// shown is what the scene says of a host, with all programs.
func (st *stage) shown(host string) (ceph.Facts, error) {
	s := st.s.Hosts[host]
	f := s.Facts
	f.Programs = map[string]string{}

	for _, p := range []string{"ceph", "ceph-mon", "monmaptool", "ceph-mgr", "ceph-osd", "ceph-bluestore-tool"} {
		f.Programs[p] = "/usr/bin/" + p
	}

	return f, s.Err
}

func (a *actor) Connect(context.Context, ceph.Layout) (api.Commander, error) {
	if a.stage.answers == nil {
		return nil, errors.New("no monitor answers")
	}

	return &teller{stage: a.stage}, nil
}

func (a *actor) Write(ctx context.Context, _ ceph.Layout, files []ceph.File) error {
	return a.stage.note(ctx, "write %d on %s", len(files), a.name)
}

func (a *actor) MakeDaemon(ctx context.Context, _ ceph.Layout, d ceph.Daemon, _ []byte) error {
	return a.stage.note(ctx, "make %s on %s", d, a.name)
}

func (a *actor) MakeSlot(ctx context.Context, _ ceph.Layout, want ceph.SlotSpec) (ceph.Slot, error) {
	if a.slot == nil {
		return ceph.Slot{}, errors.New("no slot")
	}

	return *a.slot, a.stage.note(ctx, "slot %s on %s", want.Device.Path, a.name)
}

func (a *actor) MakeOSD(ctx context.Context, _ ceph.Layout, _ ceph.Slot, id int) error {
	return a.stage.note(ctx, "make osd.%d on %s", id, a.name)
}

func (a *actor) Start(ctx context.Context, _ ceph.Layout, d ceph.Daemon, _ ceph.StartHow) error {
	return a.stage.note(ctx, "start %s on %s", d, a.name)
}

func (a *actor) Stop(ctx context.Context, _ ceph.Layout, d ceph.Daemon) error {
	return a.stage.note(ctx, "stop %s on %s", d, a.name)
}

func (a *actor) Remove(ctx context.Context, _ ceph.Layout, d ceph.Daemon) error {
	return a.stage.note(ctx, "remove %s on %s", d, a.name)
}

func (a *actor) Wipe(ctx context.Context, _ ceph.Layout, s ceph.Slot, method string, _ int) error {
	return a.stage.note(ctx, "wipe %s %s on %s", method, s.Path, a.name)
}

func (a *actor) Forget(ctx context.Context, _ ceph.Layout, s ceph.Slot) error {
	return a.stage.note(ctx, "forget %s on %s", s.Path, a.name)
}

func (a *actor) Discard(ctx context.Context, _ ceph.Layout, left []ceph.Leftover) error {
	return a.stage.note(ctx, "discard %d on %s", len(left), a.name)
}

func (a *actor) Erase(ctx context.Context, _ ceph.Layout) error {
	return a.stage.note(ctx, "erase %s", a.name)
}

// teller answers for the cluster.
type teller struct{ stage *stage }

func (c *teller) MonCommand(ctx context.Context, cmd []byte) ([]byte, string, error) {
	var q struct {
		Prefix string `json:"prefix"`
	}

	if err := json.Unmarshal(cmd, &q); err != nil {
		return nil, "", fmt.Errorf("%s: %w", cmd, err)
	}

	if err := c.stage.note(ctx, "ask %s", cmd); err != nil {
		return nil, "", err
	}

	return []byte(c.stage.answers[q.Prefix]), "", nil
}

func (c *teller) MonCommandWithInputBuffer(ctx context.Context, cmd, _ []byte) ([]byte, string, error) {
	return c.MonCommand(ctx, cmd)
}

func (c *teller) MgrCommand(ctx context.Context, cmd [][]byte) ([]byte, string, error) {
	return c.MonCommand(ctx, cmd[0])
}

func (c *teller) MgrCommandWithInputBuffer(ctx context.Context, cmd [][]byte, _ []byte) ([]byte, string, error) {
	return c.MonCommand(ctx, cmd[0])
}

func (c *teller) Close() error { return nil }

// answersOf are the answers of a cluster that is as a scene has it.
func answersOf(sc *scene) map[string]string {
	m := sc.s.Cluster.OSDMap

	var osds, nodes, hosts, mons []string

	for i, o := range m.OSDs {
		osds = append(osds, fmt.Sprintf(`{"osd":%d,"uuid":%q,"up":%t,"in":%t,"state":["exists"%s]}`, o.ID, o.UUID, o.Up, o.In, map[bool]string{true: `,"new"`}[o.New]))
		nodes = append(nodes, fmt.Sprintf(`{"id":%d,"name":%q,"type":"host","children":[%d]},{"id":%d,"name":"osd.%d","type":"osd"}`, -2-i, o.Host, o.ID, o.ID, o.ID))
		hosts = append(hosts, fmt.Sprint(-2-i))
	}

	for _, n := range sc.s.Cluster.Quorum.Mons {
		var addrs []string
		for _, a := range n.Addrs {
			addrs = append(addrs, fmt.Sprintf(`{"type":%q,"addr":"%s:%d","nonce":0}`, a.Type, a.Host, a.Port))
		}

		mons = append(mons, fmt.Sprintf(`{"rank":%d,"name":%q,"public_addrs":{"addrvec":[%s]}}`, n.Rank, n.Name, strings.Join(addrs, ",")))
	}

	quorum, _ := json.Marshal(sc.s.Cluster.Quorum.Names)
	flags, _ := json.Marshal(m.NoOutHosts)
	standbys := strings.ReplaceAll(`[{"name":"b"}]`, "b", cmp.Or(strings.Join(sc.s.Cluster.Mgr.Standbys, ""), "b"))
	versions, _ := json.Marshal(sc.s.Cluster.Versions)

	nodeFlags := "{}"
	if len(m.NoOutHosts) == 1 {
		nodeFlags = `{` + strings.Trim(string(flags), "[]") + `:["noout"]}`
	}

	return map[string]string{
		"status": fmt.Sprintf(`{"fsid":%q,"health":{"status":"HEALTH_OK","checks":{}},"quorum_names":%s,"monmap":{"num_mons":3},"osdmap":{"num_osds":3,"num_up_osds":3,"num_in_osds":3},`+
			`"pgmap":{"num_pgs":1,"pgs_by_state":[{"state_name":"active+clean","count":1}]},"mgrmap":{"available":true}}`, fsid, quorum),
		"quorum_status": fmt.Sprintf(`{"quorum_names":%s,"quorum_leader_name":"a","monmap":{"epoch":1,"fsid":%q,"mons":[%s]}}`, quorum, fsid, strings.Join(mons, ",")),
		"mgr dump":      fmt.Sprintf(`{"epoch":1,"active_name":%q,"available":true,"standbys":%s,"modules":[],"services":{},"always_on_modules":{}}`, sc.s.Cluster.Mgr.Active, standbys),
		"osd dump": fmt.Sprintf(`{"epoch":1,"fsid":%q,"pools":[{"pool":1,"pool_name":".mgr","size":3}],"osds":[%s],"require_osd_release":%q,`+
			`"full_ratio":0.95,"backfillfull_ratio":0.9,"nearfull_ratio":0.85,"crush_node_flags":%s}`, fsid, strings.Join(osds, ","), m.RequireRelease, nodeFlags),
		"osd tree":           fmt.Sprintf(`{"nodes":[{"id":-1,"name":"default","type":"root","children":[%s]},%s],"stray":[]}`, strings.Join(hosts, ","), strings.Join(nodes, ",")),
		"config dump":        `[]`,
		"auth get-or-create": `[{"entity":"mgr.a","key":"AQB0"},{"entity":"mgr.b","key":"AQB1"}]`,
		"versions":           string(versions),
		"pg stat":            `{"num_pgs":1,"num_pg_by_state":[{"name":"active+clean","num":1}]}`,
	}
}
