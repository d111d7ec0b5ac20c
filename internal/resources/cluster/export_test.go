// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
)

// HookOf is how hooks of a pool without a connection of its own are run.
func HookOf(ctx context.Context, pool *remote.Pool, defaults remote.Config) func(context.Context, cluster.Machine, cluster.Hook) error {
	commands := types.ListNull(types.StringType)
	none := types.ObjectNull(connectionvalue.AttrTypes())
	hooks := types.ObjectValueMust(
		map[string]attr.Type{"post_provision": commands.Type(ctx), "pre_deprovision": commands.Type(ctx), "connection": connectionvalue.Type()},
		map[string]attr.Value{"post_provision": commands, "pre_deprovision": commands, "connection": none},
	)

	r := clusterResource{far: nodesOf{pool: pool, defaults: defaults}}

	return r.hook(ctx, []role{{roleModel: roleModel{Hooks: hooks}}}, func(cluster.Machine) string { return "h" }, &diag.Diagnostics{})
}

// nodesOf are services of which only machines are reached.
type nodesOf struct {
	services

	pool     *remote.Pool
	defaults remote.Config
}

// Nodes implements services.
func (n nodesOf) Nodes(context.Context) (*remote.Pool, remote.Config, error) {
	return n.pool, n.defaults, nil
}
