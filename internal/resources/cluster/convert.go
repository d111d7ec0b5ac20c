// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/image"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/hintsvalue"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/selectorvalue"
)

// This file makes parts of the model what the packages of the life cycle take.

// ipPool is a pool of addresses as package addresses takes it.
func (p poolModel) ipPool(ctx context.Context, diags *diag.Diagnostics) addresses.Pool {
	out := addresses.Pool{
		Prefix: int(p.Prefix.ValueInt64()), Gateway: p.Gateway.ValueString(), DNSServers: value.GoStrings(p.DNS),
		Allocation: p.Allocation.ValueString(), Step: int(p.Step.ValueInt64()), PreAllocations: value.GoMap(p.PreAllocations),
		By: p.By.ValueString(), Exclude: value.GoStrings(p.Exclude),
	}

	for _, r := range objects[rangeModel](ctx, p.Ranges, diags) {
		out.Ranges = append(out.Ranges, addresses.Range{
			Start: r.Start.ValueString(), End: r.End.ValueString(), Subnet: r.Subnet.ValueString(), Prefix: int(r.Prefix.ValueInt64()),
			Gateway: r.Gateway.ValueString(), DNS: value.GoStrings(r.DNS),
		})
	}

	return out
}

// ipPools reads the pools of addresses that are known in full; all is false where some is not.
func (m model) ipPools(ctx context.Context, diags *diag.Diagnostics) (out map[string]addresses.Pool, all bool) {
	out = map[string]addresses.Pool{}
	if m.IPPools.IsUnknown() {
		return out, false
	}

	all = true

	for name, v := range m.IPPools.Elements() {
		if value.HasUnknown(v) {
			all = false

			continue
		}

		if p, ok := value.Object[poolModel](ctx, v, diags); ok {
			out[name] = p.ipPool(ctx, diags)
		}
	}

	return out, all
}

// selector reads a selector; one that is left out, or not known in full yet, has no terms: plans make
// nothing of it then.
func selector(o types.Object, diags *diag.Diagnostics) choose.Selector {
	if value.HasUnknown(o) {
		return choose.Selector{}
	}

	s, err := selectorvalue.Read(o)
	if err != nil {
		diags.AddError("Invalid selector", value.Sentence(err)) // refused at plan where it was known then
	}

	return s
}

// image reads the image of a role; nil where it has none.
func (r roleModel) image(ctx context.Context, diags *diag.Diagnostics) *image.Image {
	i, ok := value.Object[imageModel](ctx, r.Image, diags)
	if !ok {
		return nil
	}

	return &image.Image{URL: i.URL.ValueString(), Checksum: i.Checksum.ValueString(), ChecksumType: i.ChecksumType.ValueString(), Format: i.DiskFormat.ValueString()}
}

// deploy reads the deploy step of a role; nil where it has none.
func (r roleModel) deploy(ctx context.Context, diags *diag.Diagnostics) *host.CustomDeploy {
	d, ok := value.Object[customDeployModel](ctx, r.CustomDeploy, diags)
	if !ok {
		return nil
	}

	return &host.CustomDeploy{Method: d.Method.ValueString()}
}

// hints reads the root device hints of a role; nil where it has none.
func (r roleModel) hints(ctx context.Context, diags *diag.Diagnostics) *image.RootHints {
	h, ok := value.Object[hintsvalue.Model](ctx, r.RootHints, diags)
	if !ok {
		return nil
	}

	return h.Hints()
}
