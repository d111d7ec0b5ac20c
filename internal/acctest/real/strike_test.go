// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// strike is a way in which a run is cut short.
type strike struct {
	name string
	do   func(r *run)
	// asks: Terraform is asked to stop, so that it can write what it knows.
	asks bool
}

var strikes = []strike{
	{"kill -9 of the provider", func(r *run) { r.killProviders() }, false},
	{"kill -9 of Terraform", func(r *run) { _ = r.cmd.Process.Kill() }, false},
	{"SIGINT to the process group", func(r *run) { _ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGINT) }, true},
	{"kill -9 of both", func(r *run) { _ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) }, false},
	{"SIGTERM to the process group", func(r *run) { _ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGTERM) }, true},
}

// providers are the pids of the provider processes in the run's group.
func (r *run) providers() []int { return acctest.Providers(r.cmd.Process.Pid) }

func (r *run) killProviders() {
	for _, pid := range r.providers() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// cut strikes a run as soon as the moment comes and waits until nothing of it
// is left. It reports whether the run was still under way then.
func (l *life) cut(t *testing.T, r *run, m moment, s strike) bool {
	t.Helper()

	hit := l.far.watch().until(full(l.host.name), r.done, verbLimit, m.ok())
	if hit && m.later > 0 {
		time.Sleep(m.later)
	}

	hit = hit && !r.ended()
	if hit {
		s.do(r)
	}

	r.wait(t)

	// Who has lost its Terraform ends by itself, and soon.
	for end := time.Now().Add(20 * time.Second); len(r.providers()) > 0; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("after %s a provider stays: %v", s.name, r.providers())
			r.killProviders()

			break
		}
	}

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
