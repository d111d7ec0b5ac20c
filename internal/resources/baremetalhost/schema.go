// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost

import (
	"context"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/hardwarevalue"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/hintsvalue"
)

// Schema implements [resource.Resource].
func (r *hostResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := map[string]schema.Attribute{}

	for _, part := range []map[string]schema.Attribute{
		identityAttributes(), accessAttributes(), machineAttributes(), deploymentAttributes(), behaviourAttributes(), computedAttributes(),
	} {
		for name, a := range part {
			attributes[name] = a
		}
	}

	attributes["timeouts"] = timeouts.Attributes(ctx, timeouts.Opts{
		Create: true, Read: true, Update: true, Delete: true,
		CreateDescription: "Deadline of a create, without the time at the capacity gate. Default `150m`.",
		UpdateDescription: "Deadline of an update, without the time at the capacity gate. Default `150m`.",
		DeleteDescription: "Deadline of a delete, without the time at the capacity gate. Default `90m`.",
		ReadDescription:   "Deadline of a refresh. Default `2m`.",
	})

	resp.Schema = schema.Schema{
		MarkdownDescription: "A bare-metal host in Ironic, from the address of its BMC to a running machine and back: registered, inspected, " +
			"provisioned with an image, powered, deprovisioned, deleted. It does what Metal3's baremetal-operator does for one `BareMetalHost`, without Kubernetes.",
		Attributes: attributes,
	}
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

var uuidShape = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func stable() []planmodifier.String {
	return []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
}

func oneOf(values ...string) []validator.String {
	return []validator.String{stringvalidator.OneOf(values...)}
}

func text(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, Validators: []validator.String{stringvalidator.LengthAtLeast(1)}, MarkdownDescription: description}
}

func choice(otherwise, description string, values ...string) schema.StringAttribute {
	return schema.StringAttribute{
		Optional: true, Computed: true, Default: stringdefault.StaticString(otherwise), Validators: oneOf(values...), MarkdownDescription: description,
	}
}

func flag(otherwise bool, description string) schema.BoolAttribute {
	return schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(otherwise), MarkdownDescription: description}
}

func texts(description string, keys ...string) schema.MapAttribute {
	v := []validator.Map{mapvalidator.NoNullValues()}
	if len(keys) > 0 {
		v = append(v, mapvalidator.KeysAre(stringvalidator.OneOf(keys...)))
	}

	return schema.MapAttribute{Optional: true, ElementType: types.StringType, Validators: v, MarkdownDescription: description}
}

// identityAttributes say what the host is called and what it is marked with.
func identityAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id": schema.StringAttribute{Computed: true, PlanModifiers: stable(), MarkdownDescription: "UUID of the node in Ironic. It never changes, not even when the node has to be enrolled again."},
		"name": schema.StringAttribute{
			Required: true, MarkdownDescription: "Name of the host: letters, digits, `.`, `_`, `-`, and not a UUID. A change renames in place; a deployed system keeps its host name.",
			Validators: []validator.String{
				stringvalidator.RegexMatches(hostName, "a host's name has only letters, digits, dots, underscores and hyphens"),
				notUUID{},
			},
		},
		"namespace": schema.StringAttribute{
			Optional: true, Computed: true, PlanModifiers: stable(), Validators: []validator.String{stringvalidator.RegexMatches(hostName, "a namespace has only letters, digits, dots, underscores and hyphens")},
			MarkdownDescription: "Namespace of the host. Default: the provider's `namespace`.",
		},
		"node_name":         schema.StringAttribute{Computed: true, PlanModifiers: stable(), MarkdownDescription: "Name of the node in Ironic: `namespace~name`, as the baremetal-operator names it. An imported node keeps its name until `name` or `namespace` changes."},
		"instance_uuid":     schema.StringAttribute{Optional: true, Computed: true, PlanModifiers: stable(), Validators: []validator.String{stringvalidator.RegexMatches(uuidShape, "this must be a UUID")}, MarkdownDescription: "The claim that a deployment puts on the node (`instance_uuid`), and the `uuid` of its metadata. Default: a version 5 UUID of `host/<namespace>/<name>`. A change takes effect at the next deployment."},
		"description":       text("Free text, kept with the node. Changed in place."),
		"labels":            texts("Labels by which data sources and clusters select hosts. Kept in the node's journal, changed in place."),
		"annotations":       texts("Annotations, for whoever reads them. Kept in the node's journal, changed in place."),
		"failure_domain":    text("Failure domain of the host, for clusters that spread machines. Changed in place."),
		"fabric_machine_id": schema.StringAttribute{Optional: true, Computed: true, PlanModifiers: stable(), MarkdownDescription: "Id of the machine in the composable fabric. Default: the system UUID of the inventory."},
	}
}

// accessAttributes say how Ironic reaches the machine.
func accessAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"bmc": schema.SingleNestedAttribute{
			Required: true, MarkdownDescription: "The machine's management controller.",
			Attributes: map[string]schema.Attribute{
				"address": schema.StringAttribute{Required: true, Validators: []validator.String{bmcAddress{}}, MarkdownDescription: "Address in the baremetal-operator's spelling, for instance `redfish-virtualmedia+https://10.0.0.7/redfish/v1/Systems/1` or `ipmi://10.0.0.7`. " +
					"A change rewrites `driver_info` in place and tries it; another scheme changes driver and interfaces, too. No credentials in it."},
				"username": text("User name. Default: the provider's `bmc` settings for this host. Changed in place and tried."),
				"password_wo": schema.StringAttribute{
					Optional: true, Sensitive: true, WriteOnly: true, MarkdownDescription: "Password, never stored in the state. Sent again when `password_wo_version` changes.",
					Validators: []validator.String{needs{"password_wo_version"}},
				},
				"password_wo_version": schema.Int64Attribute{
					Optional: true, MarkdownDescription: "Increase it to send `password_wo` again.",
					Validators: []validator.Int64{needs{"username"}},
				},
				"password": schema.StringAttribute{
					Optional: true, Sensitive: true, MarkdownDescription: "Password, kept in the state; for clients without write-only attributes.",
					Validators: []validator.String{stringvalidator.ConflictsWith(path.MatchRelative().AtParent().AtName("password_wo"))},
				},
				"disable_certificate_verification": schema.BoolAttribute{Optional: true, MarkdownDescription: "Do not verify the BMC's TLS certificate. Default `false`."},
				"verify_ca": schema.StringAttribute{
					Optional: true, MarkdownDescription: "Path, on the conductor, of the CA bundle that signs the BMC's certificate.",
					Validators: []validator.String{stringvalidator.LengthAtLeast(1), stringvalidator.ConflictsWith(path.MatchRelative().AtParent().AtName("disable_certificate_verification"))},
				},
				"driver_info": schema.MapAttribute{Optional: true, Sensitive: true, ElementType: types.StringType, MarkdownDescription: "More keys for the node's `driver_info`, merged last."},
			},
		},
		"interfaces": texts("Interfaces of Ironic by kind, over what the BMC address implies. On a machine that runs they are changed within maintenance.",
			"bios", "boot", "console", "deploy", "firmware", "inspect", "management", "network", "power", "raid", "rescue", "storage", "vendor"),
		"boot_mac_address": schema.StringAttribute{
			CustomType: value.MACType{}, Optional: true, Computed: true,
			PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown(), value.KeepSpelling(value.MAC{})},
			MarkdownDescription: "MAC address that the machine boots from. Required by `libvirt` addresses and where inspection is disabled; else taken from the inventory. Any spelling.",
		},
		"ports": schema.ListNestedAttribute{
			Optional: true, Computed: true, PlanModifiers: []planmodifier.List{listplanmodifier.UseStateForUnknown()}, MarkdownDescription: "Network ports of the node. Default: as inspection found them, and one for `boot_mac_address`. A list that is given is made complete: other ports are removed.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"mac":              schema.StringAttribute{CustomType: value.MACType{}, Required: true, MarkdownDescription: "MAC address."},
				"pxe_enabled":      flag(true, "Whether the machine may boot from this port. Default `true`."),
				"physical_network": text("Physical network that the port is on."),
				"local_link":       texts("The switch's end of the cable (`switch_id`, `port_id`, `switch_info`)."),
			}},
		},
	}
}

// machineAttributes say how the machine itself should be.
func machineAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"boot_mode":               choice("UEFI", "`UEFI`, `UEFISecureBoot` or `legacy`. Default `UEFI`. Takes effect at the next deployment.", "UEFI", "UEFISecureBoot", "legacy"),
		"architecture":            schema.StringAttribute{Optional: true, Computed: true, PlanModifiers: stable(), MarkdownDescription: "CPU architecture (`x86_64`, `aarch64`). Default: as the inventory says."},
		"online":                  flag(true, "Whether the machine should be powered on. `false` also keeps an image from being deployed. Default `true`."),
		"disable_power_off":       flag(false, "Never power the machine off, reboot it instead; deleting leaves it running. Needs Ironic API 1.95. Default `false`."),
		"automated_cleaning_mode": choice("metadata", "`metadata` (erase partition tables before and after each use) or `disabled`. Default `metadata`.", "metadata", "disabled"),
		"inspection_mode":         choice("agent", "`agent` (boot a ramdisk that looks), `fast` (ask the BMC; Redfish only) or `disabled` (then `boot_mac_address` is required). Default `agent`.", "agent", "fast", "disabled"),
		"inspect_trigger":         text("Any text; a change inspects the machine again. Refused while it is provisioned."),
		"preprovisioning_network_data": schema.StringAttribute{
			CustomType: value.DocumentType{}, Optional: true, PlanModifiers: []planmodifier.String{value.KeepSpelling(value.Document{})},
			MarkdownDescription: "Network data (YAML or JSON) of the ramdisk. Changed in place, and cleared when removed.",
		},
		"deploy_image": schema.SingleNestedAttribute{
			Optional: true, MarkdownDescription: "The ramdisk that Ironic boots on this machine. Default: the provider's, else Ironic's own.",
			Attributes: map[string]schema.Attribute{
				"kernel_url":           text("URL of the kernel."),
				"ramdisk_url":          text("URL of the ramdisk; needs `kernel_url`."),
				"iso_url":              text("URL of an ISO, used where the BMC boots one."),
				"kernel_append_params": text("More kernel parameters; `%default%` stands for Ironic's own."),
			},
		},
		"conductor_group": schema.StringAttribute{Optional: true, Computed: true, PlanModifiers: stable(), MarkdownDescription: "Group of conductors that look after the node. Left alone where it is not given."},
		"resource_class":  schema.StringAttribute{Optional: true, Computed: true, PlanModifiers: stable(), MarkdownDescription: "Resource class, for allocations. Left alone where it is not given."},
		"owner":           schema.StringAttribute{Optional: true, Computed: true, PlanModifiers: stable(), MarkdownDescription: "Owner in Ironic. Left alone where it is not given."},
		"traits":          schema.SetAttribute{Optional: true, Computed: true, ElementType: types.StringType, PlanModifiers: []planmodifier.Set{setplanmodifier.UseStateForUnknown()}, MarkdownDescription: "Traits. Left alone where they are not given."},
		"properties":      texts("More `properties` of the node; keys that are not named are left alone."),
	}
}

// deploymentAttributes say what should run on the machine.
func deploymentAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"externally_provisioned": flag(false, "The machine runs what somebody else put on it: only power and settings are managed, it is never inspected, deployed or cleaned. Default `false`."),
		"image": schema.SingleNestedAttribute{
			Optional: true, MarkdownDescription: "Image to deploy. Another image **overwrites the disk** in place, see `reprovision` and `reprovision_on`.",
			Attributes: map[string]schema.Attribute{
				"url":           schema.StringAttribute{Required: true, MarkdownDescription: "URL of the image (`http`, `https`, `file` on the conductor, or `oci`)."},
				"checksum":      text("Checksum, or the URL of a file of checksums. Required unless the URL is `oci://…` or the format `live-iso`."),
				"checksum_type": schema.StringAttribute{Optional: true, Validators: oneOf("md5", "sha256", "sha512", "auto"), MarkdownDescription: "`md5`, `sha256`, `sha512` or `auto`. Default: by the length of the checksum."},
				"format":        schema.StringAttribute{Optional: true, Validators: oneOf("raw", "qcow2", "vdi", "vmdk", "live-iso"), MarkdownDescription: "`raw`, `qcow2`, `vdi`, `vmdk`, or `live-iso` (booted, never written to a disk)."},
				"pull_secret_wo": schema.StringAttribute{
					Optional: true, Sensitive: true, WriteOnly: true, MarkdownDescription: "`user:password` for an `oci://` image, never stored in the state.",
					Validators: []validator.String{needs{"pull_secret_wo_version"}},
				},
				"pull_secret_wo_version": schema.Int64Attribute{Optional: true, MarkdownDescription: "Increase it to use another `pull_secret_wo` from the next deployment on."},
			},
		},
		"custom_deploy": schema.SingleNestedAttribute{
			Optional: true, MarkdownDescription: "A deploy step of the ramdisk that takes the place of writing an image.",
			Attributes: map[string]schema.Attribute{
				"method":   schema.StringAttribute{Required: true, Validators: []validator.String{stringvalidator.LengthAtLeast(1)}, MarkdownDescription: "Name of the step. A change re-provisions."},
				"args":     texts("Arguments of the step."),
				"priority": schema.Int64Attribute{Optional: true, Validators: []validator.Int64{int64validator.Between(1, 99)}, MarkdownDescription: "Priority of the step. Default `80`."},
			},
		},
		"root_device_hints":    hintsvalue.Attribute("Which disk the image goes to; all hints must match. Without hints the ramdisk takes the smallest disk above 4 GiB. Used at the next deployment."),
		"user_data":            schema.StringAttribute{Optional: true, Sensitive: true, MarkdownDescription: "User data of the config drive. A change takes effect at the next deployment, or makes one, see `reprovision_on`."},
		"user_data_wo":         schema.StringAttribute{Optional: true, Sensitive: true, WriteOnly: true, MarkdownDescription: "As `user_data`, never stored in the state.", Validators: []validator.String{stringvalidator.ConflictsWith(path.MatchRoot("user_data")), needs{"user_data_wo_version"}}},
		"user_data_wo_version": schema.Int64Attribute{Optional: true, MarkdownDescription: "Increase it when `user_data_wo` changes."},
		"vendor_data":          document("Vendor data (YAML or JSON) of the config drive."),
		"network_data":         document("Network data (YAML or JSON) of the config drive, in OpenStack's `network_data.json` format."),
		"meta_data":            texts("Metadata of the config drive, over the defaults `uuid`, `name`, `local-hostname`, `local_hostname`, `metal3-name` and `metal3-namespace`."),
	}
}

func document(description string) schema.StringAttribute {
	return schema.StringAttribute{CustomType: value.DocumentType{}, Optional: true, PlanModifiers: []planmodifier.String{value.KeepSpelling(value.Document{})}, MarkdownDescription: description}
}

// behaviourAttributes say what a change may do, and how things end.
func behaviourAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"reprovision": choice("allow", "`allow`, or `deny`: a change that would overwrite the disk is a plan error, and the node is protected in Ironic while it is active. Default `allow`.", "allow", "deny"),
		"reprovision_on": schema.SetAttribute{
			Optional: true, Computed: true, ElementType: types.StringType,
			Default:             setdefault.StaticValue(types.SetValueMust(types.StringType, []attr.Value{types.StringValue(host.OnImageURL), types.StringValue(host.OnImageChecksum), types.StringValue(host.OnImageFormat)})),
			Validators:          []validator.Set{setvalidator.ValueStringsAre(stringvalidator.OneOf(host.ReprovisionKeys...))},
			MarkdownDescription: "Changes that overwrite the disk of a provisioned host: `image_url`, `image_checksum`, `image_format` (the default), `user_data`, `network_data`, `meta_data`, `root_device_hints`, `boot_mode`.",
		},
		"reprovision_triggers":  texts("Any change of these values overwrites the disk of a provisioned host."),
		"reprovision_method":    choice("redeploy", "`redeploy` (undeploy, clean, deploy) or `rebuild` (Ironic's rebuild: no cleaning in between). Default `redeploy`.", "redeploy", "rebuild"),
		"reboot_trigger":        text("Any text; a change reboots the machine once."),
		"reboot_mode":           choice("soft", "`soft` or `hard`. Default `soft`.", "soft", "hard"),
		"deletion_policy":       choice(host.PolicyDeprovision, "`deprovision` (undeploy, clean, power off, delete), `power_off` (power off, delete the record) or `detach` (delete the record, leave the machine running). Default `deprovision`.", host.PolicyDeprovision, host.PolicyPowerOff, host.PolicyDetach),
		"deletion_protection":   flag(false, "Refuse to delete this host. Default `false`."),
		"force_destroy":         flag(false, "Give up on undeploying after four failures and delete the record all the same, as the baremetal-operator does; also deletes a host that a consumer claims. Default `false`."),
		"power_off_on_destroy":  flag(true, "Power the machine off before its record is deleted. Default `true`."),
		"on_create_failure":     choice("taint", "`taint`: a failed create is an error, and Terraform replaces the host at the next apply. `keep`: it is a warning, and the next apply goes on in place; use a `postcondition` on `self.provisioning_state`. Default `taint`.", "taint", "keep"),
		"provisioning_attempts": schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(2), Validators: []validator.Int64{int64validator.Between(1, 10)}, MarkdownDescription: "Deployments that one apply begins before it gives up. Default `2`."},
		"refresh_depth":         choice("list", "`list`: a refresh reads what one list of all nodes gives. `full`: it also reads the inventory and the traits of this host, each time. Default `list`.", "list", "full"),
		"queue_timeout":         schema.StringAttribute{Optional: true, Validators: []validator.String{value.Duration()}, MarkdownDescription: "How long the host may wait at the capacity gate (`provisioning_limit`). Default: no limit."},
		"phase_timeouts":        texts("Deadlines of single phases, such as `{ inspect = \"45m\" }`. Default: none; `timeouts` bounds the whole.", "register", "inspect", "prepare", "provision", "deprovision", "power"),
	}
}

// computedAttributes are what the far side says.
func computedAttributes() map[string]schema.Attribute {
	word := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Computed: true, PlanModifiers: stable(), MarkdownDescription: description}
	}

	return map[string]schema.Attribute{
		"endpoint":           word("Ironic that the host was last seen in."),
		"provisioning_state": word("State in the baremetal-operator's words: `registering`, `inspecting`, `preparing`, `available`, `provisioning`, `provisioned`, `externally provisioned`, `deprovisioning`. A plan shows the state that apply will reach."),
		"operational_status": word("`OK`, `error` or `servicing`."),
		"error_type":         word("Kind of the present error, in the baremetal-operator's words."),
		"error_message":      word("What Ironic says of the present error."),
		"powered_on":         schema.BoolAttribute{Computed: true, PlanModifiers: []planmodifier.Bool{boolplanmodifier.UseStateForUnknown()}, MarkdownDescription: "Whether the machine is powered on; null where that is not known."},
		"health":             word("Health that the BMC reports (`OK`, `Warning`, `Critical`); needs Ironic API 1.109."),
		"ironic_state":       word("Provision state in Ironic's words."),
		"driver":             word("Driver of the node."),
		"unhealthy":          word("Why a cluster does not choose this host any more; null where it is well."),
		"hardware": schema.SingleNestedAttribute{
			Computed: true, Attributes: hardwarevalue.Attributes(), PlanModifiers: []planmodifier.Object{objectplanmodifier.UseStateForUnknown()},
			MarkdownDescription: "Inventory of the machine, in the shape of Metal3's `HardwareData`. Changes only by inspection.",
		},
		"applied": schema.SingleNestedAttribute{
			Computed: true, Attributes: appliedAttributes(), PlanModifiers: []planmodifier.Object{objectplanmodifier.UseStateForUnknown()},
			MarkdownDescription: "What was deployed last, as far as the node and its journal tell.",
		},
		"consumer": schema.SingleNestedAttribute{
			Computed: true, PlanModifiers: []planmodifier.Object{objectplanmodifier.UseStateForUnknown()}, MarkdownDescription: "Who deploys on the host, as its claim says.",
			Attributes: map[string]schema.Attribute{
				"kind": schema.StringAttribute{Computed: true, MarkdownDescription: "`host`, `machine` (of a cluster), or `instance` (somebody else)."},
				"name": schema.StringAttribute{Computed: true, MarkdownDescription: "Name, where it is known."},
				"id":   schema.StringAttribute{Computed: true, MarkdownDescription: "The claim."},
			},
		},
		"conditions": schema.MapAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "Conditions of the baremetal-operator, each as `Status/Reason`."},
	}
}

func appliedAttributes() map[string]schema.Attribute {
	word := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}

	return map[string]schema.Attribute{
		"image": schema.SingleNestedAttribute{Computed: true, MarkdownDescription: "Image.", Attributes: map[string]schema.Attribute{
			"url": word("URL."), "checksum": word("Checksum."), "checksum_type": word("Type of the checksum."), "format": word("Format."),
		}},
		"custom_deploy":       word("Method of a custom deployment."),
		"boot_mode":           word("Boot mode."),
		"root_device_hints":   schema.MapAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "Hints in Ironic's form."},
		"user_data_sha256":    word("SHA-256 of the user data."),
		"network_data_sha256": word("SHA-256 of the network data."),
		"meta_data_sha256":    word("SHA-256 of the metadata."),
		"config_sha256":       word("SHA-256 of all data of the config drive; null where this provider did not deploy the host."),
		"triggers_sha256":     word("SHA-256 of `reprovision_triggers`."),
	}
}
