// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
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

// OSDWork is an OSD that is to be made, or started.
type OSDWork struct {
	Host string
	Spec SlotSpec // counts where there is no slot yet
	Slot *Slot
}

// Label names the work for people.
func (o OSDWork) Label() string {
	if o.Slot != nil && o.Slot.ID >= 0 {
		return "osd." + strconv.Itoa(o.Slot.ID) + " on " + o.Host
	}

	return cmp.Or(o.Spec.Device.Path, o.path()) + " on " + o.Host
}

func (o OSDWork) path() string {
	if o.Slot == nil {
		return ""
	}

	return o.Slot.Path
}

// missingOSDs makes and starts all OSDs in one step, so that hosts work side by side. One
// that is to go, and is not allowed to, is an OSD like any other.
func missingOSDs(v *view) Step {
	var work []OSDWork

	for _, h := range v.w.Hosts {
		facts, ok := v.reached(h.Name)
		if !ok {
			continue
		}

		for _, spec := range v.s.Choice.New[h.Name] {
			work = append(work, OSDWork{Host: h.Name, Spec: spec})
		}

		for _, slot := range facts.Slots {
			if w, ok := v.idleSlot(h.Name, slot); ok {
				work = append(work, w)
			}
		}
	}

	if len(work) == 0 {
		return Step{}
	}

	return Step{Do: makeOSDs, Message: "Configuring Ceph OSDs", Why: fmt.Sprintf("making or starting %d OSDs", len(work)), OSDs: work}
}

// idleSlot is the work that an existing slot needs.
func (v *view) idleSlot(host string, slot Slot) (OSDWork, bool) {
	if v.leaves(host, slot) {
		return OSDWork{}, false
	}

	if slot.Made && slot.ID >= 0 && v.runs(host, OSDDaemon(slot.ID)) {
		return OSDWork{}, false
	}

	switch osd, known := v.osdByUUID(slot.UUID); {
	case slot.Made && !known:
		v.unmet = append(v.unmet, fmt.Sprintf("osd.%d on %s (%s) was purged from the cluster by somebody, and its device still carries its data: "+
			"take the device out of the configuration with storage.removal { allow = true, wipe = true } to have it wiped, then put it back", slot.ID, host, slot.Path))

		return OSDWork{}, false
	case slot.Made && slot.Device == "":
		v.unmet = append(v.unmet, fmt.Sprintf("the device of osd.%d on %s (%s, serial %q) is not there", osd.ID, host, slot.Path, slot.Serial))

		return OSDWork{}, false
	}

	return OSDWork{Host: host, Slot: &slot, Spec: v.s.Choice.SpecOf(host, slot)}, true
}

// leaves reports whether an OSD is to go, and may.
func (v *view) leaves(host string, slot Slot) bool {
	if !v.w.Storage.Removal.Allow {
		return false
	}

	return !v.configured(host) || slices.ContainsFunc(v.s.Choice.Gone[host], func(g Slot) bool { return g.UUID == slot.UUID })
}

func (v *view) osdByUUID(uuid string) (api.OSD, bool) {
	for _, o := range v.s.Cluster.OSDMap.OSDs {
		if o.UUID == uuid {
			return o, true
		}
	}

	return api.OSD{}, false
}

// slots lists all slots that hosts show, by host.
func (v *view) slots() []Leaving {
	var all []Leaving

	for _, h := range slices.Concat(v.w.Hosts, v.w.Former) {
		facts, _ := v.reached(h.Name)
		for _, slot := range facts.Slots {
			all = append(all, Leaving{Host: h.Name, Slot: slot})
		}
	}

	return all
}

// comingOSDs waits for OSDs that run to be up.
func comingOSDs(v *view) Step {
	for _, l := range v.slots() {
		osd, known := v.osdByUUID(l.Slot.UUID)
		if !known || osd.Up || v.leaves(l.Host, l.Slot) || !v.configured(l.Host) {
			continue
		}

		if v.s.Waited > bootLimit {
			v.unmet = append(v.unmet, fmt.Sprintf("osd.%d on %s runs and did not come up in %d s: see its log below %s/log", osd.ID, l.Host, v.s.Waited, v.w.Dir))

			continue
		}

		return Step{Do: pause, Message: fmt.Sprintf("Processing OSD %d on node \"%s\"", osd.ID, l.Host), Why: fmt.Sprintf("waiting for osd.%d to be up", osd.ID)}
	}

	return Step{}
}

// Leaving is an OSD that is to go.
type Leaving struct {
	Host string
	Slot Slot
	OSD  *api.OSD // nil: the cluster does not know it any more
}

// surplusOSDs lists what is to go, and may. A host that merely does not answer loses nothing.
func surplusOSDs(v *view) Step {
	if !v.w.Storage.Removal.Allow {
		return Step{}
	}

	var all []Leaving

	for _, l := range v.slots() {
		if !v.leaves(l.Host, l.Slot) {
			continue
		}

		if osd, known := v.osdByUUID(l.Slot.UUID); known {
			l.OSD = &osd
		}

		all = append(all, l)
	}

	all = append(all, v.orphans()...)
	if len(all) == 0 {
		return Step{}
	}

	return Step{Do: removeOSDs, Message: "Configuring Ceph OSDs", Why: fmt.Sprintf("removing %d OSDs", len(all)), Leaving: all}
}

// orphans are OSDs of ours whose host is neither configured nor reached any more. Only those
// that the cluster sees down can go.
func (v *view) orphans() []Leaving {
	var out []Leaving

	for _, id := range sortedKeys(v.s.Record.OSDs) {
		was := v.s.Record.OSDs[id]
		if _, ok := v.reached(was.Host); ok || v.configured(was.Host) {
			continue
		}

		osd, known := v.osdByUUID(was.UUID)

		switch {
		case !known || osd.ID != id:
		case osd.Up:
			v.unmet = append(v.unmet, fmt.Sprintf("osd.%d runs on %s, which is no longer in hosts and does not answer: stop it there, or put the host back", id, was.Host))
		default:
			out = append(out, Leaving{Host: was.Host, Slot: Slot{ID: id, UUID: was.UUID, Path: was.Path}, OSD: &osd})
		}
	}

	return out
}
