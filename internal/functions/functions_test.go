// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package functions_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/functions"
)

// run calls a function as the framework does.
func run(t *testing.T, f function.Function, argument string) (attr.Value, *function.FuncError) {
	t.Helper()

	var def function.DefinitionResponse

	f.Definition(t.Context(), function.DefinitionRequest{}, &def)

	result, err := def.Definition.Return.NewResultData(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	resp := function.RunResponse{Result: result}
	f.Run(t.Context(), function.RunRequest{
		Arguments: function.NewArgumentsData([]attr.Value{types.StringValue(argument)}),
	}, &resp)

	return resp.Result.Value(), resp.Error
}

// checkError checks that a function refused its first argument with the given words.
func checkError(t *testing.T, err *function.FuncError, want string) {
	t.Helper()

	if err == nil || !strings.Contains(err.Text, want) {
		t.Fatalf("error %v, want one with %q", err, want)
	}

	if err.FunctionArgument == nil || *err.FunctionArgument != 0 {
		t.Errorf("the error is not attached to the argument: %v", err)
	}
}

func TestAll(t *testing.T) {
	t.Parallel()

	names := map[string]bool{}

	for _, create := range functions.All() {
		f := create()

		var meta function.MetadataResponse

		f.Metadata(t.Context(), function.MetadataRequest{}, &meta)
		names[meta.Name] = true

		var def function.DefinitionResponse

		f.Definition(t.Context(), function.DefinitionRequest{}, &def)

		var valid function.DefinitionValidateResponse

		def.Definition.ValidateImplementation(t.Context(), function.DefinitionValidateRequest{FuncName: meta.Name}, &valid)

		if valid.Diagnostics.HasError() {
			t.Errorf("%s: %v", meta.Name, valid.Diagnostics)
		}

		if def.Definition.Summary == "" || def.Definition.MarkdownDescription == "" {
			t.Errorf("%s has no words for its page", meta.Name)
		}
	}

	for _, name := range []string{
		"image_checksum_type", "ip_at", "match_labels", "parse_bmc_address", "provider_id", "render_meta_data", "render_network_data",
	} {
		if !names[name] {
			t.Errorf("%s is not served", name)
		}
	}
}

func TestImageChecksumType(t *testing.T) {
	t.Parallel()

	for kind, length := range map[string]int{"md5": 32, "sha256": 64, "sha512": 128} {
		got, err := run(t, functions.NewImageChecksumType(), strings.Repeat("aB", length/2))
		if err != nil || !got.Equal(types.StringValue(kind)) {
			t.Errorf("%d digits are %v, error %v, want %s", length, got, err, kind)
		}
	}

	for argument, want := range map[string]string{
		"":                      "hexadecimal",
		"http://h/SUMS":         "hexadecimal",
		strings.Repeat("a", 40): "40 digits",
	} {
		_, err := run(t, functions.NewImageChecksumType(), argument)
		checkError(t, err, want)
	}
}

func TestParseBMCAddress(t *testing.T) {
	t.Parallel()

	none := map[string]attr.Value{}
	stringMap := func(m map[string]attr.Value) attr.Value { return types.MapValueMust(types.StringType, m) }

	cases := map[string]struct {
		address string
		want    map[string]attr.Value
	}{
		"Redfish with virtual media": {"redfish-virtualmedia+http://[2001:db8::1]:8000/redfish/v1/Systems/1", map[string]attr.Value{
			"scheme": types.StringValue("redfish-virtualmedia+http"), "driver": types.StringValue("redfish"),
			"host": types.StringValue("2001:db8::1"), "port": types.Int64Value(8000),
			"system_path": types.StringValue("/redfish/v1/Systems/1"), "boot_interface": types.StringValue("redfish-virtual-media"),
			"interfaces": stringMap(map[string]attr.Value{
				"boot": types.StringValue("redfish-virtual-media"), "raid": types.StringValue("redfish"), "firmware": types.StringValue("redfish"),
			}),
			"supports_iso": types.BoolValue(true), "supports_secure_boot": types.BoolValue(true), "needs_mac": types.BoolValue(false),
		}},
		"libvirt": {"libvirt://192.0.2.1", map[string]attr.Value{
			"scheme": types.StringValue("libvirt"), "driver": types.StringValue("ipmi"),
			"host": types.StringValue("192.0.2.1"), "port": types.Int64Value(623),
			"system_path": types.StringNull(), "boot_interface": types.StringValue("ipxe"),
			"interfaces":   stringMap(map[string]attr.Value{"boot": types.StringValue("ipxe"), "raid": types.StringValue("no-raid")}),
			"supports_iso": types.BoolValue(false), "supports_secure_boot": types.BoolValue(false), "needs_mac": types.BoolValue(true),
		}},
		"the test driver": {"fake-hardware://one", map[string]attr.Value{
			"scheme": types.StringValue("fake-hardware"), "driver": types.StringValue("fake-hardware"),
			"host": types.StringValue("one"), "port": types.Int64Null(),
			"system_path": types.StringNull(), "boot_interface": types.StringNull(), "interfaces": stringMap(none),
			"supports_iso": types.BoolValue(true), "supports_secure_boot": types.BoolValue(true), "needs_mac": types.BoolValue(false),
		}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := run(t, functions.NewParseBMCAddress(), tc.address)
			if err != nil {
				t.Fatal(err)
			}

			object, ok := got.(types.Object)
			if !ok {
				t.Fatalf("the result is %T", got)
			}

			for key, want := range tc.want {
				if value := object.Attributes()[key]; !want.Equal(value) {
					t.Errorf("%s is %v, want %v", key, value, want)
				}
			}

			if len(object.Attributes()) != len(tc.want) {
				t.Errorf("attributes %v, want those of %v", object.Attributes(), tc.want)
			}
		})
	}

	_, err := run(t, functions.NewParseBMCAddress(), "ilo4://192.0.2.1")
	checkError(t, err, "unknown BMC type 'ilo4'")
}
