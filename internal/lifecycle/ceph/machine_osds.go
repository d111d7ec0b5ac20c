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
			if !v.shared(h.Name, facts, spec) {
				work = append(work, OSDWork{Host: h.Name, Spec: spec})
			}
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

// shared reports whether a device carries an OSD of ours that is up, and of which its host has no
// record: another host runs it, through the same disk. Started twice, its data would be lost.
func (v *view) shared(host string, facts Facts, spec SlotSpec) bool {
	d, ok := FindDisk(facts.Disks, spec.Device.Path)
	if !ok || d.Label == nil {
		return false
	}

	osd, known := v.osdByUUID(d.Label.UUID)
	if !known || !osd.Up {
		return false
	}

	v.unmet = append(v.unmet, sharedWords(spec.Device.Path, host, osd))

	return true
}

func sharedWords(path, host string, osd api.OSD) string {
	return fmt.Sprintf("%s on %s carries osd.%d, which runs on %s: several hosts see one disk. Leave it to one of them, and take it out of storage for the others; "+
		"if it was moved, wait until the cluster says that osd.%d is down", path, host, osd.ID, cmp.Or(osd.Host, "another host"), osd.ID)
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
	case v.dropped(host, slot):
		v.unmet = append(v.unmet, fmt.Sprintf("%s on %s is not configured, its record there says that it was never made, and the cluster knows it as osd.%d that ran: "+
			"nothing is done with it; put it back, or remove osd.%d by hand", slot.Path, host, osd.ID, osd.ID))

		return OSDWork{}, false
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

// dropped reports whether a slot that never became an OSD is no longer configured: it is never made.
func (v *view) dropped(host string, slot Slot) bool { return !slot.Made && v.unnamed(host, slot) }

// unnamed reports whether nothing in the configuration names an OSD any more.
func (v *view) unnamed(host string, slot Slot) bool {
	return !v.configured(host) || slices.ContainsFunc(v.s.Choice.Gone[host], func(g Slot) bool { return g.UUID == slot.UUID })
}

// leaves reports whether an OSD is to go, and may. One that was never made holds nothing that has
// to be allowed.
func (v *view) leaves(host string, slot Slot) bool {
	if osd, known := v.osdByUUID(slot.UUID); v.dropped(host, slot) && (!known || osd.New && !osd.Up) {
		return true
	}

	return v.w.Storage.Removal.Allow && v.unnamed(host, slot)
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
		if !known || osd.Up || v.leaves(l.Host, l.Slot) || v.dropped(l.Host, l.Slot) || !v.configured(l.Host) {
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

	if v.w.Storage.Removal.Allow {
		all = append(all, v.orphans()...)
	}

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
