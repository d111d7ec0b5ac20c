// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// keptStderr is how much of a session's standard error is kept.
	keptStderr = 16 << 10
	// closeGrace is how long a program may take to end once its input has ended. The wrapper
	// waits as long when the connection was lost.
	closeGrace = time.Second
)

// Open starts a program that is spoken to; see Host. Read returns io.EOF once the program has
// ended with exit status 0, and an error that tells the status and its last words where it has
// ended with another. After a failure both Read and Write return it. A program that ended by
// itself, or at the end of its input, may leave others behind, as with Run.
func (h *host) Open(ctx context.Context, cmd Command) (Session, error) {
	err := cmd.check()
	if err == nil && cmd.Detach {
		err = fmt.Errorf("%w: a daemon cannot be spoken to", ErrConfig)
	}

	if err != nil {
		return nil, fmt.Errorf("%s: %w", h.Name(), err)
	}

	t, err := h.open(ctx, cmd)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", h.Name(), cmd.step(), err)
	}

	return t, nil
}

func (h *host) open(ctx context.Context, cmd Command) (*talk, error) {
	if ctx.Err() != nil {
		return nil, cancelled(ctx)
	}

	place, err := h.link.lasting(ctx)
	if err != nil {
		return nil, err
	}

	t := newTalk(context.WithoutCancel(ctx), h, place, cmd.step())
	begun := make(chan error, 1)

	go func() { begun <- t.begin(sessionArgv(cmd, t.token, h.sudo), cmd.Stdin) }()

	select {
	case err := <-begun:
		if err != nil {
			place.close()

			return nil, err
		}
	case <-ctx.Done():
		left := h.kill(context.WithoutCancel(ctx), t.token)
		place.close()

		return nil, also(cancelled(ctx), left)
	}

	t.stop = context.AfterFunc(ctx, func() { _ = t.shut(t.failure(cancelled(ctx))) })

	return t, nil
}

// talk is a Session. What goes to the program and comes from it passes through pipes, so that
// whoever reads or writes is set free at once when the session ends, whatever the peer does.
type talk struct {
	host   *host
	place  session
	step   string
	token  string
	ctx    context.Context // for the end; it has none itself
	stop   func() bool
	stderr tail

	toProgram   *io.PipeWriter
	input       *io.PipeReader
	fromProgram *io.PipeReader
	output      *io.PipeWriter

	over chan struct{} // closed when the program has ended, or is given up
	once sync.Once     // of shut
	left error         // of shut

	mu  sync.Mutex
	why error // why no more comes
}

func newTalk(ctx context.Context, h *host, place session, step string) *talk {
	t := &talk{ctx: ctx, host: h, place: place, step: step, token: newToken(), over: make(chan struct{})}
	t.input, t.toProgram = io.Pipe()
	t.fromProgram, t.output = io.Pipe()

	return t
}

// begin starts the program and what serves it.
func (t *talk) begin(argv []string, first []byte) error {
	p, err := t.place.start(argv, sink{t.output}, &t.stderr)
	if err != nil {
		return err
	}

	go t.feed(p.stdin, first)

	go func() {
		exit, err := p.wait()
		t.settle(t.ending(exit, err))
		close(t.over)
		t.place.close()
	}()

	return nil
}

// feed passes on what is written, first what the command came with.
func (t *talk) feed(stdin io.WriteCloser, first []byte) {
	_, err := stdin.Write(first)
	if err == nil {
		_, err = io.Copy(stdin, t.input)
	}

	if err == nil {
		_ = stdin.Close()

		return
	}

	// Nobody reads any more. Why is known once the program's end is, and that may have to wait
	// for somebody who reads the rest of its output.
	if !within(t.ctx, t.over, closeGrace) {
		_ = t.input.CloseWithError(t.failure(fmt.Errorf("%w: the program takes no input: %w", ErrLost, err)))
	}
}

// failure tells people where something failed.
func (t *talk) failure(err error) error {
	return fmt.Errorf("%s: %s: %w", t.host.Name(), t.step, err)
}

// ending is what the end of the program means to who reads.
func (t *talk) ending(exit int, err error) error {
	r := Result{Exit: exit, Stderr: []byte(t.stderr.String())}

	if words, refused := sudoRefused(r); t.host.sudo && refused {
		return t.failure(fmt.Errorf("%w: %s", ErrSudo, words))
	}

	switch {
	case err != nil:
		return t.failure(err)
	case exit != 0:
		return t.failure(fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, failed(r)))
	default:
		return io.EOF
	}
}

// settle ends both directions. The first reason counts.
func (t *talk) settle(why error) {
	why = t.reason(why)

	// First the input: who has read the end must not write any more.
	_ = t.input.CloseWithError(t.refusal(why))
	_ = t.output.CloseWithError(why)
}

// refusal is what a write gets to hear.
func (t *talk) refusal(why error) error {
	if why == nil || why == io.EOF { //nolint:errorlint // it is this one, of a program that ended well
		return t.failure(io.ErrClosedPipe)
	}

	return why
}

// Read implements [io.Reader].
func (t *talk) Read(p []byte) (int, error) { return t.fromProgram.Read(p) }

// Write implements [io.Writer].
func (t *talk) Write(p []byte) (int, error) {
	n, err := t.toProgram.Write(p)
	if err == io.ErrClosedPipe { //nolint:errorlint // the pipe's own, where the session is being closed
		err = t.refusal(t.reason(nil))
	}

	return n, err
}

// Stderr implements [Session].
func (t *talk) Stderr() string { return t.stderr.String() }

// Close implements [Session].
func (t *talk) Close() error {
	t.stop()

	return t.shut(t.failure(os.ErrClosed))
}

// shut ends the program: it sees the end of its input first, and is killed with all that it
// started if that does not do. The error says that something may still run.
func (t *talk) shut(why error) error {
	t.once.Do(func() {
		why = t.reason(why)
		_ = t.toProgram.Close()
		_ = t.output.CloseWithError(why)

		if within(t.ctx, t.over, closeGrace) {
			return
		}

		if err := t.host.kill(t.ctx, t.token); err != nil {
			t.left = t.failure(err)
		}

		if !within(t.ctx, t.over, closeGrace) {
			t.place.close()
			within(t.ctx, t.over, lateEnd)
		}

		t.settle(why)
	})

	return t.left
}

// reason notes why no more comes, if that was not known before.
func (t *talk) reason(why error) error {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.why == nil {
		t.why = why
	}

	return t.why
}

// sink passes output on, and drops it once nobody reads: a program ends sooner when it gets
// rid of its words.
type sink struct{ to *io.PipeWriter }

func (s sink) Write(p []byte) (int, error) {
	if n, err := s.to.Write(p); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return n, err
	}

	return len(p), nil
}
