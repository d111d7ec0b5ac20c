// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"errors"
	"fmt"
	"sync"
)

// Pool shares one Host, and so one connection, among all who name the same configuration.
type Pool struct {
	mu     sync.Mutex
	hosts  map[string]Host
	closed bool
}

// NewPool returns an empty pool.
func NewPool() *Pool { return &Pool{hosts: map[string]Host{}} }

// ErrPoolClosed says that the pool has given up its hosts.
var ErrPoolClosed = errors.New("the pool of connections is closed")

// Host returns the host of a configuration. Its Close does nothing: the pool's does. The Dial
// functions of one pool must all reach the same network.
func (p *Pool) Host(cfg Config) (Host, error) {
	key := cfg.key()

	p.mu.Lock()
	defer p.mu.Unlock()

	if p.closed {
		return nil, ErrPoolClosed
	}

	if h, ok := p.hosts[key]; ok {
		return shared{h}, nil
	}

	h, err := New(cfg)
	if err != nil {
		return nil, err
	}

	p.hosts[key] = h

	return shared{h}, nil
}

// Close ends all connections.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.closed = true

	var errs []error
	for _, h := range p.hosts {
		errs = append(errs, h.Close())
	}

	p.hosts = nil

	return errors.Join(errs...)
}

// key tells configurations apart. It holds secrets: it stays in this process's memory.
func (c Config) key() string {
	bastion := ""
	if c.Bastion != nil {
		bastion = c.Bastion.key()
	}

	return fmt.Sprintf("%#v", []any{
		c.Type, c.Host, c.Port, c.User, c.PrivateKey, c.PrivateKeyFile, c.Passphrase, c.Password, c.Agent,
		c.HostKey, c.KnownHostsFile, c.InsecureHostKey, bastion, c.Sudo, c.Timeout, c.Dial != nil,
	})
}

// shared is a host that somebody else closes.
type shared struct{ Host }

func (shared) Close() error { return nil }
