// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/resources/cephcluster"
)

// Map is an object of a configuration.
type Map = map[string]any

const (
	theCluster = "metal3_ceph_cluster"
	theFSID    = "11111111-2222-4333-8444-555555555555"
	adminKey   = "AQBSdFhlAAAAABAAMDEyMzQ1Njc4OWFiY2RlZg=="
	monSecret  = "AQBSdFhlAAAAABAAZmVkY2JhOTg3NjU0MzIxMA=="
)

// farm is a cluster in memory, with the verbs of its life. They do at once what is asked,
// unless a test says otherwise.
type farm struct {
	mu     sync.Mutex
	there  bool
	record ceph.Record
	slots  map[string][]ceph.Slot
	shown  []Map // options of a monitor

	wanted map[string]ceph.Wanted // of the last run of each verb
	how    ceph.CleanupSpec
	seen   func(ceph.Record) // what a delete is told
	calls  []string

	// What a verb answers instead, after it has done its work.
	fail   map[string]error
	known  map[string]bool // whether a failed create leaves something; default: yes
	block  map[string]bool // verbs that last until they are stopped
	warn   []ceph.Remark
	panics bool
	dead   error // hosts do not answer
}

func newFarm() *farm {
	return &farm{wanted: map[string]ceph.Wanted{}, fail: map[string]error{}, block: map[string]bool{}, known: map[string]bool{}, slots: map[string][]ceph.Slot{}}
}

// run is one verb on the farm.
type run struct {
	*farm

	wanted ceph.Wanted
	log    func(context.Context, string)
}

func (f *farm) verbs(r ceph.Run) cephcluster.Verbs { return &run{f, r.Wanted, r.Log} }

func (r *run) begin(ctx context.Context, verb string) error {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.panics {
		panic("a bug of ours")
	}

	r.log(ctx, verb)
	r.calls = append(r.calls, verb)
	r.farm.wanted[verb] = r.wanted

	if r.block[verb] {
		r.mu.Unlock()
		<-ctx.Done()
		r.mu.Lock()

		return fmt.Errorf("waiting for the quorum: %w", context.Cause(ctx))
	}

	return r.fail[verb]
}

func (r *run) Create(ctx context.Context) ceph.Result {
	err := r.begin(ctx, "create")
	if known, says := r.known["create"]; says && !known {
		return ceph.Result{Err: err, Stands: "Nothing was made."}
	}

	r.there = true
	r.record.FSID, r.record.AdminKey, r.record.MonSecret = theFSID, adminKey, monSecret

	if r.wanted.FSID != "" {
		r.record.FSID = r.wanted.FSID
	}

	if err != nil {
		r.record.Phase, r.record.Ready, r.record.Drift = ceph.PhaseFailure, false, []string{"3 monitors are missing"}

		// All that can be seen may be as wanted while the gate is not passed.
		seen := r.record
		seen.Ready = true

		return ceph.Result{Record: seen, Known: true, Err: err, Warnings: r.warn, Stands: "The identity of the cluster is made; no daemon runs."}
	}

	r.become()

	return ceph.Result{Record: r.record, Known: true, Warnings: r.warn}
}

func (r *run) Update(ctx context.Context, was ceph.Record) ceph.Result {
	if err := r.begin(ctx, "update"); err != nil {
		was.Phase, was.Ready = ceph.PhaseFailure, false

		return ceph.Result{Record: was, Known: true, Err: err, Stands: "Three monitors run."}
	}

	r.become()

	return ceph.Result{Record: r.record, Known: true, Warnings: r.warn}
}

// become makes the cluster what is wanted.
func (r *run) become() {
	w := r.wanted
	rec := &r.record
	rec.Mons, rec.Mgrs = map[string]ceph.MonRecord{}, map[string]ceph.MgrRecord{}

	if w.External == nil {
		for i := range w.Mon.Count {
			host := w.Mon.Hosts[i%len(w.Mon.Hosts)]
			id := string(rune('a' + i))
			rec.Mons[id] = ceph.MonRecord{Host: host, Addr: fmt.Sprintf("[v2:%s:%d,v1:%s:%d]", r.address(host), w.Network.Msgr2, r.address(host), w.Network.Msgr1), InQuorum: true}
		}
	}

	for i := range w.Mgr.Count {
		rec.Mgrs[string(rune('a'+i))] = ceph.MgrRecord{Host: w.Mgr.Hosts[i], Active: i == 0}
	}

	osds := map[int]ceph.OSDRecord{}

	for i, d := range w.Storage.Devices {
		osds[i] = ceph.OSDRecord{Host: d.Host, UUID: fmt.Sprintf("uuid-%s-%s", d.Host, d.Path), Path: d.Path, Device: d.Path, Class: "ssd", Up: true, In: true}
	}

	if len(osds) < len(rec.OSDs) && !w.Storage.Removal.Allow {
		osds = rec.OSDs
	}

	rec.OSDs = osds
	rec.LastMon = max(rec.LastMon, w.Mon.Count)
	rec.MonHost, rec.MgrActive, rec.Health = "[v2:10.0.0.1:3300]", "a", "HEALTH_OK"
	rec.Capacity = api.Capacity{Total: 300, Used: 100, Available: 200}
	rec.Versions = api.Versions{"mon": {"ceph version 16.2.15": len(rec.Mons)}}
	rec.Conf = "[global]\nfsid = " + rec.FSID + "\n"
	rec.Phase, rec.Ready, rec.Drift = ceph.PhaseReady, true, nil
	rec.Conditions = []ceph.Condition{{Type: ceph.PhaseReady, Status: "True", Reason: ceph.ReasonCreated, Message: "Cluster created successfully", LastTransition: time.Unix(1700000000, 0)}}
	rec.Owned = map[string][]string{}

	for who, options := range w.Config {
		for name := range options {
			rec.Owned[who] = append(rec.Owned[who], name)
		}

		slices.Sort(rec.Owned[who])
	}

	if w.External != nil {
		rec.Phase = ceph.PhaseConnected
	}

	if w.Dashboard.Enabled {
		rec.DashboardURL, rec.DashboardPassword = "https://h1:8443/", "correct-horse"
	}
}

func (r *run) address(host string) string {
	for _, h := range r.wanted.Hosts {
		if h.Name == host {
			return h.Address
		}
	}

	return ""
}

func (r *run) Refresh(ctx context.Context, was ceph.Record) ceph.Result {
	if err := r.begin(ctx, "refresh"); err != nil {
		return ceph.Result{Record: was, Known: true, Err: err}
	}

	if !r.there {
		return ceph.Result{Gone: true}
	}

	warn := r.warn
	if len(r.record.Drift) > 0 {
		warn = append(warn, ceph.Remark{Summary: "Ceph cluster prod is not as configured", Detail: strings.Join(r.record.Drift, "; ")})
	}

	return ceph.Result{Record: r.record, Known: true, Warnings: warn}
}

func (r *run) Delete(ctx context.Context, was ceph.Record, how ceph.CleanupSpec) ceph.Result {
	r.how = how
	if r.seen != nil {
		r.seen(was)
	}

	if err := r.begin(ctx, "delete"); err != nil {
		was.Phase = ceph.PhaseDeleting

		return ceph.Result{Record: was, Known: true, Err: err, Stands: "Two OSDs run."}
	}

	r.there = false

	return ceph.Result{Gone: true}
}

// host is a host of the farm.
type host struct {
	ceph.Host // all that a room does not call

	farm *farm
	cfg  remote.Config
}

func (h host) Name() string { return h.cfg.User + "@" + h.cfg.Host }

func (h host) Look(_ context.Context, l ceph.Layout, _ ceph.Ask) (ceph.Facts, error) {
	f := h.farm
	if f.dead != nil {
		return ceph.Facts{}, f.dead
	}

	name := map[string]string{"": "h1", "10.0.0.1": "h1", "10.0.0.2": "h2", "10.0.0.3": "h3", "2001:db8::1": "h1", "2001:db8::2": "h2", "2001:db8::3": "h3"}[h.cfg.Host]
	facts := ceph.Facts{Hostname: name, Slots: f.slots[name]}

	if f.there && l.Dir == "/var/lib/ceph" {
		facts.Identity = &ceph.Identity{Name: "prod", FSID: theFSID, AdminKey: adminKey, MonSecret: monSecret, LastMon: f.record.LastMon, First: map[string]ceph.MonPlace{}}
		for id, m := range f.record.Mons {
			facts.Identity.First[id] = ceph.MonPlace{Host: m.Host, Addr: m.Addr}
		}
	}

	return facts, nil
}

// Connect implements [ceph.Host].
func (h host) Connect(context.Context, ceph.Layout) (api.Commander, error) {
	if len(h.farm.record.Mons) == 0 {
		return nil, errors.New("no monitor answers")
	}

	return commander{h.farm}, nil
}

// commander answers what an import asks.
type commander struct{ farm *farm }

func (c commander) MonCommand(_ context.Context, cmd []byte) ([]byte, string, error) {
	rec := c.farm.record

	var (
		mons, mgrs, osds, nodes []any
		ask                     struct{ Prefix string }
	)

	_ = json.Unmarshal(cmd, &ask)

	for id, m := range rec.Mons {
		addrs, _ := api.ParseAddrs(m.Addr)

		var vector []any
		for _, a := range addrs {
			vector = append(vector, Map{"type": a.Type, "addr": net.JoinHostPort(a.Host, strconv.Itoa(a.Port)), "nonce": 0})
		}

		mons = append(mons, Map{"name": id, "hostname": m.Host, "rank": 0, "public_addrs": Map{"addrvec": vector}})
	}

	for id, m := range rec.Mgrs {
		mgrs = append(mgrs, Map{"name": id, "hostname": m.Host})
	}

	for id, o := range rec.OSDs {
		osds = append(osds, Map{"osd": id, "uuid": o.UUID, "up": 1, "in": 1, "state": []any{"exists", "up"}})
		nodes = append(nodes, Map{"id": id, "name": fmt.Sprintf("osd.%d", id), "type": "osd"}, Map{"id": -10 - id, "name": o.Host, "type": "host", "children": []any{id}})
	}

	nodes = append(nodes, Map{"id": -1, "name": "default", "type": "root", "children": []any{}})

	answer := map[string]any{
		"fsid": Map{"fsid": rec.FSID}, "quorum_status": Map{"quorum_names": []any{"a"}, "monmap": Map{"fsid": rec.FSID, "mons": mons}},
		"mon metadata": mons, "mgr metadata": mgrs, "osd dump": Map{"epoch": 1, "osds": osds, "pools": []any{}}, "osd tree": Map{"nodes": nodes, "stray": []any{}},
	}[ask.Prefix]

	if ask.Prefix == "fsid" {
		return []byte(rec.FSID + "\n"), "", nil
	}

	out, err := json.Marshal(answer)

	return append([]byte("\n"), out...), "", err
}

func (c commander) MgrCommand(context.Context, [][]byte) ([]byte, string, error) {
	out, err := json.Marshal(c.farm.shown)

	return out, "", err
}

func (c commander) MonCommandWithInputBuffer(context.Context, []byte, []byte) ([]byte, string, error) {
	return nil, "", errors.New("an import writes nothing")
}

func (c commander) MgrCommandWithInputBuffer(context.Context, [][]byte, []byte) ([]byte, string, error) {
	return nil, "", errors.New("an import writes nothing")
}

func (c commander) Close() error { return nil }

// world is a farm with one resource on it.
type world struct {
	*acctest.Core

	t    *testing.T
	ctx  context.Context //nolint:containedctx // of one test
	farm *farm
}

// onFarm runs a test in virtual time with a farm of its own.
func onFarm(t *testing.T, test func(world)) {
	t.Helper()

	synctest.Test(t, func(t *testing.T) {
		w := world{t: t, ctx: t.Context(), farm: newFarm()}
		w.Core = acctest.NewCore(t, theCluster, Map{}, w.options()...)
		test(w)
	})
}

func (w world) options() []provider.Option {
	return []provider.Option{
		provider.WithCephRun(w.farm.verbs),
		provider.WithCephHost(func(cfg remote.Config) ceph.Host { return host{farm: w.farm, cfg: cfg} }),
	}
}

// called tells how often a verb ran.
func (w world) called(verb string) int {
	n := 0

	for _, c := range w.farm.calls {
		if c == verb {
			n++
		}
	}

	return n
}

// three is a configuration of a cluster on three hosts, changed by parts.
func three(parts ...Map) Map {
	m := Map{
		"name": "prod", "hosts": Map{"h1": at("10.0.0.1"), "h2": at("10.0.0.2"), "h3": at("10.0.0.3")},
		"storage": Map{"devices": devices("h1:/dev/disk/by-id/a", "h2:/dev/disk/by-id/a", "h3:/dev/disk/by-id/a")},
	}

	return merged(m, parts...)
}

func merged(m Map, parts ...Map) Map {
	for _, p := range parts {
		for k, v := range p {
			m[k] = v
		}
	}

	return m
}

// at is a host with an address.
func at(address string, parts ...Map) Map { return merged(Map{"address": address}, parts...) }

// apply wants an apply without errors, and an empty plan after it.
func (w world) apply(config Map) acctest.Outcome {
	w.t.Helper()

	o := w.Apply(w.ctx, config)
	if o.Errors != "" {
		w.t.Fatalf("apply: %s", o.Errors)
	}

	if again := w.Plan(w.ctx, config); again.Action != "" || again.Errors != "" {
		w.t.Errorf("the plan after it is %q, changes %v: %s", again.Action, again.Changed, again.Errors)
	}

	return o
}

// devices is the attribute storage.devices of texts such as "h1:/dev/sdb".
func devices(all ...string) []any {
	var out []any

	for _, d := range all {
		out = append(out, Map{"host": d[:2], "path": d[3:]})
	}

	return out
}
