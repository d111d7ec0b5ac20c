// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"context"
	"fmt"
	"net"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/attr/xattr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// macBytes is the length of an Ethernet address. net.ParseMAC also takes EUI-64 and
// InfiniBand addresses, which Ironic refuses as the address of a port.
const macBytes = 6

var (
	_ basetypes.StringTypable                    = MACType{}
	_ basetypes.StringValuableWithSemanticEquals = MAC{}
	_ xattr.ValidateableAttribute                = MAC{}
	_ SemanticString                             = MAC{}
)

// ParseMAC returns the canonical form of an Ethernet address: lower case with colons.
func ParseMAC(s string) (string, error) {
	mac, err := net.ParseMAC(s)
	if err != nil {
		return "", fmt.Errorf("%q is no MAC address; write six bytes such as 02:00:5e:10:00:01", s)
	}

	if len(mac) != macBytes {
		return "", fmt.Errorf("%q has %d bytes, a network port has a MAC address of %d", s, len(mac), macBytes)
	}

	return mac.String(), nil
}

// MACType is the type of an attribute that holds an Ethernet address.
type MACType struct{ basetypes.StringType }

// MAC is an Ethernet address in the spelling that the user chose.
type MAC struct{ basetypes.StringValue }

// NewMAC returns a known address.
func NewMAC(s string) MAC { return MAC{basetypes.NewStringValue(s)} }

// NullMAC returns the absent address.
func NullMAC() MAC { return MAC{basetypes.NewStringNull()} }

// UnknownMAC returns an address that is not known yet.
func UnknownMAC() MAC { return MAC{basetypes.NewStringUnknown()} }

// Canonical returns the address in lower case with colons, and "" where it is null,
// unknown or no address.
func (m MAC) Canonical() string {
	mac, err := ParseMAC(m.ValueString())
	if err != nil {
		return ""
	}

	return mac
}

// Type implements attr.Value.
func (m MAC) Type(context.Context) attr.Type { return MACType{} }

// Equal implements attr.Value; it compares spellings.
func (m MAC) Equal(o attr.Value) bool {
	other, ok := o.(MAC)

	return ok && m.StringValue.Equal(other.StringValue)
}

// SameMeaning reports whether two spellings mean the same address.
func (m MAC) SameMeaning(other string) bool {
	theirs, err := ParseMAC(other)

	return err == nil && theirs == m.Canonical()
}

// StringSemanticEquals keeps the configured spelling where only the spelling differs.
func (m MAC) StringSemanticEquals(_ context.Context, v basetypes.StringValuable) (bool, diag.Diagnostics) {
	other, ok := v.(MAC)

	return ok && m.SameMeaning(other.ValueString()), nil
}

// ValidateAttribute refuses what is no Ethernet address.
func (m MAC) ValidateAttribute(_ context.Context, req xattr.ValidateAttributeRequest, resp *xattr.ValidateAttributeResponse) {
	if m.IsNull() || m.IsUnknown() {
		return
	}

	if _, err := ParseMAC(m.ValueString()); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid MAC address", Sentence(err))
	}
}

// Equal implements attr.Type.
func (t MACType) Equal(o attr.Type) bool {
	_, ok := o.(MACType)

	return ok
}

// String implements attr.Type.
func (t MACType) String() string { return "value.MACType" }

// ValueType implements attr.Type.
func (t MACType) ValueType(context.Context) attr.Value { return MAC{} }

// ValueFromString implements basetypes.StringTypable.
func (t MACType) ValueFromString(_ context.Context, v basetypes.StringValue) (basetypes.StringValuable, diag.Diagnostics) {
	return MAC{v}, nil
}

// ValueFromTerraform implements attr.Type.
func (t MACType) ValueFromTerraform(ctx context.Context, in tftypes.Value) (attr.Value, error) {
	v, err := stringFromTerraform(ctx, in)

	return MAC{v}, err
}
