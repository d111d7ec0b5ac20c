// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
)

// This file holds the parts of the model, as the framework reads them.

type endpointModel struct {
	Host types.String `tfsdk:"host"`
	Port types.Int64  `tfsdk:"port"`
}

type hostPoolModel struct {
	HostIDs   types.Set    `tfsdk:"host_ids"`
	HostNames types.Set    `tfsdk:"host_names"`
	Selector  types.Object `tfsdk:"selector"`
}

type domainModel struct {
	ControlPlane types.Bool `tfsdk:"control_plane"`
	Attributes   types.Map  `tfsdk:"attributes"`
}

type poolModel struct {
	Ranges         types.List   `tfsdk:"ranges"`
	Prefix         types.Int64  `tfsdk:"prefix"`
	Gateway        types.String `tfsdk:"gateway"`
	DNS            types.List   `tfsdk:"dns_servers"`
	Allocation     types.String `tfsdk:"allocation"`
	Step           types.Int64  `tfsdk:"step"`
	PreAllocations types.Map    `tfsdk:"pre_allocations"`
	By             types.String `tfsdk:"by"`
	Exclude        types.List   `tfsdk:"exclude"`
}

type rangeModel struct {
	Start   types.String `tfsdk:"start"`
	End     types.String `tfsdk:"end"`
	Subnet  types.String `tfsdk:"subnet"`
	Prefix  types.Int64  `tfsdk:"prefix"`
	Gateway types.String `tfsdk:"gateway"`
	DNS     types.List   `tfsdk:"dns"`
}

type roleModel struct {
	Replicas     types.Int64  `tfsdk:"replicas"`
	Image        types.Object `tfsdk:"image"`
	CustomDeploy types.Object `tfsdk:"custom_deploy"`
	RootHints    types.Object `tfsdk:"root_device_hints"`
	BootMode     types.String `tfsdk:"boot_mode"`
	CleaningMode types.String `tfsdk:"automated_cleaning_mode"`
	KeepPower    types.Bool   `tfsdk:"keep_power"`

	Selector      types.Object `tfsdk:"host_selector"`
	MinHardware   types.Object `tfsdk:"min_hardware"`
	Selection     types.String `tfsdk:"host_selection"`
	Spread        types.Bool   `tfsdk:"spread"`
	FailureDomain types.String `tfsdk:"failure_domain"`
	ResourceClass types.String `tfsdk:"resource_class"`
	Traits        types.Set    `tfsdk:"traits"`
	Overrides     types.Map    `tfsdk:"machine_overrides"`

	UserData            types.String `tfsdk:"user_data"`
	UserDataTemplate    types.String `tfsdk:"user_data_template"`
	UserDataWO          types.String `tfsdk:"user_data_wo"`
	UserDataWOVersion   types.Int64  `tfsdk:"user_data_wo_version"`
	MetaData            types.Map    `tfsdk:"meta_data"`
	DataTemplate        types.String `tfsdk:"data_template"`
	DomainDataTemplates types.Map    `tfsdk:"failure_domain_data_templates"`
	NetworkDataJSON     types.String `tfsdk:"network_data_json"`
	IPIndexOffset       types.Int64  `tfsdk:"ip_index_offset"`

	NodeLabels      types.Map    `tfsdk:"node_labels"`
	NodeAnnotations types.Map    `tfsdk:"node_annotations"`
	NodeTaints      types.List   `tfsdk:"node_taints"`
	Hooks           types.Object `tfsdk:"hooks"`

	NodeReuse     types.String `tfsdk:"node_reuse"`
	Rollout       types.Object `tfsdk:"rollout"`
	ScaleInPolicy types.String `tfsdk:"scale_in_policy"`
}

type controlPlaneModel struct {
	roleModel

	ExternalEtcd         types.Bool   `tfsdk:"external_etcd"`
	InitUserData         types.String `tfsdk:"init_user_data"`
	InitUserDataTemplate types.String `tfsdk:"init_user_data_template"`
	JoinUserData         types.String `tfsdk:"join_user_data"`
	JoinUserDataTemplate types.String `tfsdk:"join_user_data_template"`
}

type imageModel struct {
	URL          types.String `tfsdk:"url"`
	Checksum     types.String `tfsdk:"checksum"`
	ChecksumType types.String `tfsdk:"checksum_type"`
	DiskFormat   types.String `tfsdk:"disk_format"`
}

type customDeployModel struct {
	Method types.String `tfsdk:"method"`
}

type hardwareModel struct {
	CPUs      types.Int64  `tfsdk:"cpus"`
	MemoryMiB types.Int64  `tfsdk:"memory_mib"`
	RootGiB   types.Int64  `tfsdk:"root_gib"`
	NICs      types.Int64  `tfsdk:"nics"`
	Arch      types.String `tfsdk:"arch"`
}

type overrideModel struct {
	HostID        types.String `tfsdk:"host_id"`
	Selector      types.Object `tfsdk:"host_selector"`
	UserData      types.String `tfsdk:"user_data"`
	FailureDomain types.String `tfsdk:"failure_domain"`
	Labels        types.Map    `tfsdk:"labels"`
	Addresses     types.Map    `tfsdk:"addresses"`
}

type taintModel struct {
	Key    types.String `tfsdk:"key"`
	Value  types.String `tfsdk:"value"`
	Effect types.String `tfsdk:"effect"`
}

type hooksModel struct {
	PostProvision  types.List   `tfsdk:"post_provision"`
	PreDeprovision types.List   `tfsdk:"pre_deprovision"`
	Connection     types.Object `tfsdk:"connection"`
}

type rolloutModel struct {
	Strategy        types.String `tfsdk:"strategy"`
	MaxSurge        types.String `tfsdk:"max_surge"`
	MaxUnavailable  types.String `tfsdk:"max_unavailable"`
	Drain           types.String `tfsdk:"drain"`
	DrainTimeout    types.String `tfsdk:"drain_timeout"`
	PauseBetween    types.String `tfsdk:"pause_between"`
	AllowDisruption types.Bool   `tfsdk:"allow_disruption"`
}

type workloadModel struct {
	Kubeconfig     types.String `tfsdk:"kubeconfig"`
	KubeconfigPath types.String `tfsdk:"kubeconfig_path"`
	Context        types.String `tfsdk:"context"`
	FromBootstrap  types.Bool   `tfsdk:"from_bootstrap"`
	SSH            types.Object `tfsdk:"ssh"`
	CA             types.String `tfsdk:"ca"`
	Insecure       types.Bool   `tfsdk:"insecure"`
}

type sshModel struct {
	connectionvalue.Model

	Path types.String `tfsdk:"path"`
}

type waitModel struct {
	Level       types.String `tfsdk:"level"`
	APITimeout  types.String `tfsdk:"api_timeout"`
	NodeTimeout types.String `tfsdk:"node_timeout"`
	Settle      types.String `tfsdk:"settle"`
}

type parallelismModel struct {
	Provision   types.Int64 `tfsdk:"provision"`
	Deprovision types.Int64 `tfsdk:"deprovision"`
	Reboot      types.Int64 `tfsdk:"reboot"`
}

type remediationModel struct {
	Enabled            types.Bool   `tfsdk:"enabled"`
	UnhealthyTimeout   types.String `tfsdk:"unhealthy_timeout"`
	NodeStartupTimeout types.String `tfsdk:"node_startup_timeout"`
	RetryLimit         types.Int64  `tfsdk:"retry_limit"`
	Timeout            types.String `tfsdk:"timeout"`
	MaxUnhealthy       types.String `tfsdk:"max_unhealthy"`
	Strategy           types.String `tfsdk:"strategy"`
	OnFailure          types.String `tfsdk:"on_failure"`
	Fence              types.String `tfsdk:"fence"`
}

type timeoutsModel struct {
	Create      types.String `tfsdk:"create"`
	Update      types.String `tfsdk:"update"`
	Delete      types.String `tfsdk:"delete"`
	Read        types.String `tfsdk:"read"`
	Provision   types.String `tfsdk:"provision"`
	Deprovision types.String `tfsdk:"deprovision"`
	Drain       types.String `tfsdk:"drain"`
}
