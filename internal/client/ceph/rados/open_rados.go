// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cgo && ceph

package rados

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ceph/go-ceph/rados"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/command"
)

// Linked tells that this build has librados.
const Linked = true

var (
	_ conn          = (*rados.Conn)(nil)
	_ api.Commander = (*Rados)(nil)
	_ api.Batcher   = (*Rados)(nil)
)

// Rados is a [api.Commander]. Its commands may run side by side.
type Rados struct {
	inner *adapted
	cfg   Config
	close func()
}

// closing is how long Close waits for calls that were left to themselves.
const closing = 5 * time.Second

// errNoMonitor ends the question whether there is a manager.
var errNoMonitor = &api.Error{Code: command.TimedOut, Status: "no monitor answers"}

// Open connects to a cluster. The context bounds that alone.
func Open(ctx context.Context, cfg Config) (*Rados, error) {
	cfg = cfg.WithDefaults()

	c, err := rados.NewConnWithClusterAndUser("ceph", cmp.Or(cfg.Name, "client.admin"))
	if err != nil {
		return nil, fmt.Errorf("librados: %w", err)
	}

	if err := apply(cfg, c); err != nil {
		c.Shutdown()

		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}

	// The call cannot be ended before its time; a connection that nobody waits for any more is shut down.
	done := make(chan error, 1)

	go func() {
		err := c.Connect()
		if err != nil || ctx.Err() != nil {
			c.Shutdown()
		}

		done <- err
	}()

	select {
	case err := <-done:
		if err == nil {
			err = ctx.Err()
		}

		if err != nil {
			return nil, refused(err)
		}
	case <-ctx.Done():
		return nil, fmt.Errorf("connect to the cluster: %w", context.Cause(ctx))
	}

	r := &Rados{inner: &adapted{conn: c}, cfg: cfg}
	r.close = sync.OnceFunc(func() { r.shutdown(context.WithoutCancel(ctx), c) })

	return r, nil
}

// end waits for all calls, also those that were left to themselves, and lets none in afterwards.
func (a *adapted) end() {
	a.gate.Lock()
	defer a.gate.Unlock()

	a.closed = true
}

// shutdown ends the connection once no call is under way. It waits for that, but not for ever.
func (r *Rados) shutdown(ctx context.Context, c *rados.Conn) {
	ctx, cancel := context.WithTimeout(ctx, closing)

	go func() {
		defer cancel()

		r.inner.end()
		c.Shutdown()
	}()

	<-ctx.Done()
}

// apply gives librados the configuration.
func apply(c Config, to *rados.Conn) error {
	if c.Conf != "" {
		if err := to.ReadConfigFile(c.Conf); err != nil {
			return refused(err)
		}
	}

	for _, o := range [...][2]string{
		{"keyring", c.Keyring},
		{"client_mount_timeout", command.Seconds(c.Connect)},
		{"rados_mon_op_timeout", command.Seconds(c.Limit)},
	} {
		if o[1] == "" {
			continue
		}

		if err := to.SetConfigOption(o[0], o[1]); err != nil {
			return fmt.Errorf("option %s: %w", o[0], refused(err))
		}
	}

	return nil
}

// refused is the error of a connection that was not made.
func refused(err error) error {
	coded, ok := err.(interface{ ErrorCode() int })

	if !ok {
		return fmt.Errorf("connect to the cluster: %w", err)
	}

	return command.Refused(coded.ErrorCode(), err.Error())
}

// Close ends the connection. Calls that were left to themselves end within their limit.
func (r *Rados) Close() error {
	r.close()

	return nil
}

// MonCommand implements [api.Commander].
func (r *Rados) MonCommand(ctx context.Context, cmd []byte) ([]byte, string, error) {
	out, status, err := r.inner.MonCommand(ctx, cmd)

	return out, status, r.explain(ctx, err)
}

// MonCommandWithInputBuffer implements [api.Commander].
func (r *Rados) MonCommandWithInputBuffer(ctx context.Context, cmd, in []byte) ([]byte, string, error) {
	out, status, err := r.inner.MonCommandWithInputBuffer(ctx, cmd, in)

	return out, status, r.explain(ctx, err)
}

// MgrCommand implements [api.Commander].
func (r *Rados) MgrCommand(ctx context.Context, cmd [][]byte) ([]byte, string, error) {
	out, status, err := r.inner.MgrCommand(ctx, cmd)

	return out, status, r.explain(ctx, err)
}

// MgrCommandWithInputBuffer implements [api.Commander].
func (r *Rados) MgrCommandWithInputBuffer(ctx context.Context, cmd [][]byte, in []byte) ([]byte, string, error) {
	out, status, err := r.inner.MgrCommandWithInputBuffer(ctx, cmd, in)

	return out, status, r.explain(ctx, err)
}

// Batch implements [api.Batcher]. The commands run side by side.
func (r *Rados) Batch(ctx context.Context, cmds [][]byte) ([]api.Answer, error) {
	all := make([]api.Answer, len(cmds))

	var work sync.WaitGroup

	for i, cmd := range cmds {
		work.Go(func() { all[i].Out, all[i].Status, all[i].Err = r.inner.MonCommand(ctx, cmd) })
	}

	work.Wait()

	for _, a := range all {
		// One that Ceph refused is an answer.
		if e := (*api.Error)(nil); a.Err != nil && (!errors.As(a.Err, &e) || e.Code == command.TimedOut) {
			return nil, r.explain(ctx, a.Err)
		}
	}

	return all, nil
}

func (r *Rados) explain(ctx context.Context, err error) error {
	return command.Explain(ctx, err, func(ctx context.Context, cmd []byte) ([]byte, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, min(r.cfg.Connect, r.cfg.Limit), errNoMonitor)
		defer cancel()

		out, _, err := r.inner.MonCommand(ctx, cmd)

		return out, err //nolint:wrapcheck // only its kind counts
	})
}
