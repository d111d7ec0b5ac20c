// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package value_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr/xattr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

func TestOBMH02_macSpellings(t *testing.T) {
	t.Parallel()

	const canonical = "02:00:5e:10:00:01"

	for name, spelling := range map[string]string{
		"dashes and upper case": "02-00-5E-10-00-01",
		"colons and upper case": "02:00:5E:10:00:01",
		"dots":                  "0200.5e10.0001",
		"as it should be":       canonical,
	} {
		t.Run(name+" mean the same address", func(t *testing.T) {
			t.Parallel()

			mac := value.NewMAC(spelling)
			if got := mac.Canonical(); got != canonical {
				t.Errorf("canonical form of %q is %q", spelling, got)
			}

			if same, _ := mac.StringSemanticEquals(t.Context(), value.NewMAC(canonical)); !same {
				t.Errorf("%q and %q differ", spelling, canonical)
			}

			if same, _ := mac.StringSemanticEquals(t.Context(), value.NewMAC("02:00:5e:10:00:02")); same {
				t.Errorf("%q equals another address", spelling)
			}

			if mac.ValueString() != spelling {
				t.Errorf("the spelling became %q", mac.ValueString())
			}

			if diags := validate(t, mac); diags != 0 {
				t.Errorf("%q is refused", spelling)
			}
		})
	}
}

func TestOBMH02_badMACs(t *testing.T) {
	t.Parallel()

	for name, spelling := range map[string]string{
		"an EUI-64 address":  "02:00:5e:10:00:00:00:01",
		"an IPoIB address":   "00:00:00:00:fe:80:00:00:00:00:00:00:02:00:5e:10:00:00:00:01",
		"a word":             "eth0",
		"an empty string":    "",
		"five bytes":         "02:00:5e:10:00",
		"something appended": "02:00:5e:10:00:01 ",
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			t.Parallel()

			if validate(t, value.NewMAC(spelling)) == 0 {
				t.Errorf("%q is accepted", spelling)
			}

			if got := value.NewMAC(spelling).Canonical(); got != "" {
				t.Errorf("%q has the canonical form %q", spelling, got)
			}

			if value.NewMAC(spelling).SameMeaning(spelling) {
				t.Errorf("%q has a meaning", spelling)
			}
		})
	}
}

func TestOTF05_unknownValuesPass(t *testing.T) {
	t.Parallel()

	for name, v := range map[string]xattr.ValidateableAttribute{
		"unknown MAC": value.UnknownMAC(), "null MAC": value.NullMAC(),
		"unknown document": value.UnknownDocument(), "null document": value.NullDocument(),
	} {
		t.Run(name+" is no error", func(t *testing.T) {
			t.Parallel()

			if validate(t, v) != 0 {
				t.Error("refused")
			}
		})
	}
}

func TestKeepSpelling(t *testing.T) {
	t.Parallel()

	unknown, null := types.StringUnknown(), types.StringNull()
	s := types.StringValue

	for name, c := range map[string]struct {
		of                 value.SemanticString
		state, plan, wants basetypes.StringValue
	}{
		"another spelling of the address is no change": {value.MAC{}, s("02-00-5E-10-00-01"), s("02:00:5e:10:00:01"), s("02-00-5E-10-00-01")},
		"another address is a change":                  {value.MAC{}, s("02-00-5E-10-00-01"), s("02:00:5e:10:00:02"), s("02:00:5e:10:00:02")},
		"an unknown address stays unknown":             {value.MAC{}, s("02-00-5E-10-00-01"), unknown, unknown},
		"a removed address is a change":                {value.MAC{}, s("02-00-5E-10-00-01"), null, null},
		"a first address is a change":                  {value.MAC{}, null, s("02:00:5e:10:00:02"), s("02:00:5e:10:00:02")},
		"YAML for JSON is no change":                   {value.Document{}, s(`{"links": []}`), s("links: []\n"), s(`{"links": []}`)},
		"a broken document is a change":                {value.Document{}, s(`{"links": []}`), s("links: ["), s("links: [")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			resp := planmodifier.StringResponse{PlanValue: c.plan}
			value.KeepSpelling(c.of).PlanModifyString(t.Context(), planmodifier.StringRequest{StateValue: c.state, PlanValue: c.plan}, &resp)

			if !resp.PlanValue.Equal(c.wants) {
				t.Errorf("planned %s, want %s", resp.PlanValue, c.wants)
			}
		})
	}
}

func validate(t *testing.T, v xattr.ValidateableAttribute) int {
	t.Helper()

	var resp xattr.ValidateAttributeResponse

	v.ValidateAttribute(t.Context(), xattr.ValidateAttributeRequest{Path: path.Root("x")}, &resp)

	for _, d := range resp.Diagnostics {
		if d.Detail() == "" {
			t.Error("a diagnostic without words")
		}
	}

	return resp.Diagnostics.ErrorsCount()
}
