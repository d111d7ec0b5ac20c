// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package rados

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ceph/go-ceph/common/commands"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/command"
)

var (
	_ api.Commander                 = (*adapted)(nil)
	_ commands.RadosBufferCommander = (*native)(nil)
)

// Adapt makes a commander of ours of one of go-ceph's, such as its *rados.Conn. A call of
// go-ceph's knows no context: when that ends, the call is left to itself, and its answer is lost.
// Close does nothing: whoever made the connection ends it.
func Adapt(c commands.RadosBufferCommander) api.Commander { return &adapted{conn: c} }

// adapted is a commander of go-ceph's.
type adapted struct {
	conn   conn
	gate   sync.RWMutex // held by each call: librados must not be shut down below one
	closed bool
}

// Close implements [api.Commander].
func (*adapted) Close() error { return nil }

// MonCommand implements [api.Commander].
func (a *adapted) MonCommand(ctx context.Context, cmd []byte) ([]byte, string, error) {
	return a.call(ctx, cmd, func() ([]byte, string, error) { return a.conn.MonCommand(cmd) })
}

// MonCommandWithInputBuffer implements [api.Commander].
func (a *adapted) MonCommandWithInputBuffer(ctx context.Context, cmd, in []byte) ([]byte, string, error) {
	return a.call(ctx, cmd, func() ([]byte, string, error) { return a.conn.MonCommandWithInputBuffer(cmd, in) })
}

// MgrCommand implements [api.Commander].
func (a *adapted) MgrCommand(ctx context.Context, cmd [][]byte) ([]byte, string, error) {
	return a.call(ctx, command.Join(cmd), func() ([]byte, string, error) { return a.conn.MgrCommand(cmd) })
}

// MgrCommandWithInputBuffer implements [api.Commander].
func (a *adapted) MgrCommandWithInputBuffer(ctx context.Context, cmd [][]byte, in []byte) ([]byte, string, error) {
	return a.call(ctx, command.Join(cmd), func() ([]byte, string, error) { return a.conn.MgrCommandWithInputBuffer(cmd, in) })
}

type answer struct {
	out    []byte
	status string
	err    error
}

var errClosed = errors.New("the connection is closed")

// call makes a call that knows no context.
func (a *adapted) call(ctx context.Context, cmd []byte, send func() ([]byte, string, error)) ([]byte, string, error) {
	if ctx.Err() != nil {
		return nil, "", fmt.Errorf("ceph %s: not sent: %w", command.Prefix(cmd), context.Cause(ctx))
	}

	done := make(chan answer, 1)

	go func() {
		a.gate.RLock()
		defer a.gate.RUnlock()

		got := answer{err: errClosed}
		if !a.closed {
			got.out, got.status, got.err = send()
		}

		done <- got
	}()

	select {
	case got := <-done:
		return got.out, got.status, failure(cmd, got)
	case <-ctx.Done():
		return nil, "", fmt.Errorf("ceph %s: %w: %w", command.Prefix(cmd), api.ErrLost, context.Cause(ctx))
	}
}

// failure makes an error of ours of one of go-ceph's: all of librados have the errno.
func failure(cmd []byte, a answer) error {
	var coded interface{ ErrorCode() int }

	switch {
	case a.err == nil:
		return nil
	case errors.As(a.err, &coded):
		return command.Failure(cmd, coded.ErrorCode(), a.status, a.out)
	}

	return fmt.Errorf("ceph %s: %w", command.Prefix(cmd), a.err)
}

// AsRados makes one of go-ceph's commanders of ours, for packages of go-ceph and of others that
// take one. Each command may take as long as limit; 0 means command.DefaultLimit. ctx is the parent of all:
// when it ends, so do they.
func AsRados(ctx context.Context, c api.Commander, limit time.Duration) commands.RadosBufferCommander {
	if limit <= 0 {
		limit = command.DefaultLimit
	}

	return &native{ctx: ctx, api: c, limit: limit}
}

// native is a commander of ours. Its errors have go-ceph's ErrorCode method.
type native struct {
	ctx   context.Context
	api   api.Commander
	limit time.Duration
}

// MonCommand implements go-ceph's MonCommander.
func (n *native) MonCommand(cmd []byte) ([]byte, string, error) {
	ctx, cancel := context.WithTimeout(n.ctx, n.limit)
	defer cancel()

	return n.api.MonCommand(ctx, cmd) //nolint:wrapcheck // to the caller this is the commander
}

// MonCommandWithInputBuffer implements go-ceph's MonBufferCommander.
func (n *native) MonCommandWithInputBuffer(cmd, in []byte) ([]byte, string, error) {
	ctx, cancel := context.WithTimeout(n.ctx, n.limit)
	defer cancel()

	return n.api.MonCommandWithInputBuffer(ctx, cmd, in) //nolint:wrapcheck // as above
}

// MgrCommand implements go-ceph's MgrCommander.
func (n *native) MgrCommand(cmd [][]byte) ([]byte, string, error) {
	ctx, cancel := context.WithTimeout(n.ctx, n.limit)
	defer cancel()

	return n.api.MgrCommand(ctx, cmd) //nolint:wrapcheck // as above
}

// MgrCommandWithInputBuffer implements go-ceph's MgrBufferCommander.
func (n *native) MgrCommandWithInputBuffer(cmd [][]byte, in []byte) ([]byte, string, error) {
	ctx, cancel := context.WithTimeout(n.ctx, n.limit)
	defer cancel()

	return n.api.MgrCommandWithInputBuffer(ctx, cmd, in) //nolint:wrapcheck // as above
}
