// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"errors"
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/drivers"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/node"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/onironic"
)

// This file is the only place that knows of the lab. Callers of methods hold the lock of the
// services.

// WithLab lets a lab play the fabric manager of a configuration that names none, and all
// machines over SSH.
func WithLab(l *lab.Lab) Option { return func(o *options) { o.lab = l } }

// embedded returns the one lab that plays all far sides; nil where there is none.
func (s *services) embedded() (*lab.Lab, error) {
	set := s.settings.lab
	if set == nil || s.lab != nil {
		return s.lab, nil
	}

	far, err := lab.Open(lab.Options{Dir: set.dir, Machines: set.machines, Pace: set.pace, Trace: set.trace, GPUs: set.gpus})
	if err != nil {
		return nil, fmt.Errorf("open the lab in %s: %w", set.dir, err)
	}

	s.lab = far

	return far, nil
}

// reach makes the client of the Ironic that the settings name.
func (s *services) reach() (host.Backend, error) {
	cfg := s.config()
	s.bmcs = cfg.Transport

	far, err := s.embedded()

	switch {
	case err != nil:
		return nil, err
	case far != nil:
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

// reachFabric makes the client of the fabric manager that the settings name.
func (s *services) reachFabric() (fabric.Fabric, error) {
	cfg := s.fabricConfig()

	far, err := s.embedded()

	switch {
	case err != nil:
		return nil, err
	case far != nil:
		labFabric(&cfg, s.settings.lab.fabricType, far)
	case cfg.Endpoint == "" && s.options.lab != nil:
		labFabric(&cfg, cfg.Type, s.options.lab)
	case cfg.Endpoint == "":
		return nil, errNoFabric
	}

	client, err := drivers.New(cfg)
	if wrong := (*fabric.ConfigError)(nil); errors.As(err, &wrong) {
		return nil, fmt.Errorf("the option fabric.%w", wrong)
	}

	if err != nil {
		return nil, fmt.Errorf("make the client of the fabric manager: %w", err)
	}

	return client, nil
}

// labFabric turns a configuration to the lab's fabric.
func labFabric(cfg *fabric.Config, kind string, far *lab.Lab) {
	cfg.Type, cfg.Endpoint, cfg.LayoutEndpoint, cfg.Transport = kind, lab.FabricEndpoint, "", far.Transport()
	cfg.TenantID, cfg.ClusterID = labfabric.Tenant, labfabric.Cluster
	cfg.Auth = fabric.Auth{
		Realm: labfabric.Realm, ClientID: labfabric.ClientID, ClientSecret: labfabric.ClientSecret,
		Username: labfabric.Username, Password: labfabric.Password,
	}
	cfg.CACertFile, cfg.CACertPEM, cfg.TLSServerName, cfg.Insecure, cfg.AllowPlainHTTP = "", "", "", false, true
}

// reachNodes returns what counts where a connection to a machine says nothing. In a lab it
// leads to the lab's machines, and to no others.
func (s *services) reachNodes() (remote.Config, error) {
	far, err := s.embedded()
	if err != nil {
		return remote.Config{}, err
	}

	if far == nil {
		far = s.options.lab
	}

	cfg := s.settings.ssh
	if far == nil {
		return cfg, nil
	}

	if s.hostKeys == "" {
		s.hostKeys = far.HostKeys()
	}

	cfg.Dial, cfg.HostKey, cfg.Agent = far.Dial, s.hostKeys, false

	if cfg.PrivateKey == "" && cfg.PrivateKeyFile == "" {
		cfg.PrivateKey = node.ClientKey()
	}

	return cfg, nil
}
