// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// A peer that answers nothing for aliveLimit is dead. NAT boxes forget a connection that
// rests for some minutes.
const (
	aliveEvery = 15 * time.Second
	aliveLimit = 30 * time.Second
)

// connection is one SSH connection.
type connection struct {
	client *ssh.Client
	raw    net.Conn
	done   chan struct{} // closed when it has ended
	stop   context.CancelFunc
	once   sync.Once
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

// connect makes a connection, for no longer than the configured time.
func (l *sshLink) connect(ctx context.Context) (*connection, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, l.cfg.Timeout, errLimit)
	defer cancel()

	conn, err := l.handshake(bounded)

	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("connect: %w", cancelled(ctx))
	case bounded.Err() != nil:
		return nil, fmt.Errorf("%w: connect: no answer within %s", ErrUnreachable, l.cfg.Timeout)
	default:
		return nil, err
	}
}

func (l *sshLink) handshake(ctx context.Context) (*connection, error) {
	keys, err := l.cfg.hostKeys()
	if err != nil {
		return nil, err
	}

	login, err := l.cfg.login()
	if err != nil {
		return nil, err
	}
	defer login.release()

	raw, err := l.dial(ctx)
	if err != nil {
		return nil, err
	}

	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()

	conn, channels, requests, err := ssh.NewClientConn(raw, l.cfg.addr(), &ssh.ClientConfig{
		User: l.cfg.User, Auth: login.methods, HostKeyCallback: keys.callback, HostKeyAlgorithms: keys.algorithms,
		ClientVersion: "SSH-2.0-terraform-provider-metal3",
	})
	if err != nil {
		_ = raw.Close()

		return nil, l.failure(err, keys, login)
	}

	// The connection outlives the command that needed it first.
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &connection{client: ssh.NewClient(conn, channels, requests), raw: raw, done: make(chan struct{}), stop: cancel}

	go func() {
		_ = c.client.Wait()
		close(c.done)
		c.end()
	}()
	go c.keepAlive(lasting)

	return c, nil
}

// failure is what a handshake's error means.
func (l *sshLink) failure(err error, keys *keyCheck, login login) error {
	var negotiation *ssh.AlgorithmNegotiationError

	switch {
	case keys.failure != nil:
		return keys.failure
	case errors.As(err, &negotiation) && len(keys.algorithms) > 0 && strings.Contains(err.Error(), "host key"):
		return fmt.Errorf("%w: the host has no key of the expected kind (%s): %w", ErrHostKey, strings.Join(keys.algorithms, ", "), err)
	case errors.Is(err, errMore):
		return fmt.Errorf("%w: user %q: %w", ErrAuth, l.cfg.User, errMore)
	// The second is what the library makes of a server that refuses keyboard-interactive at once.
	case strings.Contains(err.Error(), "unable to authenticate"), strings.Contains(err.Error(), "unexpected message type 51"):
		tried := "nothing: there is no private key, agent or password"
		if len(login.kinds) > 0 {
			tried = strings.Join(login.kinds, ", ")
		}

		if len(login.notes) > 0 {
			tried += "; " + strings.Join(login.notes, "; ")
		}

		return fmt.Errorf("%w: user %q, tried %s", ErrAuth, l.cfg.User, tried)
	default:
		return fmt.Errorf("%w: SSH handshake: %w", ErrUnreachable, err)
	}
}

// dial reaches the host's port: directly, or through the bastion.
func (l *sshLink) dial(ctx context.Context) (net.Conn, error) {
	addr := l.cfg.addr()

	if l.bastion != nil {
		through, err := l.bastion.connected(ctx)
		if err != nil {
			return nil, fmt.Errorf("bastion %s: %w", l.bastion.name(), err)
		}

		conn, err := through.client.DialContext(ctx, "tcp", addr)
		if err != nil {
			return nil, fmt.Errorf("%w: through bastion %s: %w", ErrUnreachable, l.bastion.name(), err)
		}

		return conn, nil
	}

	dial := l.cfg.Dial
	if dial == nil {
		dial = (&net.Dialer{KeepAlive: aliveEvery}).DialContext
	}

	conn, err := dial(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}

	return conn, nil
}

// keepAlive asks for a sign of life until the connection ends, and ends it when none comes.
func (c *connection) keepAlive(ctx context.Context) {
	for wait.Sleep(ctx, aliveEvery) == nil {
		answered := make(chan error, 1)

		go func() {
			_, _, err := c.client.SendRequest("keepalive@openssh.com", true, nil)
			answered <- err
		}()

		limit, cancel := context.WithTimeout(ctx, aliveLimit)

		select {
		case err := <-answered:
			cancel()

			if err == nil {
				continue
			}
		case <-limit.Done():
			cancel()
		}

		c.end()

		return
	}
}
