// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// cephSessions are the open sessions with Ceph clusters: one a cluster, for all rooms.
type cephSessions struct {
	mu  sync.Mutex
	all map[string]*cephSession
}

// cephSession is the session with one cluster, once there is one.
type cephSession struct {
	busy wait.Places // taken while somebody opens or closes
	open *ceph.Session
	lost []*ceph.Session // others may still hold them
	fsid string
}

// Ceph reaches a cluster by its id: through the hosts that the id names, with the provider's
// ssh block, or through the one host of a connection. Rooms share one session with a cluster; it
// ends with the process.
func (s *services) Ceph(ctx context.Context, id string, connection *remote.Config) (*ceph.Reach, error) {
	loc, err := ceph.ParseClusterID(id)
	if err != nil {
		return nil, err
	}

	hosts, err := s.cephHosts(ctx, loc, connection)
	if err != nil {
		return nil, err
	}

	entry := s.ceph.of(loc, connection)

	leave, err := entry.busy.Enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("reach cluster %s: %w", loc, err)
	}
	defer leave()

	if entry.open != nil && !entry.open.Lost() {
		loc.FSID = entry.fsid

		return entry.open.Reach(loc, hosts), nil
	}

	entry.forget()

	reach, err := ceph.Open(ctx, loc, hosts)
	if err != nil {
		return nil, err
	}

	entry.open, entry.fsid = reach.Session, reach.Location.FSID

	return reach, nil
}

// of returns the entry of a cluster. Another way to the same cluster is another session: a
// connection of its own may be there because the usual one does not work.
func (c *cephSessions) of(loc ceph.Location, connection *remote.Config) *cephSession {
	key := cmp.Or(loc.FSID, loc.String())
	if connection != nil {
		key += fmt.Sprintf(" %s %s@%s:%d", connection.Type, connection.User, connection.Host, connection.Port)
	}

	c.mu.Lock()
	defer c.mu.Unlock()

	if c.all == nil {
		c.all = map[string]*cephSession{}
	}

	if c.all[key] == nil {
		c.all[key] = &cephSession{busy: make(wait.Places, 1)}
	}

	return c.all[key]
}

// close ends all sessions that nobody is opening just now.
func (c *cephSessions) close() {
	c.mu.Lock()
	defer c.mu.Unlock()

	for _, entry := range c.all {
		select {
		case entry.busy <- struct{}{}:
			entry.close()
			<-entry.busy
		default:
		}
	}
}

// forget makes room for another session. The lost one is closed at the end only: whoever still
// waits for its answer is to hear what became of it. The caller holds the token.
func (c *cephSession) forget() {
	if c.open != nil {
		c.lost, c.open = append(c.lost, c.open), nil
	}
}

// close ends all sessions. The caller holds the token.
func (c *cephSession) close() {
	c.forget()

	for _, s := range c.lost {
		_ = s.Close()
	}

	c.lost = nil
}

// cephHosts are the hosts of a location, or the one that a connection leads to.
func (s *services) cephHosts(ctx context.Context, loc ceph.Location, connection *remote.Config) ([]ceph.Host, error) {
	if connection != nil {
		h, err := s.CephHost(ctx, *connection)

		return []ceph.Host{h}, err
	}

	defaults, err := s.SSHDefaults(ctx)
	if err != nil {
		return nil, err
	}

	hosts := make([]ceph.Host, 0, len(loc.Hosts))

	for _, where := range loc.Hosts {
		cfg := defaults
		cfg.Type = remote.SSH
		cfg.Host, cfg.Port = ceph.SplitHost(where)

		if where == ceph.LocalHost {
			cfg = remote.Config{Type: remote.Local}
		}

		h, err := s.CephHost(ctx, cfg)
		if err != nil {
			return nil, err
		}

		hosts = append(hosts, h)
	}

	return hosts, nil
}
