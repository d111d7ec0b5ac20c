// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// What driver_check and on_create_failure may say.
const (
	checkRequired = "required"
	checkSkip     = "skip"

	failureTaint = "taint"
	failureKeep  = "keep"
)

// Schema implements [resource.Resource].
func (r *gpuResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := map[string]schema.Attribute{}

	for _, part := range []map[string]schema.Attribute{
		kindAttributes(), placeAttributes(), careAttributes(), choiceAttributes(), computedAttributes(),
	} {
		for name, a := range part {
			attributes[name] = a
		}
	}

	resp.Schema = schema.Schema{
		MarkdownDescription: "GPUs or CXL memory of a composable fabric on one or more machines: attached, seen by the operating system, drained, detached. " +
			"It does what CoHDI's composable-resource-operator does for one `ComposabilityRequest`, without Kubernetes.",
		Attributes: attributes,
	}
}

func choice(otherwise, description string, values ...string) schema.StringAttribute {
	return schema.StringAttribute{
		Optional: true, Computed: true, Default: stringdefault.StaticString(otherwise),
		Validators: []validator.String{stringvalidator.OneOf(values...)}, MarkdownDescription: description,
	}
}

func replacing(a schema.StringAttribute) schema.StringAttribute {
	a.PlanModifiers = []planmodifier.String{stringplanmodifier.RequiresReplace()}

	return a
}

// policyAttribute says how devices are spread.
func policyAttribute() schema.StringAttribute {
	const replaces = "A change replaces the resource, unless the devices lie as the new policy wants them."

	a := choice(string(device.SameNode), "`samenode` (default): all devices on one of the `hosts`. `differentnode`: one device on each of `size` hosts. "+replaces,
		string(device.SameNode), string(device.DifferentNode))
	a.PlanModifiers = []planmodifier.String{stringplanmodifier.RequiresReplaceIf(func(ctx context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
		var placement types.Map

		resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("placement"), &placement)...)
		resp.RequiresReplace = against(placement, req.PlanValue)
	}, replaces, replaces)}

	return a
}

func flag(description string) schema.BoolAttribute {
	return schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(false), MarkdownDescription: description}
}

func amount(description string) schema.Int64Attribute {
	return schema.Int64Attribute{Optional: true, Validators: []validator.Int64{int64validator.AtLeast(0)}, MarkdownDescription: description}
}

func duration(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, Validators: []validator.String{value.Duration()}, MarkdownDescription: description}
}

func names(description string) schema.SetAttribute {
	return schema.SetAttribute{
		Optional: true, ElementType: types.StringType, MarkdownDescription: description,
		Validators: []validator.Set{setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1)), setvalidator.NoNullValues()},
	}
}

// kindAttributes say what is wanted, and how many.
func kindAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"type": replacing(choice(device.GPU, "Type of the devices: `gpu` or `cxlmemory`. Default `gpu`. A change replaces: the old devices are detached.", device.GPU, device.CXLMemory)),
		"model": replacing(schema.StringAttribute{
			Required: true, Validators: []validator.String{modelName()},
			MarkdownDescription: "Model of the devices, exactly as the fabric spells it (data source `metal3_fabric_devices`). A change replaces: the old devices are detached.",
		}),
		"size": schema.Int64Attribute{
			Required: true, Validators: []validator.Int64{int64validator.AtLeast(0)},
			MarkdownDescription: "How many devices there shall be in total. 0 is legal. A refresh writes the number that is really attached, so that a plan shows what is missing.",
		},
		"allocation_policy": policyAttribute(),
		"exclusive_models":  names("Models that must not be on the same machine: nothing is attached where the machine has a device of one of them. Changed in place."),
	}
}

// placeAttributes say where.
func placeAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"hosts": schema.ListNestedAttribute{
			Required: true, Validators: []validator.List{listvalidator.SizeAtLeast(1)}, NestedObject: hostObject(),
			MarkdownDescription: "Machines that may get the devices, the preferred one first. Devices on a machine that is taken out of the list are detached first; " +
				"otherwise no device ever moves.",
		},
		"workload": workloadAttribute(),
		"other_spec": schema.SingleNestedAttribute{
			Optional: true, MarkdownDescription: "The least that a machine must have to be chosen; needs `capacity` of each host. A change affects new placements only.",
			Attributes: map[string]schema.Attribute{
				"milli_cpu":          amount("CPU in thousandths of a core."),
				"memory":             amount("Memory in bytes."),
				"ephemeral_storage":  amount("Local storage in bytes."),
				"allowed_pod_number": amount("Accepted and ignored: a machine has no number of pods."),
			},
		},
	}
}

func hostObject() schema.NestedAttributeObject {
	return schema.NestedAttributeObject{Validators: []validator.Object{hasMachine{}}, Attributes: map[string]schema.Attribute{
		// Not Required: the framework would miss it in a host that is not known yet as a whole.
		"machine_id": schema.StringAttribute{
			Optional: true, Validators: []validator.String{machineID()},
			MarkdownDescription: "Required. Id of the machine in the fabric, normally `metal3_baremetal_host.x.fabric_machine_id`; `fsas-cdi://` in front is allowed.",
		},
		"name": schema.StringAttribute{
			Optional: true, Validators: []validator.String{stringvalidator.LengthAtLeast(1)}, MarkdownDescription: "Name of the host in messages and in `devices`.",
		},
		"node_name": schema.StringAttribute{
			Optional: true, Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
			MarkdownDescription: "Name of the host's node in the cluster of `workload`. Default: `name`.",
		},
		"capacity": schema.SingleNestedAttribute{
			Optional: true, MarkdownDescription: "What the machine has, from its inspection; needed with `other_spec` only.",
			Attributes: map[string]schema.Attribute{
				"cpu_millis":    amount("CPU in thousandths of a core: `hardware.cpu.count * 1000`."),
				"memory_bytes":  amount("Memory in bytes."),
				"storage_bytes": amount("Local storage in bytes."),
			},
		},
		"node": nodeAttribute(),
	}}
}

// careAttributes say how carefully devices come and go.
func careAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"force_detach": flag("Do not ask whether processes use a GPU before it is drained, and do without a drain where its host does not answer. Default `false`: a GPU in use is an error that lists the processes or pods. " +
			"With `workload` and `dra` pods that use it are ended (taint `NoExecute`) and waited for. " +
			"The driver itself may still refuse to let go of one that is in use; `skip_drain = \"always\"` takes it away without asking. Changing it touches no device."),
		"skip_drain": choice(string(device.SkipNever), "Whether a device may be detached without draining it on its host: `never` (default), `if_unreachable` (the host does not answer), `always`. "+
			"A host that is powered off, as the fabric says, has nothing to drain.", string(device.SkipNever), string(device.SkipIfUnreachable), string(device.SkipAlways)),
		"driver_check": choice(checkRequired, "`required` (default): a host without a driver gets no device. `skip`: it does. Without a connection to the host nothing of that is checked. With `workload`, `required` also wants the node and the plug-ins in the cluster.", checkRequired, checkSkip),
		"wait_for_visible": schema.BoolAttribute{
			Optional: true, MarkdownDescription: "Whether an apply waits until the host's operating system, and the cluster of `workload`, show each device. Default: yes for hosts with a connection or a cluster.",
		},
		"refresh_node": flag("Whether a refresh also asks the hosts, and the cluster of `workload`, which devices they show. Default `false`: a plan then talks to the fabric only."),
		"detach_first": names("Ids (`device_id` or `fabric_device_id`) of devices that go first when `size` shrinks. Changed in place."),
		"timeouts": schema.SingleNestedAttribute{
			Optional: true, MarkdownDescription: "Limits of each step of one device.",
			Attributes: map[string]schema.Attribute{
				"attach":  duration("Until the fabric shows the device. Default `15m`."),
				"visible": duration("Until the host shows the device. Default `10m`."),
				"drain":   duration("Until the device is out of use on its host. Default `5m`."),
				"detach":  duration("Until the fabric no longer shows the device. Default `15m`."),
			},
		},
	}
}

// choiceAttributes say what to do when things are not as expected.
func choiceAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"existing_devices": choice(string(device.ExistingError), "What to do about devices of this type and model that are on a machine and in no state when devices are attached: "+
			"`error` (default): stop and name them. `adopt`: take them as ours, up to `size`. `ignore`: leave them and attach `size` more.",
			string(device.ExistingError), string(device.ExistingAdopt), string(device.ExistingIgnore)),
		"on_partial": choice(string(device.PartialRollback), "What to do when a create gets fewer devices than wanted: `rollback` (default): detach those that it got. `keep`: leave them attached. "+
			"An update always keeps. Whether it is then an error or a warning, `on_create_failure` says.", string(device.PartialRollback), string(device.PartialKeep)),
		"on_unhealthy": choice(string(device.UnhealthyDetach), "What to do with a device that arrives in a critical state: `detach` (default) and fail, or `keep` it with a warning.",
			string(device.UnhealthyDetach), string(device.UnhealthyKeep)),
		"on_create_failure": choice(failureTaint, "`taint` (default): a failed create is an error, and the next apply replaces what it left. `keep`: it is a warning, `state` is `Degraded`, "+
			"and the next apply goes on in place.", failureTaint, failureKeep),
	}
}
