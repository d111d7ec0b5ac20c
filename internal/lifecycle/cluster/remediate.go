// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
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
	// defaultFenceLimit is how long fencing may take where nothing else is said.
	defaultFenceLimit = 5 * time.Minute
	// defaultRemedyTimeout is how long a machine may take from its boot to a healthy Node.
	defaultRemedyTimeout = 10 * time.Minute
)

// repair goes on with remediations that were cut short, and heals machines that are ill where that is
// wanted: one of the control plane at a time, and none where so many look ill that the eyes may be.
func (w *worker) repair(ctx context.Context) error {
	var errs []error

	for _, m := range w.wantedMembers() {
		if !m.underRepair() || m.sight() != SeenActive {
			continue
		}

		if n := m.seen.Node; n.Maintenance {
			w.warn("Machine "+m.Name+" is left alone", fmt.Sprintf("Its remediation was cut short (%s), and its host is in maintenance now: %s.", m.note.Remediation.Phase, cmp.Or(n.MaintenanceReason, "no reason is given")))

			continue
		}

		errs = append(errs, w.remediate(ctx, m, w.Wanted.Remediation))
	}

	if !w.Wanted.Remediation.Enabled || ctx.Err() != nil {
		return errors.Join(errs...)
	}

	ill, err := w.confirmed(ctx)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}

	var masters, workers []*member

	for _, m := range ill {
		switch err := w.permitted(m, ill); {
		case err != nil:
			w.warn("Machine "+m.Name+" is ill and is left alone", err.Error())
		case m.Role == ControlPlane:
			masters = append(masters, m)
		default:
			workers = append(workers, m)
		}
	}

	heal := func(ctx context.Context, m *member) error { return w.remediate(ctx, m, w.Wanted.Remediation) }
	errs = append(errs, remote.Each(ctx, 1, masters, heal), remote.Each(ctx, max(w.Wanted.Parallel.Reboot, 1), workers, heal))

	return errors.Join(errs...)
}

// underRepair reports whether a remediation was begun and has not ended.
func (m *member) underRepair() bool {
	return m.note.Remediation != nil && m.note.Remediation.Phase != ""
}

// remediate brings one machine through its attempts, from where an earlier run left it.
func (w *worker) remediate(ctx context.Context, m *member, how Remediation) error {
	r := host.Remediation{}
	if m.note.Remediation != nil {
		r = *m.note.Remediation
	}

	m.remedy = &Remedy{Machine: m.Name, Resumed: r.Phase}

	if r.Phase == "" {
		r = host.Remediation{Phase: firstPhase(how.Strategy), Count: r.Count + 1, Started: now(), Node: m.record.Node}
	}

	m.note.Remediation = &r

	err := w.scribble(ctx, m)
	if err == nil {
		err = w.treat(ctx, m, how)
	}

	m.remedy.Count, m.remedy.Node = r.Count, cmp.Or(m.record.Node, r.Node)

	if m.underRepair() {
		m.remedy.Phase = m.note.Remediation.Phase
	}

	if err != nil {
		m.remedy.Outcome = ""
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
		m.remedy.Attempts = m.note.Remediation.Attempt + 1
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
	cause = fmt.Errorf("%s did not help: %w", times(m.remedy.Attempts), cause)

	switch how.OnFailure {
	case AfterReplace:
		if err := w.mayLose(m); err != nil {
			return errors.Join(w.recovered(ctx, m), cause, err)
		}

		if err := w.phase(ctx, m, phaseReplace); err != nil {
			return errors.Join(cause, err)
		}

		if err := w.exchange(ctx, m); err != nil {
			return errors.Join(cause, err)
		}

		return nil
	case AfterNone:
		w.warn("Machine "+m.Name+" could not be healed", cause.Error())

		m.remedy.Outcome = OutcomeGivenUp

		return w.recovered(ctx, m)
	default:
		// It has ended, so that the next one begins at its beginning.
		return errors.Join(cause, w.recovered(ctx, m))
	}
}

func times(n int) string {
	if n == 1 {
		return "1 attempt"
	}

	return fmt.Sprintf("%d attempts", n)
}

// reboot is one attempt: off, fenced, on, and healthy in time.
func (w *worker) reboot(ctx context.Context, m *member, how Remediation) error {
	r := m.note.Remediation
	node := cmp.Or(m.record.Node, r.Node)

	var backup nodes.Backup

	if r.Phase == phaseOff {
		m.boot = w.bootOf(ctx, m)

		if err := w.switchTo(ctx, m, ironic.PowerOff); err != nil {
			return err
		}

		if err := w.phase(ctx, m, phaseFence); err != nil {
			return err
		}
	}

	if r.Phase == phaseFence {
		if w.fences(how, node) {
			backup = w.fence(ctx, m, node)
		}

		if ctx.Err() != nil {
			return fmt.Errorf("fencing Node %s: %w", node, context.Cause(ctx))
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

	return w.power(ctx, m, to)
}

// power asks for a power state of a machine's host and waits for it.
func (w *worker) power(ctx context.Context, m *member, to ironic.Power) error {
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

// recovered ends a remediation.
func (w *worker) recovered(ctx context.Context, m *member) error {
	m.note.Remediation = &host.Remediation{Count: m.note.Remediation.Count}

	return w.scribble(ctx, m)
}
