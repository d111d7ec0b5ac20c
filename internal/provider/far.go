// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"errors"
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/onironic"
)

// reach makes the client of the far side that the settings name. It is the only place that
// knows of the lab.
func (s *services) reach() (host.Backend, error) {
	cfg := s.config()
	s.bmcs = cfg.Transport

	switch set := s.settings.lab; {
	case set != nil:
		far, err := lab.Open(lab.Options{Dir: set.dir, Machines: set.machines, Pace: set.pace, Trace: set.trace})
		if err != nil {
			return nil, fmt.Errorf("open the lab in %s: %w", set.dir, err)
		}

		cfg.Endpoint, cfg.Auth, cfg.Transport = lab.Endpoint, ironic.NoAuth, far.Transport()
		cfg.Username, cfg.Password, cfg.Cloud = "", "", ""
		s.bmcs = far.Transport()
	case cfg.Endpoint == "" && cfg.Auth != ironic.Keystone:
		return nil, errNothing
	}

	client, err := ironic.New(cfg)
	if wrong := (*ironic.ConfigError)(nil); errors.As(err, &wrong) {
		return nil, fmt.Errorf("ironic.%w", wrong)
	}

	if err != nil {
		return nil, fmt.Errorf("make the client of Ironic: %w", err)
	}

	return onironic.New(client), nil
}
