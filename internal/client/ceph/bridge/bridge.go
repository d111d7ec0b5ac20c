// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package bridge speaks to a Ceph cluster through the librados of one of its hosts.
//
// A session is a small program on that host, which takes commands as lines and gives answers
// as lines: a command costs one round trip, and error codes and texts are those of librados. How a
// program is started on a host is not this package's business.
package bridge

import (
	"context"
	"io"
	"sync"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/command"
)

// Session is a running program: Read gives its standard output, Write its standard input, and
// Close ends it with all that it started, whatever it does. Close may be called at any time, and
// twice.
type Session interface {
	io.ReadWriteCloser
	// Stderr returns the last part of its standard error so far.
	Stderr() string
}

// Start starts a program on the host. The context bounds the start and the session.
type Start func(ctx context.Context, argv []string) (Session, error)

// Config says how the host reaches its cluster.
type Config = command.Config

// Bridge is a [api.Commander]. Its commands are sent one after the other; a session that broke is
// replaced with the next command.
type Bridge struct {
	start Start
	cfg   Config

	life context.Context // of the sessions: ends with Close
	stop context.CancelFunc
	busy chan struct{} // holds a token while somebody uses the session

	link  *link // of the holder of the token; nil: none is open
	mu    sync.Mutex
	hello hello // of the last session
}

var (
	_ api.Commander = (*Bridge)(nil)
	_ api.Batcher   = (*Bridge)(nil)
)

// Open starts a session. The context bounds the start alone; sessions end with Close.
func Open(ctx context.Context, start func(ctx context.Context, argv []string) (Session, error), cfg Config) (*Bridge, error) {
	b := &Bridge{start: start, cfg: cfg.WithDefaults(), busy: make(chan struct{}, 1)}
	b.life, b.stop = context.WithCancel(context.WithoutCancel(ctx))

	if err := b.connect(ctx); err != nil {
		b.stop()

		return nil, err
	}

	return b, nil
}

// FSID is the id of the cluster.
func (b *Bridge) FSID() string {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.hello.FSID
}

// Librados is the version of the host's librados, which is not that of Ceph: "3.0.0" came with
// release 14 and counts on.
func (b *Bridge) Librados() string {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.hello.Librados
}

// Close ends the session. A command that is under way is given up.
func (b *Bridge) Close() error {
	b.stop()

	b.busy <- struct{}{}
	defer func() { <-b.busy }()

	b.drop()

	return nil
}

// MonCommand implements [api.Commander].
func (b *Bridge) MonCommand(ctx context.Context, cmd []byte) ([]byte, string, error) {
	return b.command(ctx, call{to: mon, cmd: cmd})
}

// MonCommandWithInputBuffer implements [api.Commander].
func (b *Bridge) MonCommandWithInputBuffer(ctx context.Context, cmd, in []byte) ([]byte, string, error) {
	return b.command(ctx, call{to: mon, cmd: cmd, in: in})
}

// MgrCommand implements [api.Commander].
func (b *Bridge) MgrCommand(ctx context.Context, cmd [][]byte) ([]byte, string, error) {
	return b.command(ctx, call{to: mgr, cmd: command.Join(cmd)})
}

// MgrCommandWithInputBuffer implements [api.Commander].
func (b *Bridge) MgrCommandWithInputBuffer(ctx context.Context, cmd [][]byte, in []byte) ([]byte, string, error) {
	return b.command(ctx, call{to: mgr, cmd: command.Join(cmd), in: in})
}

// Batch implements [api.Batcher]. All commands are on their way before the first answer is
// read. When one has no answer in time, none has.
func (b *Bridge) Batch(ctx context.Context, cmds [][]byte) ([]api.Answer, error) {
	calls := make([]call, len(cmds))
	for i, cmd := range cmds {
		calls[i] = call{to: mon, cmd: cmd}
	}

	all, err := b.exchange(ctx, calls, b.cfg.Limit)
	if err != nil {
		return nil, b.explain(ctx, err)
	}

	return all, nil
}

// command is one command, with an explanation where no answer came.
func (b *Bridge) command(ctx context.Context, c call) ([]byte, string, error) {
	all, err := b.exchange(ctx, []call{c}, b.cfg.Limit)
	if err != nil {
		return nil, "", b.explain(ctx, err)
	}

	return all[0].Out, all[0].Status, b.explain(ctx, all[0].Err)
}

func (b *Bridge) explain(ctx context.Context, err error) error {
	return command.Explain(ctx, err, func(ctx context.Context, cmd []byte) ([]byte, error) {
		all, err := b.exchange(ctx, []call{{to: mon, cmd: cmd}}, min(b.cfg.Connect, b.cfg.Limit))
		if err != nil {
			return nil, err
		}

		return all[0].Out, all[0].Err
	})
}
