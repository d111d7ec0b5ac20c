// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bridge

import (
	"context"
	"errors"
	"fmt"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/command"
)

const (
	// slack is how much longer than librados we wait: it tells more than a session that is cut.
	slack = 5 * time.Second
	// closing is how long the end of a session is waited for, when there is no time left.
	closing = 5 * time.Second
	// starting is how much longer than a monitor the program may take to say something.
	starting = 20 * time.Second
)

var (
	errClosed = errors.New("the bridge is closed")
	errSilent = errors.New("no answer in time")
)

// exchange sends calls and gives their answers, over a new session where the last one broke.
func (b *Bridge) exchange(ctx context.Context, calls []call, limit time.Duration) ([]api.Answer, error) {
	if len(calls) == 0 {
		return nil, nil
	}

	select {
	case b.busy <- struct{}{}:
		defer func() { <-b.busy }()
	case <-ctx.Done():
	}

	if ctx.Err() != nil {
		return nil, fmt.Errorf("ceph %s: not sent: %w", command.Prefix(calls[0].cmd), context.Cause(ctx))
	}

	if b.link != nil && b.link.broken() {
		b.drop()
	}

	fresh := b.link == nil
	if fresh {
		if err := b.connect(ctx); err != nil {
			return nil, err
		}
	}

	all, err := b.talk(ctx, calls, limit)
	if errors.Is(err, errUnsent) && !fresh && ctx.Err() == nil {
		// The session had ended unseen: nothing of ours was done.
		if err := b.connect(ctx); err != nil {
			return nil, err
		}

		all, err = b.talk(ctx, calls, limit)
	}

	return all, err
}

// connect starts a session. The caller holds the token.
func (b *Bridge) connect(ctx context.Context) error {
	if b.life.Err() != nil {
		return errClosed
	}

	life, end := context.WithCancelCause(b.life)
	release := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })

	defer release()

	//nolint:contextcheck // a session outlives the command that opens it; that ends life while it waits
	session, err := b.start(life, argv(b.cfg))
	if err != nil {
		end(nil)

		return fmt.Errorf("start a session with the cluster: %w", err)
	}

	l := newLink(session, func() { end(nil) })

	wait, cancel := context.WithTimeoutCause(life, b.cfg.Connect+starting, errSilent)
	defer cancel()

	h, err := l.greet(wait) //nolint:contextcheck // as above
	if err == nil && !release() {
		err = fmt.Errorf("%w: %w", api.ErrLost, context.Cause(ctx))
	}

	if err != nil {
		b.end(ctx, l)

		return err
	}

	b.link = l

	b.mu.Lock()
	b.hello = h
	b.mu.Unlock()

	return nil
}

// drop ends the session, if there is one. The caller holds the token.
func (b *Bridge) drop() {
	if b.link != nil {
		b.link.close()
		b.link = nil
	}
}

// end ends a session, and waits for that, but not for ever: the connection may be dead.
func (b *Bridge) end(ctx context.Context, l *link) {
	if b.link == l {
		b.link = nil
	}

	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)

	go func() {
		defer cancel()

		l.close()
	}()

	<-wait.Done()
}

// talk is one exchange over the session. When it fails the session is of no more use: where an
// answer is missing, the next line would answer something else. The caller holds the token.
func (b *Bridge) talk(ctx context.Context, calls []call, limit time.Duration) ([]api.Answer, error) {
	l := b.link

	all, err := l.talk(ctx, b.life, calls, limit)
	if err != nil {
		b.end(ctx, l)
	}

	return all, err
}

// talk sends all calls, then reads all answers.
func (l *link) talk(ctx, life context.Context, calls []call, limit time.Duration) ([]api.Answer, error) {
	// Close gives up what is under way.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(life, func() { cancel(errClosed) })()

	limit = command.Within(ctx, limit)

	var (
		lines []byte
		first int
	)

	for i, c := range calls {
		line, err := c.line(l.next+int64(i), limit)
		if err != nil {
			return nil, err
		}

		if lines = append(lines, line...); i == 0 {
			first = len(lines)
		}
	}

	base := l.next
	l.next += int64(len(calls))

	if err := l.sendWithin(ctx, lines, first, limit+slack); err != nil {
		return nil, inCommand(calls[0], err, limit)
	}

	all := make([]api.Answer, 0, len(calls))

	for i, c := range calls {
		a, err := l.receiveWithin(ctx, c, base+int64(i), limit+slack)
		if err != nil {
			return nil, inCommand(c, err, limit)
		}

		if len(calls) > 1 && errors.Is(a.Err, api.ErrTimedOut) {
			// The others would wait as long, one after the other.
			return nil, a.Err
		}

		all = append(all, a)
	}

	return all, nil
}

// sendWithin writes lines; a session that does not take them in time is closed.
func (l *link) sendWithin(ctx context.Context, lines []byte, first int, limit time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSilent)
	defer cancel()

	stop := context.AfterFunc(ctx, l.close)
	err := l.send(lines, first)

	if !stop() && err != nil {
		return fmt.Errorf("%w: %w", api.ErrLost, context.Cause(ctx))
	}

	return err
}

func (l *link) receiveWithin(ctx context.Context, c call, id int64, limit time.Duration) (api.Answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSilent)
	defer cancel()

	return l.receive(ctx, c, id)
}

// inCommand names the command that an error is about, and makes a silence what it is.
func inCommand(c call, err error, limit time.Duration) error {
	if errors.Is(err, errSilent) {
		silent := command.Failure(c.cmd, command.TimedOut, fmt.Sprintf("no answer within %s", limit), nil)

		return fmt.Errorf("%w: %w", silent, api.ErrLost)
	}

	return fmt.Errorf("ceph %s: %w", command.Prefix(c.cmd), err)
}
