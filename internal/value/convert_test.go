// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package value_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

func TestConversions_emptyIsNull(t *testing.T) {
	t.Parallel()

	for name, v := range map[string]attr.Value{
		"string": value.String(""), "int": value.Int64(0), "bool": value.Bool(nil), "map": value.StringMap(map[string]string{}),
		"list": value.StringList(nil), "set": value.StringSet([]string{}),
	} {
		if !v.IsNull() {
			t.Errorf("an empty %s became %s", name, v)
		}
	}
}

func TestConversions_thereAndBack(t *testing.T) {
	t.Parallel()

	m := map[string]string{"rack": "r0", "empty": ""}
	if got := value.GoMap(value.StringMap(m)); !reflect.DeepEqual(got, m) {
		t.Errorf("map became %v", got)
	}

	if got := value.GoStrings(value.StringList([]string{"b", "a"})); !reflect.DeepEqual(got, []string{"b", "a"}) {
		t.Errorf("list became %v", got)
	}

	if got := value.StringSet([]string{"b", "a", "b"}); len(got.Elements()) != 2 {
		t.Errorf("set became %v", got)
	}

	if got := value.GoMap(types.MapUnknown(types.StringType)); got != nil {
		t.Errorf("an unknown map became %v", got)
	}
}

func TestHasUnknown(t *testing.T) {
	t.Parallel()

	object := func(v attr.Value) attr.Value {
		list := types.ListValueMust(types.StringType, []attr.Value{types.StringValue("a"), v})

		return types.ObjectValueMust(map[string]attr.Type{"l": list.Type(t.Context())}, map[string]attr.Value{"l": list})
	}

	for name, c := range map[string]struct {
		v    attr.Value
		want bool
	}{
		"an unknown deep inside counts": {object(types.StringUnknown()), true},
		"a null is known":               {object(types.StringNull()), false},
		"an unknown map counts":         {types.MapUnknown(types.StringType), true},
		"an unknown value of a map counts": {types.MapValueMust(types.StringType, map[string]attr.Value{
			"k": types.StringUnknown(),
		}), true},
		"nothing is known": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := value.HasUnknown(c.v); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestValidators(t *testing.T) {
	t.Parallel()

	url := value.URL("http", "https")

	for name, c := range map[string]struct {
		with validator.String
		v    types.String
		ok   bool
	}{
		"a duration":                {value.Duration(), types.StringValue("1h30m"), true},
		"an unknown duration":       {value.Duration(), types.StringUnknown(), true},
		"a bare number":             {value.Duration(), types.StringValue("30"), false},
		"a zero duration":           {value.Duration(), types.StringValue("0s"), false},
		"a negative duration":       {value.Duration(), types.StringValue("-3s"), false},
		"an http URL":               {url, types.StringValue("http://127.0.0.1:6385"), true},
		"a URL with a path":         {url, types.StringValue("https://[2001:db8::1]/baremetal"), true},
		"an unknown URL":            {url, types.StringUnknown(), true},
		"a host name":               {url, types.StringValue("ironic.example.com"), false},
		"a host and port":           {url, types.StringValue("ironic.example.com:6385"), false},
		"an empty URL":              {url, types.StringValue(""), false},
		"another scheme":            {url, types.StringValue("ftp://example.com"), false},
		"a URL without a host":      {url, types.StringValue("http:///v1"), false},
		"an absent URL":             {value.OptionalURL("https"), types.StringValue(""), true},
		"a bad optional URL":        {value.OptionalURL("https"), types.StringValue("example.com"), false},
		"a file":                    {value.URL("file"), types.StringValue("file:///images/ipa.kernel"), true},
		"a relative file":           {value.URL("file"), types.StringValue("file:ipa.kernel"), false},
		"a URL with a password":     {url, types.StringValue("http://u:S3cret@example.com"), false},
		"a URL that does not parse": {url, types.StringValue("http://exa mple.com:port"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var resp validator.StringResponse

			c.with.ValidateString(t.Context(), validator.StringRequest{Path: path.Root("x"), ConfigValue: c.v}, &resp)

			if resp.Diagnostics.HasError() == c.ok {
				t.Errorf("diagnostics: %v", resp.Diagnostics)
			}
		})
	}
}

func TestSentence(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"dial: refused": "Dial: refused.", "Already one.": "Already one.", "\"x\" is odd": "\"x\" is odd.", " ": "", "ändern": "Ändern.",
		`ip_pools["s"].ranges: empty`: `ip_pools["s"].ranges: empty.`, "max_surge is 0": "max_surge is 0.",
	} {
		if got := value.Sentence(errors.New(text)); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
