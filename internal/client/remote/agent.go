// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// OpenSSH hangs up at the sixth failure (MaxAuthTries, whose default is 6), and each key that
// is offered in vain is one. So much of an agent is offered that the given key before and the
// password after it have their turn.
const (
	maxAgentKeys         = 5
	maxAgentKeysPassword = 4
)

// listLimit bounds how long an agent may take to name its keys. To sign it may take the rest
// of the time: a person may have to touch something.
const listLimit = 5 * time.Second

// agentKeys are the keys of the SSH agent that are offered. An agent that is not there or does
// not answer is no error: others may do.
func (l *login) agentKeys() ([]ssh.Signer, error) {
	keys, err := l.listAgent()
	if err != nil {
		l.notes = append(l.notes, "no SSH agent: "+err.Error())

		return nil, nil //nolint:nilerr // others may do, and the note tells it
	}

	all := len(keys)
	keys = slices.DeleteFunc(keys, func(k ssh.Signer) bool { return l.key != nil && sameKey(k.PublicKey(), l.key.PublicKey()) })

	limit := maxAgentKeys
	if l.cfg.Password != "" {
		limit = maxAgentKeysPassword
	}

	if len(keys) > limit {
		keys = keys[:limit]
		l.notes = append(l.notes, fmt.Sprintf("of the agent's keys the first %d only, because a host allows few attempts: give the right one as private_key, "+
			"or let the agent hold fewer", limit))
	}

	l.kinds = append(l.kinds, fmt.Sprintf("agent (%d of %d keys)", len(keys), all))

	return keys, nil
}

// listAgent asks the agent for its keys. Its connection ends with the handshake.
func (l *login) listAgent() ([]ssh.Signer, error) {
	socket := os.Getenv("SSH_AUTH_SOCK")
	if socket == "" {
		return nil, errors.New("SSH_AUTH_SOCK is not set")
	}

	// A hung agent must leave time for a password.
	limit := min(listLimit, l.cfg.Timeout/2)

	ctx, cancel := context.WithTimeout(l.ctx, limit)
	defer cancel()

	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}

	l.asked = &agentConn{Conn: conn}
	l.asked.stop = context.AfterFunc(l.ctx, func() { _ = conn.Close() })

	_ = conn.SetDeadline(time.Now().Add(limit))

	keys, err := agent.NewClient(l.asked).Signers()
	if err != nil {
		hangs := l.waiting()
		l.release()
		l.asked = nil

		if hangs {
			return nil, fmt.Errorf("it did not answer within %s", limit)
		}

		return nil, err
	}

	return keys, conn.SetDeadline(time.Time{})
}

// release ends the use of the agent.
func (l *login) release() {
	if l.asked != nil {
		l.asked.stop()
		_ = l.asked.Close()
	}
}

// waiting tells whether the agent owes an answer.
func (l *login) waiting() bool { return l.asked != nil && l.asked.waits.Load() }

// agentConn is the connection to an agent. It knows whether a question is open.
type agentConn struct {
	net.Conn

	stop  func() bool
	waits atomic.Bool
}

func (c *agentConn) Write(p []byte) (int, error) {
	c.waits.Store(true)

	return c.Conn.Write(p)
}

func (c *agentConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == nil {
		c.waits.Store(false)
	}

	return n, err
}
