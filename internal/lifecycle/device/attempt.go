// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// How long a machine must stay as it is before we believe that nothing comes of an order.
const (
	settleTime     = 15 * time.Second // after a clear answer
	settleTimeLost = 60 * time.Second // after a lost one: the order may be carried out late
	settleReads    = 3                // looks in a row, at least
	healthTime     = 60 * time.Second // for a fabric to say how a new device is
	rescanTime     = 15 * time.Second // before the host is told to look for a new device
)

// turnedAway is the pause before an order that was turned away is given again.
var turnedAway = wait.Cadence{First: 5 * time.Second, Factor: 2, Max: time.Minute, Jitter: 0.2}

// look is what one look at one device showed.
type look struct {
	Facts

	machine fabric.Machine
	fresh   []fabric.Device // of the kind, that came since the order
	task    fabric.Task
	sight   Sight
	hidden  string // why the host does not show the device, where it says so
}

// attempt brings one device to one goal. It implements [lifecycle.Machine].
type attempt struct {
	run  *Run
	host Host
	goal Goal
	// stop is the verb's context, which ends when the user interrupts; see until.
	stop context.Context

	began    time.Time
	record   Record // valid where recorded
	recorded bool

	turn   func() // ends our turn with the fabric; nil: it is not our turn
	yields string // the order of another run that comes first; empty: none

	node     Node // nil: the host is not asked
	shown    bool
	rescan   time.Time // when the host was last told to look
	released bool
	unfit    bool // the device goes whatever the host says: see takeBack

	before  []Known
	chosen  *fabric.Device
	intent  Intent
	asked   Asked
	maybe   bool // see Facts.MaybeDone
	rested  bool // the pause after being turned away is over
	times   int
	busy    int // times turned away in a row
	refusal error
	hint    fabric.Hint

	looked     time.Time // when the machine was last looked at
	quietSince time.Time
	quietReads int
	arrived    time.Time
	ended      Sight // what the attempt failed on; empty: it did not, or not by the table's word
	warnings   []string
}

var _ lifecycle.Machine[look, Step] = (*attempt)(nil)

// drive runs the attempt to its end, which is an error where the goal was not reached.
func (a *attempt) drive(ctx context.Context, limit time.Duration) error {
	a.began, a.stop = time.Now(), ctx
	defer a.giveWay()
	defer a.run.Desk.chosen.drop(a)

	// The bound is generous on purpose: the table ends the attempt by its own limits, with
	// words. This one only keeps a bug from waiting for ever.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*limit+a.run.Wanted.Limits.Visible+a.run.Wanted.Limits.Drain+5*time.Minute)
	defer cancel()

	_, err := lifecycle.Drive[look, Step](ctx, a, look{})

	return err
}

// until is the context of what may be interrupted: all before an order, and all once the
// device is recorded. In between an answer must never be thrown away, so the attempt itself
// runs on a context that outlives the verb's.
func (a *attempt) until(ctx context.Context) context.Context {
	if a.stop != nil {
		return a.stop
	}

	return ctx
}

// Next implements [lifecycle.Machine].
func (a *attempt) Next(seen look) (Step, lifecycle.Kind, error) {
	s, step := next(seen.Facts, a.goal)

	switch step {
	case FailStep:
		a.ended = s

		return step, lifecycle.End, a.failed(s, seen)
	case ImpossibleStep:
		return step, lifecycle.End, fmt.Errorf("no step leads on from %q: this is a bug of the provider, please report it", s)
	default:
		return step, step.kind(), nil
	}
}

// Note implements [lifecycle.Machine].
func (a *attempt) Note(seen look) string {
	if !seen.Seen {
		return string(Unseen)
	}

	s, _ := next(seen.Facts, a.goal)
	note := string(s) + " (machine status " + seen.machine.Status + ")"

	if seen.hidden != "" {
		note += ": " + seen.hidden
	}

	return note
}

// limit bounds the fabric's part of the attempt.
func (a *attempt) limit() time.Duration {
	if a.goal == GoalGone {
		return a.run.Wanted.Limits.Detach
	}

	return a.run.Wanted.Limits.Attach
}

// failed puts the far side's words to what was seen.
func (a *attempt) failed(s Sight, seen look) error {
	var why []string

	switch s {
	case WasRefused:
		return a.refusal
	case Several:
		why = append(why, "candidates: "+ids(seen.fresh)+"; none was taken")
	case Critical, HealthUntold:
		why = append(why, fmt.Sprintf("the fabric says %q", a.record.HealthRaw))
	case Broken, RemoveFailed:
		if d, ok := seen.machine.Find(a.record.device()); ok {
			why = append(why, "the fabric says: "+orNone(d.Reason))
		}
	case Nothing, AnswerLost:
		if a.asked == Accepted {
			why = append(why, "the fabric accepted the order, and "+a.nothing())
		}
	case OutOfTime:
		if a.yields != "" {
			why = append(why, a.yields)
		}
	case JobSuspended:
		why = append(why, seen.task.Text)
	default:
	}

	if seen.task.State == fabric.TaskFailed && seen.task.Text != "" {
		why = append(why, "the manager says: "+seen.task.Text)
	}

	if seen.hidden != "" && s == Invisible {
		why = append(why, seen.hidden)
	}

	err := s.words()
	if len(why) > 0 {
		err = fmt.Errorf("%w: %s", err, strings.Join(why, "; "))
	}

	if s != Several && a.refusal != nil && !a.recorded || a.goal == GoalGone && a.refusal != nil {
		err = errors.Join(err, a.refusal)
	}

	return fmt.Errorf("%w (machine status %q)", err, seen.machine.Status)
}

func (a *attempt) nothing() string {
	if a.goal == GoalGone {
		return "the device is still there (a proxy in between may have removed the body of the request)"
	}

	return "no device appeared"
}

func orNone(s string) string {
	if s == "" {
		return "no reason given"
	}

	return s
}

func ids(all []fabric.Device) string {
	out := make([]string, 0, len(all))
	for _, d := range all {
		out = append(out, d.FabricID)
	}

	slices.Sort(out)

	return strings.Join(out, ", ")
}
