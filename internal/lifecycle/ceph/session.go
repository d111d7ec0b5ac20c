// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

var (
	_ api.Commander = (*Session)(nil)
	_ api.Batcher   = (*Session)(nil)
)

// Session is a session with a cluster that knows when it is of no more use.
type Session struct {
	inner  api.Commander
	end    context.CancelFunc
	lost   atomic.Bool
	closed sync.Once
}

// NewSession returns a session over a commander.
func NewSession(c api.Commander) *Session { return &Session{inner: c, end: func() {}} }

// Lost reports whether the session broke: another must be opened.
func (s *Session) Lost() bool { return s.lost.Load() }

// Close implements [api.Commander].
func (s *Session) Close() (err error) {
	s.closed.Do(func() {
		s.lost.Store(true)

		err = s.inner.Close()
		s.end()
	})

	return err
}

// MonCommand implements [api.Commander].
func (s *Session) MonCommand(ctx context.Context, cmd []byte) ([]byte, string, error) {
	out, status, err := s.inner.MonCommand(ctx, cmd)

	return out, status, s.note(err)
}

// MonCommandWithInputBuffer implements [api.Commander].
func (s *Session) MonCommandWithInputBuffer(ctx context.Context, cmd, in []byte) ([]byte, string, error) {
	out, status, err := s.inner.MonCommandWithInputBuffer(ctx, cmd, in)

	return out, status, s.note(err)
}

// MgrCommand implements [api.Commander].
func (s *Session) MgrCommand(ctx context.Context, cmd [][]byte) ([]byte, string, error) {
	out, status, err := s.inner.MgrCommand(ctx, cmd)

	return out, status, s.note(err)
}

// MgrCommandWithInputBuffer implements [api.Commander].
func (s *Session) MgrCommandWithInputBuffer(ctx context.Context, cmd [][]byte, in []byte) ([]byte, string, error) {
	out, status, err := s.inner.MgrCommandWithInputBuffer(ctx, cmd, in)

	return out, status, s.note(err)
}

// Batch implements [api.Batcher]. Where the commander has no batches, the commands go one by one.
func (s *Session) Batch(ctx context.Context, cmds [][]byte) ([]api.Answer, error) {
	if b, ok := s.inner.(api.Batcher); ok {
		all, err := b.Batch(ctx, cmds)

		return all, s.note(err)
	}

	all := make([]api.Answer, 0, len(cmds))

	for _, cmd := range cmds {
		out, status, err := s.MonCommand(ctx, cmd)
		all = append(all, api.Answer{Out: out, Status: status, Err: err})

		if s.Lost() {
			return nil, err
		}
	}

	return all, nil
}

func (s *Session) note(err error) error {
	if errors.Is(err, api.ErrLost) {
		s.lost.Store(true)
	}

	return err
}
