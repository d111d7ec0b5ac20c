// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/bmc"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// services is what resources and data sources get. Each room declares the part that it
// uses as an interface of its own.
type services struct {
	version  string
	options  options
	settings settings

	mu    sync.Mutex
	hosts host.Backend
	bmcs  http.RoundTripper // the lab's, or a test's; nil: the network
	desk  *device.Desk
	nodes *remote.Pool
	lab   *lab.Lab // nil: none, or not needed yet
	ceph  cephSessions

	hostKeys string // of the lab's machines
}

// errNothing says how to name a far side.
var errNothing = errors.New("the provider does not know where Ironic is: set ironic.endpoint (or " + envEndpoint +
	"), ironic.cloud (or " + envCloud + "), or, to try the provider without any machine, lab = { dir = \"" + defaultLabDir + "\" } (or " + envLab + ")")

// HostDefaults are the values that a host falls back to.
func (s *services) HostDefaults() host.Defaults { return s.settings.defaults }

// DirectBMC asks BMCs without Ironic, as bmc.access allows.
func (s *services) DirectBMC() host.Direct {
	s.mu.Lock()
	defer s.mu.Unlock()

	return host.Direct{Access: s.settings.defaults.BMCAccess, Base: bmc.Config{Transport: s.bmcs}}
}

// UnknownDefaults names the attributes of the provider block behind HostDefaults that are
// not known before apply; their defaults must not be planned with.
func (s *services) UnknownDefaults() []string { return slices.Clone(s.settings.unknownDefaults) }

// Hosts returns the one way to machines that all rooms of this provider share: one client,
// one list of nodes, one poll. It is made at the first need.
func (s *services) Hosts(context.Context) (host.Backend, error) {
	if s.options.backend != nil {
		return s.options.backend, nil
	}

	if len(s.settings.unknown) > 0 {
		return nil, fmt.Errorf("%w: %s", host.ErrUnknown, strings.Join(s.settings.unknown, ", "))
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	if s.hosts != nil {
		return s.hosts, nil
	}

	backend, err := s.reach()
	if err != nil {
		return nil, err // asked again at the next need: a missing file may be there by then
	}

	s.hosts = backend

	return backend, nil
}

// config is what the client of Ironic is told.
func (s *services) config() ironic.Config {
	cfg := s.settings.ironic
	cfg.UserAgent = "terraform-provider-metal3/" + s.version
	cfg.Transport = s.options.transport
	cfg.Trace = traced

	return cfg
}

func traced(ctx context.Context, method, url string, status int, elapsed time.Duration) {
	tflog.Trace(ctx, "request to Ironic", map[string]any{
		"method": method, "url": url, "status": status, "elapsed_ms": elapsed.Milliseconds(),
	})
}
