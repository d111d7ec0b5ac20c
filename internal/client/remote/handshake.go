// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
)

// attempt is one attempt to connect to a host. It remembers how far it came: only a host that
// gave no sign of life counts as unreachable.
type attempt struct {
	*sshLink

	through *connection // to the bastion, where there is one
	keys    *keyCheck
	login   *login
}

// connect makes a connection, for no longer than the configured time.
func (l *sshLink) connect(ctx context.Context) (*connection, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, l.cfg.Timeout, errLimit)
	defer cancel()

	a := &attempt{sshLink: l}
	conn, err := a.handshake(bounded)

	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("connect: %w", cancelled(ctx))
	case bounded.Err() != nil:
		return nil, a.late(ctx)
	default:
		return nil, err
	}
}

func (a *attempt) handshake(ctx context.Context) (*connection, error) {
	var err error

	if a.keys, err = a.cfg.hostKeys(); err != nil {
		return nil, err
	}

	if a.login, err = a.cfg.login(ctx); err != nil {
		return nil, err
	}
	defer a.login.release()

	raw, err := a.dial(ctx)
	if err != nil {
		return nil, err
	}

	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()

	conn, channels, requests, err := ssh.NewClientConn(raw, a.cfg.addr(), &ssh.ClientConfig{
		User: a.cfg.User, AuthCallback: a.login.next, HostKeyCallback: a.keys.callback, HostKeyAlgorithms: a.keys.algorithms,
		ClientVersion: "SSH-2.0-terraform-provider-metal3",
	})
	if err != nil {
		_ = raw.Close()

		return nil, a.failure(err)
	}

	return newConnection(ctx, raw, ssh.NewClient(conn, channels, requests)), nil
}

// dial reaches the host's port: directly, or through the bastion.
func (a *attempt) dial(ctx context.Context) (net.Conn, error) {
	if a.bastion != nil {
		return a.dialThrough(ctx)
	}

	dial := a.cfg.Dial
	if dial == nil {
		dial = (&net.Dialer{KeepAlive: aliveEvery}).DialContext
	}

	conn, err := dial(ctx, "tcp", a.cfg.addr())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}

	return conn, nil
}

// dialThrough reaches the host's port through the bastion. Only where the bastion says that
// it tried in vain the host is not reached. A bastion's connection that turns out to be dead
// is made anew, once.
func (a *attempt) dialThrough(ctx context.Context) (net.Conn, error) {
	for again := false; ; again = true {
		through, err := a.bastion.connected(ctx)
		if err != nil {
			return nil, a.bastionFailure(err)
		}

		a.through = through

		conn, err := through.client.DialContext(ctx, "tcp", a.cfg.addr())
		if err == nil {
			return conn, nil
		}

		var refused *ssh.OpenChannelError

		switch {
		case errors.As(err, &refused) && refused.Reason == ssh.ConnectionFailed:
			return nil, fmt.Errorf("%w: through bastion %s: %w", ErrUnreachable, a.bastion.name(), err)
		case refused != nil, again, ctx.Err() != nil:
			return nil, fmt.Errorf("%w: %s: %w", ErrBastion, a.bastion.name(), err)
		}

		a.bastion.drop(through)
	}
}

// Silent reports whether an error says that nothing at all came from a host, as from one that is dead.
// Of the failures that are [ErrUnreachable] those are none where something answered for the host, as with
// "connection refused", or where nobody got as far as to ask it: its name is not known, or there is no
// way to its network. A bastion has only words for why, and unclear ones say nothing.
func Silent(err error) bool {
	var (
		number  syscall.Errno
		name    *net.DNSError
		refused *ssh.OpenChannelError
	)

	switch {
	case !errors.Is(err, ErrUnreachable) || errors.As(err, &name):
		return false
	case errors.As(err, &refused):
		return silence.MatchString(refused.Message)
	case errors.As(err, &number):
		return number.Timeout() || number == syscall.EHOSTUNREACH || number == syscall.EHOSTDOWN
	default:
		return true
	}
}

// silence is how bastions say that nothing came back: OpenSSH has strerror's words of glibc, musl or BSD,
// others have Go's.
var silence = regexp.MustCompile(`(?i)timed out|timeout|no route to host|host is (unreachable|down)`)

// bastionFailure is the error of a bastion to which there is no connection. That a bastion is
// unreachable says nothing of the host, so it must not have that kind.
func (a *attempt) bastionFailure(err error) error {
	if errors.Is(err, ErrUnreachable) {
		return fmt.Errorf("%w: %s: %s", ErrBastion, a.bastion.name(), err.Error())
	}

	return fmt.Errorf("bastion %s: %w", a.bastion.name(), err)
}

// signLimit is how long a bastion may take for a sign of life.
const signLimit = 5 * time.Second

// late is the error of an attempt that took too long.
func (a *attempt) late(ctx context.Context) error {
	limit := a.cfg.Timeout

	switch {
	case a.bastion != nil && a.through == nil:
		return fmt.Errorf("%w: %s: no answer within %s", ErrBastion, a.bastion.name(), limit)
	case a.keys.shown() && a.login.waiting():
		return fmt.Errorf("%w: user %q: the SSH agent did not answer within %s", ErrAuth, a.cfg.User, limit)
	case a.keys.shown():
		return fmt.Errorf("%w: the host answered, and the login did not end within %s", ErrHandshake, limit)
	case a.through != nil && !a.through.answers(ctx, signLimit):
		return fmt.Errorf("%w: %s: it answers no more", ErrBastion, a.bastion.name())
	default:
		return fmt.Errorf("%w: connect: no answer within %s", ErrUnreachable, limit)
	}
}
