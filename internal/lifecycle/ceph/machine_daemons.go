// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"fmt"
	"slices"
)

// How long, in seconds, daemons that run may take to be of use.
const (
	managerLimit = 300 // Rook waits 100 times 3 s
	bootLimit    = 300
)

// mgrPlan says which managers stay, which go and which are to be.
type mgrPlan struct {
	keep, surplus, idle []Placed
	missing             []Placed
}

func planMgrs(v *view) mgrPlan {
	var p mgrPlan

	used := map[string]int{}
	taken := map[string]bool{}

	// One on a host that does not answer may run, although the cluster has forgotten it.
	for id := range v.s.Record.Mgrs {
		taken[id] = true
	}

	for _, m := range v.mgrs0() {
		taken[m.ID] = true

		f, seen := v.daemon(m.Host, m.Daemon)
		fits := slices.Contains(v.w.Mgr.Hosts, m.Host) && (used[m.Host] == 0 || v.w.Mgr.AllowMultiple)

		switch {
		case !fits || len(p.keep) == v.w.Mgr.Count:
			p.surplus = append(p.surplus, m)

			continue
		case seen && (!f.Made || !f.Running):
			p.idle = append(p.idle, m)
		}

		p.keep = append(p.keep, m)
		used[m.Host]++
	}

	for round := 0; round < max(v.w.Mgr.Count, 1); round++ {
		for _, host := range v.w.Mgr.Hosts {
			_, ok := v.reached(host)
			if !ok || used[host] > round || round > 0 && !v.w.Mgr.AllowMultiple || len(p.keep)+len(p.missing) >= v.w.Mgr.Count {
				continue
			}

			p.missing = append(p.missing, Placed{Host: host, Daemon: Daemon{RoleMgr, freeLetter(taken)}})
			used[host]++
		}
	}

	return p
}

// mgrs0 lists the managers that hosts show, in the order of the hosts, and after them those
// that only the cluster knows.
func (v *view) mgrs0() []Placed {
	var all []Placed

	for _, h := range slices.Concat(v.w.Hosts, v.w.Former) {
		facts, _ := v.reached(h.Name)

		for _, d := range facts.Daemons {
			if d.Type == RoleMgr {
				all = append(all, Placed{Host: h.Name, Daemon: d.Daemon})
			}
		}
	}

	if v.s.Cluster == nil {
		return all
	}

	for _, id := range append([]string{v.s.Cluster.Mgr.Active}, v.s.Cluster.Mgr.Standbys...) {
		if id != "" && !slices.ContainsFunc(all, func(p Placed) bool { return p.ID == id }) {
			all = append(all, Placed{Host: v.s.Record.Mgrs[id].Host, Daemon: Daemon{RoleMgr, id}})
		}
	}

	return all
}

func freeLetter(taken map[string]bool) string {
	for n := 1; ; n++ {
		if l := letter(n); !taken[l] {
			taken[l] = true

			return l
		}
	}
}

func missingMgr(v *view) Step {
	all := slices.Concat(v.mgrs.missing, v.mgrs.idle)

	if n := v.w.Mgr.Count - len(v.mgrs.keep) - len(v.mgrs.missing); n > 0 {
		v.unmet = append(v.unmet, fmt.Sprintf("%d of %d managers are missing, and no further host with the role mgr answers", n, v.w.Mgr.Count))
	}

	if len(all) == 0 {
		return Step{}
	}

	// A manager loads its modules for seconds: OSDs are made meanwhile.
	osds := missingOSDs(v)
	step := Step{Do: makeMgrs, Message: "Configuring Ceph Mgr(s)", Why: "starting " + words(all), Placed: all, OSDs: osds.OSDs}

	if len(osds.OSDs) > 0 {
		step.Why += ", and " + osds.Why
	}

	return step
}

// surplusMgr removes one. A manager on a host that does not answer is not ours to stop now:
// the cluster forgets it when it ends.
func surplusMgr(v *view) Step {
	for _, m := range v.mgrs.surplus {
		if _, ok := v.reached(m.Host); ok {
			return Step{Do: removeMgr, Message: "Configuring Ceph Mgr(s)", Why: "removing " + m.String() + " on " + m.Host, Placed: []Placed{m}}
		}
	}

	return Step{}
}

func noManager(v *view) Step {
	mgr := v.s.Cluster.Mgr
	if v.w.Mgr.Count == 0 || mgr.Available && mgr.Active != "" {
		return Step{}
	}

	if v.s.Waited > managerLimit {
		return Step{Do: fail, Why: fmt.Sprintf("no manager became active in %d s: see the logs of %s below %s/log", v.s.Waited, words(v.mgrs.keep), v.w.Dir)}
	}

	return Step{Do: pause, Message: "Configuring Ceph Mgr(s)", Why: "waiting for a manager to become active"}
}
