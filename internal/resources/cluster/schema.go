// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	at "github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

// The words of attributes that choose.
const (
	failureKeep     = "keep"
	failureTaint    = "taint"
	failureRollback = "rollback"

	insufficientError   = "error"
	insufficientPartial = "partial"

	hostErrorRetry = "retry_other"
	hostErrorFail  = "fail"

	domainsPreferred = "preferred"
	domainsRequired  = "required"
)

// Bounds of numbers.
const (
	maxReplicas = 5000
	maxPort     = 65535
	apiPort     = 6443
)

// Schema implements [resource.Resource].
func (r *clusterResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A Kubernetes cluster on bare metal: machines of a control plane and of pools of workers, each on a host of Ironic that is chosen, claimed, deployed with its own " +
			"user data, metadata and network data, and joined. It does what Cluster API Provider Metal3 does, and `terraform apply` is its controller. " +
			"A cluster of which something failed stays in the state with `ready = false`, and the next apply goes on; give it a `postcondition` on `self.ready` to have the run fail.",
		Attributes: topAttributes(),
	}
}

// topAttributes are all attributes of the resource.
func topAttributes() map[string]schema.Attribute {
	all := map[string]schema.Attribute{}

	for _, part := range []map[string]schema.Attribute{
		identityAttributes(), placeAttributes(), machineAttributes(), policyAttributes(), careAttributes(), computedAttributes(),
	} {
		maps.Copy(all, part)
	}

	return all
}

// identityAttributes say which cluster it is. None of them ever changes: another value is a
// plan error, because a replacement would end the cluster.
func identityAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"name": schema.StringAttribute{
			Required: true, Validators: []validator.String{clusterName()},
			MarkdownDescription: "Name of the cluster: a DNS label of at most 40 characters. Names of machines begin with it. It cannot be changed.",
		},
		"namespace": schema.StringAttribute{
			Optional: true, Computed: true, Validators: []validator.String{dnsLabel()},
			PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			MarkdownDescription: "Namespace of the cluster: part of its id, of claims and of provider ids. Default: the provider's `namespace`. It cannot be changed.",
		},
		"control_plane_endpoint": schema.SingleNestedAttribute{
			Required: true, MarkdownDescription: "Where the API of the cluster is reached. It cannot be changed.",
			Attributes: map[string]schema.Attribute{
				"host": schema.StringAttribute{
					Required: true, Validators: []validator.String{endpointHost()},
					MarkdownDescription: "Name or address, without scheme, port and brackets.",
				},
				"port": at.Number(apiPort, 1, maxPort, "Port. Default `6443`."),
			},
		},
		"cloud_provider_enabled": at.Flag(false, "A cloud provider in the cluster sets the provider ids of nodes: this resource does not. Default `false`."),
		"adopt_existing": at.Flag(false, "Go on with machines of a cluster of the same namespace and name that Ironic has and that no state knows. "+
			"Default `false`: a create that finds some is refused."),
	}
}

// placeAttributes say from what the cluster is made.
func placeAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"host_pool": at.Section("Which hosts the cluster may take. Default: all that are available.", map[string]schema.Attribute{
			"host_ids": schema.SetAttribute{
				Optional: true, ElementType: types.StringType, Validators: []validator.Set{setvalidator.NoNullValues()},
				MarkdownDescription: "Ids of hosts. Naming the hosts of `metal3_baremetal_host` resources here makes Terraform create them first and destroy them last.",
			},
			"host_names": schema.SetAttribute{
				Optional: true, ElementType: types.StringType, Validators: []validator.Set{setvalidator.NoNullValues()},
				MarkdownDescription: "Names of hosts.",
			},
			"selector": selectorAttribute("Labels that a host must have."),
		}),
		"failure_domains": schema.MapNestedAttribute{
			Optional: true, Validators: []validator.Map{mapvalidator.KeysAre(stringvalidator.LengthBetween(1, 256))},
			MarkdownDescription: "Failure domains by name, as `failure_domain` of hosts names them.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"control_plane": at.Flag(true, "Whether machines of the control plane may be there. Default `true`."),
				"attributes":    at.TextMap("Whatever else is to be said about it."),
			}},
		},
		"failure_domain_policy": at.Choice(domainsPreferred, "`preferred` (default): machines are spread over failure domains as far as there are hosts. `required`: a machine without a host in its domain gets none.",
			domainsPreferred, domainsRequired),
		"ip_pools": schema.MapNestedAttribute{
			Optional: true, Validators: []validator.Map{mapvalidator.KeysAre(poolName())},
			MarkdownDescription: "Pools of addresses by name, for data templates. A machine has one address of each pool that its data template names.",
			NestedObject:        schema.NestedAttributeObject{Attributes: poolAttributes()},
		},
	}
}

// machineAttributes say which machines there are to be.
func machineAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"control_plane": schema.SingleNestedAttribute{
			Optional: true, Attributes: controlPlaneAttributes(),
			MarkdownDescription: "Machines of the control plane. Leave it out for workers that join a cluster that is there.",
		},
		"workers": schema.MapNestedAttribute{
			Optional: true, Validators: []validator.Map{mapvalidator.KeysAre(workerPoolName())},
			MarkdownDescription: "Pools of workers by name. The name is at most 20 letters, digits and dashes. Machines of a pool that is taken out leave as it said last: " +
				"its `hooks` with their `connection`, how `rollout` drains, and `keep_power` are taken from the state. What is not in the state is as it is now: the provider's `ssh` " +
				"(without it, and without a `connection`, hooks cannot be run and the machines stay), and files on the machine that runs Terraform.",
			NestedObject: schema.NestedAttributeObject{Attributes: roleAttributes()},
		},
		"bootstrap":    bootstrapAttribute(),
		"workload_api": workloadAttribute(),
		"machine_name_format": at.Text("How machines are called, with `{cluster}`, `{pool}` (`cp` for the control plane) and `{index}` in it. Default: `{cluster}-{pool}-{index}`. It cannot be changed.",
			nameFormat()),
	}
}

// careAttributes say what an apply may do, and how things end.
func careAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"deletion_protection": at.Flag(false, "Refuse to destroy the cluster. Default `false`."),
		"max_deprovision_per_apply": schema.Int64Attribute{
			Optional: true, Validators: []validator.Int64{int64validator.AtLeast(0)},
			MarkdownDescription: "The most machines that one apply may take off their hosts or image again. A plan with more is an error. Default: no limit.",
		},
		"delete_machines": schema.SetAttribute{
			Optional: true, ElementType: types.StringType, Validators: []validator.Set{setvalidator.NoNullValues()},
			MarkdownDescription: "Machines that go first when there are to be fewer.",
		},
		"on_insufficient_hosts": at.Choice(insufficientError, "`error` (default): nothing is claimed where hosts do not suffice for all machines. `partial`: as many machines as there are hosts for.",
			insufficientError, insufficientPartial),
		"on_host_error": at.Choice(hostErrorRetry, "What happens when a host cannot be deployed. `retry_other` (default): it is marked unhealthy, and the machine goes to another one. `fail`: the machine stays in error.",
			hostErrorRetry, hostErrorFail),
		"host_retries": at.Number(2, 0, 10, "How many other hosts an apply tries for a machine. Default `2`."),
		"on_create_failure": at.Choice(failureKeep, "What a create does that does not finish. `keep` (default): once a machine is claimed it is a warning, `ready` is false, and the next apply goes on in place. "+
			"`rollback`: everything is released, and it is an error. `taint`: it is an error, and the next apply destroys the cluster and makes it again.",
			failureKeep, failureRollback, failureTaint),
		"label_sync_prefixes": schema.SetAttribute{
			Optional: true, ElementType: types.StringType, Validators: []validator.Set{setvalidator.NoNullValues(), setvalidator.ValueStringsAre(labelPrefix())},
			MarkdownDescription: "Prefixes of labels that nodes get from their hosts, such as `topology.example.com`: labels with these prefixes are added, changed and removed as they are on the host. " +
				"`kubernetes.io`, `k8s.io` and what is below them are refused; empty ones are ignored.",
		},
		"rollout_order": at.Texts("In which order pools are rolled out: `control_plane` and names of worker pools. Default: the control plane first, then the pools by name.", listvalidator.UniqueValues()),
	}
}
