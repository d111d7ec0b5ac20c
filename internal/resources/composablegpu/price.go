// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// foreseeTimeout bounds what a plan asks the fabric: a plan is cheap, or does without.
const foreseeTimeout = 3 * time.Second

// priceOfDelete tells what a destroy detaches. Each warning names its resource in the
// summary, because Terraform folds equal summaries.
func (m model) priceOfDelete(ctx context.Context, diags *diag.Diagnostics) {
	have := m.records(ctx, diags)
	if len(have) == 0 {
		return
	}

	diags.AddWarning("Devices of "+m.label(ctx)+" will be detached", "The destroy detaches "+count(len(have))+":"+listed(have)+"\n"+m.manner())
}

// priceOfReplacement is the price of a change of type, model or allocation policy.
func (m model) priceOfReplacement(ctx context.Context, state model, have []device.Record, diags *diag.Diagnostics) {
	if len(have) == 0 {
		return
	}

	var why []string

	for _, one := range []struct {
		name string
		same bool
	}{
		{"type", m.Type.Equal(state.Type)}, {"model", m.Model.Equal(state.Model)}, {"allocation_policy", m.AllocationPolicy.Equal(state.AllocationPolicy)},
	} {
		if !one.same {
			why = append(why, one.name)
		}
	}

	diags.AddWarning("Devices of "+state.label(ctx)+" will be replaced", "A change of "+strings.Join(why, " and ")+" detaches "+count(len(have))+":"+listed(have)+"\n"+state.manner())
}

// price tells what an update detaches.
func (m model) price(ctx context.Context, state model, have []device.Record, diags *diag.Diagnostics) {
	label := state.label(ctx)
	stay := have

	if machines, complete := m.machines(ctx); complete {
		var leaving []device.Record

		stay = nil

		for _, d := range have {
			if len(minus([]string{d.MachineID}, machines)) > 0 {
				leaving = append(leaving, d)
			} else {
				stay = append(stay, d)
			}
		}

		if len(leaving) > 0 {
			diags.AddAttributeWarning(pathHosts, "Devices of "+label+" leave their host", "Machines were taken out of hosts, so "+count(len(leaving))+
				" on them will be detached first:"+listed(leaving)+"\n"+m.manner())
		}
	}

	if less := len(stay) - int(m.Size.ValueInt64()); value.Known(m.Size) && less > 0 {
		diags.AddAttributeWarning(pathSize, "Devices of "+label+" will be detached", fmt.Sprintf("%d of these %d go, those in detach_first and those that nobody uses before others:%s\n%s",
			less, len(stay), listed(stay), m.manner()))
	}
}

// manner says how carefully devices are taken away.
func (m model) manner() string {
	switch {
	case m.ForceDetach.ValueBool():
		return "force_detach is set: nobody asks which processes use them."
	case m.SkipDrain.ValueString() == string(device.SkipAlways):
		return "skip_drain is \"always\": their hosts are not asked whether anybody uses them."
	default:
		return "A device that is in use on its host is not detached; the apply then fails and says who uses it. Hosts without a connection are not asked."
	}
}

// listed names devices one a line, for the end of a sentence.
func listed(devices []device.Record) string {
	var b strings.Builder

	for _, d := range devices {
		b.WriteString("\n  " + d.Label() + " on " + device.Host{MachineID: d.MachineID, Name: d.HostName}.Label())
	}

	return b.String()
}

// foresee asks the fabric whether it has enough free devices, and warns where it has not.
// It never fails: what cannot be known within seconds is found out at apply.
func (r *gpuResource) foresee(ctx context.Context, m model, more int, have []device.Record, diags *diag.Diagnostics) {
	machines, complete := m.machines(ctx)
	if more <= 0 || !complete || !value.Known(m.Model) || !value.Known(m.Type) || !value.Known(m.AllocationPolicy) || m.ExistingDevices.ValueString() == string(device.ExistingAdopt) || r.far == nil {
		return
	}

	ctx, cancel := context.WithTimeout(ctx, foreseeTimeout)
	defer cancel()

	desk, err := r.far.Devices(ctx)
	if err != nil {
		return
	}

	spread := m.AllocationPolicy.ValueString() == string(device.DifferentNode)
	if spread {
		machines = minus(machines, machinesOf(have))
	} else if len(have) > 0 {
		machines = machinesOf(have)[:1]
	}

	free, ok := r.free(ctx, desk, machines, m, spread)
	if !ok || free >= more {
		return
	}

	diags.AddAttributeWarning(pathSize, "Too few free devices for "+m.label(ctx), fmt.Sprintf("The plan attaches %s of model %s, and the fabric has %d free at the moment. "+
		"Unless some become free before, the apply fails without attaching any.", count(more), m.Model.ValueString(), free))
}

// free counts the devices that could be attached: on the best machine, or, spread, one on
// each of them. Counts of machines of one pool are the same devices.
func (r *gpuResource) free(ctx context.Context, desk *device.Desk, machines []string, m model, spread bool) (int, bool) {
	best, pools, hosts := 0, map[string]int{}, map[string]int{}

	for _, id := range machines {
		info, err := desk.Fabric.Free(ctx, id, m.Type.ValueString(), m.Model.ValueString())
		if err != nil || !info.Known {
			return 0, false
		}

		pool := info.FabricID
		if pool == "" {
			pool = "of " + id
		}

		best = max(best, freeOf(info))
		pools[pool] = info.Count
		hosts[pool]++
	}

	if !spread {
		return best, true
	}

	sum := 0
	for pool, n := range pools {
		sum += min(n, hosts[pool])
	}

	return sum, true
}

// freeOf is what a machine can get: what the pool has, within the machine's own limit.
func freeOf(info fabric.FreeInfo) int {
	if info.HasLimits && info.Max > 0 {
		return max(0, min(info.Count, info.Max-info.Current))
	}

	return info.Count
}

func machinesOf(devices []device.Record) []string {
	var out []string
	for _, d := range devices {
		out = append(out, d.MachineID)
	}

	return out
}
