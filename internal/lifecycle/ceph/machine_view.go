// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// view is what is wanted and what is seen, side by side.
type view struct {
	w *Wanted
	s *Seen
	// unmet is what is wanted and cannot be had now; the rows above add to it and go on.
	unmet []string
	// monmap are the monitors that there are, by id, with their addresses as mon_host spells them.
	monmap map[string]string
	mons   monPlan
	mgrs   mgrPlan
}

func newView(w *Wanted, s *Seen) *view {
	v := &view{w: w, s: s, monmap: monmap(w, s)}
	v.mons = planMons(v)
	v.mgrs = planMgrs(v)

	return v
}

// reached returns the facts of a host that answered.
func (v *view) reached(name string) (Facts, bool) {
	h, ok := v.s.Hosts[name]

	return h.Facts, ok && h.Err == nil
}

func (v *view) host(name string) (HostSpec, bool) {
	for _, h := range slices.Concat(v.w.Hosts, v.w.Former) {
		if h.Name == name {
			return h, true
		}
	}

	return HostSpec{}, false
}

// daemon returns what a host shows of a daemon.
func (v *view) daemon(host string, d Daemon) (DaemonFacts, bool) {
	facts, ok := v.reached(host)
	if !ok {
		return DaemonFacts{}, false
	}

	for _, f := range facts.Daemons {
		if f.Daemon == d {
			return f, true
		}
	}

	return DaemonFacts{}, false
}

// runs reports whether a host shows a daemon that runs.
func (v *view) runs(host string, d Daemon) bool {
	f, _ := v.daemon(host, d)

	return f.Running
}

// where finds the host that has a daemon; empty where no host shows it.
func (v *view) where(d Daemon) string {
	for _, h := range slices.Concat(v.w.Hosts, v.w.Former) {
		if f, ok := v.daemon(h.Name, d); ok && (f.Made || f.Running) {
			return h.Name
		}
	}

	return ""
}

func (v *view) quorum() []string {
	if v.s.Cluster == nil {
		return nil
	}

	return v.s.Cluster.Quorum.Names
}

// monmap returns the monitors of the monmap, or before the first quorum those of the identity.
func monmap(w *Wanted, s *Seen) map[string]string {
	all := map[string]string{}

	switch {
	case w.External != nil && s.Cluster == nil:
	case s.Cluster != nil && len(s.Cluster.Quorum.Mons) > 0:
		for _, m := range s.Cluster.Quorum.Mons {
			all[m.Name] = m.Addrs.String()
		}
	case s.Identity != nil && !s.Identity.Established:
		for id, p := range s.Identity.First {
			all[id] = p.Addr
		}
	default:
		for id, m := range s.Record.Mons {
			all[id] = m.Addr
		}
	}

	return all
}

// monHost is the value of mon_host: all monitors, by letter.
func (v *view) monHost() string {
	if v.w.External != nil {
		return v.w.External.MonHost
	}

	return MonHost(v.monmap)
}

// MonHost is the value of mon_host for monitors by id and address.
func MonHost(mons map[string]string) string {
	var all []string

	for _, id := range byLetter(slices.Collect(maps.Keys(mons))) {
		if mons[id] != "" {
			all = append(all, mons[id])
		}
	}

	return strings.Join(all, ",")
}

// byLetter sorts the ids of monitors: a … z, aa …; whatever else comes after.
func byLetter(ids []string) []string {
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})

	return ids
}

// letter is the name of the n-th monitor, n from 1: a to z, then aa, ab and so on.
func letter(n int) string {
	name := ""

	for ; n > 0; n = (n - 1) / 26 {
		name = string(rune('a'+(n-1)%26)) + name
	}

	return name
}

// number is the inverse of letter; 0 for a name that is none.
func number(name string) int {
	n := 0

	for _, r := range name {
		if r < 'a' || r > 'z' || n > 1<<20 {
			return 0
		}

		n = n*26 + int(r-'a') + 1
	}

	return n
}

func hostsOf(placed []Placed) string {
	var names []string

	for _, p := range placed {
		if !slices.Contains(names, p.Host) {
			names = append(names, p.Host)
		}
	}

	return strings.Join(names, ", ")
}

// joinWords makes one sentence of several reasons.
func joinWords(words []string) string { return strings.Join(words, "; ") }

// words names daemons for people: "mon.a on h1, mon.b on h2".
func words(placed []Placed) string {
	all := make([]string, len(placed))

	for i, p := range placed {
		all[i] = p.String() + " on " + cmp.Or(p.Host, "an unknown host")
	}

	return strings.Join(all, ", ")
}

// versionOf is what the program of a kind of daemon says of itself on a host.
func versionOf(f Facts, kind string) (api.Version, bool) {
	v, err := api.ParseVersion(cmp.Or(f.Versions["ceph-"+kind], f.Version))

	return v, err == nil
}
