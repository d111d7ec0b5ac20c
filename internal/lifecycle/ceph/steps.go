// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"errors"
	"fmt"
	"strings"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle"
	waiting "github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Next implements [lifecycle.Machine].
func (w *worker) Next(seen *Seen) (Step, lifecycle.Kind, error) {
	step, _ := Next(&w.Wanted, seen)

	switch step.Do {
	case rest:
		return step, lifecycle.End, nil
	case pause:
		w.progress(step)

		return step, lifecycle.Idle, nil
	case fail:
		return step, lifecycle.End, &StuckError{Why: step.Why}
	default:
		return step, lifecycle.Act, nil
	}
}

// StuckError says that an apply did what it could, and that somebody has to do something.
type StuckError struct{ Why string }

// Error implements error.
func (e *StuckError) Error() string { return e.Why }

// Note implements [lifecycle.Machine].
func (w *worker) Note(seen *Seen) string {
	step, sight := Next(&w.Wanted, seen)

	return sight + ": " + step.Why
}

// Do implements [lifecycle.Machine].
func (w *worker) Do(ctx context.Context, seen *Seen, step Step) (*Seen, bool, error) {
	if err := ctx.Err(); err != nil {
		return seen, false, context.Cause(ctx)
	}

	if err := w.repeats(step); err != nil {
		return seen, false, err
	}

	w.progress(step)
	w.log(ctx, step.Why)

	err := w.act(ctx, seen, step)
	w.changed, w.calm = w.now(), 0

	for _, p := range step.Placed {
		w.dirty[p.Host] = true
	}

	if err != nil {
		return seen, false, passing(fmt.Errorf("%s: %w", step.Why, err))
	}

	// What a step does is done when it returns, so the next look need not wait.
	after, err := w.look(ctx, seen, w.ask(false))
	if err != nil {
		return seen, false, err
	}

	return after, true, nil
}

// repeatsAtMost is how often in a row the very same step may be taken.
const repeatsAtMost = 5

// repeats ends a run that takes the same step again and again: what it does has no effect that
// a look could see, and it never will.
func (w *worker) repeats(step Step) error {
	key := step.Do.String() + ": " + step.Why
	if key != w.last {
		w.last, w.times = key, 0
	}

	if w.times++; w.times <= repeatsAtMost {
		return nil
	}

	what := step.Why
	for _, o := range step.Options {
		what += fmt.Sprintf("; option %s of %s does not become %q", o.Name, o.Who, o.Value)
	}

	return &StuckError{Why: fmt.Sprintf("%s: done %d times, and it is still not so", what, repeatsAtMost)}
}

// passing marks what broke on the way to a host or to the cluster, where what was done is not
// known: every step can be repeated from any point, and the next look tells what there is to do.
func passing(err error) error {
	if errors.Is(err, api.ErrLost) || errors.Is(err, api.ErrNoQuorum) || errors.Is(err, remote.ErrLost) {
		return waiting.Transient(err)
	}

	return err
}

func (w *worker) act(ctx context.Context, seen *Seen, step Step) error {
	switch step.Do {
	case makeIdentity:
		return w.makeIdentity(ctx, seen)
	case writeFiles:
		return w.writeFiles(ctx, seen, step.Placed)
	case makeMons:
		return w.makeMons(ctx, seen, step.Placed)
	case startMons, establish, addMon, removeMon:
		return w.changeMons(ctx, seen, step)
	case setConfig:
		return w.setConfig(ctx, seen, step.Options)
	case makeMgrs:
		return w.makeDaemons(ctx, seen, step)
	case removeMgr:
		return w.removeMgr(ctx, seen, step.Placed[0])
	case makeOSDs:
		return w.makeOSDs(ctx, seen, step.OSDs)
	case setModules:
		return w.setModules(ctx, seen, step.Modules)
	case setSettings:
		return w.setSettings(ctx, seen, step.Setting)
	case restart:
		return w.restart(ctx, seen, step.Restart)
	case removeOSDs:
		return w.removeOSDs(ctx, seen, step.Leaving)
	default:
		return fmt.Errorf("a step that nobody knows: %d; this is a bug of the provider", step.Do)
	}
}

func (w *worker) log(ctx context.Context, text string) {
	if w.Log != nil {
		w.Log(ctx, text)
	}
}

// warn adds a remark, once.
func (w *worker) warn(summary, detail string) {
	w.mu.Lock()
	defer w.mu.Unlock()

	for _, r := range w.warnings {
		if r.Summary == summary && r.Detail == detail {
			return
		}
	}

	w.warnings = append(w.warnings, Remark{summary, detail})
}

// layout is where the cluster is on a host that was seen.
func (w *worker) layout(seen *Seen, host string) Layout {
	return w.Layout(seen.Identity.FSID, seen.Hosts[host].Facts)
}

// on returns the host of a name.
func (w *worker) on(name string) (Host, error) {
	v := view{w: &w.Wanted}
	if h, ok := v.host(name); ok {
		return h.Host, nil
	}

	return nil, fmt.Errorf("nothing says how to reach host %q", name)
}

// makeIdentity chooses fsid and keys and writes them to the host of the first monitor before
// anything is made of them: a run that is cut off goes on with the same.
func (w *worker) makeIdentity(ctx context.Context, seen *Seen) error {
	id := Identity{
		Version: 1, Name: w.Name, Owner: w.Owner, FSID: w.FSID, First: firstMons(&w.Wanted),
		MonSecret: NewKey(w.now()), AdminKey: NewKey(w.now()),
	}

	if id.FSID == "" {
		id.FSID = NewFSID()
	}

	id.LastMon = len(id.First)

	if w.External != nil {
		id.FSID, id.AdminKey, id.First, id.LastMon, id.Established = w.External.FSID, w.External.Key, nil, 0, true
	}

	host := w.Hosts[0].Name
	if len(w.Mon.Hosts) > 0 {
		host = w.Mon.Hosts[0]
	}

	with := *seen
	with.Identity = &id

	v := newView(&w.Wanted, &with)

	spec, known := v.host(host)
	if !known {
		return fmt.Errorf("nothing says how to reach host %q", host)
	}

	facts := seen.Hosts[host].Facts
	if err := spec.Host.Write(ctx, w.Layout(id.FSID, facts), v.filesOf(spec, facts)); err != nil {
		return err
	}

	seen.Identity = &id
	w.dirty[host] = true

	return nil
}

// saveIdentity writes a changed identity to all hosts that keep it and answer.
func (w *worker) saveIdentity(ctx context.Context, seen *Seen, change func(*Identity)) error {
	id := *seen.Identity
	change(&id)

	err := w.each(ctx, newView(&w.Wanted, seen).keepers(), func(ctx context.Context, p Placed) error {
		l := w.layout(seen, p.Host)

		h, err := w.on(p.Host)
		if err != nil {
			return err
		}

		return h.Write(ctx, l, []File{{Path: l.IdentityFile(), Data: id.encode(), Mode: 0o600}})
	})

	// Some hosts may have it by now: the next look finds out which, and takes the newer one.
	if err == nil {
		seen.Identity = &id
	}

	return err
}

func (w *worker) mark(host string) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.dirty[host] = true
}

// keepers are the hosts that keep the identity and answer.
func (v *view) keepers() []Placed {
	var out []Placed

	for _, h := range v.w.Hosts {
		if _, ok := v.reached(h.Name); ok && v.keeps(h.Name) {
			out = append(out, Placed{Host: h.Name})
		}
	}

	return out
}

func (w *worker) writeFiles(ctx context.Context, seen *Seen, hosts []Placed) error {
	v := newView(&w.Wanted, seen)

	return w.each(ctx, hosts, func(ctx context.Context, p Placed) error {
		spec, _ := v.host(p.Host)

		return spec.Host.Write(ctx, w.layout(seen, p.Host), v.filesOf(spec, seen.Hosts[p.Host].Facts))
	})
}

func (w *worker) setConfig(ctx context.Context, seen *Seen, changes []OptionChange) error {
	c, err := w.cluster(ctx, seen)
	if err != nil {
		return err
	}

	for _, o := range changes {
		if o.Remove {
			err = c.ConfigRemove(ctx, o.Who, o.Name)
		} else {
			err = c.ConfigSet(ctx, o.Who, o.Name, o.Value)
		}

		if err != nil {
			return fmt.Errorf("option %s of %s: %w", o.Name, o.Who, err)
		}
	}

	return w.reloadDashboard(ctx, c, seen, changes)
}

// setModules switches modules. The manager loads what is enabled a moment later; one that
// cannot be loaded says so in the cluster's health.
func (w *worker) setModules(ctx context.Context, seen *Seen, changes []ModuleChange) error {
	c, err := w.cluster(ctx, seen)
	if err != nil {
		return err
	}

	for _, m := range changes {
		if m.Enable {
			err = c.ModuleEnable(ctx, m.Name, m.Force)
		} else {
			err = c.ModuleDisable(ctx, m.Name)
		}

		if err != nil {
			return fmt.Errorf("module %s of the manager: %w", m.Name, err)
		}
	}

	return nil
}

func (w *worker) setSettings(ctx context.Context, seen *Seen, settings []Setting) error {
	c, err := w.cluster(ctx, seen)
	if err != nil {
		return err
	}

	for _, s := range settings {
		if err := w.setSetting(ctx, c, seen, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}

	return nil
}

func (w *worker) setSetting(ctx context.Context, c *api.Cluster, seen *Seen, s Setting) error {
	switch s.What {
	case setRatios:
		m, st := seen.Cluster.OSDMap, w.Storage

		return c.OSDRatios(ctx, or(st.Full, m.Full), or(st.BackfillFull, m.BackfillFull), or(st.NearFull, m.NearFull))
	case setMinCompat:
		return c.OSDMinCompat(ctx, s.Value)
	case setRelease:
		return c.OSDRequireRelease(ctx, s.Value)
	case setClass:
		return c.CrushSetClass(ctx, s.ID, s.Value)
	case setPlace:
		return placeHost(ctx, c, s, seen.Cluster.OSDMap.OSDs)
	case setIn:
		return c.OSDIn(ctx, s.ID)
	case setDashboard:
		return w.openDashboard(ctx, c, seen)
	default:
		return fmt.Errorf("a setting that nobody knows: %s; this is a bug of the provider", s.What)
	}
}

func or(a, b float64) float64 {
	if a > 0 {
		return a
	}

	return b
}

// lastWords adds what a daemon said last to an error.
func lastWords(err error, words string) error {
	if words = strings.TrimSpace(words); words == "" {
		return err
	}

	return fmt.Errorf("%w: %s", err, words)
}
