// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/image"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/hintsvalue"
	at "github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/selectorvalue"
)

// The words of a role's attributes.
const (
	selectOrdered = "ordered"
	selectRandom  = "random"
	selectBestFit = "best_fit"

	strategyRebuild  = "rebuild"
	strategyReplace  = "replace"
	strategyOnDelete = "on_delete"

	reuseNever     = "never"
	reusePreferred = "preferred"
	reuseRequired  = "required"

	drainYes      = "true"
	drainNo       = "false"
	drainRequired = "required"

	victimHighest = "highest_index"
	victimNewest  = "newest"
	victimOldest  = "oldest"
)

// roleAttributes are those of a pool of machines that are alike.
func roleAttributes() map[string]schema.Attribute {
	all := map[string]schema.Attribute{}

	for _, part := range []map[string]schema.Attribute{deployAttributes(), choiceAttributes(), dataAttributes(), nodeAttributes(), changeAttributes()} {
		maps.Copy(all, part)
	}

	return all
}

// controlPlaneAttributes are those of the control plane.
func controlPlaneAttributes() map[string]schema.Attribute {
	all := roleAttributes()
	all["external_etcd"] = at.Flag(false, "etcd runs elsewhere: the number of machines may be even. Default `false`.")

	for which, description := range map[string]string{
		"init": "of the first machine of the control plane, which begins the cluster",
		"join": "of the other machines of the control plane",
	} {
		all[which+"_user_data"] = at.Secret("User data " + description + ". Default: as the role's.")
		all[which+"_user_data_template"] = at.Secret("Template of the user data "+description+". Default: as the role's.", userDataTemplate())
	}

	return all
}

// deployAttributes say how many machines there are, and what is on their disks.
func deployAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"replicas": schema.Int64Attribute{
			Optional: true, Validators: []validator.Int64{int64validator.Between(0, maxReplicas)},
			MarkdownDescription: "How many machines. Required. A control plane has an odd number, unless `external_etcd` is set.",
		},
		"image": schema.SingleNestedAttribute{
			Optional: true, MarkdownDescription: "Image of the machines; it or `custom_deploy` is required. Another image rolls the pool out.",
			Attributes: map[string]schema.Attribute{
				"url":           schema.StringAttribute{Optional: true, MarkdownDescription: "URL of the image (`http`, `https`, `file` on the conductor, or `oci`). Required."},
				"checksum":      at.Text("Checksum, or the URL of a file of checksums. Required unless the URL is `oci://…` or the format `live-iso`."),
				"checksum_type": at.ChoiceOrNone("`md5`, `sha256`, `sha512` or `auto`. Default: by the length of the checksum.", image.ChecksumTypes...),
				"disk_format":   at.ChoiceOrNone("`raw`, `qcow2`, `vdi`, `vmdk`, or `live-iso` (booted, never written to a disk).", image.Formats...),
			},
		},
		"custom_deploy": schema.SingleNestedAttribute{
			Optional: true, MarkdownDescription: "A deploy step of the ramdisk that takes the place of writing an image.",
			Attributes: map[string]schema.Attribute{
				"method": at.Text("Name of the step. Required. Another one rolls the pool out."),
			},
		},
		"root_device_hints":       hintsvalue.Attribute("Which disk the image goes to; all hints must match. A change rolls the pool out."),
		"boot_mode":               at.ChoiceOrNone("`UEFI`, `UEFISecureBoot` or `legacy`. Default: as the host is. A change rolls the pool out.", "UEFI", "UEFISecureBoot", "legacy"),
		"automated_cleaning_mode": at.ChoiceOrNone("`metadata` or `disabled`: set on all hosts of the pool, in place. Default: as the host is.", "metadata", "disabled"),
		"keep_power":              at.Flag(false, "Leave a host on after its release. Default `false`: as it was before its machine came."),
	}
}

// choiceAttributes say which hosts are taken.
func choiceAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"host_selector": selectorAttribute("Labels that a host must have."),
		"min_hardware": schema.SingleNestedAttribute{
			Optional: true, MarkdownDescription: "What a host must have at least.",
			Attributes: map[string]schema.Attribute{
				"cpus":       at.NumberOrNone(1, 1<<20, "Processors."),
				"memory_mib": at.NumberOrNone(1, 1<<40, "Memory in MiB."),
				"root_gib":   at.NumberOrNone(1, 1<<30, "Size of the root disk in GiB."),
				"nics":       at.NumberOrNone(1, 1<<10, "Network interfaces."),
				"arch":       at.Text("CPU architecture, such as `x86_64`."),
			},
		},
		"host_selection": at.Choice(selectOrdered, "Which of several hosts is taken: `ordered` (default; by name, numbers in it as numbers), `random`, or `best_fit` (the smallest memory that suffices).",
			selectOrdered, selectRandom, selectBestFit),
		"spread":         at.Flag(false, "Spread the machines over failure domains; a control plane always is. Default `false`."),
		"failure_domain": at.Text("Failure domain of all machines of the pool."),
		"resource_class": at.Text("Resource class that a host must have."),
		"traits": schema.SetAttribute{
			Optional: true, ElementType: types.StringType, Validators: []validator.Set{setvalidator.NoNullValues()}, MarkdownDescription: "Traits that a host must have.",
		},
		"machine_overrides": schema.MapNestedAttribute{
			Optional: true, MarkdownDescription: "What is different for single machines, by name.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"host_id":        at.Text("Id of the host that the machine must get. One that is there stays where it is until it is replaced."),
				"host_selector":  selectorAttribute("Labels that the machine's host must have, instead of the role's; those of `host_pool` it must have, too. A machine that is there stays where it is until it is replaced."),
				"user_data":      at.Secret("User data of the machine, instead of the role's. A change rolls the machine out."),
				"failure_domain": at.Text("Failure domain of the machine, instead of the role's. A machine that is there stays where it is until it is replaced."),
				"labels":         at.TextMap("Labels of the machine's node, over the role's, set in place."),
				"addresses":      at.TextMap("Addresses of the machine by pool, instead of those that the pool would give. A machine that is there keeps those that it has until it is made again; a plan says so."),
			}},
		},
	}
}

// dataAttributes say what a machine finds on its config drive.
func dataAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"user_data":            at.Secret("User data of all machines, as it is. A change rolls the pool out."),
		"user_data_template":   at.Secret("Template that is rendered for each machine: Go's text/template between `<<` and `>>`, for instance `<< .Machine.Name >>`. A change rolls the pool out.", userDataTemplate()),
		"user_data_wo":         at.WriteOnly("As `user_data`, never stored in the state.", stringvalidator.AlsoRequires(sibling("user_data_wo_version"))),
		"user_data_wo_version": schema.Int64Attribute{Optional: true, MarkdownDescription: "Increase it when `user_data_wo` changes: that rolls the pool out."},
		"meta_data":            at.TextMap("Metadata, over what the data template gives. A change rolls the pool out."),
		"data_template":        at.Text("Data template: `json` of the data source `metal3_data_template`. A change rolls the pool out.", dataTemplate()),
		"failure_domain_data_templates": at.TextMap(
			"Data templates by failure domain, for machines whose host is there, instead of `data_template`.", mapOf(dataTemplate())),
		"network_data_json": at.Text("Network data as it is, in OpenStack's `network_data.json` format, instead of the data template's.", jsonObject()),
		"ip_index_offset":   at.Number(0, 0, 1<<40, "Is added to the index of a machine when addresses are counted: it keeps pools of machines that share a pool of addresses apart. Default `0`."),
	}
}

// nodeAttributes are about nodes of the workload cluster, and commands on machines.
func nodeAttributes() map[string]schema.Attribute {
	commands := func(description string) schema.ListAttribute {
		return at.Texts(description, listvalidator.SizeAtLeast(1))
	}

	return map[string]schema.Attribute{
		"node_labels":      at.TextMap("Labels of nodes, set in place through the workload cluster's API.", labelKeys()),
		"node_annotations": at.TextMap("Annotations of nodes, set in place.", labelKeys()),
		"node_taints": schema.ListNestedAttribute{
			Optional: true, MarkdownDescription: "Taints of nodes, set in place.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"key":    at.Text("Key. Required.", labelKey()),
				"value":  at.TextOr("", "Value. Default: empty.", labelValue()),
				"effect": at.ChoiceOrNone("`NoSchedule`, `PreferNoSchedule` or `NoExecute`. Required.", "NoSchedule", "PreferNoSchedule", "NoExecute"),
			}},
		},
		"hooks": schema.SingleNestedAttribute{
			Optional: true, MarkdownDescription: "Commands that are run on a machine over SSH.",
			Attributes: map[string]schema.Attribute{
				"post_provision": commands("After the machine was deployed: once for each deployment, as soon as it answers, and after its node has come where that is waited for. A command that fails is an error, and the next apply runs all of them again. Machines that are there already are left alone."),
				"pre_deprovision": commands("Before it is taken off its host, or its root disk is written again; not when the whole cluster is destroyed. " +
					"A command that fails keeps the machine where it is; on a machine that is off or does not answer they are left out, with a warning. " +
					"Default with `bootstrap.kubeadm` and a connection: `kubeadm reset -f`, for two minutes at most, whose failure is only a warning."),
				"connection": schema.SingleNestedAttribute{
					Optional: true, Attributes: connectionvalue.Attributes(remote.SSH),
					MarkdownDescription: "How machines are reached. `host` is left out: it is the machine's first address. Default: the provider's `ssh`.",
				},
			},
		},
	}
}

// changeAttributes say how machines change.
func changeAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"node_reuse": at.Choice(reuseNever, "Whether a machine that is replaced keeps its host: `never` (default), `preferred` (where it is still free) or `required` (the host is marked as retired and held in between, so that nobody takes it). "+
			"With automated cleaning disabled `required` is best effort: Ironic then offers the host for a moment, and only machines of this provider keep off; where somebody else was faster, the machine gets none and the apply fails. "+
			"A machine that is made beside others (`rollout.max_surge`) has another host anyway.",
			reuseNever, reusePreferred, reuseRequired),
		"rollout": at.Section("How machines change that are no longer as configured.", map[string]schema.Attribute{
			"strategy": at.Choice(strategyReplace, "`replace` (default): the host is undeployed, and the machine made again; refused where no host would be left for it. `rebuild`: the root disk is written again on the same host, other disks stay. "+
				"`on_delete`: a machine stays as it is until it is made again for another reason.", strategyReplace, strategyRebuild, strategyOnDelete),
			"max_surge": at.TextOr("0", "Machines more than `replicas` in between, as a number or a percentage that is rounded up. Of a control plane 0 or 1. "+
				"Where no host is free for one, machines go before they are made again, as far as `max_unavailable` lets them, and a warning says so. Default `0`.", amount()),
			"max_unavailable": at.TextOr("1", "Machines that may be missing in between, as a number or a percentage that is rounded down. Default `1`.", amount()),
			"drain": at.Choice(drainYes, "Whether nodes are drained first: `true` (default; left out with a warning where the API cannot be reached), `false`, or `required`. It needs a `wait.level` of `registered` or `nodes`.",
				drainYes, drainNo, drainRequired),
			"drain_timeout": at.DurationOrNone("How long a drain may take. Default: `timeouts.drain`."),
			"pause_between": at.DurationOrNone("How long to wait after each machine. Default: not at all."),
			"allow_disruption": at.Flag(false, "Roll a control plane out although that may interrupt or end it: one with its own etcd that has fewer than three machines and no surge, "+
				"or one whose other machines cannot be asked whether they are well (no `workload_api`, or nobody answers there). Default `false`."),
		}),
		"scale_in_policy": at.Choice(victimHighest, "Which machines go when there are to be fewer, after those of `delete_machines` and unhealthy ones: `highest_index` (default), `newest` or `oldest`.",
			victimHighest, victimNewest, victimOldest),
	}
}

func selectorAttribute(description string) schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: description + " " + selectorvalue.Terms,
		Attributes: map[string]schema.Attribute{
			"match_labels": at.TextMap(selectorvalue.MatchLabels),
			"match_expressions": schema.ListNestedAttribute{
				Optional: true, MarkdownDescription: selectorvalue.MatchExpressions,
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"key":      schema.StringAttribute{Optional: true, MarkdownDescription: selectorvalue.Key},
					"operator": schema.StringAttribute{Optional: true, MarkdownDescription: selectorvalue.Operators + " Required."},
					"values": schema.SetAttribute{
						Optional: true, ElementType: types.StringType, Validators: []validator.Set{setvalidator.NoNullValues()}, MarkdownDescription: selectorvalue.Values,
					},
				}},
			},
		},
	}
}
