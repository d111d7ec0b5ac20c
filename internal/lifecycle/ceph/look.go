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

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

const (
	// atOnce bounds how many hosts are worked on side by side.
	atOnce = 32
	// stale is how old the facts of a host may be while only the cluster changes: a daemon that
	// died is found out that late.
	stale = 10 * time.Second
	// lookLimit bounds the look at one host: one that hangs is one that does not answer.
	lookLimit = 40 * time.Second
	// For lively after a change a look comes at least this often.
	lively = time.Minute
	often  = 700 * time.Millisecond
)

// errSlow says that a host took too long to be looked at.
var errSlow = errors.New("the host did not tell its state within " + lookLimit.String())

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

	last  string // step, and how often it was taken in a row
	times int

	door     wait.Places // of the session: one at a time
	mu       sync.Mutex
	warnings []Remark
	starts   map[Daemon]int
	said     []Condition
	create   bool
}

func (r *Run) worker(was Record) *worker {
	w := &worker{Run: r, was: was, dirty: map[string]bool{}, looked: map[string]time.Time{}, out: map[string]time.Time{}, starts: map[Daemon]int{}, door: make(wait.Places, 1)}
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
	// A look at the cluster alone is one batch over an open session: soon after a change, when most
	// things come about, it may be often.
	if w.now().Sub(w.changed) < lively {
		within = min(within, often)
	}

	if err := wait.Sleep(ctx, within); err != nil {
		return seen, err
	}

	return w.look(ctx, seen, w.ask(false)) // begin looked at everything
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

// look looks at hosts and cluster. One that is cut off shows nothing: what was seen before stays.
func (w *worker) look(ctx context.Context, before *Seen, ask Ask) (*Seen, error) {
	seen, err := w.lookOn(ctx, before, ask)
	if ctx.Err() == nil {
		return seen, err
	}

	if before != nil {
		seen = before
	}

	return seen, context.Cause(ctx)
}

func (w *worker) lookOn(ctx context.Context, before *Seen, ask Ask) (*Seen, error) {
	seen := &Seen{Hosts: map[string]HostSeen{}, Record: w.was}
	if before != nil {
		maps.Copy(seen.Hosts, before.Hosts)
		seen.Identity = before.Identity
	}

	if err := w.lookRecognised(ctx, seen, ask); err != nil {
		return seen, err
	}

	w.lookCluster(ctx, seen)
	seen.Choice = Choose(w.Wanted, w.fsid(seen), w.factsOf(seen))
	seen.Waited = int(w.now().Sub(w.changed).Seconds())
	seen.Calm = w.calm

	return seen, nil
}

// lookRecognised looks at hosts, and at all of them again where only this look told which cluster
// it is: without its fsid what is ours looks like what another cluster left.
func (w *worker) lookRecognised(ctx context.Context, seen *Seen, ask Ask) error {
	for {
		as := w.fsid(seen)
		w.lookHosts(ctx, seen, ask)

		if ctx.Err() != nil {
			return context.Cause(ctx)
		}

		if err := w.recognise(seen); err != nil || w.fsid(seen) == as {
			return err
		}

		for _, h := range slices.Concat(w.Hosts, w.Former) {
			w.mark(h.Name)
		}
	}
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

		ctx, cancel := context.WithTimeoutCause(ctx, lookLimit, errSlow)
		defer cancel()

		facts, err := h.Host.Look(ctx, Layout{Name: w.Name, FSID: w.fsid(seen), Dir: w.Dir}, asked)

		mu.Lock()
		defer mu.Unlock()

		old := seen.Hosts[h.Name].Facts
		seen.Hosts[h.Name] = HostSeen{Facts: merge(old, facts, asked), Err: err, Odd: err != nil && !away(ctx, err)}
		w.looked[h.Name] = w.now()
		delete(w.dirty, h.Name)

		return nil
	})
}

// away reports whether an error says that a host cannot be worked on at all for now. Every
// other one comes of what is on the host, and nothing may be done around that.
func away(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return true
	}

	for _, kind := range []error{
		ErrUnreachable, remote.ErrUnreachable, remote.ErrBastion, remote.ErrHandshake, remote.ErrHostKey, remote.ErrAuth,
		remote.ErrRefused, remote.ErrSudo, remote.ErrTimeout, remote.ErrLost, remote.ErrTooLong,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}

	return false
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
	if !ask.Preflight && !ask.Programs {
		fresh.Programs, fresh.Version, fresh.Versions, fresh.Librados = old.Programs, old.Version, old.Versions, old.Librados
	}

	if !ask.Preflight {
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

	return w.FSID
}
