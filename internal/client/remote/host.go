// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// link is one way to a host.
type link interface {
	name() string
	// session is a place to run one command; it may have to wait for one, and to connect.
	session(ctx context.Context) (session, error)
	// spare is a session that waits for no other: the one which ends a command.
	spare(ctx context.Context) (session, error)
	// lasting is a session for one that is spoken to: such do not take the places of all others.
	lasting(ctx context.Context) (session, error)
	close() error
}

// session runs one command.
type session interface {
	// start begins the command. Its output goes to the writers until it ends, or until close.
	start(argv []string, stdout, stderr io.Writer) (*program, error)
	// close gives the session up, whatever runs in it.
	close()
}

// program is a command that was begun.
type program struct {
	stdin io.WriteCloser
	// wait returns when the command and its output have ended, or after the session's close.
	// The standard input stays open to then.
	wait func() (exit int, err error)
}

// play runs a command in a session to its end.
func play(s session, argv []string, stdin []byte, stdout, stderr io.Writer) (int, error) {
	p, err := s.start(argv, stdout, stderr)
	if err != nil {
		return 0, err
	}

	var fed sync.WaitGroup

	// A command may end without having read all of its input: the error says nothing.
	fed.Go(func() { _, _ = p.stdin.Write(stdin) })
	defer fed.Wait()

	return p.wait()
}

// host is a Host on a link.
type host struct {
	link link
	sudo bool
}

func (h *host) Name() string { return h.link.name() }

func (h *host) Close() error { return h.link.close() }

// errLimit is the cause of a context that Command.Limit ended.
var errLimit = errors.New("limit")

// Run runs one command to its end; see Host.
func (h *host) Run(ctx context.Context, cmd Command) (Result, error) {
	if err := cmd.check(); err != nil {
		return Result{}, fmt.Errorf("%s: %w", h.Name(), err)
	}

	r, err := h.run(ctx, cmd)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %s: %w", h.Name(), cmd.step(), err)
	}

	if h.sudo {
		if words, refused := sudoRefused(r); refused {
			return Result{}, fmt.Errorf("%s: %s: %w: %s: allow the user to run commands without one (NOPASSWD), or log in as root",
				h.Name(), cmd.step(), ErrSudo, words)
		}
	}

	return r, nil
}

// ended is what a session's run returned.
type ended struct {
	exit int
	err  error
}

func (h *host) run(ctx context.Context, cmd Command) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, cancelled(ctx)
	}

	s, err := h.link.session(ctx)
	if err != nil {
		return Result{}, err
	}
	defer s.close()

	limit, maxOutput := cmd.bounds()
	began := time.Now()

	limited, cancel := context.WithTimeoutCause(ctx, limit, errLimit)
	defer cancel()

	token := newToken()
	stdout, stderr := newCapped(maxOutput), newCapped(maxOutput)
	end := make(chan ended, 1)

	go func() {
		exit, err := play(s, argv(cmd, token, h.sudo), cmd.Stdin, stdout, stderr)
		end <- ended{exit, err}
	}()

	var why error

	select {
	case e := <-end:
		if stdout.cut() || stderr.cut() { // at the very end
			return Result{}, fmt.Errorf("%w: more than %d bytes", ErrTooLong, maxOutput)
		}

		return Result{Stdout: stdout.bytes(), Stderr: stderr.bytes(), Exit: e.exit}, e.err
	case <-stdout.full:
		why = fmt.Errorf("%w: more than %d bytes on standard output", ErrTooLong, maxOutput)
	case <-stderr.full:
		why = fmt.Errorf("%w: more than %d bytes on standard error", ErrTooLong, maxOutput)
	case <-limited.Done():
		why = cancelled(limited)
		if errors.Is(why, errLimit) {
			why = fmt.Errorf("%w (%s)", ErrTimeout, time.Since(began).Round(time.Millisecond))
		}
	}

	left := h.kill(context.WithoutCancel(ctx), token)

	s.close()
	within(ctx, end, lateEnd)

	if left != nil {
		return Result{}, fmt.Errorf("%w; %w", why, left)
	}

	return Result{}, fmt.Errorf("%w; %w", why, errEnded)
}

// lateEnd bounds the wait for the end of what was given up: a peer that has died confirms none.
const lateEnd = grace + 3*time.Second

// within waits for a sign, for no longer than the limit.
func within[T any](ctx context.Context, sign <-chan T, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()

	select {
	case <-sign:
		return true
	case <-ctx.Done():
		return false
	}
}

// What became of a command that was begun and left no result.
var (
	errEnded  = errors.New("it was ended")
	errMayRun = errors.New("it may still run")
)

// killLimit bounds the end of a command: the host may have gone.
const killLimit = grace + 8*time.Second

// kill ends a command with everything that it started.
func (h *host) kill(ctx context.Context, token string) error {
	ctx, cancel := context.WithTimeout(ctx, killLimit)
	defer cancel()

	s, err := h.link.spare(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errMayRun, err)
	}
	defer s.close()

	stop := context.AfterFunc(ctx, s.close)
	defer stop()

	out := newCapped(1 << 10)

	switch exit, err := play(s, killArgv(token, h.sudo), nil, out, io.Discard); {
	case err != nil:
		return fmt.Errorf("%w: %w", errMayRun, err)
	case exit != 0 || strings.TrimSpace(string(out.bytes())) != "0":
		return fmt.Errorf("%w: not all of its processes could be ended", errMayRun)
	default:
		return nil
	}
}

// cancelled is the error of a context that has ended. A deadline is a timeout, too.
func cancelled(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && !errors.Is(cause, errLimit) {
		return fmt.Errorf("%w: %w", ErrTimeout, cause)
	}

	return cause
}
