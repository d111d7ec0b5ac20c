// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// ValidateConfig implements [resource.ResourceWithValidateConfig].
func (r *gpuResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model

	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)

	if resp.Diagnostics.HasError() {
		return
	}

	config.validate(ctx, &resp.Diagnostics)

	if s, ok := value.Object[specModel](ctx, config.OtherSpec, &resp.Diagnostics); ok && value.Known(s.AllowedPodNumber) {
		resp.Diagnostics.AddAttributeWarning(pathSpec.AtName("allowed_pod_number"), "Number of pods has no effect",
			"A machine has no number of pods; allowed_pod_number is accepted so that a ComposabilityRequest can be copied, and ignored.")
	}
}

// validate holds the rules between attributes. It passes over what is not known yet; the
// verbs ask again before their first request.
func (m model) validate(ctx context.Context, diags *diag.Diagnostics) {
	m.validateHosts(ctx, diags)
	m.validateCapacity(ctx, diags)
	m.validateWorkload(ctx, diags)

	different := value.Known(m.AllocationPolicy) && m.AllocationPolicy.ValueString() == string(device.DifferentNode)
	if different && value.Known(m.Size) && value.Known(m.Hosts) && m.Size.ValueInt64() > int64(len(m.Hosts.Elements())) {
		diags.AddAttributeError(pathSize, "Not enough hosts for "+m.label(ctx), fmt.Sprintf("allocation_policy is %q: each of the %s goes to another host, and hosts has %d.",
			device.DifferentNode, count(int(m.Size.ValueInt64())), len(m.Hosts.Elements())))
	}
}

// validateHosts refuses a machine that is named twice, in whatever spelling.
func (m model) validateHosts(ctx context.Context, diags *diag.Diagnostics) {
	all, ok := m.hosts(ctx, diags)
	first := map[string]int{}

	for i, h := range all {
		if !ok[i] || !value.Known(h.MachineID) {
			continue
		}

		id := strings.ToLower(h.machine())

		if before, twice := first[id]; twice {
			diags.AddAttributeError(pathHosts.AtListIndex(i).AtName("machine_id"), "Machine "+id+" is named twice",
				fmt.Sprintf("hosts[%d] and hosts[%d] are the same machine.", before, i))

			continue
		}

		first[id] = i
	}
}

// validateCapacity wants of each host what other_spec asks for.
func (m model) validateCapacity(ctx context.Context, diags *diag.Diagnostics) {
	s, ok := value.Object[specModel](ctx, m.OtherSpec, diags)
	if !ok {
		return
	}

	all, read := m.hosts(ctx, diags)

	for i, h := range all {
		if !read[i] || h.Capacity.IsUnknown() {
			continue
		}

		c, _ := value.Object[capacityModel](ctx, h.Capacity, diags)

		for _, one := range []struct {
			demand, has    types.Int64
			wants, missing string
		}{
			{s.MilliCPU, c.CPUMillis, "milli_cpu", "cpu_millis"},
			{s.Memory, c.MemoryBytes, "memory", "memory_bytes"},
			{s.EphemeralStorage, c.StorageBytes, "ephemeral_storage", "storage_bytes"},
		} {
			if value.Known(one.demand) && one.demand.ValueInt64() > 0 && one.has.IsNull() {
				diags.AddAttributeError(pathHosts.AtListIndex(i).AtName("capacity"), "Capacity of "+h.label()+" is not given",
					"other_spec."+one.wants+" asks for a capacity, and nobody but the configuration knows it: give hosts["+
						fmt.Sprint(i)+"].capacity."+one.missing+", for instance from the hardware of its metal3_baremetal_host.")
			}
		}
	}
}

// check repeats at apply, before any request, what validation could not see while values
// were unknown.
func (m model) check(ctx context.Context, diags *diag.Diagnostics) {
	m.validate(ctx, diags)

	all, ok := m.hosts(ctx, diags)

	for i, h := range all {
		if !ok[i] || h.machine() == "" {
			diags.AddAttributeError(pathHosts.AtListIndex(i).AtName("machine_id"), "Host without a machine id", noMachine)
		}
	}

	if strings.TrimSpace(m.Model.ValueString()) == "" {
		diags.AddError("No model is given", "model is empty.")
	}
}
