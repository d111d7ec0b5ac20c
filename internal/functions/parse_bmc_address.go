// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package functions

import (
	"context"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/access"
)

// parseBMCAddress is the function parse_bmc_address.
type parseBMCAddress struct{}

// NewParseBMCAddress returns the function parse_bmc_address.
func NewParseBMCAddress() function.Function { return parseBMCAddress{} }

// bmcAddress is the result of the function.
type bmcAddress struct {
	Scheme             string            `tfsdk:"scheme"`
	Driver             string            `tfsdk:"driver"`
	Host               string            `tfsdk:"host"`
	Port               *int64            `tfsdk:"port"`
	SystemPath         *string           `tfsdk:"system_path"`
	BootInterface      *string           `tfsdk:"boot_interface"`
	Interfaces         map[string]string `tfsdk:"interfaces"`
	SupportsISO        bool              `tfsdk:"supports_iso"`
	SupportsSecureBoot bool              `tfsdk:"supports_secure_boot"`
	NeedsMAC           bool              `tfsdk:"needs_mac"`
}

// bmcAddressTypes are the types of the result's attributes.
var bmcAddressTypes = map[string]attr.Type{
	"scheme":               types.StringType,
	"driver":               types.StringType,
	"host":                 types.StringType,
	"port":                 types.Int64Type,
	"system_path":          types.StringType,
	"boot_interface":       types.StringType,
	"interfaces":           types.MapType{ElemType: types.StringType},
	"supports_iso":         types.BoolType,
	"supports_secure_boot": types.BoolType,
	"needs_mac":            types.BoolType,
}

// Metadata names the function.
func (parseBMCAddress) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "parse_bmc_address"
}

// Definition describes the function.
func (parseBMCAddress) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Take the address of a BMC apart",
		MarkdownDescription: "Reads an address as `bmc.address` of a host takes it and returns what the provider makes of it: " +
			"`scheme`, `host`, `port`, the path of the Redfish system (`system_path`, null where the address names none), " +
			"Ironic's `driver`, `boot_interface` and all other `interfaces` that the scheme decides, and whether the scheme " +
			"can boot ISO images (`supports_iso`), can switch secure boot (`supports_secure_boot`) and wants a boot MAC " +
			"address (`needs_mac`). An address that the host resource would refuse is an error here too.",
		Parameters: []function.Parameter{function.StringParameter{
			Name:                "address",
			MarkdownDescription: "The address of a BMC, such as `redfish-virtualmedia://192.0.2.10/redfish/v1/Systems/1`.",
		}},
		Return: function.ObjectReturn{AttributeTypes: bmcAddressTypes},
	}
}

// Run calls the function.
func (parseBMCAddress) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var address string

	if resp.Error = req.Arguments.Get(ctx, &address); resp.Error != nil {
		return
	}

	a, err := access.Parse(address)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(0, err.Error())

		return
	}

	result := bmcAddress{
		Scheme:             a.Scheme,
		Driver:             a.Driver,
		Host:               a.Host,
		SystemPath:         orNull(a.SystemPath()),
		BootInterface:      orNull(a.Interfaces["boot"]),
		Interfaces:         a.Interfaces,
		SupportsISO:        a.SupportsISO,
		SupportsSecureBoot: a.SupportsSecureBoot,
		NeedsMAC:           a.NeedsMAC,
	}

	if port, err := strconv.ParseInt(a.Port, 10, 64); err == nil {
		result.Port = &port
	}

	resp.Error = resp.Result.Set(ctx, result)
}

// orNull returns nil, which is null for Terraform, for the empty string.
func orNull(s string) *string {
	if s == "" {
		return nil
	}

	return &s
}
