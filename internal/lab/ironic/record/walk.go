// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package record

import "time"

// Walk is a transition under way: the stages that a verb goes through, and where it is.
type Walk struct {
	Verb   string        `json:"verb"`
	Target string        `json:"target"`
	Pace   time.Duration `json:"pace"`
	Stages []Stage       `json:"stages"`
	At     int           `json:"at"`
	Until  time.Time     `json:"until,omitzero"` // when the stage ends; zero: not by itself

	Steps []map[string]any `json:"steps,omitempty"` // of clean, service, or a custom deploy
	Begun bool             `json:"begun,omitempty"` // a step has begun: failing now sets a fault
	Fail  *Failure         `json:"fail,omitempty"`  // what a test asked for
}

// Stage is a part of a walk: a state, how long it lasts, and what happens on entering it.
type Stage struct {
	State  string `json:"state"`
	Paces  int    `json:"paces"`            // 0: passed through at once; -1: until it is moved on
	Locked bool   `json:"locked,omitempty"` // the conductor works and holds the lock
	Do     string `json:"do,omitempty"`     // an effect, by its name in effects
	Step   string `json:"step,omitempty"`   // what clean_step, deploy_step or service_step show
	Power  string `json:"power,omitempty"`  // target_power_state
	Index  int    `json:"index,omitempty"`  // of the step in the walk's Steps
}

// Current is the stage that the walk is at.
func (w *Walk) Current() Stage { return w.Stages[w.At] }

// Shows says what clean_step, deploy_step or service_step show.
func (s Stage) Shows(name string) Stage {
	s.Step = name

	return s
}

// Powers sets target_power_state.
func (s Stage) Powers(target string) Stage {
	s.Power = target

	return s
}
