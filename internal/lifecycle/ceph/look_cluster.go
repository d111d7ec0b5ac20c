// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"errors"
	"slices"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

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
	done, err := w.door.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()

	if w.session != nil && !w.session.Lost() {
		return api.New(w.session), nil
	}

	w.closeSession()

	l := Layout{Name: w.Name, FSID: seen.Identity.FSID, Dir: w.Dir, Entity: w.entity()}
	err = errors.New("no host of a monitor answers")

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
	for _, kind := range []string{RoleMon, RoleMgr, RoleOSD, RoleMDS} {
		programs := map[string]bool{}

		for _, h := range seen.Hosts {
			if v, ok := versionOf(h.Facts, kind); ok && h.Err == nil {
				programs[v.String()] = true
			}
		}

		for text := range seen.Cluster.Versions[kind] {
			if v, err := api.ParseVersion(text); err == nil && len(programs) > 0 && (len(programs) > 1 || !programs[v.String()]) {
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
