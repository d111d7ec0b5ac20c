// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// verbs is Ironic's table of verbs by state (ironic/common/state_machine.py), as far as
// this provider sends them.
var verbs = map[ironic.State]map[host.Step]ironic.State{
	ironic.Enroll:         {host.Manage: ironic.Verifying},
	ironic.Verifying:      {},
	ironic.Manageable:     {host.Inspect: ironic.Inspecting, host.Provide: ironic.Cleaning, host.Adopt: ironic.Adopting},
	ironic.Available:      {host.Deploy: ironic.Deploying, host.Manage: ironic.Manageable},
	ironic.Inspecting:     {},
	ironic.InspectWait:    {host.Abort: ironic.InspectFailed},
	ironic.InspectFailed:  {host.Manage: ironic.Manageable, host.Inspect: ironic.Inspecting},
	ironic.Cleaning:       {},
	ironic.CleanWait:      {host.Abort: ironic.CleanFailed},
	ironic.CleanHold:      {host.Abort: ironic.CleanFailed},
	ironic.CleanFailed:    {host.Manage: ironic.Manageable},
	ironic.Deploying:      {},
	ironic.WaitCallBack:   {host.Undeploy: ironic.Deleting, host.Abort: ironic.DeployFailed},
	ironic.DeployHold:     {host.Abort: ironic.DeployFailed},
	ironic.DeployFailed:   {host.Deploy: ironic.Deploying, host.Rebuild: ironic.Deploying, host.Undeploy: ironic.Deleting},
	ironic.Active:         {host.Rebuild: ironic.Deploying, host.Undeploy: ironic.Deleting},
	ironic.Deleting:       {},
	ironic.Error:          {host.Rebuild: ironic.Deploying, host.Undeploy: ironic.Deleting},
	ironic.Adopting:       {},
	ironic.AdoptFailed:    {host.Adopt: ironic.Adopting, host.Manage: ironic.Manageable},
	ironic.Servicing:      {},
	ironic.ServiceWait:    {host.Abort: ironic.ServiceFailed, host.Undeploy: ironic.Deleting},
	ironic.ServiceHold:    {host.Abort: ironic.ServiceFailed},
	ironic.ServiceFailed:  {host.Abort: ironic.Active, host.Undeploy: ironic.Deleting},
	ironic.Rescuing:       {},
	ironic.RescueWait:     {host.Undeploy: ironic.Deleting, host.Abort: ironic.RescueFailed},
	ironic.Rescue:         {host.Undeploy: ironic.Deleting},
	ironic.RescueFailed:   {host.Undeploy: ironic.Deleting},
	ironic.Unrescuing:     {},
	ironic.UnrescueFailed: {host.Undeploy: ironic.Deleting},
}

// passes are the states that pass by themselves, and where they may lead.
var passes = map[ironic.State][]ironic.State{
	ironic.Verifying:    {ironic.Manageable, ironic.Enroll},
	ironic.Inspecting:   {ironic.InspectWait, ironic.Manageable, ironic.InspectFailed},
	ironic.InspectWait:  {ironic.Manageable, ironic.InspectFailed},
	ironic.Cleaning:     {ironic.CleanWait, "", ironic.CleanFailed, ironic.CleanHold}, // "" is the target
	ironic.CleanWait:    {"", ironic.CleanFailed},
	ironic.CleanHold:    {ironic.CleanWait},
	ironic.Deploying:    {ironic.WaitCallBack, ironic.Active, ironic.DeployFailed, ironic.DeployHold},
	ironic.WaitCallBack: {ironic.Active, ironic.DeployFailed},
	ironic.DeployHold:   {ironic.WaitCallBack},
	ironic.Deleting:     {ironic.Cleaning, ironic.Error},
	ironic.Adopting:     {ironic.Active, ironic.AdoptFailed},
	ironic.Servicing:    {ironic.ServiceWait, ironic.Active, ironic.ServiceFailed, ironic.ServiceHold},
	ironic.ServiceWait:  {ironic.Active, ironic.ServiceFailed},
	ironic.ServiceHold:  {ironic.ServiceWait},
	ironic.Rescuing:     {ironic.RescueWait, ironic.RescueFailed},
	ironic.RescueWait:   {ironic.Rescue, ironic.RescueFailed},
	ironic.Unrescuing:   {ironic.Active, ironic.UnrescueFailed},
}

// model is a small Ironic with one node. Dice decide what goes wrong.
type model struct {
	*testing.T

	f        host.Facts
	goal     host.Goal
	dice     []byte
	rolled   int
	stubborn bool // settings and maintenance come back
	inspects bool // inspections leave an inventory
}

// roll returns a number below n; 0, which is "all is well", once the dice are used up.
func (m *model) roll(n int) int {
	if m.rolled >= len(m.dice) {
		return 0
	}

	m.rolled++

	return int(m.dice[m.rolled-1]) % n
}

// tick lets time pass.
func (m *model) tick() {
	f := &m.f

	if f.PowerTarget != "" {
		if m.roll(4) == 1 {
			f.PowerError = "no relay"
		} else {
			f.Power = f.PowerTarget
		}

		f.PowerTarget = ""
	}

	if f.Fault == "power failure" && m.roll(3) == 0 {
		f.Fault, f.Maintenance = "", false
	}

	where := passes[f.State]
	if len(where) == 0 || m.roll(5) == 4 {
		return
	}

	to := where[m.roll(len(where))]
	if to == "" {
		to = f.Target
	}

	m.enter(to)
}

func (m *model) enter(s ironic.State) {
	f := &m.f

	switch {
	case f.State == ironic.Deleting && s == ironic.Cleaning:
		f.Target, f.Claim, f.External, f.AsWanted = ironic.Available, host.ClaimNone, true, false
	case s == ironic.Manageable && (f.State == ironic.Inspecting || f.State == ironic.InspectWait):
		f.NeedsInspection, f.NeedsExamination = !m.inspects, m.inspects
	case s == ironic.Active && (f.State == ironic.Deploying || f.State == ironic.WaitCallBack):
		f.AsWanted, f.Unmanaged, f.External = true, false, false
	case s == ironic.CleanFailed, s == ironic.ServiceFailed:
		f.Maintenance = true
	}

	if _, resting := passes[s]; !resting {
		f.Target = ""
	}

	f.State = s
}

// do does a step, and says what must never be done.
func (m *model) do(step host.Step) {
	f := &m.f
	f.Tried[step]++

	if f.NotOurs != "" && slices.Contains([]host.Step{host.Undeploy, host.Off, host.SoftOff, host.Reboot, host.Remove, host.Unclaim, host.Rebuild}, step) {
		m.Fatalf("%q in %q on a host that is not ours", step, f.State)
	}

	if (step == host.Undeploy || step == host.Rebuild) && host.Running(f.State) && !f.Consent && m.goal != host.Deleted {
		m.Fatalf("%q in %q without consent", step, f.State)
	}

	if step == host.Undeploy && m.goal == host.Deleted && f.Policy != host.PolicyDeprovision {
		m.Fatalf("%q in %q with the policy %s", step, f.State, f.Policy)
	}

	if f.Maintenance && slices.Contains([]host.Step{host.Deploy, host.Rebuild, host.Inspect, host.Provide, host.Adopt}, step) {
		m.Fatalf("%q in %q in maintenance", step, f.State)
	}

	if f.Protected && slices.Contains([]host.Step{host.Undeploy, host.Rebuild, host.Remove}, step) {
		m.Fatalf("%q in %q on a protected host", step, f.State)
	}

	m.act(step)
}

func (m *model) act(step host.Step) {
	f := &m.f

	switch step {
	case host.Register:
		m.enter(ironic.Enroll)

		f.NotOurs, f.Stranger, f.Consumed, f.Protected, f.Claim, f.External = "", "", false, false, host.ClaimNone, true
	case host.Configure:
		f.InSync, f.WasDeployed = !m.stubborn, false
	case host.VerifyBMC:
		f.VerifyBMC = false
	case host.Examine:
		f.NeedsExamination = false
	case host.Unmaintain:
		f.Maintenance, f.Fault = m.stubborn, ""
	case host.Maintain:
		f.Maintenance = true
	case host.On:
		f.PowerTarget, f.PowerError = ironic.PowerOn, ""
	case host.Off, host.SoftOff:
		f.PowerTarget, f.PowerError = ironic.PowerOff, ""
	case host.Reboot:
		f.PowerTarget, f.PowerError, f.RebootWanted = ironic.PowerOn, "", false
	case host.Unclaim:
		f.Claim = host.ClaimNone
	case host.Remove:
		m.remove()
	default:
		m.verb(step)
	}
}

func (m *model) remove() {
	deletable := []ironic.State{ironic.Manageable, ironic.Enroll, ironic.AdoptFailed, ironic.Available}
	if f := m.f; !f.Maintenance && (!slices.Contains(deletable, f.State) || f.Claim != host.ClaimNone) {
		m.Fatalf("the record is deleted in %q with claim %d", f.State, f.Claim)
	}

	m.f.State = ""
}

func (m *model) verb(step host.Step) {
	f := &m.f

	to, ok := verbs[f.State][step]
	if !ok {
		m.Fatalf("Ironic takes no %q in %q", step, f.State)
	}

	if step == host.Provide {
		f.Target = ironic.Available
	}

	if step == host.Deploy {
		f.Claim = host.ClaimOurs
	}

	m.enter(to)
}

// circumstances are what a walk may begin with: one bit each.
var circumstances = []func(*host.Facts){
	foreign, consented, forced, detach, powerOff, external, wasDeployed, protected, consumed, retired, wantedOff, maintained, faulty, unsettled,
	uninspected, unexamined, other, unclaimed, off,
	func(f *host.Facts) { f.Stranger, f.NotOurs = "of b", "of b" },
	func(f *host.Facts) { f.Rebuild = true },
	func(f *host.Facts) { f.RebootWanted = true },
	func(f *host.Facts) { f.VerifyBMC = true },
	func(f *host.Facts) { f.PowerOffFirst = false },
	func(f *host.Facts) { f.PowerIgnored = true },
	func(f *host.Facts) { f.CleaningDisabled = true },
	func(f *host.Facts) { f.Unmanaged, f.External, f.AsWanted = true, true, false },
	func(f *host.Facts) { f.Power = "" },
}

// FuzzNext walks from every state to every goal. A walk ends at the goal or with an error
// that has a type, within a bounded number of looks.
func FuzzNext(f *testing.F) {
	states := append(slices.Sorted(maps.Keys(verbs)), "")

	for i := range states {
		for j := range goals {
			f.Add(uint8(i), uint8(j), uint32(0), []byte{})
			f.Add(uint8(i), uint8(j), uint32(1<<1), []byte{1, 3, 1, 1, 2, 1, 3, 2, 1, 1, 1, 1, 1, 2, 2, 2, 1, 3, 1, 1, 4, 1, 2, 1, 1, 1, 3, 3, 1, 2})

			for bit := range circumstances {
				f.Add(uint8(i), uint8(j), uint32(1)<<bit, []byte{0, 2, 1, 1, 0, 1, 2, 1, 0, 1, 1, 1, 2})
			}
		}
	}

	f.Fuzz(func(t *testing.T, state, goal uint8, with uint32, dice []byte) {
		const most = 400

		m := model{T: t, f: calm(states[int(state)%len(states)]), goal: goals[int(goal)%len(goals)], dice: dice[:min(len(dice), 100)]}
		m.stubborn, m.inspects = with&(1<<30) != 0, with&(1<<31) == 0
		m.f.Target = ironic.Available

		for bit, change := range circumstances {
			if with&(1<<bit) != 0 {
				change(&m.f)
			}
		}

		for range most {
			step, err := host.Next(m.f, m.goal)

			switch kind, _ := next(m.f, m.goal); {
			case kind == "an error without a type":
				t.Fatal(err)
			case err != nil, step == host.Stop:
				return
			case step != host.Wait:
				m.do(step)
			}

			m.tick()
		}

		t.Fatalf("after %d looks the host is in %q on the way to %q: %+v", most, m.f.State, m.goal, m.f)
	})
}
