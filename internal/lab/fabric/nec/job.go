// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nec

import (
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// The states of a job, of its rollback and of its steps.
const (
	InProgress = "IN_PROGRESS"
	Canceling  = "CANCELING"
	Completed  = "COMPLETED"
	Failed     = "FAILED"
	Suspended  = "SUSPENDED"
	Canceled   = "CANCELED"
	skipped    = "SKIPPED"
)

const (
	jobBucket  = "fabric_nec_jobs"
	bucket     = "fabric_nec"
	currentKey = "current" // the id of the job that keeps others out
	armedKey   = "armed"
)

// Outcome is how the next job ends instead of well.
type Outcome struct {
	Status  string `json:"status"`  // Failed, Suspended or Canceled
	Reason  string `json:"reason"`  // of the first step
	Applied bool   `json:"applied"` // the first step is carried out all the same
}

// Arm makes the next job end in a certain way. It is for tests.
func Arm(tx store.Tx, o Outcome) error { return tx.Put(bucket, armedKey, o) }

// job is a layout-apply.
type job struct {
	ID     string  `json:"id"`
	Status string  `json:"status"`
	Steps  []*step `json:"steps"`
	Armed  Outcome `json:"armed,omitzero"`

	// Cursor is the time up to which the job has been carried out.
	Cursor    time.Time `json:"cursor"`
	Began     time.Time `json:"began"`
	Ended     time.Time `json:"ended,omitzero"`
	Canceled  time.Time `json:"canceled,omitzero"`
	Suspended time.Time `json:"suspended,omitzero"`
	Resumed   time.Time `json:"resumed,omitzero"`

	Rollback      bool      `json:"rollback,omitempty"` // asked for with the cancel
	RollbackState string    `json:"rollback_state,omitempty"`
	RollbackSteps []*step   `json:"rollback_steps,omitempty"`
	RollbackBegan time.Time `json:"rollback_began,omitzero"`
	RollbackEnded time.Time `json:"rollback_ended,omitzero"`
}

// step is a procedure and what became of it.
type step struct {
	procedure

	Status string    `json:"status,omitempty"` // empty: not yet begun
	Began  time.Time `json:"began,omitzero"`
	Until  time.Time `json:"until,omitzero"` // when it ends
	Code   int       `json:"code,omitempty"` // with which it fails
	Fails  string    `json:"fails,omitempty"`
}

// open tells whether the job keeps others out.
func (j *job) open() bool {
	return j.running() || j.Status == Suspended
}

// running tells whether the job goes on by itself.
func (j *job) running() bool {
	return j.Status == InProgress || j.Status == Canceling || j.RollbackState == InProgress
}

// steps are those that are carried out now.
func (j *job) steps() []*step {
	if j.RollbackState == InProgress {
		return j.RollbackSteps
	}

	return j.Steps
}

// next is the step that is under way, or else the one to begin; nil: all is done.
func (j *job) next() *step {
	steps := j.steps()

	for _, status := range []string{InProgress, ""} {
		i := slices.IndexFunc(steps, func(s *step) bool { return s.Status == status })
		if i >= 0 {
			return steps[i]
		}
	}

	return nil
}

// due tells whether there is something to do by now.
func (j *job) due(now time.Time) bool {
	s := j.next()

	return j.running() && (s == nil || s.Status == "" || !now.Before(s.Until))
}

// current is the job that keeps others out; nil: none.
func (c *call) current() (*job, error) {
	var id string

	found, err := c.tx.Get(bucket, currentKey, &id)
	if !found || err != nil {
		return nil, err
	}

	return c.load(id)
}

// load is the job of an id; nil: none.
func (c *call) load(id string) (*job, error) {
	var j job

	found, err := c.tx.Get(jobBucket, id, &j)
	if !found || err != nil {
		return nil, err
	}

	return &j, nil
}

func (c *call) save(j *job) error {
	if err := c.tx.Put(jobBucket, j.ID, j); err != nil {
		return err
	}

	if j.open() {
		return c.tx.Put(bucket, currentKey, j.ID)
	}

	return c.tx.Delete(bucket, currentKey)
}

// advance carries the current job on to the present.
func (c *call) advance() error {
	j, err := c.current()
	if j == nil || err != nil || !j.due(c.now) {
		return err
	}

	if !c.write {
		return errWantsWrite
	}

	for j.due(c.now) {
		if err := c.proceed(j); err != nil {
			return err
		}
	}

	return c.save(j)
}

// proceed does the one thing that is due.
func (c *call) proceed(j *job) error {
	s := j.next()

	switch {
	case s == nil:
		j.finish()
	case s.Status == InProgress:
		c.end(j, s)
	case j.Status == Canceling && j.RollbackState == "":
		j.cancel()
	default:
		return c.begin(j, s)
	}

	return nil
}

// finish ends a job whose steps are done.
func (j *job) finish() {
	switch {
	case j.RollbackState == InProgress:
		j.RollbackState, j.RollbackEnded, j.Ended = Completed, j.Cursor, j.Cursor
	case j.Status == Canceling:
		j.cancel()
	default:
		j.Status, j.Ended = Completed, j.Cursor
	}
}

// cancel leaves out what has not begun, and begins the rollback of the rest if asked to.
func (j *job) cancel() {
	j.abandon(Canceled)
	j.Status, j.Ended = Canceled, j.Cursor

	if !j.Rollback {
		return
	}

	j.RollbackState, j.RollbackBegan = InProgress, j.Cursor

	for _, s := range slices.Backward(j.Steps) {
		if s.Status != Completed {
			continue
		}

		back := procedure{ID: len(j.RollbackSteps) + 1, Source: s.Source, Device: s.Device, Operation: opposite(s.Operation)}
		if back.ID > 1 {
			back.After = []int{back.ID - 1}
		}

		j.RollbackSteps = append(j.RollbackSteps, &step{procedure: back})
	}
}

// abandon gives a status to the steps that have not begun.
func (j *job) abandon(status string) {
	for _, s := range j.steps() {
		if s.Status == "" {
			s.Status = status
		}
	}
}

func opposite(operation string) string {
	return map[string]string{
		opConnect: opDisconnect, opDisconnect: opConnect, opBoot: opShutdown, opShutdown: opBoot,
	}[operation]
}

// end ends the step that is under way.
func (c *call) end(j *job, s *step) {
	j.Cursor = s.Until

	if s.Fails == "" {
		s.Status = Completed

		return
	}

	s.Status = Failed

	switch {
	case j.RollbackState == InProgress:
		j.abandon(skipped)
		j.RollbackState, j.RollbackEnded, j.Ended = Failed, j.Cursor, j.Cursor
	case j.Armed.Status == Suspended:
		j.Status, j.Suspended, j.Armed = Suspended, j.Cursor, Outcome{}
	case j.Armed.Status == Canceled:
		j.abandon(Canceled)
		j.Status, j.Canceled, j.Ended = Canceled, j.Cursor, j.Cursor
	default:
		j.abandon(skipped)
		j.Status, j.Ended = Failed, j.Cursor
	}
}

// resume tries again what failed, and goes on from there.
func (j *job) resume(now time.Time) {
	for _, s := range j.Steps {
		if s.Status != Completed {
			*s = step{procedure: s.procedure}
		}
	}

	j.Status, j.Resumed, j.Cursor = InProgress, now, now
}
