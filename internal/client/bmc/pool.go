// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"crypto/sha256"
	"sync"
)

// Pool hands out one client for each BMC and user, so that all users share a session.
// The zero value is ready.
type Pool struct {
	mu      sync.Mutex
	clients map[poolKey]*Client
}

type poolKey struct {
	address, system, username, auth, ca string
	insecure                            bool
	password                            [sha256.Size]byte
}

// Get returns the client for a BMC. Each Get needs a Close; the last one ends the session.
func (p *Pool) Get(cfg Config) *Client {
	key := poolKey{
		cfg.Address, cfg.SystemPath, cfg.Username, cfg.Auth, cfg.VerifyCA,
		cfg.Insecure, sha256.Sum256([]byte(cfg.Password)),
	}

	p.mu.Lock()
	defer p.mu.Unlock()

	if c := p.clients[key]; c != nil && c.retain() {
		return c
	}

	c := New(cfg)
	c.leave = func() {
		p.mu.Lock()
		defer p.mu.Unlock()

		if p.clients[key] == c {
			delete(p.clients, key)
		}
	}

	if p.clients == nil {
		p.clients = map[poolKey]*Client{}
	}

	p.clients[key] = c

	return c
}

// retain adds a user, unless the client is closed already.
func (c *Client) retain() bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.closed {
		return false
	}

	c.refs++

	return true
}
