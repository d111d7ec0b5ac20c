// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// Refresh looks at the cluster and starts nothing. A host that does not answer costs a
// warning; what was known of it stays. The cluster is gone only where every host answered, and
// is the one that was meant, and none has anything of ours.
func (r *Run) Refresh(ctx context.Context, was Record) Result {
	w := r.worker(was)
	defer w.closeSession()

	ask := w.ask(false)
	ask.Devices = len(w.Storage.Selectors)+len(w.Storage.Devices) > 0
	ask.Logs = false
	// One short command a host tells the versions, too: an upgrade is drift.
	ask.Programs = true

	seen, err := w.look(ctx, nil, ask)
	if err != nil {
		return Result{Record: was, Known: was.FSID != "", Err: err}
	}

	seen, gone, err := w.lookGone(ctx, seen)
	if res, odd := w.remarkOdd(err); odd {
		return res
	}

	if err != nil || gone {
		return Result{Record: was, Gone: gone, Known: !gone && was.FSID != "", Err: err}
	}

	for _, name := range sortedKeys(seen.Hosts) {
		if err := seen.Hosts[name].Err; err != nil {
			w.warn("Host "+name+" of Ceph cluster "+w.Name+" does not answer", err.Error()+". What was known of it stays in the state; nothing is planned because of it.")
		}
	}

	if seen.Cluster == nil {
		return w.unavailable(seen)
	}

	// A cluster that answers and of which nothing was said before was imported.
	if len(w.said) == 0 {
		w.sayReady()
	}

	res := w.result(seen)

	// Whatever ended the last apply or destroy: there is nothing left to do.
	if res.Record.Ready {
		res.Record.Ready = w.arrived(seen, res.Record.Phase)
	}

	if res.Record.Ready {
		w.sayReady()
		res.Record.Conditions, res.Record.Phase = w.said, phaseOf(w.said)
	}

	w.remarkDrift(&res)

	return res
}

// arrived reports whether an apply that did not finish would have nothing to wait for either. A
// cluster that was ready stays so whatever its health says: that is told, and no apply changes it.
func (w *worker) arrived(seen *Seen, phase string) bool {
	if w.External != nil || phase != PhaseProgressing && phase != PhaseFailure {
		return true
	}

	now := *seen
	now.Calm, now.Waited = calmLooks, settling // one look has to do

	why, _ := newView(&w.Wanted, &now).gate()

	return why == ""
}

func (w *worker) remarkDrift(res *Result) {
	if len(res.Record.Drift) > 0 {
		w.warn("Ceph cluster "+w.Name+" is not as configured", strings.Join(res.Record.Drift, "; ")+".")
	}

	res.Warnings = w.warnings
}

// unavailable keeps what was known: without a monitor that answers nothing is.
func (w *worker) unavailable(seen *Seen) Result {
	rec := w.was
	rec.Ready = false
	rec.Phase = PhaseUnavailable

	v := newView(&w.Wanted, seen)

	var idle []Placed

	for _, m := range v.mons.all {
		if f, ok := v.daemon(m.Host, m.Daemon); ok && !f.Running {
			idle = append(idle, m)
		}
	}

	why := "no monitor answers"
	if seen.Why != nil {
		why = seen.Why.Error()
	}

	rec.Drift = []string{why}
	if len(idle) > 0 {
		rec.Drift = append(rec.Drift, words(idle)+": no such process")
	}

	w.warn("Ceph cluster "+w.Name+" cannot be asked", strings.Join(rec.Drift, "; ")+". The state stays as it was; an apply starts what does not run.")

	// Where hosts do not answer and all others do what they should, an apply could do nothing.
	if len(idle) == 0 && len(v.silentMons()) > 0 {
		rec.Drift = nil
	}

	return Result{Record: rec, Known: true, Warnings: w.warnings}
}

// result makes the record of a look.
func (w *worker) result(seen *Seen) Result {
	rec := w.was
	rec.Conditions = w.said
	rec.Phase = phaseOf(w.said)

	if seen.Identity == nil {
		return Result{Record: rec, Known: w.was.FSID != "", Warnings: w.warnings}
	}

	id := seen.Identity
	rec.FSID, rec.AdminKey, rec.MonSecret, rec.LastMon = id.FSID, id.AdminKey, id.MonSecret, max(id.LastMon, w.was.LastMon)
	rec.DashboardPassword = id.Dashboard

	// The key of a cluster that somebody else runs was given to us: it stays on the host.
	if w.External != nil {
		rec.AdminKey, rec.MonSecret = "", ""
	}

	rec.Rejected = seen.Choice.Rejected

	v := newView(&w.Wanted, seen)
	rec.MonHost = v.monHost()
	rec.Conf = w.clientConf(rec)

	if seen.Cluster != nil {
		w.fill(&rec, seen, v)
	} else {
		rec.Ready = false
	}

	return Result{Record: rec, Known: true, Warnings: w.warnings}
}

// phaseOf is the type of the condition that was written last.
func phaseOf(said []Condition) string {
	if len(said) == 0 {
		return ""
	}

	last := said[len(said)-1]
	if last.Type == PhaseProgressing && last.Status == "False" {
		return PhaseFailure
	}

	return last.Type
}

func (w *worker) clientConf(rec Record) string {
	return fmt.Sprintf("[global]\nfsid = %s\nmon_host = %s\n", rec.FSID, rec.MonHost)
}

func (w *worker) fill(rec *Record, seen *Seen, v *view) {
	c := seen.Cluster
	rec.Health, rec.Checks = c.Status.Health.Status, c.Status.Health.Checks
	rec.Versions, rec.Capacity = c.Versions, c.Status.Capacity
	rec.MgrActive = c.Mgr.Active
	rec.DashboardURL = c.Mgr.Services["dashboard"]
	rec.Owned = w.owned(c.Config)

	rec.Mons = map[string]MonRecord{}

	for _, m := range v.mons.all {
		in := slices.Contains(c.Quorum.Names, m.ID)
		rec.Mons[m.ID] = MonRecord{Host: m.Host, Addr: m.Addr, InQuorum: in, OutSince: w.out[m.ID]}
	}

	rec.Mgrs = map[string]MgrRecord{}

	for _, id := range append([]string{c.Mgr.Active}, c.Mgr.Standbys...) {
		if id != "" {
			host := v.where(Daemon{RoleMgr, id})
			if host == "" {
				host = w.was.Mgrs[id].Host
			}

			rec.Mgrs[id] = MgrRecord{Host: host, Active: id == c.Mgr.Active}
		}
	}

	for id, was := range w.was.Mgrs {
		_, answered := v.reached(was.Host)
		if _, known := rec.Mgrs[id]; !known && !answered && v.configured(was.Host) {
			rec.Mgrs[id] = MgrRecord{Host: was.Host} // it may run, and its name must stay its own
		}
	}

	rec.OSDs = w.osds(seen, v)
	rec.Drift = drift(v)
	rec.Ready = len(rec.Drift) == 0
}

// owned are those of our options that the store still has, and those that are configured.
func (w *worker) owned(have []api.Option) map[string][]string {
	out := w.OwnedOptions()

	for who, names := range w.WasConfig {
		for _, name := range names {
			if _, ok := optionOf(have, who, name); ok && !slices.Contains(out[who], name) {
				out[who] = append(out[who], name)
			}
		}
	}

	return out
}

// osds are the OSDs of ours: those that hosts show, and those that were known of hosts that
// do not answer.
func (w *worker) osds(seen *Seen, v *view) map[int]OSDRecord {
	out := map[int]OSDRecord{}
	byUUID := map[string]api.OSD{}

	for _, o := range seen.Cluster.OSDMap.OSDs {
		byUUID[o.UUID] = o
	}

	for _, l := range v.slots() {
		if o, ok := byUUID[l.Slot.UUID]; ok {
			out[o.ID] = OSDRecord{l.Host, o.UUID, l.Slot.Path, l.Slot.Device, o.Class, o.Up, o.In}
		}
	}

	for id, was := range w.was.OSDs {
		_, answered := v.reached(was.Host)
		if o, ok := byUUID[was.UUID]; ok && !answered && o.ID == id {
			was.Up, was.In = o.Up, o.In
			out[id] = was
		}
	}

	return out
}

// drift says in words what an apply would look at. It is what the machine would do next, as
// far as nothing has to be waited for.
func drift(v *view) []string {
	var out []string

	if v.w.External != nil {
		if step := otherCluster(v); step.Do != none {
			out = append(out, step.Why)
		}

		return out
	}

	// The cluster takes a while to notice that a daemon ended: its host knows at once.
	for _, m := range v.mons.all {
		switch f, seen := v.daemon(m.Host, m.Daemon); {
		case seen && f.Made && !f.Running:
			out = append(out, fmt.Sprintf("%s on %s does not run", m, m.Host))
		case !slices.Contains(v.quorum(), m.ID) && v.mendable(m):
			out = append(out, fmt.Sprintf("%s on %s is out of quorum", m, m.Host))
		}
	}

	if n := v.mons.missing; n > 0 {
		out = append(out, fmt.Sprintf("%d monitors are missing", n))
	}

	if n := len(v.mons.surplus); n > 0 {
		out = append(out, words(v.mons.surplus)+" is not configured")
	}

	if all := slices.Concat(v.mgrs.missing, v.mgrs.idle); len(all) > 0 {
		out = append(out, words(all)+" does not run")
	}

	if !v.s.Cluster.Mgr.Available {
		out = append(out, "no manager is active")
	}

	return append(append(out, driftOSDs(v)...), driftRest(v)...)
}

func driftOSDs(v *view) []string {
	var out []string

	for _, h := range v.w.Hosts {
		for _, spec := range v.s.Choice.New[h.Name] {
			out = append(out, spec.Device.Path+" on "+h.Name+" is no OSD yet")
		}
	}

	for _, l := range v.slots() {
		osd, known := v.osdByUUID(l.Slot.UUID)

		switch {
		case v.leaves(l.Host, l.Slot):
			out = append(out, OSDWork{Host: l.Host, Slot: &l.Slot}.Label()+" is not configured")
		case !known:
			out = append(out, fmt.Sprintf("the OSD on %s of %s is not known to the cluster", l.Slot.Path, l.Host))
		case v.configured(l.Host) && !v.runs(l.Host, OSDDaemon(osd.ID)):
			out = append(out, fmt.Sprintf("osd.%d on %s does not run", osd.ID, l.Host))
		case !osd.Up:
			out = append(out, fmt.Sprintf("osd.%d on %s is down", osd.ID, l.Host))
		case !osd.In:
			out = append(out, fmt.Sprintf("osd.%d on %s is out", osd.ID, l.Host))
		}
	}

	return out
}

// mendable reports whether an apply could do something for a monitor that is out of quorum:
// where its host does not answer, that takes a free one.
func (v *view) mendable(m Placed) bool {
	_, answers := v.reached(m.Host)

	return answers || len(v.mons.spare) > 0 || !slices.Contains(v.mons.keep, m)
}

func driftRest(v *view) []string {
	var out []string

	for _, o := range OptionChanges(v.w, v.s.Cluster.Config) {
		if o.Remove {
			out = append(out, "option "+o.Name+" of "+o.Who+" is set and not configured")
		} else {
			out = append(out, "option "+o.Name+" of "+o.Who+" is not "+strconv.Quote(o.Value))
		}
	}

	for _, m := range ModuleChanges(v.w, v.s.Cluster.Mgr) {
		out = append(out, "module "+m.Name+" is not as configured")
	}

	for _, s := range v.settings() {
		if s.What != setIn { // told with the OSD
			out = append(out, s.String()+" is not as configured")
		}
	}

	if step := oldPrograms(v); step.Do != none {
		out = append(out, step.Why)
	}

	if step := staleFiles(v); step.Do != none {
		out = append(out, "files on "+hostsOf(step.Placed)+" are not as they should be")
	}

	return out
}
