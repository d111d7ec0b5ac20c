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
	BMC       types.Object `tfsdk:"bmc"`
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
	Dir      types.String `tfsdk:"dir"`
	Machines types.Int64  `tfsdk:"machines"`
	Pace     types.String `tfsdk:"pace"`
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
