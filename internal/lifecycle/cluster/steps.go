// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/claim"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// pilot brings one machine to one goal.
type pilot struct {
	*worker

	m    *member
	goal Goal

	ending  bool // the whole cluster goes: nothing is drained, no Node deleted, no member leaves
	drained bool
	left    bool
}

// bring drives a machine to its goal, and notes on it what went wrong.
func (w *worker) bring(ctx context.Context, m *member, goal Goal) error {
	return w.fly(ctx, &pilot{worker: w, m: m, goal: goal})
}

func (w *worker) fly(ctx context.Context, p *pilot) error {
	_, err := lifecycle.Drive[Facts, Step](ctx, p, p.facts())
	if err != nil {
		err = fmt.Errorf("machine %s%s: %w", p.m.Name, p.m.on(), err)
	}

	p.m.err = err

	return err
}

// on names the host of a machine for people.
func (m *member) on() string {
	if m.seen.Node.UUID == "" {
		return ""
	}

	return " on host " + choose.Name(m.seen) + " (" + m.seen.Node.UUID + ")"
}

func (p *pilot) facts() Facts {
	f := Facts{
		Sight: p.m.sight(), Off: p.m.seen.Node.PowerState == ironic.PowerOff && p.m.seen.Node.TargetPowerState == "", Joined: p.m.joined || !p.joins() && !p.m.hooksDue(), UpToDate: p.m.upToDate(),
		Drained: p.drained || p.ending, Left: p.left || p.ending,
		Claims: true, Excluded: p.m.failed, Retries: p.Wanted.HostRetries,
	}

	if p.m.err != nil {
		f.Why = p.m.err.Error()
	}

	return f
}

// joins reports whether anything is to be done about a machine's node.
func (w *worker) joins() bool {
	return w.reachable() && w.Wanted.Wait.Level.reaches(LevelRegistered)
}

// Next implements [lifecycle.Machine].
func (p *pilot) Next(f Facts) (Step, lifecycle.Kind, error) {
	step, err := Next(f, p.goal)
	if err != nil || step == StepDone {
		return step, lifecycle.End, err
	}

	return step, lifecycle.Act, nil
}

// Look implements [lifecycle.Machine].
func (p *pilot) Look(ctx context.Context, f Facts, _ time.Duration) (Facts, error) {
	if err := p.lookAt(ctx, p.m); err != nil {
		return f, err
	}

	return p.facts(), nil
}

// Note implements [lifecycle.Machine].
func (p *pilot) Note(f Facts) string { return string(f.Sight) }

// Do implements [lifecycle.Machine]: one step.
func (p *pilot) Do(ctx context.Context, _ Facts, step Step) (Facts, bool, error) {
	err := p.do(ctx, step)

	return p.facts(), err == nil, err
}

func (p *pilot) do(ctx context.Context, step Step) error {
	switch step {
	case StepClaim:
		return p.another(ctx)
	case StepDeploy:
		return p.deploy(ctx, false)
	case StepRemake:
		p.drained = true // in this run, or in the one that was cut short

		return p.deploy(ctx, true)
	case StepPower:
		return p.powerOn(ctx)
	case StepJoin:
		return p.join(ctx)
	case StepDrain: // done only without an error: one that may pass is tried again
		err := p.drain(ctx)
		p.drained = err == nil

		return err
	case StepLeave:
		err := p.leave(ctx)
		p.left = err == nil

		return err
	case StepUndeploy:
		return p.undeploy(ctx)
	case StepRelease:
		return p.release(ctx)
	default:
		return fmt.Errorf("step %q: this provider does not know it; please report it", step)
	}
}

// deploy puts a machine on its host, or its present template over what is there.
func (p *pilot) deploy(ctx context.Context, over bool) error {
	if err := p.render(ctx, p.m); err != nil {
		return err
	}

	done, err := p.slots.Enter(ctx)
	if err != nil {
		return err
	}

	defer done()

	if err := p.announce(ctx, p.m); err != nil { // now: others may have taken hours
		return err
	}

	p.log(ctx, fmt.Sprintf("deploying machine %s%s", p.m.Name, p.m.on()))

	seen, err := p.provision(ctx, p.m, over)
	p.takeAll(ctx, p.m, seen)

	if err != nil && over {
		return err // its disks are why it was to stay there
	}

	if err != nil {
		return p.giveUp(ctx, err)
	}

	return p.settle(ctx, p.m)
}

// powerOn switches a machine on that runs nothing because it is off.
func (p *pilot) powerOn(ctx context.Context) error {
	p.log(ctx, fmt.Sprintf("powering machine %s%s on", p.m.Name, p.m.on()))

	seen, err := p.provision(ctx, p.m, false)
	p.takeAll(ctx, p.m, seen)

	return err
}

// takeAll makes the end of a run the machine's, with the note that is really on the node.
func (w *worker) takeAll(ctx context.Context, m *member, seen host.Seen) {
	w.take(m, seen)

	if err := w.lookAt(context.WithoutCancel(ctx), m); err != nil {
		w.log(ctx, "looking at machine "+m.Name+": "+err.Error()) // the next look tells
	}
}

// settle notes the end of a deployment.
func (w *worker) settle(ctx context.Context, m *member) error {
	if m.sight() != SeenActive && m.sight() != SeenHalf {
		return nil // the next look decides
	}

	if m.staleKeys {
		return w.distrust(ctx, m)
	}

	if m.note.Deployed == m.note.Deploying && m.note.Provisioned != "" {
		return nil
	}

	m.note.Deployed, m.note.Provisioned = m.note.Deploying, now()
	w.unhold(ctx, m)

	if m.underRepair() && m.note.Remediation.Phase == phaseRebuild {
		m.note.Remediation = &host.Remediation{Count: m.note.Remediation.Count} // this was it
	}

	return w.scribble(ctx, m)
}

// scribble writes a machine's note to its host.
func (w *worker) scribble(ctx context.Context, m *member) error {
	want := w.tenant(m)
	want.Tenancy = &m.note

	s, err := w.Far.Write(ctx, m.seen, want, m.seen.Journal, host.PartTenancy)
	if err != nil {
		return fmt.Errorf("noting what was done: %w", err)
	}

	w.take(m, s)

	return nil
}

// undeploy takes a machine off its host. The claim goes with it; the addresses stay the machine's.
func (p *pilot) undeploy(ctx context.Context) error {
	done, err := p.leaving.Enter(ctx)
	if err != nil {
		return err
	}

	defer done()

	p.log(ctx, fmt.Sprintf("undeploying machine %s%s", p.m.Name, p.m.on()))

	was := p.m.note

	seen, err := p.vacate(ctx, p.m)
	p.takeAll(ctx, p.m, seen)

	if err != nil && (p.m.seen.Node.InstanceUUID == p.m.ClaimID || p.m.kind == claim.KindNote) {
		return err
	}

	if err != nil { // the machine is gone; what became of the host is its owner's business
		p.warn("Host "+choose.Name(p.m.seen)+" needs attention", "Machine "+p.m.Name+" has left it. "+err.Error()+".")
	}

	return p.departed(ctx, was)
}

// departed does what follows the end of a deployment.
func (p *pilot) departed(ctx context.Context, was host.Tenancy) error {
	id := p.m.seen.Node.UUID

	// one that is somebody else's by now is left alone
	if own := p.m.seen.Node.InstanceUUID; was.CleaningWas != nil && (own == "" || own == p.m.ClaimID) {
		if _, err := p.Far.Patch(ctx, id, []ironic.Patch{{Op: "add", Path: "/automated_clean", Value: *was.CleaningWas}}); err != nil {
			p.warn("Host "+choose.Name(p.m.seen)+" keeps the cleaning mode of machine "+p.m.Name, err.Error())
		}
	}

	p.leaveOn(ctx, was)

	// A claim that Ironic's undeploy did not take along, as one of a host that never was deployed.
	if p.m.seen.Node.InstanceUUID == p.m.ClaimID {
		if err := p.release(ctx); err != nil {
			return err
		}
	}

	return p.forgetNode(ctx)
}

// leaveOn switches a host on again that was on when its machine came, so that it is left as its owner
// wants it: Ironic switches off what it has cleaned. One that is used again at once is not waited for.
func (p *pilot) leaveOn(ctx context.Context, was host.Tenancy) {
	n := p.m.seen.Node

	if !p.m.unwanted || n.InstanceUUID != "" || n.PowerState == ironic.PowerOn || was.PowerWas != ironic.PowerOn && !p.m.pool.KeepPower {
		return
	}

	if err := p.power(ctx, p.m, ironic.PowerOn); err != nil {
		p.warn("Host "+choose.Name(p.m.seen)+" was not switched on again", err.Error())
	}
}

// release gives the host of a machine back that has nothing on it.
func (p *pilot) release(ctx context.Context) error {
	if err := claim.Release(ctx, p.Far, p.m.ClaimID, p.m.seen); err != nil {
		return err
	}

	p.log(ctx, fmt.Sprintf("host %s is given back by machine %s", choose.Name(p.m.seen), p.m.Name))

	return p.lookAt(ctx, p.m)
}
