// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// What a remediation does to a machine, and what follows where that did not help.
const (
	RemedyReboot     = "reboot"      // power off, fence, power on, wait until it is healthy
	RemedyPowerCycle = "power_cycle" // the same without fencing
	RemedyRebuild    = "rebuild"     // its image anew on the same host
	RemedyReplace    = "replace"     // another host; this one is marked unhealthy and stays off

	AfterReplace = "replace"
	AfterFail    = "fail"
	AfterNone    = "none"

	FenceAuto  = "auto"
	FenceNever = "never"
)

// The phases of a remediation, as a machine's note has them. A run that finds one goes on with it.
const (
	phaseOff     = "powering off"
	phaseFence   = "fencing"
	phaseOn      = "powering on"
	phaseWait    = "waiting"
	phaseRebuild = "rebuild"
	phaseReplace = "replace"
)

const (
	// twice is the pause between the two looks that have to agree before anything is switched off.
	twice = 30 * time.Second
	// powerLimit is how long a machine may take to change its power state.
	powerLimit = 5 * time.Minute
	// defaultRemedyTimeout is how long a machine may take from its boot to a healthy Node.
	defaultRemedyTimeout = 10 * time.Minute
)

// repair goes on with remediations that were cut short, and heals machines that are ill where that is
// wanted: one of the control plane at a time, and none where so many look ill that the eyes may be.
func (w *worker) repair(ctx context.Context) error {
	var errs []error

	for _, m := range w.wantedMembers() {
		if r := m.note.Remediation; r != nil && r.Phase != "" && m.sight() == SeenActive {
			errs = append(errs, w.remediate(ctx, m, w.Wanted.Remediation))
		}
	}

	if !w.Wanted.Remediation.Enabled || ctx.Err() != nil {
		return errors.Join(errs...)
	}

	ill, err := w.confirmed(ctx)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}

	for _, m := range ill {
		if err := w.permitted(m, ill); err != nil {
			w.warn("Machine "+m.Name+" is ill and is left alone", err.Error())

			continue
		}

		errs = append(errs, w.remediate(ctx, m, w.Wanted.Remediation))
	}

	return errors.Join(errs...)
}

// confirmed are the machines that two looks, half a minute apart, show ill.
func (w *worker) confirmed(ctx context.Context) ([]*member, error) {
	first := w.illNow(ctx)
	if len(first) == 0 {
		return nil, nil
	}

	w.log(ctx, fmt.Sprintf("%d machines look ill; looking again in %s", len(first), twice))

	if err := wait.Sleep(ctx, twice); err != nil {
		return nil, err
	}

	for _, m := range first {
		if err := w.lookAt(ctx, m); err != nil {
			return nil, err
		}
	}

	again := w.illNow(ctx)

	return slices.DeleteFunc(first, func(m *member) bool { return !slices.Contains(again, m) }), nil
}

// illNow are the machines that are ill by their Nodes now. What Ironic alone reports (maintenance, a
// fault) is somebody's work or heals by itself, and is told, not touched.
func (w *worker) illNow(ctx context.Context) []*member {
	w.askNodes(ctx)

	var out []*member

	for _, m := range w.wantedMembers() {
		if _, asked := w.states[m.Name]; asked && m.sight() == SeenActive && !m.seen.Node.Maintenance && m.seen.Node.Fault == "" && w.illness(m, timeNow()) != "" {
			out = append(out, m)
		}
	}

	return out
}

// permitted says why a machine may not be touched although it is ill.
func (w *worker) permitted(m *member, ill []*member) error {
	if m.Role == ControlPlane {
		p := nodes.ControlPlanePool{Replicas: m.pool.Replicas}

		for _, o := range w.controlPlane() {
			switch {
			case o == m:
			case o.sight() != SeenActive:
				p.Provisioning = append(p.Provisioning, o.Name)
			case slices.Contains(ill, o):
				p.Remediating = append(p.Remediating, o.Name)
			}
		}

		return p.Allowed(m.Name)
	}

	sick := 0

	for _, o := range ill {
		if o.Pool == m.Pool {
			sick++
		}
	}

	return w.Wanted.Remediation.MaxUnhealthy.Allowed(m.Pool, m.pool.Replicas, sick)
}

// Remediate heals one machine by a person's word, whatever its health.
func (r *Run) Remediate(ctx context.Context, name string, how Remediation) Result {
	w := r.worker(Record{})
	w.pools, _ = w.Wanted.CompilePools()

	w.Far.Forget()

	err := w.look(ctx)
	if err == nil {
		err = w.foreignOwner()
	}

	if err == nil {
		if m := w.members[name]; m == nil || m.sight() != SeenActive {
			err = fmt.Errorf("cluster %s/%s has no machine %q that runs; it has: %s", w.Wanted.Namespace, w.Wanted.Name, name, joined(sortedKeys(w.members)))
		} else {
			w.askNodes(ctx)

			err = w.remediate(ctx, m, how)
		}
	}

	return w.result(ctx, err)
}

// remediate brings one machine through its attempts, from where an earlier run left it.
func (w *worker) remediate(ctx context.Context, m *member, how Remediation) error {
	r := host.Remediation{}
	if m.note.Remediation != nil {
		r = *m.note.Remediation
	}

	if r.Phase == "" {
		r = host.Remediation{Phase: firstPhase(how.Strategy), Count: r.Count + 1, Started: now(), Node: m.record.Node}
	}

	m.note.Remediation = &r

	err := w.scribble(ctx, m)
	if err == nil {
		err = w.treat(ctx, m, how)
	}

	if err != nil {
		m.err = fmt.Errorf("machine %s%s: remediation: %w", m.Name, m.on(), err)

		return m.err
	}

	return nil
}

func firstPhase(strategy string) string {
	switch strategy {
	case RemedyRebuild:
		return phaseRebuild
	case RemedyReplace:
		return phaseReplace
	default:
		return phaseOff
	}
}

// treat does what the phase of a remediation asks for, until the machine is well or nothing more helps.
func (w *worker) treat(ctx context.Context, m *member, how Remediation) error {
	switch m.note.Remediation.Phase {
	case phaseRebuild:
		return w.again(ctx, m, GoalRemade)
	case phaseReplace:
		return w.exchange(ctx, m)
	}

	for {
		sick := w.reboot(ctx, m, how)

		r := m.note.Remediation
		if sick == nil || ctx.Err() != nil || !errors.Is(sick, errStillIll) {
			return sick
		}

		if r.Attempt++; r.Attempt <= how.RetryLimit {
			r.Phase, r.Started = phaseOff, now()

			if err := w.scribble(ctx, m); err != nil {
				return err
			}

			continue
		}

		return w.afterwards(ctx, m, how, sick)
	}
}

// errStillIll says that a reboot did not help.
var errStillIll = errors.New("it is still not healthy")

// afterwards follows the last attempt.
func (w *worker) afterwards(ctx context.Context, m *member, how Remediation, cause error) error {
	switch how.OnFailure {
	case AfterReplace:
		m.note.Remediation.Phase = phaseReplace

		if err := w.scribble(ctx, m); err != nil {
			return err
		}

		return w.exchange(ctx, m)
	case AfterNone:
		w.warn("Machine "+m.Name+" could not be healed", cause.Error())

		return w.recovered(ctx, m)
	default:
		return fmt.Errorf("%d attempts did not help: %w", m.note.Remediation.Attempt, cause)
	}
}

// reboot is one attempt: off, fenced, on, and healthy in time.
func (w *worker) reboot(ctx context.Context, m *member, how Remediation) error {
	r := m.note.Remediation
	node := orElse(m.record.Node, r.Node)

	var backup nodes.Backup

	if r.Phase == phaseOff {
		if err := w.switchTo(ctx, m, ironic.PowerOff); err != nil {
			return err
		}

		if err := w.phase(ctx, m, phaseFence); err != nil {
			return err
		}
	}

	if r.Phase == phaseFence {
		if w.fences(how, node) {
			api, err := w.workload(ctx)
			if err != nil {
				return err
			}

			w.log(ctx, "fencing machine "+m.Name)

			if backup, err = nodes.Fence(ctx, api, node, w.Wanted.Timeouts.Drain); err != nil {
				return fmt.Errorf("fencing its Node: %w", err)
			}
		}

		if err := w.phase(ctx, m, phaseOn); err != nil {
			return err
		}
	}

	if err := w.switchTo(ctx, m, ironic.PowerOn); err != nil {
		return err
	}

	if err := w.phase(ctx, m, phaseWait); err != nil {
		return err
	}

	return w.healthyAgain(ctx, m, how, node, backup)
}

func (w *worker) fences(how Remediation, node string) bool {
	return how.Fence != FenceNever && how.Strategy != RemedyPowerCycle && node != "" && w.reachable()
}

// phase notes how far a remediation is, before the next thing is done.
func (w *worker) phase(ctx context.Context, m *member, phase string) error {
	m.note.Remediation.Phase = phase

	return w.scribble(ctx, m)
}

// switchTo brings a machine to a power state. That its host still carries its claim is proved first.
func (w *worker) switchTo(ctx context.Context, m *member, to ironic.Power) error {
	r := m.note.Remediation
	if err := w.lookAt(ctx, m); err != nil {
		return err
	}

	if m.sight() != SeenActive {
		return errors.New("its host does not carry its claim any more, or does not run it: nothing is switched")
	}

	m.note.Remediation = r

	if m.seen.Node.PowerState == to && m.seen.Node.TargetPowerState == "" {
		return nil
	}

	w.log(ctx, fmt.Sprintf("machine %s%s: %s", m.Name, m.on(), to))

	bounded, cancel := context.WithTimeout(ctx, powerLimit)
	defer cancel()

	err := wait.Retry(bounded, slow, func(ctx context.Context) error { return retriable(w.Far.Power(ctx, m.seen.Node.UUID, to)) })
	if err != nil {
		return fmt.Errorf("asking for %q: %w", to, err)
	}

	err = wait.Until(bounded, slow, func(ctx context.Context) (wait.Verdict, string, error) {
		g, err := w.Far.Glance(ctx, m.seen.Node.UUID, time.Second)
		if err != nil {
			return wait.Again, "", err
		}

		m.seen.Node = g.Onto(m.seen.Node)

		if g.PowerState == to && g.TargetPowerState == "" {
			return wait.Done, "", nil
		}

		return wait.Again, fmt.Sprintf("power is %q, %q was asked for", g.PowerState, to), nil
	})
	if err != nil {
		return fmt.Errorf("waiting for %q: %w", to, err)
	}

	return nil
}

// retriable makes a lock that somebody holds a reason to try again.
func retriable(err error) error {
	if errors.Is(err, ironic.ErrBusy) || errors.Is(err, ironic.ErrConflict) {
		return wait.Transient(err)
	}

	return err
}

// healthyAgain waits until the Node of a machine is Ready and takes the fence away.
func (w *worker) healthyAgain(ctx context.Context, m *member, how Remediation, node string, backup nodes.Backup) error {
	if !w.reachable() || node == "" && !w.joins() {
		return w.recovered(ctx, m)
	}

	api, err := w.workload(ctx)
	if err != nil {
		return err
	}

	if node != "" && w.fences(how, node) {
		if err := nodes.Unfence(ctx, api, node, backup); err != nil {
			return fmt.Errorf("taking the fence away: %w", err)
		}
	}

	limit := how.Timeout
	if limit <= 0 {
		limit = defaultRemedyTimeout
	}

	want := w.want(m)
	want.Ready = true

	j, err := nodes.Join(ctx, api, want, w.exists, limit)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}

		return fmt.Errorf("%w: %w", errStillIll, err)
	}

	m.record.Node, m.record.NodeReady, m.joined = j.Node, &j.Ready, true

	return w.recovered(ctx, m)
}

// recovered ends a remediation.
func (w *worker) recovered(ctx context.Context, m *member) error {
	m.note.Remediation = &host.Remediation{Count: m.note.Remediation.Count}

	return w.scribble(ctx, m)
}

// distrusted stands for what is on a machine that is to be deployed anew whatever its template.
const distrusted = "distrusted"

// again deploys a machine anew on its host.
func (w *worker) again(ctx context.Context, m *member, goal Goal) error {
	if m.pool.Name == "" {
		return errors.New("its note says so now, and the next apply of its cluster does it")
	}

	m.note.Deployed = distrusted

	if err := w.scribble(ctx, m); err != nil {
		return err
	}

	m.want = w.Wanted.TemplateHash(m.pool, m.Name)
	m.data, m.joined = nil, false

	if err := w.bring(ctx, m, goal); err != nil {
		return err
	}

	return w.recovered(ctx, m)
}

// exchange gives a machine another host. The one that it leaves is marked, switched off, and not
// chosen again before somebody has looked at it.
func (w *worker) exchange(ctx context.Context, m *member) error {
	if m.pool.Name == "" {
		return errors.New("its note says so now, and the next apply of its cluster does it")
	}

	id, count := m.seen.Node.UUID, m.note.Remediation.Count

	if err := w.mark(ctx, id, "remediation of "+w.Wanted.Namespace+"/"+w.Wanted.Name+"/"+m.Name+" failed at "+now()); err != nil {
		return err
	}

	// A machine that does not answer cannot be drained: it is switched off instead.
	if err := w.switchTo(ctx, m, ironic.PowerOff); err != nil {
		return err
	}

	p := &pilot{worker: w, m: m, goal: GoalGone, drained: true}
	if err := w.fly(ctx, p); err != nil {
		return err
	}

	m.avoid = append(m.avoid, id)
	m.data, m.joined = nil, false

	if err := w.bring(ctx, m, GoalRun); err != nil {
		return err
	}

	m.note.Remediation = &host.Remediation{Count: count}

	return w.scribble(ctx, m)
}
