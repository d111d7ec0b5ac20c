// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"fmt"
	"slices"
	"strings"
)

// How long, in seconds, monitors may take to come to a quorum; Rook gives them 60 looks of 5 s.
const quorumLimit = 300

func unmadeMons(v *view) Step {
	id := v.s.Identity
	if id.Established {
		return Step{}
	}

	var unmade []Placed

	for _, name := range byLetter(sortedKeys(id.First)) {
		place := id.First[name]
		if f, ok := v.daemon(place.Host, Daemon{RoleMon, name}); !ok || !f.Made {
			unmade = append(unmade, Placed{place.Host, Daemon{RoleMon, name}, place.Addr})
		}
	}

	if len(unmade) == 0 {
		return Step{}
	}

	return Step{Do: makeMons, Message: "Configuring Ceph Mons", Why: "making " + words(unmade), Placed: unmade}
}

// idleMons starts what has a store and is in the map. A store of a monitor that was removed
// is not started: it would not be let in.
func idleMons(v *view) Step {
	var idle []Placed

	for _, m := range v.mons.all {
		// With a quorum, one that is to go need not be started for that.
		if len(v.quorum()) > 0 && slices.Contains(v.mons.surplus, m) {
			continue
		}

		if f, ok := v.daemon(m.Host, m.Daemon); ok && f.Made && !f.Running {
			idle = append(idle, m)
		}
	}

	// Without a quorum the map is not known: whatever has a store starts.
	if v.s.Cluster == nil && len(v.mons.all) == 0 {
		for _, h := range v.w.Hosts {
			facts, _ := v.reached(h.Name)
			for _, d := range facts.Daemons {
				if d.Type == RoleMon && d.Made && !d.Running {
					idle = append(idle, Placed{Host: h.Name, Daemon: d.Daemon})
				}
			}
		}
	}

	if len(idle) == 0 {
		return Step{}
	}

	return Step{Do: startMons, Message: "Configuring Ceph Mons", Why: "starting " + words(idle), Placed: idle}
}

func noQuorum(v *view) Step {
	if v.s.Cluster != nil && len(v.quorum()) > 0 {
		return Step{}
	}

	silent := v.silentMons()
	why := "waiting for the monitors to come to a quorum"

	switch {
	case len(silent) > 0 && len(v.mons.all) > 0 && 2*(len(v.mons.all)-len(silent)) <= len(v.mons.all):
		return Step{Do: fail, Why: fmt.Sprintf("there can be no quorum: of %d monitors %d are on hosts that do not answer (%s). "+
			"Bring these hosts back; monitors are never made anew while the majority is away, because that would be another cluster",
			len(v.mons.all), len(silent), words(silent))}
	case v.s.Waited > quorumLimit:
		return Step{Do: fail, Why: fmt.Sprintf("exceeded max retry count waiting for monitors to reach quorum: none in %d s. %s", v.s.Waited, v.monWords())}
	case v.s.Why != nil:
		why += " (" + v.s.Why.Error() + ")"
	}

	return Step{Do: pause, Message: "Configuring Ceph Mons", Why: why}
}

func (v *view) silentMons() []Placed {
	var silent []Placed

	for _, m := range v.mons.all {
		if _, ok := v.reached(m.Host); !ok {
			silent = append(silent, m)
		}
	}

	return silent
}

// monWords says of each monitor what is known without a quorum.
func (v *view) monWords() string {
	var all []string

	for _, m := range v.mons.all {
		f, ok := v.daemon(m.Host, m.Daemon)

		switch {
		case !ok:
			all = append(all, m.String()+" on "+m.Host+" is not seen")
		case !f.Running:
			all = append(all, m.String()+" on "+m.Host+" does not run: "+f.Words)
		default:
			all = append(all, m.String()+" on "+m.Host+" runs")
		}
	}

	return strings.Join(all, "; ")
}

func notEstablished(v *view) Step {
	id := v.s.Identity
	if id.Established {
		return Step{}
	}

	if id.FSID != v.s.Cluster.Status.FSID {
		return Step{Do: fail, Why: fmt.Sprintf("the monitors that answer are those of another cluster: fsid %s, ours is %s", v.s.Cluster.Status.FSID, id.FSID)}
	}

	for name := range id.First {
		if slices.Contains(v.quorum(), name) {
			continue
		}

		if v.s.Waited > quorumLimit {
			return Step{Do: fail, Why: fmt.Sprintf("mon.%s did not come into quorum in %d s: %s", name, v.s.Waited, v.monWords())}
		}

		return Step{Do: pause, Message: "Configuring Ceph Mons", Why: "waiting for mon." + name + " to come into quorum"}
	}

	return Step{Do: establish, Message: "Configuring Ceph Mons", Why: "all monitors are in quorum"}
}

// joiningMon waits for a monitor that runs: one change at a time.
func joiningMon(v *view) Step {
	for _, m := range v.mons.all {
		f, ok := v.daemon(m.Host, m.Daemon)
		if !ok || !f.Running || slices.Contains(v.quorum(), m.ID) {
			continue
		}

		if v.s.Waited > quorumLimit {
			v.unmet = append(v.unmet, fmt.Sprintf("%s on %s runs and is out of quorum since %d s (a clock that is off, a wrong address, or a network that is cut): see its log below %s/log", m, m.Host, v.s.Waited, v.w.Dir))

			continue
		}

		return Step{Do: pause, Message: "Configuring Ceph Mons", Why: "waiting for " + m.String() + " to come into quorum"}
	}

	return Step{}
}

// missingMon adds one monitor: where one is missing, or in the place of one that has been
// out of quorum for longer than the failover time.
func missingMon(v *view) Step {
	free := v.mons.spare

	switch {
	case v.mons.missing > 0 && len(free) > 0:
		return v.add(free[0], "")
	case v.mons.missing > 0:
		v.unmet = append(v.unmet, fmt.Sprintf("%d of %d monitors are missing, and no further host with the role mon answers", v.mons.missing, v.w.Mon.Count))
	}

	for _, m := range v.mons.failed {
		if !slices.Contains(v.mons.keep, m) {
			continue // it goes anyway
		}

		limit := int(v.w.Mon.Failover.Seconds())

		switch {
		case len(free) == 0 || limit == 0:
			v.unmet = append(v.unmet, fmt.Sprintf("%s is out of quorum, its host %s does not answer, and there is no other host for it: bring %s back, or take it out of hosts", m, m.Host, m.Host))
		case len(v.mons.all) > v.w.Mon.Count:
			return Step{} // its successor is there: the next row removes it
		case v.s.OutFor[m.ID] < limit:
			return Step{Do: pause, Message: "Configuring Ceph Mons", Why: fmt.Sprintf(
				"%s on %s has been out of quorum for %d s; after %d s (mon.failover_timeout) another takes its place", m, m.Host, v.s.OutFor[m.ID], limit)}
		default:
			return v.add(free[0], " in the place of "+m.String())
		}
	}

	return Step{}
}

func (v *view) add(host, instead string) Step {
	last := max(v.s.Identity.LastMon, v.s.Record.LastMon)

	for _, m := range v.mons.all {
		last = max(last, number(m.ID))
	}

	name := letter(last + 1)

	h, _ := v.host(host)
	addr := v.w.monAddr(h, v.monmap)
	m := Placed{host, Daemon{RoleMon, name}, addr}

	return Step{Do: addMon, Message: "Configuring Ceph Mons", Why: "adding " + m.String() + " on " + host + instead, Placed: []Placed{m}}
}

// surplusMon removes one monitor that is not to be kept, or one that was replaced.
func surplusMon(v *view) Step {
	all := len(v.mons.all)

	var gone []Placed
	if all > v.w.Mon.Count {
		gone = append(gone, v.failedKept()...)
		gone = append(gone, v.mons.surplus...)
	}

	return v.removal(gone)
}

// removal removes the first of some monitors.
func (v *view) removal(gone []Placed) Step {
	if len(gone) == 0 {
		return Step{}
	}

	m := gone[0]

	return Step{Do: removeMon, Message: "Configuring Ceph Mons", Why: "removing " + m.String() + " on " + m.Host, Placed: []Placed{m}}
}

// lostMon removes what can never come into quorum: a monitor whose host answers and has no
// store of it, and a store that the map does not know. The place is free then for a new one.
func lostMon(v *view) Step {
	var lost []Placed

	for _, m := range v.mons.all {
		if _, answers := v.reached(m.Host); !answers || slices.Contains(v.quorum(), m.ID) {
			continue
		}

		if f, there := v.daemon(m.Host, m.Daemon); !there || !f.Made && !f.Running {
			lost = append(lost, m)
		}
	}

	return v.removal(append(lost, v.strayMons()...))
}

// strayMons are stores of ours that the monmap does not know: what an apply left that was cut
// off between map and store.
func (v *view) strayMons() []Placed {
	var out []Placed

	for _, h := range slices.Concat(v.w.Hosts, v.w.Former) {
		facts, _ := v.reached(h.Name)

		for _, d := range facts.Daemons {
			if d.Type == RoleMon && !slices.ContainsFunc(v.mons.all, func(m Placed) bool { return m.ID == d.ID }) {
				out = append(out, Placed{Host: h.Name, Daemon: d.Daemon})
			}
		}
	}

	return out
}

// failedKept are failed monitors that have a successor by now.
func (v *view) failedKept() []Placed {
	var out []Placed

	for _, m := range v.mons.failed {
		if v.s.OutFor[m.ID] >= int(v.w.Mon.Failover.Seconds()) && v.w.Mon.Failover > 0 {
			out = append(out, m)
		}
	}

	return out
}
