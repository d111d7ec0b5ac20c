// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/tfrun"
)

// strikes are the ways in which runs are cut short.
var strikes = tfrun.Strikes()

// cut strikes a run as soon as the moment comes and waits until nothing of it
// is left. It reports whether the run was still under way then.
func (l *life) cut(t *testing.T, r *tfrun.Run, m moment, s tfrun.Strike) bool {
	t.Helper()

	hit := l.far.watch().until(full(l.host.name), r.Done, verbLimit, m.ok())
	if hit && m.later > 0 {
		time.Sleep(m.later)
	}

	hit = hit && !r.Ended()
	if hit {
		s.Do(r)
	}

	r.Alone(s)

	return hit
}

// moment is when to strike: the first time that a node is seen in one of the
// states, after it was seen in the earlier ones.
type moment struct {
	name   string
	states []func(node) bool
	later  time.Duration
}

// ok is a condition with a memory.
func (m moment) ok() func(node) bool {
	next := 0

	return func(n node) bool {
		for next < len(m.states) && m.states[next](n) {
			next++
		}

		return next == len(m.states)
	}
}

func first(states ...string) moment {
	return moment{name: strings.Join(states, " or "), states: []func(node) bool{at(states...)}}
}

// then adds a state that has to come after those before.
func (m moment) then(states ...string) moment {
	m.name += ", then " + strings.Join(states, " or ")
	m.states = append(m.states[:len(m.states):len(m.states)], at(states...))

	return m
}

func (m moment) after(d time.Duration) moment {
	m.name += fmt.Sprintf(" and %s", d)
	m.later += d

	return m
}

// when is a moment of its own kind.
func when(name string, ok func(node) bool) moment {
	return moment{name: name, states: []func(node) bool{ok}}
}
