// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cephvalue is what all rooms that work on a Ceph cluster have in common: the cluster's
// id, the way to it, limits of time, and what the resources of things in it share.
package cephvalue

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
)

// Far is the part of the provider that leads to clusters.
type Far interface {
	// Ceph reaches a cluster by its id, through the hosts in it or through one connection.
	Ceph(ctx context.Context, id string, connection *remote.Config) (*ceph.Reach, error)
	// SSHDefaults are the provider-wide values that a connection falls back to.
	SSHDefaults(ctx context.Context) (remote.Config, error)
}

// HostFar is the part of the provider that leads to clusters and to their hosts.
type HostFar interface {
	Far
	// CephHost returns what is done on a host of a cluster. It connects at the first need.
	CephHost(ctx context.Context, cfg remote.Config) (ceph.Host, error)
}

// ErrPending says that the provider's configuration, or the way to the cluster, is not known before apply.
var ErrPending = device.ErrUnknown

// Reach reaches a cluster. It says in words what is wrong, and then returns nil.
func Reach(ctx context.Context, far Far, id types.String, connection types.Object, diags *diag.Diagnostics) *ceph.Reach {
	if diags.HasError() {
		return nil
	}

	r, err := Open(ctx, far, id, connection, diags)

	switch {
	case diags.HasError():
		return nil
	case errors.Is(err, ErrPending):
		diags.AddError("Ceph cluster is not known yet", value.Sentence(err))
	case err != nil:
		diags.AddError("Ceph cluster cannot be reached", value.Sentence(err))
	default:
		return r
	}

	return nil
}

// Open is [Reach] for callers that have words of their own.
func Open(ctx context.Context, far Far, id types.String, connection types.Object, diags *diag.Diagnostics) (*ceph.Reach, error) {
	switch {
	case far == nil:
		return nil, fmt.Errorf("%w: it is not configured at all", ErrPending)
	case id.IsNull() || id.IsUnknown():
		return nil, fmt.Errorf("%w: cluster_id", ErrPending)
	}

	cfg := Connection(ctx, far, connection, path.Root("cluster_connection"), diags)
	if diags.HasError() {
		return nil, nil //nolint:nilnil // the diagnostics say it
	}

	r, err := far.Ceph(ctx, id.ValueString(), cfg)
	if err != nil {
		return nil, err //nolint:wrapcheck // its own words are a sentence
	}

	return r, nil
}

// Connection reads the object of a connection; nil where there is none.
func Connection(ctx context.Context, far Far, o types.Object, at path.Path, diags *diag.Diagnostics) *remote.Config {
	if o.IsNull() {
		return nil
	}

	if o.IsUnknown() {
		diags.AddAttributeError(at, "Connection is not known yet", "The connection to the cluster's host is not known before apply.")

		return nil
	}

	defaults, err := far.SSHDefaults(ctx)
	if err != nil {
		diags.AddAttributeError(at, "Connection cannot be made yet", value.Sentence(err))

		return nil
	}

	m, more := connectionvalue.Decode(ctx, o)
	diags.Append(more...)

	if more.HasError() {
		return nil
	}

	cfg, more := connectionvalue.Config(ctx, m, defaults)
	diags.Append(more...)

	return &cfg
}
