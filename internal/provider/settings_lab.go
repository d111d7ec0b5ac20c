// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

type labSettings struct {
	dir        string
	machines   int
	pace       time.Duration
	trace      string
	fabricType string
	gpus       map[string]int // by model; nil: as the lab likes
}

// What counts where neither block nor environment says anything of the lab.
const (
	defaultLabDir   = ".metal3-lab"
	defaultMachines = 8
	defaultPace     = time.Second
)

// lab reads whether the embedded far sides stand in for real ones. Pending says that
// attributes of real ones are not known yet.
func (r *reader) lab(ctx context.Context, config model, given given, s settings, pending bool) *labSettings {
	if r.isUnknown(config.Lab, labPath) {
		return nil
	}

	lab := &labSettings{dir: defaultLabDir, machines: defaultMachines, pace: defaultPace, trace: r.env(envLabTrace), fabricType: s.fabric.config.Type}

	// METAL3_LAB stands in for a configuration that names no far side at all.
	if config.Lab.IsNull() {
		lab.dir = r.env(envLab)
		if lab.dir == "" || pending || s.ironic.Endpoint != "" || s.ironic.Auth == ironic.Keystone || s.fabric.config.Endpoint != "" {
			return nil
		}

		return lab
	}

	m := decode(ctx, config.Lab, func() labModel { return labModel{} }, r.diags)

	if dir := r.text(m.Dir, labPath.AtName("dir")); dir != "" {
		lab.dir = dir
	}

	if !r.isUnknown(m.Machines, labPath.AtName("machines")) && !m.Machines.IsNull() {
		lab.machines = int(m.Machines.ValueInt64())
	}

	if pace := r.text(m.Pace, labPath.AtName("pace")); pace != "" {
		if d, err := value.ParseDuration(pace); err == nil { // the validator has spoken
			lab.pace = d
		}
	}

	r.labFabric(m, given.fabric, lab)
	r.labAlone(given)

	return lab
}

// labFabric reads what the lab's fabric is like.
func (r *reader) labFabric(m labModel, given fabricModel, lab *labSettings) {
	at := labPath.AtName("fabric_type")

	if t := r.text(m.FabricType, at); t != "" {
		if other := given.Type.ValueString(); other != "" && other != t {
			r.diags.AddAttributeError(at, "Two types of fabric", "fabric.type is "+other+" and lab.fabric_type is "+t+": remove one of them.")
		}

		lab.fabricType = t
	}

	at = labPath.AtName("gpus")
	if m.GPUs.IsUnknown() || value.HasUnknown(m.GPUs) {
		r.unknown = append(r.unknown, at.String())

		return
	}

	for name, v := range m.GPUs.Elements() {
		if n, ok := v.(types.Int64); ok {
			if lab.gpus == nil {
				lab.gpus = map[string]int{}
			}

			lab.gpus[name] = int(n.ValueInt64())
		}
	}
}

// labAlone refuses a lab beside a far side that the block names, and says that a lab wins
// over one that only the environment names.
func (r *reader) labAlone(given given) {
	named := map[string]types.String{
		"ironic.endpoint": given.ironic.Endpoint, "ironic.cloud": given.ironic.Cloud,
		"fabric.endpoint": given.fabric.Endpoint, "fabric.layout_endpoint": given.fabric.LayoutEndpoint,
	}

	for _, name := range slices.Sorted(maps.Keys(named)) {
		if named[name].ValueString() != "" {
			r.diags.AddAttributeError(labPath, "Lab beside a real far side", "lab puts embedded far sides in the place of real ones, and "+name+
				" names a real one. Remove one of them.")
		}
	}

	for _, name := range []string{envEndpoint, envCloud, envFabricEndpoint} {
		if r.env(name) != "" {
			r.diags.AddAttributeWarning(labPath, "Lab in use, "+name+" is ignored", "The provider block asks for the lab, and the environment names a real "+
				"far side in "+name+". What the block says counts: nothing real is asked or changed.")
		}
	}
}
