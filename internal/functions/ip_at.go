// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// ipAt is the function ip_at.
type ipAt struct{}

// NewIPAt returns the function ip_at.
func NewIPAt() function.Function { return ipAt{} }

var addressTypes = map[string]attr.Type{
	"address": types.StringType,
	"prefix":  types.Int64Type,
	"gateway": types.StringType,
	"dns":     types.ListType{ElemType: types.StringType},
}

// Metadata names the function.
func (ipAt) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "ip_at"
}

// Definition describes the function.
func (ipAt) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Tell the address that an index gets of a pool",
		MarkdownDescription: "Returns the address that a cluster gives a machine of a pool whose `allocation` is `index`: an object with `address`, `prefix`, `gateway` (null where there is none) and `dns`. " +
			"The usable addresses of all ranges are numbered in their order, from 0; index `i` gets number `i * step`. Not usable are network and broadcast addresses (of IPv4 networks up to /30), gateways, " +
			"what is excluded and what is set aside. With an `ip_index_offset` of a cluster's pool of machines, add it to the index (where `step` is 1).",
		Parameters: []function.Parameter{
			function.DynamicParameter{
				Name: "pool",
				MarkdownDescription: "An object as in `ip_pools` of `metal3_cluster`: `ranges` (objects with `start`, `end`, `subnet`, `prefix`, `gateway` and `dns`), " +
					"`prefix`, `gateway`, `dns_servers`, `step`, `exclude`, `pre_allocations`.",
			},
			function.Int64Parameter{Name: "index", MarkdownDescription: "The index, from 0."},
		},
		Return: function.ObjectReturn{AttributeTypes: addressTypes},
	}
}

// Run calls the function.
func (ipAt) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var (
		given types.Dynamic
		index int64
	)

	if resp.Error = req.Arguments.Get(ctx, &given, &index); resp.Error != nil {
		return
	}

	pool, failed := argument(0, given, compile)
	if failed != nil {
		resp.Error = failed

		return
	}

	if index > math.MaxInt || index < math.MinInt {
		resp.Error = function.NewArgumentFuncError(1, fmt.Sprintf("%d is no index that a pool has.", index))

		return
	}

	a, err := pool.AtIndex(0, int(index))
	if err != nil {
		resp.Error = function.NewArgumentFuncError(1, err.Error())

		return
	}

	resp.Error = resp.Result.Set(ctx, types.ObjectValueMust(addressTypes, map[string]attr.Value{
		"address": types.StringValue(a.Address), "prefix": types.Int64Value(int64(a.Prefix)),
		"gateway": value.String(a.Gateway), "dns": value.StringListOrEmpty(a.DNS),
	}))
}

func compile(document []byte) (addresses.Compiled, error) {
	p, err := addresses.Parse(document)
	if err != nil {
		return addresses.Compiled{}, err
	}

	c, errs := addresses.Compile("", p)

	return c, errors.Join(errs...)
}
