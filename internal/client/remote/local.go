// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// localLink runs commands on this machine.
type localLink struct {
	ctx  context.Context // ends with close
	stop context.CancelFunc
}

func newLocal(Config) (link, error) {
	//nolint:forbidigo // the link outlives each caller; Close ends it
	ctx, stop := context.WithCancel(context.Background())

	return &localLink{ctx: ctx, stop: stop}, nil
}

func (*localLink) name() string { return "this machine" }

func (l *localLink) session(context.Context) (session, error) { return l.open(drainTime) }

func (l *localLink) spare(context.Context) (session, error) { return l.open(drainTime) }

// lasting is a session whose output waits for who reads it.
func (l *localLink) lasting(context.Context) (session, error) { return l.open(0) }

func (l *localLink) open(drain time.Duration) (session, error) {
	if l.ctx.Err() != nil {
		return nil, os.ErrClosed
	}

	ctx, stop := context.WithCancel(l.ctx)

	return &localSession{ctx: ctx, stop: stop, drain: drain}, nil
}

func (l *localLink) close() error {
	l.stop()

	return nil
}

type localSession struct {
	ctx   context.Context
	stop  context.CancelFunc
	drain time.Duration // 0: as long as it takes
}

func (s *localSession) close() { s.stop() }

// drainTime is how long output may come after the command has ended: a process that it left
// behind may hold it open. It is also what a command gets that is given up.
const drainTime = grace + 2*time.Second

// start starts the command in a session of its own: Ctrl-C in a terminal does not reach it, and
// it can be ended as a whole.
func (s *localSession) start(argv []string, stdout, stderr io.Writer) (*program, error) {
	cmd := exec.CommandContext(s.ctx, argv[0], argv[1:]...) //nolint:gosec // to run commands is what this is for
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = s.drain
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}

	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}

	// The wrapper takes the end of its input for the end of us, and ends all that it started.
	cmd.Cancel = in.Close

	keepDescriptors()

	if err := cmd.Start(); err != nil {
		_ = in.Close()

		return nil, fmt.Errorf("start: %w", err)
	}

	return &program{stdin: in, wait: func() (int, error) {
		err := cmd.Wait() // closes the input, too

		if s.ctx.Err() != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}

		return localExit(s.ctx, err)
	}}, nil
}

// keepDescriptors keeps those descriptors from what is started that this process was started with
// (a terminal's, a supervisor's pipes) or that a C library opened: Go's own never pass on. A
// daemon would hold them for years. It does nothing where the system does not list them.
func keepDescriptors() {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}

	for _, f := range open {
		if n, err := strconv.Atoi(f.Name()); err == nil && n > 2 {
			syscall.CloseOnExec(n)
		}
	}
}

func localExit(ctx context.Context, err error) (int, error) {
	var exit *exec.ExitError

	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil:
		return 0, nil
	case ctx.Err() != nil:
		return 0, fmt.Errorf("%w: %w", ErrLost, ctx.Err())
	case !errors.As(err, &exit):
		return 0, fmt.Errorf("%w: %w", ErrLost, err)
	}

	if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal()), nil
	}

	return exit.ExitCode(), nil
}
