// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package hintsvalue is root device hints in the framework's words: of a host, and of the machines
// of a cluster.
package hintsvalue

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/image"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

// Model is root_device_hints in Go.
type Model struct {
	DeviceName         types.String `tfsdk:"device_name"`
	HCTL               types.String `tfsdk:"hctl"`
	Model              types.String `tfsdk:"model"`
	Vendor             types.String `tfsdk:"vendor"`
	SerialNumber       types.String `tfsdk:"serial_number"`
	MinSizeGigabytes   types.Int64  `tfsdk:"min_size_gigabytes"`
	WWN                types.String `tfsdk:"wwn"`
	WWNWithExtension   types.String `tfsdk:"wwn_with_extension"`
	WWNVendorExtension types.String `tfsdk:"wwn_vendor_extension"`
	Rotational         types.Bool   `tfsdk:"rotational"`
}

// Hints are what the life cycle of a host takes.
func (m Model) Hints() *image.RootHints {
	return &image.RootHints{
		DeviceName: m.DeviceName.ValueString(), HCTL: m.HCTL.ValueString(), Model: m.Model.ValueString(), Vendor: m.Vendor.ValueString(),
		SerialNumber: m.SerialNumber.ValueString(), MinSizeGigabytes: m.MinSizeGigabytes.ValueInt64Pointer(), WWN: m.WWN.ValueString(),
		WWNWithExtension: m.WWNWithExtension.ValueString(), WWNVendorExtension: m.WWNVendorExtension.ValueString(), Rotational: m.Rotational.ValueBoolPointer(),
	}
}

// Attribute is root_device_hints of a resource.
func Attribute(description string) schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: description,
		Attributes: map[string]schema.Attribute{
			"device_name":          schemavalue.Text("`/dev/NAME` or `/dev/disk/by-path/NAME`."),
			"hctl":                 schemavalue.Text("SCSI address."),
			"model":                schemavalue.Text("Part of the model."),
			"vendor":               schemavalue.Text("Part of the vendor."),
			"serial_number":        schemavalue.Text("Serial number."),
			"min_size_gigabytes":   schema.Int64Attribute{Optional: true, Validators: []validator.Int64{int64validator.AtLeast(0)}, MarkdownDescription: "Least size in gigabytes."},
			"wwn":                  schemavalue.Text("World wide name."),
			"wwn_with_extension":   schemavalue.Text("World wide name with the vendor's extension."),
			"wwn_vendor_extension": schemavalue.Text("Vendor's extension of the world wide name."),
			"rotational":           schema.BoolAttribute{Optional: true, MarkdownDescription: "Whether it is a rotating disk."},
		},
	}
}
