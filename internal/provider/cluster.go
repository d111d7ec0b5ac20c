// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"net"
)

// WithClusterDial reaches the endpoints of clusters by other connections than the network's.
func WithClusterDial(dial func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return func(o *options) { o.clusterDial = dial }
}

// ClusterDial is how the endpoints of clusters are reached; nil: over the network.
func (s *services) ClusterDial() func(ctx context.Context, network, address string) (net.Conn, error) {
	return s.options.clusterDial
}
