// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"fmt"
	"slices"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// Outdated is a daemon that runs another program than its host has.
type Outdated struct {
	Placed

	Running, Program api.Version
}

// oldPrograms restarts daemons in the order of an upgrade: monitors, managers, OSDs, MDS. A
// step holds all that are left; the first kind goes first.
func oldPrograms(v *view) Step {
	var all []Outdated

	for _, kind := range []string{RoleMon, RoleMgr, RoleOSD, RoleMDS} {
		for _, id := range sortedKeys(v.s.Meta[kind]) {
			meta := v.s.Meta[kind][id]
			d := Daemon{kind, id}
			host := v.where(d)
			facts, ok := v.reached(host)
			program, known := versionOf(facts, kind)

			if !ok || !known || meta.Version.Text == "" || meta.Version.Compare(program) == 0 {
				continue
			}

			all = append(all, Outdated{Placed{Host: host, Daemon: d}, meta.Version, program})
		}
	}

	if len(all) == 0 {
		return Step{}
	}

	for _, o := range all {
		if why := UpgradeRule(o.Running, o.Program); why != "" {
			return Step{Do: fail, Why: fmt.Sprintf("%s on %s runs %s and its host has %s: %s", o.Daemon, o.Host, o.Running, o.Program, why)}
		}
	}

	if v.s.Cluster.Status.Health.Status == healthErr && !v.w.Upgrade.SkipChecks {
		return Step{Do: fail, Why: "ceph status is not healthy, refusing to upgrade: " + healthWords(v.s.Cluster.Status.Health) +
			". Either fix that, or set upgrade.skip_checks"}
	}

	return Step{Do: restart, Message: "Upgrading Ceph daemons", Why: fmt.Sprintf("%d daemons run an older program than their host has", len(all)), Restart: all}
}

// The states of health.
const (
	healthOK   = "HEALTH_OK"
	healthWarn = "HEALTH_WARN"
	healthErr  = "HEALTH_ERR"
)

// UpgradeRule says why one version cannot follow another; empty: it can. The rules are
// cephadm's: at most two majors ahead, no way back.
func UpgradeRule(from, to api.Version) string {
	switch {
	case to.Major < from.Major, to.Major == from.Major && to.Minor < from.Minor, to.Compare(from) < 0:
		return "downgrading is not supported: install the version that runs, or a newer one"
	case to.Major > from.Major+2:
		return fmt.Sprintf("at most two major versions can be skipped at once: go by way of %d first", from.Major+2)
	default:
		return ""
	}
}

// healthWords lists the checks of a cluster that is not well, muted ones left out.
func healthWords(h api.Health) string {
	var all []string

	for _, code := range sortedKeys(h.Checks) {
		if c := h.Checks[code]; !c.Muted {
			all = append(all, code+" ("+c.Message+")")
		}
	}

	if len(all) == 0 {
		return h.Status
	}

	return h.Status + ": " + joinWords(all)
}

// gate says why the cluster is not ready; empty: it is. Final: waiting changes nothing.
func (v *view) gate() (why string, final bool) {
	st := v.s.Cluster.Status

	if n := len(v.quorum()); n < len(v.mons.all) {
		return fmt.Sprintf("%d of %d monitors are in quorum", n, len(v.mons.all)), false
	}

	if v.w.Ready.OSDs != "none" {
		for _, l := range v.slots() {
			osd, known := v.osdByUUID(l.Slot.UUID)
			if known && !v.leaves(l.Host, l.Slot) && (!osd.Up || !osd.In) {
				return fmt.Sprintf("osd.%d on %s is not up and in", osd.ID, l.Host), false
			}
		}

		if away := v.away(); away != "" {
			return away, true
		}
	}

	return v.health(st)
}

// away names OSDs of hosts that do not answer and are down.
func (v *view) away() string {
	for _, id := range sortedKeys(v.s.Record.OSDs) {
		was := v.s.Record.OSDs[id]
		if _, ok := v.reached(was.Host); ok || !v.configured(was.Host) {
			continue
		}

		if osd, known := v.osdByUUID(was.UUID); known && !osd.Up {
			return fmt.Sprintf("osd.%d is down, and its host %s does not answer: bring the host back. It is never removed only because it is away", id, was.Host)
		}
	}

	return ""
}

// calmLooks is how many looks in a row have to find all placement groups healthy.
const calmLooks = 2

// settling is for how many seconds a cluster whose OSDs just came may be without a pool.
const settling = 20

func (v *view) health(st api.Status) (why string, final bool) {
	osds := len(v.slots()) > 0

	switch bad := api.PGsHealthy(st.PGs); {
	case osds && len(v.s.Cluster.OSDMap.Pools) == 0 && v.s.Waited < settling && v.w.Mgr.Count > 0:
		return "the manager's own pool is not there yet", false
	case len(bad) > 0:
		return fmt.Sprintf("placement groups are %s (%d)", bad[0].State, bad[0].Count), false
	case len(st.PGs) == 0 && (st.NumPGs > 0 || len(v.s.Cluster.OSDMap.Pools) > 0):
		return "placement groups have not reported yet", false
	case osds && v.s.Calm < calmLooks:
		return "placement groups are healthy at the first look", false
	}

	switch {
	case v.w.Ready.Health == "any" || st.Health.Status == healthOK:
		return "", false
	case st.Health.Status == healthWarn && v.w.Ready.Health != "ok":
		return "", false
	case st.Health.Status == healthWarn && v.allowed(st.Health):
		return "", false
	default:
		return healthWords(st.Health), false
	}
}

// allowed reports whether all checks that are on are among the allowed.
func (v *view) allowed(h api.Health) bool {
	for code, c := range h.Checks {
		if !c.Muted && !slices.Contains(v.w.Ready.AllowCodes, code) {
			return false
		}
	}

	return true
}
