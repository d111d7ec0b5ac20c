// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

const (
	// atOnce bounds how many hosts are worked on side by side.
	atOnce = 32
	// stale is how old the facts of a host may be while only the cluster changes: a daemon that
	// died is found out that late.
	stale = 10 * time.Second
)

// worker is one run on one cluster: the machine's hands and eyes.
type worker struct {
	*Run

	was     Record
	session *Session
	via     string // the host that the session goes through
	dirty   map[string]bool
	looked  map[string]time.Time
	changed time.Time // when a step last changed something
	calm    int
	out     map[string]time.Time // monitors out of quorum, and since when

	mu       sync.Mutex
	warnings []Remark
	starts   map[Daemon]int
	said     []Condition
	first    bool // nothing was looked at yet
	create   bool
}

func (r *Run) worker(was Record) *worker {
	w := &worker{Run: r, was: was, dirty: map[string]bool{}, looked: map[string]time.Time{}, out: map[string]time.Time{}, first: true}
	w.changed = w.now()
	w.said = slices.Clone(was.Conditions)

	for id, m := range was.Mons {
		if !m.InQuorum && !m.OutSince.IsZero() {
			w.out[id] = m.OutSince
		}
	}

	return w
}

func (r *Run) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}

	return time.Now()
}

// Look implements [lifecycle.Machine].
func (w *worker) Look(ctx context.Context, seen *Seen, within time.Duration) (*Seen, error) {
	if err := wait.Sleep(ctx, within); err != nil {
		return seen, err
	}

	return w.look(ctx, seen, w.ask(w.first))
}

// ask says what is looked at: the first look of a run looks at everything.
func (w *worker) ask(all bool) Ask {
	ask := Ask{Preflight: all, Devices: all && len(w.Storage.Selectors)+len(w.Storage.Devices) > 0, Logs: true}

	for _, d := range w.Storage.Devices {
		ask.Paths = append(ask.Paths, d.Path)
		if d.DB != "" {
			ask.Paths = append(ask.Paths, d.DB)
		}
	}

	if !all {
		ask.Paths = nil
	}

	for k := range max(w.Mon.Count, 1) {
		if k > 0 && !w.Mon.AllowMultiple {
			break
		}

		ask.Ports = append(ask.Ports, w.Network.Msgr2+k)
		if !w.Network.RequireMsgr2 && !w.Network.Encryption && !w.Network.Compression {
			ask.Ports = append(ask.Ports, w.Network.Msgr1+k)
		}
	}

	return ask
}

func (w *worker) look(ctx context.Context, before *Seen, ask Ask) (*Seen, error) {
	seen := &Seen{Hosts: map[string]HostSeen{}, Record: w.was}
	if before != nil {
		maps.Copy(seen.Hosts, before.Hosts)
		seen.Identity = before.Identity
	}

	w.lookHosts(ctx, seen, ask)

	if err := ctx.Err(); err != nil {
		return seen, context.Cause(ctx)
	}

	if err := w.recognise(seen); err != nil {
		return seen, err
	}

	w.first = false
	w.lookCluster(ctx, seen)
	seen.Choice = Choose(w.Wanted, w.fsid(seen), w.factsOf(seen))
	seen.Waited = int(w.now().Sub(w.changed).Seconds())
	seen.Calm = w.calm

	return seen, nil
}

// lookHosts looks at the hosts that a step touched, and at all others once in a while.
func (w *worker) lookHosts(ctx context.Context, seen *Seen, ask Ask) {
	var hosts []HostSpec

	for _, h := range slices.Concat(w.Hosts, w.Former) {
		if w.dirty[h.Name] || w.now().Sub(w.looked[h.Name]) > stale {
			hosts = append(hosts, h)
		}
	}

	var mu sync.Mutex

	_ = remote.Each(ctx, atOnce, hosts, func(ctx context.Context, h HostSpec) error {
		asked := ask
		asked.Paths = w.pathsOn(h.Name, ask)

		facts, err := h.Host.Look(ctx, Layout{Name: w.Name, FSID: w.fsid(seen), Dir: w.Dir}, asked)

		mu.Lock()
		defer mu.Unlock()

		old := seen.Hosts[h.Name].Facts
		seen.Hosts[h.Name] = HostSeen{Facts: merge(old, facts, asked), Err: err}
		w.looked[h.Name] = w.now()
		delete(w.dirty, h.Name)

		return nil
	})
}

func (w *worker) pathsOn(host string, ask Ask) []string {
	if ask.Paths == nil {
		return nil
	}

	var out []string

	for _, d := range w.Storage.Devices {
		if d.Host != host {
			continue
		}

		out = append(out, d.Path)
		if d.DB != "" {
			out = append(out, d.DB)
		}
	}

	return out
}

// merge keeps of an earlier look what the new one did not ask for.
func merge(old, fresh Facts, ask Ask) Facts {
	if !ask.Preflight {
		fresh.Programs, fresh.Version, fresh.Librados = old.Programs, old.Version, old.Librados
		fresh.Clock, fresh.ClockBy, fresh.Free, fresh.Total = old.Clock, old.ClockBy, old.Free, old.Total
		fresh.Closed, fresh.Ports, fresh.Leftovers = old.Closed, old.Ports, old.Leftovers
	}

	if !ask.Devices && len(ask.Paths) == 0 {
		fresh.Disks = old.Disks
	}

	return fresh
}

func (w *worker) factsOf(seen *Seen) map[string]Facts {
	all := map[string]Facts{}

	for name, h := range seen.Hosts {
		if h.Err == nil {
			all[name] = h.Facts
		}
	}

	return all
}

func (w *worker) fsid(seen *Seen) string {
	if seen.Identity != nil {
		return seen.Identity.FSID
	}

	if w.was.FSID != "" {
		return w.was.FSID
	}

	return w.Wanted.FSID
}

// recognise finds the identity: on the hosts, else in what the state remembers. Two that
// differ are an error, and so is one of another cluster.
func (w *worker) recognise(seen *Seen) error {
	var from string

	for _, name := range sortedKeys(seen.Hosts) {
		h := seen.Hosts[name]
		if h.Err != nil || h.Identity == nil {
			continue
		}

		if err := w.ours(name, *h.Identity); err != nil {
			return err
		}

		switch {
		case seen.Identity == nil:
			seen.Identity, from = h.Identity, name
		case h.Identity.FSID != seen.Identity.FSID:
			return &identityError{"two hosts hold two identities of cluster " + w.Name + ": " + from + " has fsid " + seen.Identity.FSID + " and " + name + " has " + h.Identity.FSID +
				". Move away the identity.json that is not of this cluster"}
		default:
			seen.Identity = newer(seen.Identity, h.Identity)
		}
	}

	if w.External != nil && seen.Identity != nil && w.External.Key != "" {
		id := *seen.Identity
		id.AdminKey = w.External.Key // a new one goes to the host with the next writing
		seen.Identity = &id
	}

	if seen.Identity == nil && w.was.FSID != "" && w.was.AdminKey != "" && w.was.MonSecret != "" {
		seen.Identity = &Identity{Name: w.Name, Owner: w.Owner, FSID: w.was.FSID, AdminKey: w.was.AdminKey, MonSecret: w.was.MonSecret, LastMon: w.was.LastMon, Established: true, Dashboard: w.was.DashboardPassword}
	}

	return nil
}

// newer is the identity of which more is known: an apply that was cut off may have written it
// to some hosts only.
func newer(a, b *Identity) *Identity {
	if b.LastMon > a.LastMon || b.Established && !a.Established {
		return b
	}

	return a
}

func (w *worker) ours(host string, id Identity) error {
	path := Layout{Dir: w.Dir}.IdentityFile()

	switch {
	case id.Name != w.Name:
		return &identityError{path + " on " + host + " is of cluster " + id.Name + " (fsid " + id.FSID + "), not of " + w.Name + ": choose another data_dir, or move that cluster away"}
	case w.was.FSID != "" && id.FSID != w.was.FSID:
		return &identityError{path + " on " + host + " has fsid " + id.FSID + ", and the state has " + w.was.FSID + ": another cluster was made in its place; nothing was touched"}
	case w.Wanted.FSID != "" && id.FSID != w.Wanted.FSID:
		return &identityError{path + " on " + host + " has fsid " + id.FSID + ", and " + w.Wanted.FSID + " is configured: remove fsid to go on with that cluster, or choose another data_dir"}
	case id.Owner != w.Owner && id.Owner != "" && w.Owner != "":
		return &identityError{path + " on " + host + " belongs to owner " + id.Owner + ", not to " + w.Owner + " (owner_id of the provider)"}
	}

	return nil
}

type identityError struct{ words string }

func (e *identityError) Error() string { return e.words }

// Is implements errors.Is: what is there belongs to another cluster.
func (e *identityError) Is(target error) bool { return target == ErrForeign } //nolint:errorlint // one link of the chain

// lookCluster asks the cluster. That it does not answer is a fact, not an error.
func (w *worker) lookCluster(ctx context.Context, seen *Seen) {
	if seen.Identity == nil || !monsMade(seen) && w.External == nil {
		return
	}

	cluster, err := w.cluster(ctx, seen)
	if err == nil {
		var snap api.Snapshot

		if snap, err = cluster.Snapshot(ctx); err == nil {
			seen.Cluster = &snap
		}
	}

	seen.Why = err
	if err != nil {
		w.calm = 0

		return
	}

	w.health(seen)
	w.outSince(seen)

	if wantsMeta(seen) {
		seen.Meta = w.meta(ctx, cluster)
	}
}

func monsMade(seen *Seen) bool {
	for _, h := range seen.Hosts {
		for _, d := range h.Daemons {
			if d.Type == RoleMon && d.Running {
				return true
			}
		}
	}

	return false
}

// cluster opens the session at its first need, and again after it broke.
func (w *worker) cluster(ctx context.Context, seen *Seen) (*api.Cluster, error) {
	if w.session != nil && !w.session.Lost() {
		return api.New(w.session), nil
	}

	w.closeSession()

	l := Layout{Name: w.Name, FSID: seen.Identity.FSID, Dir: w.Dir, Entity: w.entity()}
	err := errors.New("no host of a monitor answers")

	for _, h := range w.doors(seen) {
		var c api.Commander

		if c, err = h.Host.Connect(ctx, l); err == nil {
			w.session, w.via = NewSession(c), h.Name

			return api.New(w.session), nil
		}

		if ctx.Err() != nil {
			break
		}
	}

	return nil, err
}

// doors are the hosts through which the cluster can be asked: those that have its keys, and
// a running monitor of it first.
func (w *worker) doors(seen *Seen) []HostSpec {
	var with, without []HostSpec

	for _, h := range w.Hosts {
		s := seen.Hosts[h.Name]
		if s.Err != nil || s.AdminSum == "" {
			continue
		}

		if slices.ContainsFunc(s.Daemons, func(d DaemonFacts) bool { return d.Type == RoleMon && d.Running }) {
			with = append(with, h)
		} else {
			without = append(without, h)
		}
	}

	return append(with, without...)
}

func (w *worker) closeSession() {
	if w.session != nil {
		_ = w.session.Close()
		w.session = nil
	}
}

// health counts in how many looks in a row all placement groups were healthy: one alone may
// be older than what was just changed.
func (w *worker) health(seen *Seen) {
	st := seen.Cluster.Status
	silent := len(st.PGs) == 0 && (st.NumPGs > 0 || len(seen.Cluster.OSDMap.Pools) > 0) // no group has reported yet

	if len(api.PGsHealthy(st.PGs)) > 0 || silent || len(seen.Cluster.Quorum.Names) == 0 {
		w.calm = 0

		return
	}

	w.calm++
}

func (w *worker) outSince(seen *Seen) {
	seen.OutFor = map[string]int{}

	for _, m := range seen.Cluster.Quorum.Mons {
		if slices.Contains(seen.Cluster.Quorum.Names, m.Name) {
			delete(w.out, m.Name)

			continue
		}

		if w.out[m.Name].IsZero() {
			w.out[m.Name] = w.now()
		}

		seen.OutFor[m.Name] = int(w.now().Sub(w.out[m.Name]).Seconds())
	}
}

// wantsMeta reports whether some daemon may run another version than its host has.
func wantsMeta(seen *Seen) bool {
	programs := map[string]bool{}

	for _, h := range seen.Hosts {
		if v, ok := versionOf(h.Facts); ok && h.Err == nil {
			programs[v.String()] = true
		}
	}

	if len(programs) == 0 {
		return false
	}

	for _, kinds := range seen.Cluster.Versions {
		for text := range kinds {
			if v, err := api.ParseVersion(text); err == nil && (len(programs) > 1 || !programs[v.String()]) {
				return true
			}
		}
	}

	return false
}

// meta asks which daemon runs what. A kind that does not answer is looked at the next time.
func (w *worker) meta(ctx context.Context, cluster *api.Cluster) map[string]map[string]api.Meta {
	all := map[string]map[string]api.Meta{}

	for _, kind := range []string{RoleMon, RoleMgr, RoleOSD, RoleMDS} {
		if m, err := cluster.Metadata(ctx, kind); err == nil {
			all[kind] = m
		}
	}

	return all
}
