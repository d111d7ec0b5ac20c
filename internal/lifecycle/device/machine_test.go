// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device_test

import (
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
)

// seen is a machine that was looked at and is settled.
func seen(change func(*device.Facts)) device.Facts {
	f := device.Facts{Seen: true, Settled: true, Health: fabric.HealthOK, TellsHealth: true}
	if change != nil {
		change(&f)
	}

	return f
}

func ours(change func(*device.Facts)) device.Facts {
	return seen(func(f *device.Facts) {
		f.Recorded, f.Here = true, true
		if change != nil {
			change(f)
		}
	})
}

func TestMachine_nextStep(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		facts device.Facts
		goal  device.Goal
		sight device.Sight
		step  device.Step
	}{
		"nobody has looked yet":                      {device.Facts{}, device.GoalOnline, device.Unseen, device.LookStep},
		"a calm machine takes the order":             {seen(nil), device.GoalOnline, device.Calm, device.OrderStep},
		"a busy machine is waited for":               {seen(func(f *device.Facts) { f.Machine, f.Settled = fabric.Busy, false }), device.GoalOnline, device.Changing, device.WaitStep},
		"a machine that is gone takes nothing":       {seen(func(f *device.Facts) { f.Machine = fabric.Gone }), device.GoalOnline, device.MachineGone, device.FailStep},
		"nothing is ordered from a machine in error": {seen(func(f *device.Facts) { f.Machine = fabric.Failed }), device.GoalOnline, device.MachineFailed, device.FailStep},
		"one new device after a lost answer is ours": {seen(func(f *device.Facts) { f.Asked, f.New, f.Named, f.Times = device.Lost, 1, true, 1 }), device.GoalOnline, device.Arrived, device.RecordStep},
		"one new device is not taken while the machine changes": {
			seen(func(f *device.Facts) { f.Asked, f.New, f.Settled = device.Accepted, 1, false }), device.GoalOnline, device.Changing, device.WaitStep,
		},
		"at the end of its time the one new device is ours all the same": {
			seen(func(f *device.Facts) {
				f.Asked, f.New, f.Named, f.Settled, f.Due = device.Accepted, 1, true, false, true
			}), device.GoalOnline, device.Arrived, device.RecordStep,
		},
		"two new devices are nobody's": {seen(func(f *device.Facts) { f.Asked, f.New = device.Accepted, 2 }), device.GoalOnline, device.Several, device.FailStep},
		"of two new devices the one that the answer names is ours": {
			seen(func(f *device.Facts) { f.Asked, f.New, f.Named = device.Accepted, 2, true }), device.GoalOnline, device.Arrived, device.RecordStep,
		},
		"a device that came although we were turned away is somebody else's": {
			seen(func(f *device.Facts) { f.Asked, f.New, f.Named = device.TurnedAway, 1, true }), device.GoalOnline, device.WasTurnedAway, device.OrderStep,
		},
		"a device that the answer does not name is not taken": {
			seen(func(f *device.Facts) { f.Asked, f.New, f.Elsewhere = device.Accepted, 1, true }), device.GoalOnline, device.NothingYet, device.WaitStep,
		},
		"nor when the one that it names never comes": {
			seen(func(f *device.Facts) { f.Asked, f.New, f.Elsewhere, f.Quiet = device.Accepted, 1, true, true }), device.GoalOnline, device.Several, device.FailStep,
		},
		"a device that is still on its way is waited for": {ours(func(f *device.Facts) { f.Phase = fabric.Adding }), device.GoalOnline, device.Changing, device.WaitStep},
		"a gateway's 503 may hide that the work was done": {
			seen(func(f *device.Facts) { f.Asked, f.MaybeDone, f.New, f.Named = device.TurnedAway, true, 1, true }), device.GoalOnline, device.Arrived, device.RecordStep,
		},
		"turned away, we ask again":       {seen(func(f *device.Facts) { f.Asked = device.TurnedAway }), device.GoalOnline, device.WasTurnedAway, device.OrderStep},
		"refused, we do not":              {seen(func(f *device.Facts) { f.Asked = device.Refused }), device.GoalOnline, device.WasRefused, device.FailStep},
		"nothing yet is waited for":       {seen(func(f *device.Facts) { f.Asked, f.Times = device.Lost, 1 }), device.GoalOnline, device.NothingYet, device.WaitStep},
		"a lost order is given once more": {seen(func(f *device.Facts) { f.Asked, f.Times, f.Quiet = device.Lost, 1, true }), device.GoalOnline, device.AnswerLost, device.OrderStep},
		"and not a third time":            {seen(func(f *device.Facts) { f.Asked, f.Times, f.Quiet = device.Lost, 2, true }), device.GoalOnline, device.Nothing, device.FailStep},
		"an accepted order is never given again": {
			seen(func(f *device.Facts) { f.Asked, f.Times, f.Quiet = device.Accepted, 1, true }), device.GoalOnline, device.Nothing, device.FailStep,
		},
		"a suspended job needs a person": {seen(func(f *device.Facts) { f.Asked, f.Task = device.Accepted, fabric.TaskSuspended }), device.GoalOnline, device.JobSuspended, device.FailStep},

		"our device is usable":                   {ours(func(f *device.Facts) { f.Shown = true }), device.GoalOnline, device.Proved, device.DoneStep},
		"the host does not show it yet":          {ours(nil), device.GoalOnline, device.Hidden, device.WaitStep},
		"after a while the host looks anew":      {ours(func(f *device.Facts) { f.RescanDue = true }), device.GoalOnline, device.HiddenLong, device.RescanStep},
		"the host never shows it":                {ours(func(f *device.Facts) { f.VisibleDue = true }), device.GoalOnline, device.Invisible, device.FailStep},
		"it is critical":                         {ours(func(f *device.Facts) { f.Health = fabric.HealthCritical }), device.GoalOnline, device.Critical, device.FailStep},
		"it is critical and may stay":            {ours(func(f *device.Facts) { f.Health, f.KeepCritical, f.Shown = fabric.HealthCritical, true, true }), device.GoalOnline, device.Proved, device.DoneStep},
		"a warning does not matter":              {ours(func(f *device.Facts) { f.Health, f.Shown = fabric.HealthWarning, true }), device.GoalOnline, device.Proved, device.DoneStep},
		"O-GPU-01 an empty status is waited for": {ours(func(f *device.Facts) { f.Health = fabric.HealthUnknown }), device.GoalOnline, device.HealthAwaited, device.WaitStep},
		"O-GPU-01 and is an error in the end":    {ours(func(f *device.Facts) { f.Health, f.HealthDue = fabric.HealthUnknown, true }), device.GoalOnline, device.HealthUntold, device.FailStep},
		"a fabric that never tells is believed":  {ours(func(f *device.Facts) { f.Health, f.TellsHealth, f.Shown = fabric.HealthUnknown, false, true }), device.GoalOnline, device.Proved, device.DoneStep},
		"O-GPU-05 the fabric calls it failed":    {ours(func(f *device.Facts) { f.Phase = fabric.AddFailed }), device.GoalOnline, device.Broken, device.FailStep},
		"it vanished":                            {ours(func(f *device.Facts) { f.Here = false }), device.GoalOnline, device.Vanished, device.FailStep},
		"what is gone need not be detached":      {ours(func(f *device.Facts) { f.Here = false }), device.GoalGone, device.Vanished, device.DoneStep},
		"what is not seen while something changes is looked for again": {
			ours(func(f *device.Facts) { f.Here, f.Settled = false, false }), device.GoalGone, device.Changing, device.WaitStep,
		},
		"the machine took its devices with it":       {ours(func(f *device.Facts) { f.Machine = fabric.Gone }), device.GoalGone, device.MachineGone, device.DoneStep},
		"the host lets go first":                     {ours(nil), device.GoalGone, device.InHostsHands, device.ReleaseStep},
		"then the fabric is asked":                   {ours(func(f *device.Facts) { f.Released = true }), device.GoalGone, device.Calm, device.OrderStep},
		"another device under its id is not touched": {ours(func(f *device.Facts) { f.Released, f.Mistaken = true, true }), device.GoalGone, device.Mistaken, device.FailStep},
		"the fabric could not":                       {ours(func(f *device.Facts) { f.Released, f.Asked, f.Phase = true, device.Accepted, fabric.RemoveFailed }), device.GoalGone, device.RemoveFailed, device.FailStep},
		"an old failure of it does not stop us":      {ours(func(f *device.Facts) { f.Released, f.Phase = true, fabric.RemoveFailed }), device.GoalGone, device.Calm, device.OrderStep},
		"a lost detach is given again":               {ours(func(f *device.Facts) { f.Released, f.Asked, f.Times, f.Quiet = true, device.Lost, 1, true }), device.GoalGone, device.AnswerLost, device.OrderStep},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if sight, step := device.Next(c.facts, c.goal); sight != c.sight || step != c.step {
				t.Errorf("%q, step %d; want %q, step %d", sight, step, c.sight, c.step)
			}
		})
	}
}

// FuzzMachine shows that every combination of facts has a step: no look leads into a gap of the table.
func FuzzMachine(f *testing.F) {
	f.Add(uint64(0), uint8(0))
	f.Add(^uint64(0), uint8(0xff))

	f.Fuzz(func(t *testing.T, bits uint64, goal uint8) {
		bit := func() bool { b := bits&1 == 1; bits >>= 1; return b }
		num := func(n uint64) int { v := bits % n; bits /= n; return int(v) }

		facts := device.Facts{
			Seen: bit(), Settled: bit(), Recorded: bit(), Here: bit(), Mistaken: bit(), MaybeDone: bit(), Named: bit(), Quiet: bit(), TellsHealth: bit(),
			HealthDue: bit(), Elsewhere: bit(), KeepCritical: bit(), Shown: bit(), RescanDue: bit(), VisibleDue: bit(), Released: bit(), Due: bit(),
			Machine: fabric.State(num(5)), Phase: fabric.Phase(num(5)), Health: fabric.Health(num(4)), Asked: device.Asked(num(5)),
			Times: num(4), New: num(4), Task: fabric.TaskState(num(4)),
		}

		g := device.Goal(goal % 2)
		if g == device.GoalGone {
			facts.Recorded = true // what is to go is known
		}

		sight, step := device.Next(facts, g)
		if _, ok := device.Table[sight]; !ok || step == device.ImpossibleStep {
			t.Errorf("%+v towards %d: %q has no step", facts, g, sight)
		}
	})
}
