// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost

import (
	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// model is the resource in Go. Nested objects stay framework values, because at plan a
// whole object may be unknown; the structs below read them once they are known.
type model struct {
	ID              types.String `tfsdk:"id"`
	Name            types.String `tfsdk:"name"`
	Namespace       types.String `tfsdk:"namespace"`
	NodeName        types.String `tfsdk:"node_name"`
	InstanceUUID    types.String `tfsdk:"instance_uuid"`
	Description     types.String `tfsdk:"description"`
	Labels          types.Map    `tfsdk:"labels"`
	Annotations     types.Map    `tfsdk:"annotations"`
	FailureDomain   types.String `tfsdk:"failure_domain"`
	FabricMachineID types.String `tfsdk:"fabric_machine_id"`

	BMC            types.Object `tfsdk:"bmc"`
	Interfaces     types.Map    `tfsdk:"interfaces"`
	BootMACAddress value.MAC    `tfsdk:"boot_mac_address"`
	Ports          types.List   `tfsdk:"ports"`

	BootMode              types.String   `tfsdk:"boot_mode"`
	Architecture          types.String   `tfsdk:"architecture"`
	Online                types.Bool     `tfsdk:"online"`
	DisablePowerOff       types.Bool     `tfsdk:"disable_power_off"`
	AutomatedCleaningMode types.String   `tfsdk:"automated_cleaning_mode"`
	InspectionMode        types.String   `tfsdk:"inspection_mode"`
	InspectTrigger        types.String   `tfsdk:"inspect_trigger"`
	PreNetworkData        value.Document `tfsdk:"preprovisioning_network_data"`
	DeployImage           types.Object   `tfsdk:"deploy_image"`
	ConductorGroup        types.String   `tfsdk:"conductor_group"`
	ResourceClass         types.String   `tfsdk:"resource_class"`
	Owner                 types.String   `tfsdk:"owner"`
	Traits                types.Set      `tfsdk:"traits"`
	Properties            types.Map      `tfsdk:"properties"`

	ExternallyProvisioned types.Bool     `tfsdk:"externally_provisioned"`
	Image                 types.Object   `tfsdk:"image"`
	CustomDeploy          types.Object   `tfsdk:"custom_deploy"`
	RootDeviceHints       types.Object   `tfsdk:"root_device_hints"`
	UserData              types.String   `tfsdk:"user_data"`
	UserDataWO            types.String   `tfsdk:"user_data_wo"`
	UserDataWOVersion     types.Int64    `tfsdk:"user_data_wo_version"`
	VendorData            value.Document `tfsdk:"vendor_data"`
	NetworkData           value.Document `tfsdk:"network_data"`
	MetaData              types.Map      `tfsdk:"meta_data"`

	Reprovision          types.String `tfsdk:"reprovision"`
	ReprovisionOn        types.Set    `tfsdk:"reprovision_on"`
	ReprovisionTriggers  types.Map    `tfsdk:"reprovision_triggers"`
	ReprovisionMethod    types.String `tfsdk:"reprovision_method"`
	RebootTrigger        types.String `tfsdk:"reboot_trigger"`
	RebootMode           types.String `tfsdk:"reboot_mode"`
	DeletionPolicy       types.String `tfsdk:"deletion_policy"`
	DeletionProtection   types.Bool   `tfsdk:"deletion_protection"`
	ForceDestroy         types.Bool   `tfsdk:"force_destroy"`
	PowerOffOnDestroy    types.Bool   `tfsdk:"power_off_on_destroy"`
	OnCreateFailure      types.String `tfsdk:"on_create_failure"`
	ProvisioningAttempts types.Int64  `tfsdk:"provisioning_attempts"`
	RefreshDepth         types.String `tfsdk:"refresh_depth"`
	QueueTimeout         types.String `tfsdk:"queue_timeout"`
	PhaseTimeouts        types.Map    `tfsdk:"phase_timeouts"`

	Endpoint          types.String `tfsdk:"endpoint"`
	ProvisioningState types.String `tfsdk:"provisioning_state"`
	OperationalStatus types.String `tfsdk:"operational_status"`
	ErrorType         types.String `tfsdk:"error_type"`
	ErrorMessage      types.String `tfsdk:"error_message"`
	PoweredOn         types.Bool   `tfsdk:"powered_on"`
	Health            types.String `tfsdk:"health"`
	IronicState       types.String `tfsdk:"ironic_state"`
	Driver            types.String `tfsdk:"driver"`
	Unhealthy         types.String `tfsdk:"unhealthy"`
	Hardware          types.Object `tfsdk:"hardware"`
	Applied           types.Object `tfsdk:"applied"`
	Consumer          types.Object `tfsdk:"consumer"`
	Conditions        types.Map    `tfsdk:"conditions"`

	Timeouts timeouts.Value `tfsdk:"timeouts"`
}

type bmcModel struct {
	Address           types.String `tfsdk:"address"`
	Username          types.String `tfsdk:"username"`
	PasswordWO        types.String `tfsdk:"password_wo"`
	PasswordWOVersion types.Int64  `tfsdk:"password_wo_version"`
	Password          types.String `tfsdk:"password"`
	DisableVerify     types.Bool   `tfsdk:"disable_certificate_verification"`
	VerifyCA          types.String `tfsdk:"verify_ca"`
	DriverInfo        types.Map    `tfsdk:"driver_info"`
}

type imageModel struct {
	URL                 types.String `tfsdk:"url"`
	Checksum            types.String `tfsdk:"checksum"`
	ChecksumType        types.String `tfsdk:"checksum_type"`
	Format              types.String `tfsdk:"format"`
	PullSecretWO        types.String `tfsdk:"pull_secret_wo"`
	PullSecretWOVersion types.Int64  `tfsdk:"pull_secret_wo_version"`
}

type customDeployModel struct {
	Method   types.String `tfsdk:"method"`
	Args     types.Map    `tfsdk:"args"`
	Priority types.Int64  `tfsdk:"priority"`
}

type deployImageModel struct {
	KernelURL          types.String `tfsdk:"kernel_url"`
	RamdiskURL         types.String `tfsdk:"ramdisk_url"`
	ISOURL             types.String `tfsdk:"iso_url"`
	KernelAppendParams types.String `tfsdk:"kernel_append_params"`
}

type portModel struct {
	MAC             value.MAC    `tfsdk:"mac"`
	PXEEnabled      types.Bool   `tfsdk:"pxe_enabled"`
	PhysicalNetwork types.String `tfsdk:"physical_network"`
	LocalLink       types.Map    `tfsdk:"local_link"`
}

type appliedModel struct {
	Image        types.Object `tfsdk:"image"`
	CustomDeploy types.String `tfsdk:"custom_deploy"`
	BootMode     types.String `tfsdk:"boot_mode"`
	RootHints    types.Map    `tfsdk:"root_device_hints"`
	UserData     types.String `tfsdk:"user_data_sha256"`
	NetworkData  types.String `tfsdk:"network_data_sha256"`
	MetaData     types.String `tfsdk:"meta_data_sha256"`
	Config       types.String `tfsdk:"config_sha256"`
	Triggers     types.String `tfsdk:"triggers_sha256"`
}

type appliedImageModel struct {
	URL          types.String `tfsdk:"url"`
	Checksum     types.String `tfsdk:"checksum"`
	ChecksumType types.String `tfsdk:"checksum_type"`
	Format       types.String `tfsdk:"format"`
}

type consumerModel struct {
	Kind types.String `tfsdk:"kind"`
	Name types.String `tfsdk:"name"`
	ID   types.String `tfsdk:"id"`
}

var (
	pathBMC      = path.Root("bmc")
	pathAddress  = pathBMC.AtName("address")
	pathPassword = pathBMC.AtName("password_wo")
	pathUsername = pathBMC.AtName("username")
	pathImage    = path.Root("image")
	pathBootMAC  = path.Root("boot_mac_address")
)
