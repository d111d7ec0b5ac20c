// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"fmt"
	"slices"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// Do is what a step does.
type Do int

// What steps do. The zero value is none.
const (
	none         Do = iota
	rest            // the cluster is as wanted
	pause           // look again
	fail            // say why it cannot go on
	makeIdentity    // choose fsid and keys, and write them down
	writeFiles      // configuration and keyrings, where they differ
	makeMons        // mkfs and start of the first monitors, together
	startMons       // those that have a store and do not run
	establish       // note that the first monitors were in quorum
	addMon          // one more
	removeMon       // one less
	setConfig       // options of the configuration store
	makeMgrs        // those that are missing, and start those that do not run
	removeMgr       // one less
	makeOSDs        // new ones, and start those that do not run
	setModules      // of the manager
	setSettings     // ratios, releases, classes, places
	restart         // daemons that run an older program
	removeOSDs      // those that are no longer configured
)

// String is what a step does, for logs and tests.
func (d Do) String() string {
	names := [...]string{
		"none", "rest", "wait", "fail", "make identity", "write files", "make mons", "start mons", "establish", "add mon", "remove mon",
		"set config", "make mgrs", "remove mgr", "make OSDs", "set modules", "set settings", "restart", "remove OSDs",
	}
	if d < 0 || int(d) >= len(names) {
		return "unknown"
	}

	return names[d]
}

// Step is what is done next.
type Step struct {
	Do      Do
	Message string // Rook's condition message where it has one
	Why     string // for the log, and the words of a failure
	Placed  []Placed
	Options []OptionChange
	Modules []ModuleChange
	OSDs    []OSDWork
	Setting []Setting
	Restart []Outdated
	Leaving []Leaving
}

// Placed is a daemon on a host.
type Placed struct {
	Host string
	Daemon

	Addr string // of a monitor
}

// row is one row of the table: a sight, and what follows from it. It gives a step, or none
// where the sight is not seen.
type row struct {
	sight string
	next  func(*view) Step
}

// table is the machine of a cluster: the first sight that is seen decides. It is Rook's
// order, with what users asked Rook for in the places of their own.
func table() []row {
	return []row{
		{"no identity", noIdentity},
		{"a monitor of the first map was on a host that is no longer configured", lostFirst},
		{"files missing or other than they should be", staleFiles},
		{"a monitor of the first map has no store", unmadeMons},
		{"a monitor does not run", idleMons},
		{"no quorum", noQuorum},
		{"not all of the first monitors in quorum", notEstablished},
		{"a monitor that runs is out of quorum", joiningMon},
		{"a monitor is on a host that has no store of it, or has a store that the map does not know", lostMon},
		{"a monitor is missing, or has failed for too long", missingMon},
		{"a monitor is too many, or was replaced", surplusMon},
		{"options other than configured", otherOptions},
		{"a manager is missing or does not run", missingMgr},
		{"a manager is too many", surplusMgr},
		{"an OSD is missing or does not run", missingOSDs},
		{"no manager is active", noManager},
		{"options of modules other than configured", moduleOptions},
		{"modules other than configured", otherModules},
		{"settings other than configured", otherSettings},
		{"OSDs are not up yet", comingOSDs},
		{"daemons run an older program than their host has", oldPrograms},
		{"OSDs that are no longer configured", surplusOSDs},
		{"something is wanted that cannot be had now", unmet},
		{"the gate is not passed", notReady},
	}
}

// external is the machine of a cluster that somebody else runs: it is only looked at.
func external() []row {
	return []row{
		{"no identity", noIdentity},
		{"files missing or other than they should be", staleFiles},
		{"the cluster does not answer", noAnswer},
		{"another cluster answers", otherCluster},
	}
}

// Next is the machine: what follows from what is seen.
func Next(w *Wanted, s *Seen) (Step, string) {
	v := newView(w, s)
	rows := table()

	if w.External != nil {
		rows = external()
	}

	for _, r := range rows {
		if step := r.next(v); step.Do != none {
			return step, r.sight
		}
	}

	return Step{Do: rest, Why: "as wanted"}, "as wanted"
}

func noIdentity(v *view) Step {
	if v.s.Identity != nil {
		return Step{}
	}

	// Another one in its place would make strangers of its own disks.
	if was := v.s.Record.FSID; was != "" && v.w.External == nil {
		return Step{Do: fail, Why: fmt.Sprintf("the state has the cluster with fsid %s, no host has its %s, and the state does not hold its keys: bring that file back, or take the cluster out of the state with `terraform state rm` to make a new one",
			was, Layout{Dir: v.w.Dir}.IdentityFile())}
	}

	return Step{Do: makeIdentity, Message: "Configuring the Ceph cluster", Why: "choosing fsid and keys"}
}

// answerLimit is how long, in seconds, a cluster that somebody else runs may be silent.
const answerLimit = 60

func noAnswer(v *view) Step {
	if v.s.Cluster != nil && len(v.quorum()) > 0 {
		return Step{}
	}

	why := "no monitor of the external cluster answers"
	if v.s.Why != nil {
		why += ": " + v.s.Why.Error()
	}

	if v.s.Waited > answerLimit {
		return Step{Do: fail, Why: why}
	}

	return Step{Do: pause, Why: why}
}

func otherCluster(v *view) Step {
	if v.s.Cluster.Status.FSID == v.s.Identity.FSID {
		return Step{}
	}

	return Step{Do: fail, Why: fmt.Sprintf("the cluster that answers has fsid %s, and external.fsid is %s", v.s.Cluster.Status.FSID, v.s.Identity.FSID)}
}

// lostFirst: before the first quorum the monmap on the hosts names exactly the monitors of
// the identity; another set cannot come to a quorum with it.
func lostFirst(v *view) Step {
	if v.s.Identity.Established {
		return Step{}
	}

	for _, id := range sortedKeys(v.s.Identity.First) {
		if host := v.s.Identity.First[id].Host; !v.configured(host) {
			return Step{Do: fail, Why: fmt.Sprintf(
				"the cluster was begun with mon.%s on %s, which is no longer in hosts, and its monitors were never in quorum: put %s back, or destroy the cluster first", id, host, host)}
		}
	}

	return Step{}
}

func staleFiles(v *view) Step {
	var hosts []Placed

	for _, h := range v.w.Hosts {
		seen, ok := v.reached(h.Name)
		if ok && len(v.filesOf(h, seen)) > 0 {
			hosts = append(hosts, Placed{Host: h.Name})
		}
	}

	if len(hosts) == 0 {
		return Step{}
	}

	return Step{Do: writeFiles, Message: "Configuring the Ceph cluster", Why: "writing configuration and keyrings to " + hostsOf(hosts), Placed: hosts}
}

func otherOptions(v *view) Step {
	return setOptions(v, func(o OptionChange) bool { return !moduleOption(o.Name) })
}

// moduleOptions come after the managers: without one the monitors know no option of a module.
func moduleOptions(v *view) Step {
	return setOptions(v, func(o OptionChange) bool { return moduleOption(o.Name) })
}

func setOptions(v *view, take func(OptionChange) bool) Step {
	changes := slices.DeleteFunc(OptionChanges(v.w, v.s.Cluster.Config), func(o OptionChange) bool { return !take(o) })
	if len(changes) == 0 {
		return Step{}
	}

	return Step{Do: setConfig, Message: "Configuring the Ceph cluster", Why: fmt.Sprintf("setting %d options", len(changes)), Options: changes}
}

func otherModules(v *view) Step {
	changes := ModuleChanges(v.w, v.s.Cluster.Mgr)
	if len(changes) == 0 {
		return Step{}
	}

	return Step{Do: setModules, Message: "Configuring Ceph Mgr(s)", Why: "switching modules of the manager", Modules: changes}
}

// unmet ends an apply that did all it could: what is left needs somebody.
func unmet(v *view) Step {
	if len(v.unmet) == 0 {
		return Step{}
	}

	return Step{Do: fail, Why: joinWords(v.unmet)}
}

func notReady(v *view) Step {
	why, final := v.gate()

	switch {
	case why == "":
		return Step{}
	case final:
		return Step{Do: fail, Why: why}
	default:
		return Step{Do: pause, Why: why}
	}
}

// Seen is what one look shows of all hosts and of the cluster.
type Seen struct {
	Hosts    map[string]HostSeen
	Identity *Identity     // nil: there is none on any host, nor in the state
	Cluster  *api.Snapshot // nil: no monitor answers
	Why      error         // why there is no snapshot
	Choice   Choice
	Record   Record // what an earlier apply left
	// Meta is the version of each daemon, kind and id; only where versions differ.
	Meta map[string]map[string]api.Meta

	Waited int // seconds since a step changed something
	Calm   int // looks in a row that found all placement groups healthy
	// OutFor is for how many seconds a monitor has been out of quorum, as far as known.
	OutFor map[string]int
}

// HostSeen is a host at a look.
type HostSeen struct {
	Facts

	Err error // it was not reached: the facts say nothing
	// Odd says that the host answered all right, and that what is there could not be read.
	Odd bool
}

func (v *view) configured(host string) bool {
	return slices.ContainsFunc(v.w.Hosts, func(h HostSpec) bool { return h.Name == host })
}
