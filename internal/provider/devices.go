// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
)

// errNoFabric says how to name a fabric manager.
var errNoFabric = errors.New("the provider does not know where the fabric manager is: set fabric.endpoint (or " + envFabricEndpoint +
	"), or, to try the provider without any hardware, lab = { dir = \"" + defaultLabDir + "\" } (or " + envLab + ")")

// Devices returns the one desk that all rooms of this provider share: one client, one token,
// one read of a machine, one journal. It is made at the first need, and calls nobody.
func (s *services) Devices(context.Context) (*device.Desk, error) {
	if s.options.desk != nil {
		return s.options.desk, nil
	}

	if len(s.settings.unknownFabric) > 0 {
		return nil, fmt.Errorf("%w: %s", device.ErrUnknown, strings.Join(s.settings.unknownFabric, ", "))
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	if s.desk != nil {
		return s.desk, nil
	}

	manager, err := s.reachFabric()
	if err != nil {
		return nil, err // asked again at the next need: a missing file may be there by then
	}

	dir, err := s.settings.journalDir()
	if err != nil {
		return nil, err
	}

	var journal device.Journal
	if dir != "" {
		journal = device.NewJournal(dir)
	}

	s.desk = device.NewDesk(manager, journal)
	s.desk.Poll = s.settings.fabric.poll

	return s.desk, nil
}

// Nodes returns the connections to machines that all rooms share, and what counts where a
// connection says nothing.
func (s *services) Nodes(context.Context) (*remote.Pool, remote.Config, error) {
	if len(s.settings.unknownSSH) > 0 {
		return nil, remote.Config{}, fmt.Errorf("%w: %s", device.ErrUnknown, strings.Join(s.settings.unknownSSH, ", "))
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	defaults, err := s.reachNodes()
	if err != nil {
		return nil, remote.Config{}, err
	}

	if s.nodes == nil {
		s.nodes = remote.NewPool()
	}

	return s.nodes, defaults, nil
}

// fabricConfig is what the client of the fabric manager is told.
func (s *services) fabricConfig() fabric.Config {
	cfg := s.settings.fabric.config
	cfg.Transport = s.options.transport
	cfg.UserAgent = "terraform-provider-metal3/" + s.version
	cfg.Trace = tracedFabric

	return cfg
}

func tracedFabric(ctx context.Context, method, url string, status int, elapsed time.Duration) {
	tflog.Trace(ctx, "request to the fabric manager", map[string]any{
		"method": method, "url": url, "status": status, "elapsed_ms": elapsed.Milliseconds(),
	})
}

// close ends the sessions with the fabric manager and with Ceph clusters, and the connections to machines. What it
// cannot end ends by itself on the far side.
func (s *services) close(ctx context.Context) {
	s.ceph.close()

	s.mu.Lock()
	defer s.mu.Unlock()

	if s.desk != nil {
		if manager, ok := s.desk.Fabric.(fabric.Closer); ok {
			_ = manager.Close(ctx)
		}
	}

	if s.nodes != nil {
		_ = s.nodes.Close()
	}
}
