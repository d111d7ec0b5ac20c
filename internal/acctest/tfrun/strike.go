// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package tfrun

import (
	"context"
	"syscall"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Strike is a way in which a run is cut short.
type Strike struct {
	Name string
	Do   func(r *Run)
	// Asks: Terraform is asked to stop, so that it can write what it knows.
	Asks bool
}

// Strikes are all ways in which a run is cut short; the first one is the provider's death.
func Strikes() []Strike {
	return []Strike{
		{"kill -9 of the provider", func(r *Run) { r.KillProviders() }, false},
		{"SIGINT to the process group", func(r *Run) { r.signal(syscall.SIGINT) }, true},
		{"kill -9 of Terraform", func(r *Run) { _ = r.Cmd.Process.Kill() }, false},
		{"SIGTERM to the process group", func(r *Run) { r.signal(syscall.SIGTERM) }, true},
		{"kill -9 of both", func(r *Run) { r.signal(syscall.SIGKILL) }, false},
	}
}

// Cut is when to strike.
type Cut struct {
	Ready func() bool
	Look  time.Duration // between two looks at Ready
	Later time.Duration // after Ready was true for the first time
}

// Cut strikes a run at a moment, and waits until nothing of it is left. It reports whether the
// run was still under way then.
func (r *Run) Cut(s Strike, at Cut) bool {
	r.t.Helper()

	ctx := r.t.Context()

	// A provider that is there has a Terraform that listens to signals; what the run before left
	// under way may bring the moment about before that.
	for !r.Ended() && (!at.Ready() || len(r.Providers()) == 0) {
		r.pause(ctx, at.Look)
	}

	r.pause(ctx, at.Later)

	hit := !r.Ended()
	if hit {
		s.Do(r)
	}

	r.Alone(s)

	return hit
}

// Alone waits until nothing of a run is left that was struck.
func (r *Run) Alone(s Strike) {
	r.t.Helper()
	r.Wait()

	// Who has lost its Terraform ends by itself, and soon.
	for end := time.Now().Add(20 * time.Second); len(r.Providers()) > 0; r.pause(r.t.Context(), 20*time.Millisecond) {
		if time.Now().After(end) {
			r.t.Errorf("after %s a provider stays: %v", s.Name, r.Providers())
			r.KillProviders()

			break
		}
	}
}

func (r *Run) pause(ctx context.Context, d time.Duration) {
	r.t.Helper()

	if err := wait.Sleep(ctx, d); err != nil {
		r.t.Fatal(err)
	}
}
