// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clustervalue

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// errNoMachines says that the far side cannot do what a cluster needs.
var errNoMachines = errors.New("the service behind the hosts knows no claims, which machines of a cluster need")

// Far is the part of the provider that leads to the machines of clusters.
type Far interface {
	Hosts(ctx context.Context) (host.Backend, error)
	HostDefaults() host.Defaults
}

// Outside returns the verbs of a cluster for who does not know its configuration: what Ironic and,
// where it can be reached, the cluster's API say of it.
func Outside(ctx context.Context, far Far, namespace, name string, workload types.Object, diags *diag.Diagnostics) (*cluster.Run, error) {
	if far == nil {
		return nil, host.ErrUnknown
	}

	backend, err := far.Hosts(ctx)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says all
	}

	hosts, ok := backend.(cluster.Far)
	if !ok {
		return nil, errNoMachines
	}

	run := &cluster.Run{
		Far: hosts, Access: Access(ctx, workload, diags),
		// Whoever sets provider ids: Nodes are only looked at.
		Wanted: cluster.Wanted{Namespace: namespace, Name: name, OwnerID: far.HostDefaults().OwnerID, CloudProvider: true},
	}

	run.Wanted.Wait.Level = cluster.LevelProvisioned
	if run.Access.Given() {
		run.Wanted.Wait.Level = cluster.LevelRegistered
	}

	return run, nil
}
