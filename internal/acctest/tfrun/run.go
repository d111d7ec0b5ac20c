// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package tfrun

import (
	"cmp"
	"context"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// usual is how long one Terraform command may take where nothing else is said.
const usual = 3 * time.Minute

// Run is one Terraform command that was started.
type Run struct {
	Cmd  *exec.Cmd
	Out  *Output
	Code int           // the exit code, once it has ended
	Done chan struct{} // closed once it has ended

	t     *testing.T
	limit time.Duration
}

// Output is what a program says; it is read while it is written.
type Output struct {
	mu  sync.Mutex
	buf strings.Builder
}

// Write takes what the program says.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()

	return o.buf.Write(p)
}

// String is what was said so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()

	return o.buf.String()
}

// Start begins a command in a process group of its own, as a shell does, so that a signal to
// the group is what Ctrl-C is.
func (w *Workspace) Start(args ...string) *Run {
	w.T.Helper()
	acctest.RescueState(w.T, w.Dir)

	r := &Run{t: w.T, limit: cmp.Or(w.Limit, usual), Out: &Output{}, Done: make(chan struct{}), Cmd: exec.Command(w.CLI, append(args, "-no-color")...)} //nolint:noctx // the test ends it
	r.Cmd.Dir, r.Cmd.Env, r.Cmd.Stdout, r.Cmd.Stderr = w.Dir, w.Env, r.Out, r.Out
	r.Cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}

	if err := r.Cmd.Start(); err != nil {
		w.T.Fatal(err)
	}

	go func() {
		_ = r.Cmd.Wait()
		r.Code = r.Cmd.ProcessState.ExitCode()
		close(r.Done)
	}()

	w.T.Cleanup(func() {
		if !r.Ended() {
			r.signal(syscall.SIGKILL)
		}

		r.KillProviders() // they outlive a Terraform that was killed, for a while
	})

	return r
}

// signal sends a signal to all processes of the run.
func (r *Run) signal(s syscall.Signal) { _ = syscall.Kill(-r.Cmd.Process.Pid, s) }

// Wait returns when the command has ended, and fails the test when it does not.
func (r *Run) Wait() *Run {
	r.t.Helper()

	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.t.Context()), r.limit)
	defer cancel()

	select {
	case <-r.Done:
	case <-ctx.Done():
		r.signal(syscall.SIGKILL)
		r.t.Fatalf("%v did not end in %s:\n%s", r.Cmd.Args[1:], r.limit, r.Out)
	}

	return r
}

// Ended reports whether the command has ended.
func (r *Run) Ended() bool {
	select {
	case <-r.Done:
		return true
	default:
		return false
	}
}

// Providers are the pids of the provider processes in the run's group.
func (r *Run) Providers() []int { return acctest.Providers(r.Cmd.Process.Pid) }

// KillProviders ends the provider processes as the kernel would.
func (r *Run) KillProviders() {
	for _, pid := range r.Providers() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
