// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephkill_test

import (
	"syscall"
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
	{"SIGINT to the process group", func(r *run) { _ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGINT) }, true},
	{"kill -9 of Terraform", func(r *run) { _ = r.cmd.Process.Kill() }, false},
	{"SIGTERM to the process group", func(r *run) { _ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGTERM) }, true},
	{"kill -9 of both", func(r *run) { _ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) }, false},
}

// providers are the pids of the provider processes in the run's group.
func (r *run) providers() []int { return acctest.Providers(r.cmd.Process.Pid) }

func (r *run) killProviders() {
	for _, pid := range r.providers() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// pause stops the provider for a while: its time goes on.
func (r *run) pause(d time.Duration) {
	pids := r.providers()
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
	}

	time.Sleep(d)

	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
}

// cut strikes a run as soon as ready is true, and waits until nothing of it is left. It
// reports whether the run was still under way then.
func (r *run) cut(s strike, ready func() bool) bool {
	r.t.Helper()

	// A provider that is there has a Terraform that listens to signals; what the run before left
	// under way may bring the moment about before that.
	for !r.ended() && (!ready() || len(r.providers()) == 0) {
		time.Sleep(3 * time.Millisecond)
	}

	hit := !r.ended()
	if hit {
		s.do(r)
	}

	r.wait()

	// Who has lost its Terraform ends by itself, and soon.
	for end := time.Now().Add(20 * time.Second); len(r.providers()) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Errorf("after %s a provider stays: %v", s.name, r.providers())
			r.killProviders()

			break
		}
	}

	return hit
}
