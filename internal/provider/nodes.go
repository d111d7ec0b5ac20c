// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/cxl"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu/onssh"
)

// WithNode gives rooms nodes instead of connections to hosts.
func WithNode(node func(cfg remote.Config, deviceType string) device.Node) Option {
	return func(o *options) { o.node = node }
}

// SSHDefaults are what counts where a connection to a machine says nothing.
func (s *services) SSHDefaults(ctx context.Context) (remote.Config, error) {
	_, defaults, err := s.Nodes(ctx)

	return defaults, err
}

// Node returns what happens on the operating system of one host for a type of device, over
// the connection that all rooms share. It connects at the first need.
func (s *services) Node(ctx context.Context, cfg remote.Config, deviceType string) (device.Node, error) {
	if s.options.node != nil {
		return s.options.node(cfg, deviceType), nil
	}

	pool, _, err := s.Nodes(ctx)
	if err != nil {
		return nil, err
	}

	host, err := pool.Host(cfg)
	if err != nil {
		return nil, fmt.Errorf("connection to %s: %w", cfg.Host, err)
	}

	if deviceType == device.CXLMemory {
		return device.CXLNode(cxl.New(host)), nil
	}

	return device.GPUNode(onssh.New(host)), nil
}
