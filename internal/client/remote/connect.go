// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// A peer that answers nothing for aliveLimit is dead, and who waits for it learns that half a
// minute after its last word. NAT boxes forget a connection that rests for some minutes.
const (
	aliveEvery = 10 * time.Second
	aliveLimit = 20 * time.Second
)

// connection is one SSH connection.
type connection struct {
	client *ssh.Client
	raw    net.Conn
	done   chan struct{} // closed when it has ended
	stop   context.CancelFunc
	once   sync.Once
}

// newConnection watches over a connection until it ends.
func newConnection(ctx context.Context, raw net.Conn, client *ssh.Client) *connection {
	// The connection outlives the command that needed it first.
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &connection{client: client, raw: raw, done: make(chan struct{}), stop: cancel}

	go func() {
		_ = c.client.Wait()
		close(c.done)
		c.end()
	}()
	go c.keepAlive(lasting)

	return c
}

func (c *connection) alive() bool {
	select {
	case <-c.done:
		return false
	default:
		return true
	}
}

func (c *connection) end() {
	c.once.Do(func() {
		c.stop()
		_ = c.raw.Close() // first: the client's own end would wait for a dead peer
		_ = c.client.Close()
	})
}

// newSession opens a session, for no longer than the context.
func (c *connection) newSession(ctx context.Context) (*ssh.Session, error) {
	type opened struct {
		s   *ssh.Session
		err error
	}

	got := make(chan opened, 1)

	go func() {
		s, err := c.client.NewSession()
		got <- opened{s, err}
	}()

	select {
	case o := <-got:
		return o.s, o.err
	case <-ctx.Done():
		go func() {
			if o := <-got; o.s != nil {
				_ = o.s.Close()
			}
		}()

		return nil, ctx.Err()
	}
}

// answers asks the peer for a sign of life.
func (c *connection) answers(ctx context.Context, limit time.Duration) bool {
	answered := make(chan error, 1)

	go func() {
		_, _, err := c.client.SendRequest("keepalive@openssh.com", true, nil)
		answered <- err
	}()

	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	select {
	case err := <-answered:
		return err == nil
	case <-ctx.Done():
		return false
	}
}

// keepAlive asks for a sign of life until the connection ends, and ends it when none comes.
func (c *connection) keepAlive(ctx context.Context) {
	for wait.Sleep(ctx, aliveEvery) == nil {
		if !c.answers(ctx, aliveLimit) {
			c.end()

			return
		}
	}
}
