// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package connectionvalue is the connection to a machine as configurations write it: the same
// object wherever there is one.
package connectionvalue

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
)

// None is the type of a connection that is none, where a room allows that.
const None = "none"

// Model is a connection as the framework reads it.
type Model struct {
	Type            types.String `tfsdk:"type"`
	Host            types.String `tfsdk:"host"`
	Port            types.Int64  `tfsdk:"port"`
	User            types.String `tfsdk:"user"`
	PrivateKey      types.String `tfsdk:"private_key"`
	PrivateKeyFile  types.String `tfsdk:"private_key_file"`
	Password        types.String `tfsdk:"password"`
	Agent           types.Bool   `tfsdk:"agent"`
	HostKey         types.String `tfsdk:"host_key"`
	KnownHostsFile  types.String `tfsdk:"known_hosts_file"`
	InsecureHostKey types.Bool   `tfsdk:"insecure_host_key"`
	Bastion         types.Object `tfsdk:"bastion"`
	Sudo            types.Bool   `tfsdk:"sudo"`
	Timeout         types.String `tfsdk:"timeout"`
}

// BastionModel is the bastion of a connection.
type BastionModel struct {
	Host            types.String `tfsdk:"host"`
	Port            types.Int64  `tfsdk:"port"`
	User            types.String `tfsdk:"user"`
	PrivateKey      types.String `tfsdk:"private_key"`
	PrivateKeyFile  types.String `tfsdk:"private_key_file"`
	Password        types.String `tfsdk:"password"`
	Agent           types.Bool   `tfsdk:"agent"`
	HostKey         types.String `tfsdk:"host_key"`
	KnownHostsFile  types.String `tfsdk:"known_hosts_file"`
	InsecureHostKey types.Bool   `tfsdk:"insecure_host_key"`
}

// AttrTypes are the types of a connection's attributes.
func AttrTypes() map[string]attr.Type {
	all := map[string]attr.Type{"type": types.StringType, "bastion": types.ObjectType{AttrTypes: BastionTypes()}}
	for name, f := range fields() {
		all[name] = f.attrType()
	}

	return all
}

// BastionTypes are the types of a bastion's attributes.
func BastionTypes() map[string]attr.Type {
	all := map[string]attr.Type{}

	for name, f := range fields() {
		if f.bastion {
			all[name] = f.attrType()
		}
	}

	return all
}

// Type is the type of a connection.
func Type() types.ObjectType { return types.ObjectType{AttrTypes: AttrTypes()} }

// Decode reads a connection out of an object that is neither null nor unknown.
func Decode(ctx context.Context, o types.Object) (Model, diag.Diagnostics) {
	var m Model

	diags := o.As(ctx, &m, basetypes.ObjectAsOptions{})

	return m, diags
}

// Unknown names the attributes of a connection that are not known yet, such as "host" and
// "bastion.user". An object that is itself unknown gives its own name, "connection".
func Unknown(o types.Object) []string {
	if o.IsUnknown() {
		return []string{"connection"}
	}

	return unknownOf(o, "")
}

func unknownOf(o types.Object, prefix string) []string {
	var out []string

	for name, v := range o.Attributes() {
		inner, nested := v.(types.Object)

		switch {
		case v.IsUnknown():
			out = append(out, prefix+name)
		case nested:
			out = append(out, unknownOf(inner, prefix+name+".")...)
		}
	}

	slices.Sort(out)

	return out
}

func (f field) attrType() attr.Type {
	return map[kind]attr.Type{text: types.StringType, truth: types.BoolType, port: types.Int64Type}[f.kind]
}

// of returns the fields of a connection, or those of a bastion.
func of(bastion bool) map[string]field {
	all := fields()
	if bastion {
		maps.DeleteFunc(all, func(_ string, f field) bool { return !f.bastion })
	}

	return all
}
