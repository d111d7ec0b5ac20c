// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle"
)

// Goal is where one device is to be.
type Goal int

// The goals of a device.
const (
	GoalOnline Goal = iota // on the machine, healthy, shown by the host
	GoalGone               // in the pool
)

// Asked is what came of an order.
type Asked int

// What may come of an order.
const (
	NotAsked   Asked = iota
	Accepted         // a clear yes; the device may still never come
	Lost             // no answer, or one that says nothing: it may have been carried out
	TurnedAway       // busy: not carried out, ask again
	Refused          // not carried out, and asking again does not help
)

// Facts are what the table decides on: one look, what was done in this run, and whether a
// limit has passed. Time is in it only as "long enough".
type Facts struct {
	Seen     bool // there was a look
	Machine  fabric.State
	Settled  bool // nothing changes on the machine
	Recorded bool // we know which device it is
	Here     bool // the recorded device is on the machine
	Mistaken bool // what has its fabric id there is another device: the host would know it by another id
	Phase    fabric.Phase
	Health   fabric.Health

	Asked     Asked
	MaybeDone bool // a refusal that a gateway, not the manager, may have given
	Times     int  // orders so far
	New       int  // devices of the kind that came since the order
	Named     bool // it is clear which of them is ours: there is one, or the answer names one
	Elsewhere bool // the answer names a device that is not there (yet), so those that came are not it
	Task      fabric.TaskState
	Quiet     bool // settled without a change for long enough to believe that none comes

	TellsHealth  bool // the fabric says of every device how it is
	HealthDue    bool // and has had its time to
	KeepCritical bool

	Shown      bool // the host shows the device, or need not
	RescanDue  bool
	VisibleDue bool

	Released bool // the host has let go of the device, or need not
	Due      bool // the limit of the whole step has passed
}

// Sight is what the facts amount to, in words.
type Sight string

// The sights.
const (
	Unseen         Sight = "not looked at yet"
	MachineGone    Sight = "machine gone"
	MachineLeaving Sight = "machine being taken apart"
	MachineFailed  Sight = "machine in error"
	Changing       Sight = "something changes on the machine"
	Calm           Sight = "ready for the order"
	JobSuspended   Sight = "the manager's job waits for a person"
	WasRefused     Sight = "the order was refused"
	WasTurnedAway  Sight = "the manager was busy"
	AnswerLost     Sight = "the answer was lost, nothing came of it"
	NothingYet     Sight = "nothing came of the order yet"
	Nothing        Sight = "the order was accepted, nothing came of it"
	Several        Sight = "several devices came"
	Arrived        Sight = "the device came"
	Broken         Sight = "the device came and the fabric calls it failed"
	Vanished       Sight = "the device is not on the machine"
	Critical       Sight = "the device is critical"
	HealthAwaited  Sight = "the fabric does not say yet how the device is"
	HealthUntold   Sight = "the fabric does not say how the device is"
	Hidden         Sight = "the host does not show the device yet"
	HiddenLong     Sight = "the host does not show the device, a rescan may help"
	Invisible      Sight = "the host does not show the device"
	Proved         Sight = "attached and usable"
	InHostsHands   Sight = "the host has the device"
	Mistaken       Sight = "another device has its fabric id now"
	RemoveFailed   Sight = "the fabric could not take the device away"
	OutOfTime      Sight = "the limit of the step has passed"
)

// Step is what is done next.
type Step int

// The steps. FailStep ends with what the sight says.
const (
	ImpossibleStep Step = iota
	WaitStep
	LookStep    // at once
	OrderStep   // write the intent down, then send the order
	RecordStep  // the new device is ours
	RescanStep  // on the host
	ReleaseStep // on the host
	DoneStep
	FailStep
)

// table is the machine of one device: what is seen, and the next step towards each goal.
var table = map[Sight][2]Step{
	//              online    gone
	Unseen:         {LookStep, LookStep},
	MachineGone:    {FailStep, DoneStep},
	MachineLeaving: {FailStep, WaitStep},
	MachineFailed:  {FailStep, ImpossibleStep},
	Changing:       {WaitStep, WaitStep},
	Calm:           {OrderStep, OrderStep},
	JobSuspended:   {FailStep, FailStep},
	WasRefused:     {FailStep, FailStep},
	WasTurnedAway:  {OrderStep, OrderStep},
	AnswerLost:     {OrderStep, OrderStep}, // safe: nothing came of the first one
	NothingYet:     {WaitStep, WaitStep},
	Nothing:        {FailStep, FailStep},
	Several:        {FailStep, ImpossibleStep},
	Arrived:        {RecordStep, ImpossibleStep},
	Broken:         {FailStep, ImpossibleStep},
	Vanished:       {FailStep, DoneStep},
	Critical:       {FailStep, ImpossibleStep},
	HealthAwaited:  {WaitStep, ImpossibleStep},
	HealthUntold:   {FailStep, ImpossibleStep},
	Hidden:         {WaitStep, ImpossibleStep},
	HiddenLong:     {RescanStep, ImpossibleStep},
	Invisible:      {FailStep, ImpossibleStep},
	Proved:         {DoneStep, ImpossibleStep},
	InHostsHands:   {ImpossibleStep, ReleaseStep},
	Mistaken:       {ImpossibleStep, FailStep},
	RemoveFailed:   {ImpossibleStep, FailStep},
	OutOfTime:      {FailStep, FailStep},
}

// orders is how often an order is given when its answer is lost and nothing comes of it.
const orders = 2

// next decides. It is pure.
func next(f Facts, g Goal) (Sight, Step) {
	s := sight(f, g)

	return s, table[s][g]
}

// kind is what the loop does with a step.
func (s Step) kind() lifecycle.Kind {
	switch s {
	case WaitStep:
		return lifecycle.Idle
	case DoneStep, FailStep, ImpossibleStep:
		return lifecycle.End
	default:
		return lifecycle.Act
	}
}

// sight names what the facts amount to. The order of the questions matters: what is on the
// machine counts more than what was said.
func sight(f Facts, g Goal) Sight {
	switch {
	case !f.Seen:
		return Unseen
	case f.Machine == fabric.Gone:
		return MachineGone
	case f.Recorded && !f.Here && f.Settled:
		return Vanished
	case g == GoalGone:
		return leaving(f)
	case f.Recorded:
		return arrived(f)
	case f.Asked == NotAsked:
		return before(f)
	default:
		return ordered(f)
	}
}

// before looks at a machine on which nothing was ordered.
func before(f Facts) Sight {
	switch {
	case f.Machine == fabric.Leaving:
		return MachineLeaving
	case f.Machine == fabric.Failed:
		return MachineFailed
	case f.Due:
		return OutOfTime
	case !f.Settled:
		return Changing
	default:
		return Calm
	}
}

// ordered looks for what came of an order to attach.
func ordered(f Facts) Sight {
	certainlyNotDone := f.Asked == Refused || (f.Asked == TurnedAway && !f.MaybeDone)

	switch {
	case f.Asked == Refused:
		return WasRefused
	case certainlyNotDone:
		return nothing(f) // what came meanwhile is somebody else's
	case f.Named && (f.Settled || f.Due):
		return Arrived // also one that the fabric calls failed: it is recorded before it is judged
	case f.New > 0 && (f.Settled && !f.Elsewhere || f.Quiet || f.Due):
		return Several
	default:
		return nothing(f)
	}
}

// nothing is what it means that nothing came of an order so far.
func nothing(f Facts) Sight {
	switch {
	case f.Task == fabric.TaskSuspended:
		return JobSuspended
	case f.Due:
		return OutOfTime
	case !f.Settled:
		return Changing
	case f.Asked == TurnedAway && (!f.MaybeDone || f.Quiet):
		return WasTurnedAway
	case !f.Quiet:
		return NothingYet
	case f.Asked == Lost && f.Times < orders:
		return AnswerLost
	default:
		return Nothing
	}
}

// arrived looks at our device on the machine.
func arrived(f Facts) Sight {
	coming := !f.Here || f.Phase == fabric.Adding || f.Phase == fabric.Removing

	switch {
	case coming && f.VisibleDue:
		return OutOfTime
	case coming:
		return Changing
	case f.Phase == fabric.AddFailed || f.Phase == fabric.RemoveFailed:
		return Broken
	case f.Health == fabric.HealthCritical && !f.KeepCritical:
		return Critical
	case f.TellsHealth && f.Health == fabric.HealthUnknown && !f.HealthDue:
		return HealthAwaited
	case f.TellsHealth && f.Health == fabric.HealthUnknown:
		return HealthUntold
	case f.Shown:
		return Proved
	case f.VisibleDue:
		return Invisible
	case f.RescanDue:
		return HiddenLong
	default:
		return Hidden
	}
}

// leaving looks at our device on its way to the pool.
func leaving(f Facts) Sight {
	switch {
	case f.Machine == fabric.Leaving:
		return MachineLeaving
	case f.Mistaken:
		return Mistaken
	case f.Asked == Refused:
		return WasRefused
	case f.Asked != NotAsked && f.Phase == fabric.RemoveFailed && f.Settled:
		return RemoveFailed
	case f.Task == fabric.TaskSuspended && f.Asked != NotAsked:
		return JobSuspended
	case f.Due:
		return OutOfTime
	case !f.Settled:
		return Changing
	case !f.Released:
		return InHostsHands
	case f.Asked == NotAsked:
		return Calm
	case f.Asked == TurnedAway:
		return WasTurnedAway
	case !f.Quiet:
		return NothingYet
	case f.Asked == Lost && f.Times <= orders:
		return AnswerLost
	default:
		return Nothing
	}
}

// words says why a step failed.
func (s Sight) words() error {
	switch s {
	case MachineGone, MachineLeaving, MachineFailed, JobSuspended, OutOfTime, RemoveFailed, WasRefused, Mistaken:
		return fmt.Errorf("%s", string(s))
	case Several:
		return ErrAmbiguous
	case Broken, Critical, HealthUntold:
		return fmt.Errorf("%w: %s", ErrUnhealthy, string(s))
	case Invisible:
		return ErrNotVisible
	default:
		return ErrNotAttached
	}
}
