// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
)

// model is the provider block.
type model struct {
	Ironic    types.Object `tfsdk:"ironic"`
	Fabric    types.Object `tfsdk:"fabric"`
	BMC       types.Object `tfsdk:"bmc"`
	SSH       types.Object `tfsdk:"ssh"`
	Namespace types.String `tfsdk:"namespace"`
	OwnerID   types.String `tfsdk:"owner_id"`
	Lab       types.Object `tfsdk:"lab"`
}

type ironicModel struct {
	Endpoint          types.String `tfsdk:"endpoint"`
	Auth              types.String `tfsdk:"auth"`
	Cloud             types.String `tfsdk:"cloud"`
	Username          types.String `tfsdk:"username"`
	Password          types.String `tfsdk:"password"`
	CACertFile        types.String `tfsdk:"ca_cert_file"`
	ClientCertFile    types.String `tfsdk:"client_cert_file"`
	ClientKeyFile     types.String `tfsdk:"client_key_file"`
	Insecure          types.Bool   `tfsdk:"insecure"`
	Timeout           types.String `tfsdk:"timeout"`
	ProvisioningLimit types.Int64  `tfsdk:"provisioning_limit"`
	DeployKernelURL   types.String `tfsdk:"deploy_kernel_url"`
	DeployRamdiskURL  types.String `tfsdk:"deploy_ramdisk_url"`
	DeployISOURL      types.String `tfsdk:"deploy_iso_url"`
}

type bmcModel struct {
	Username types.String `tfsdk:"username"`
	Password types.String `tfsdk:"password"`
	Hosts    types.Map    `tfsdk:"hosts"`
	Access   types.String `tfsdk:"access"`
}

type credentialsModel struct {
	Username types.String `tfsdk:"username"`
	Password types.String `tfsdk:"password"`
}

type labModel struct {
	Dir        types.String `tfsdk:"dir"`
	Machines   types.Int64  `tfsdk:"machines"`
	Pace       types.String `tfsdk:"pace"`
	FabricType types.String `tfsdk:"fabric_type"`
	GPUs       types.Map    `tfsdk:"gpus"`
}

type fabricModel struct {
	Type               types.String `tfsdk:"type"`
	Endpoint           types.String `tfsdk:"endpoint"`
	LayoutEndpoint     types.String `tfsdk:"layout_endpoint"`
	TenantID           types.String `tfsdk:"tenant_id"`
	ClusterID          types.String `tfsdk:"cluster_id"`
	Auth               types.Object `tfsdk:"auth"`
	CACertPEM          types.String `tfsdk:"ca_cert_pem"`
	CACertFile         types.String `tfsdk:"ca_cert_file"`
	TLSServerName      types.String `tfsdk:"tls_server_name"`
	InsecureSkipVerify types.Bool   `tfsdk:"insecure_skip_verify"`
	AllowPlainHTTP     types.Bool   `tfsdk:"allow_plain_http"`
	RequestTimeout     types.String `tfsdk:"request_timeout"`
	MutateTimeout      types.String `tfsdk:"mutate_timeout"`
	PollInterval       types.String `tfsdk:"poll_interval"`
	ModelColumn        types.String `tfsdk:"model_column"`
	BusyErrorCodes     types.Set    `tfsdk:"busy_error_codes"`
	CapacityErrorCodes types.Set    `tfsdk:"capacity_error_codes"`
	JournalDir         types.String `tfsdk:"journal_dir"`
}

type authModel struct {
	Realm        types.String `tfsdk:"realm"`
	ClientID     types.String `tfsdk:"client_id"`
	ClientSecret types.String `tfsdk:"client_secret"`
	Username     types.String `tfsdk:"username"`
	Password     types.String `tfsdk:"password"`
}

type sshModel struct {
	User           types.String `tfsdk:"user"`
	PrivateKey     types.String `tfsdk:"private_key"`
	PrivateKeyFile types.String `tfsdk:"private_key_file"`
	Password       types.String `tfsdk:"password"`
	Agent          types.Bool   `tfsdk:"agent"`
	KnownHostsFile types.String `tfsdk:"known_hosts_file"`
	Bastion        types.Object `tfsdk:"bastion"`
}

// unknownIronic is what an ironic block says of which nothing is known yet.
func unknownIronic() ironicModel {
	s := types.StringUnknown()

	return ironicModel{
		Endpoint: s, Auth: s, Cloud: s, Username: s, Password: s, CACertFile: s, ClientCertFile: s, ClientKeyFile: s,
		Insecure: types.BoolUnknown(), Timeout: s, ProvisioningLimit: types.Int64Unknown(),
		DeployKernelURL: s, DeployRamdiskURL: s, DeployISOURL: s,
	}
}

// unknownBMC is what a bmc block says of which nothing is known yet.
func unknownBMC() bmcModel {
	s := types.StringUnknown()

	return bmcModel{Username: s, Password: s, Access: s, Hosts: types.MapUnknown(types.StringType)}
}

// unknownFabric is what a fabric block says of which nothing is known yet.
func unknownFabric() fabricModel {
	s, set := types.StringUnknown(), types.SetUnknown(types.StringType)

	return fabricModel{
		Type: s, Endpoint: s, LayoutEndpoint: s, TenantID: s, ClusterID: s, Auth: types.ObjectUnknown(nil), CACertPEM: s, CACertFile: s,
		TLSServerName: s, InsecureSkipVerify: types.BoolUnknown(), AllowPlainHTTP: types.BoolUnknown(), RequestTimeout: s,
		MutateTimeout: s, PollInterval: s, ModelColumn: s, BusyErrorCodes: set, CapacityErrorCodes: set, JournalDir: s,
	}
}

// unknownAuth is what credentials say of which nothing is known yet.
func unknownAuth() authModel {
	s := types.StringUnknown()

	return authModel{Realm: s, ClientID: s, ClientSecret: s, Username: s, Password: s}
}

// unknownSSH is what an ssh block says of which nothing is known yet.
func unknownSSH() sshModel {
	s := types.StringUnknown()

	return sshModel{
		User: s, PrivateKey: s, PrivateKeyFile: s, Password: s, Agent: types.BoolUnknown(), KnownHostsFile: s, Bastion: types.ObjectUnknown(nil),
	}
}

// decode reads a block of the provider: absent gives the zero value, unknown gives what unknown makes.
func decode[M any](ctx context.Context, o types.Object, unknown func() M, diags *diag.Diagnostics) M {
	var m M

	switch {
	case o.IsUnknown():
		return unknown()
	case !o.IsNull():
		diags.Append(o.As(ctx, &m, basetypes.ObjectAsOptions{})...)
	}

	return m
}
