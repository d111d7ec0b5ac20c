// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package connectionvalue_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
)

type values map[string]attr.Value

func s(text string) attr.Value { return types.StringValue(text) }

// object is a connection with some attributes, and nulls.
func object(of map[string]attr.Type, v values) types.Object {
	all := map[string]attr.Value{}

	for name, t := range of {
		switch t := t.(type) {
		case types.ObjectType:
			all[name] = types.ObjectNull(t.AttrTypes)
		default:
			all[name] = map[attr.Type]attr.Value{
				types.StringType: types.StringNull(), types.BoolType: types.BoolNull(), types.Int64Type: types.Int64Null(),
			}[t]
		}
	}

	for name, one := range v {
		all[name] = one
	}

	return types.ObjectValueMust(of, all)
}

func connection(v values) types.Object { return object(connectionvalue.AttrTypes(), v) }
func bastion(v values) types.Object    { return object(connectionvalue.BastionTypes(), v) }

func config(t *testing.T, v values, defaults remote.Config) (remote.Config, diag.Diagnostics) {
	t.Helper()

	m, diags := connectionvalue.Decode(t.Context(), connection(v))
	if diags.HasError() {
		t.Fatal(diags)
	}

	return connectionvalue.Config(t.Context(), m, defaults)
}

func TestSchemas_areOfOneObject(t *testing.T) {
	t.Parallel()

	types := connectionvalue.AttrTypes()
	resource, action := connectionvalue.Attributes("ssh", "none"), connectionvalue.ActionAttributes("ssh", "none")

	if len(resource) != len(types) || len(action) != len(types) {
		t.Errorf("%d types, a resource has %d, an action %d", len(types), len(resource), len(action))
	}

	for name, kind := range types {
		if !resource[name].GetType().Equal(kind) || !action[name].GetType().Equal(kind) {
			t.Errorf("%s is %s, in a resource %s, in an action %s", name, kind, resource[name].GetType(), action[name].GetType())
		}

		if secret := name == "password" || name == "private_key"; resource[name].IsSensitive() != secret {
			t.Errorf("%s is sensitive: %t", name, !secret)
		}
	}

	bastion := connectionvalue.BastionAttributes()
	for name, kind := range connectionvalue.BastionTypes() {
		if !bastion[name].GetType().Equal(kind) {
			t.Errorf("bastion.%s is %s, in the provider %s", name, kind, bastion[name].GetType())
		}
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()

	defaults := remote.Config{
		User: "admin", PrivateKeyFile: "/k", Agent: true, KnownHostsFile: "/kh", Password: "dp", Timeout: time.Minute,
		Bastion: &remote.Config{Type: "ssh", Host: "jump.test"},
	}

	for name, c := range map[string]struct {
		values   values
		defaults remote.Config
		want     remote.Config
		warning  string
	}{
		"nothing but a host": {values{"host": s(" h.test ")}, remote.Config{}, remote.Config{Type: "ssh", Host: "h.test"}, ""},
		"the defaults fill what is left out": {
			values{"host": s("h")}, defaults, remote.Config{
				Type: "ssh", Host: "h", User: "admin", PrivateKeyFile: "/k", Agent: true, KnownHostsFile: "/kh", Password: "dp", Timeout: time.Minute,
				Bastion: defaults.Bastion,
			}, "",
		},
		"what the connection says stands before the defaults": {
			values{
				"host": s("h"), "port": types.Int64Value(2222), "user": s("root"), "private_key": s("PEM"), "agent": types.BoolValue(false), "host_key": s("key"),
				"password": s("p"), "timeout": s("5s"), "sudo": types.BoolValue(true), "bastion": bastion(values{"host": s("other"), "user": s("j")}),
			}, defaults, remote.Config{
				Type: "ssh", Host: "h", Port: 2222, User: "root", PrivateKey: "PEM", HostKey: "key", Password: "p", Timeout: 5 * time.Second, Sudo: true,
				Bastion: &remote.Config{
					Type: "ssh", Host: "other", User: "j", PrivateKeyFile: "/k", Agent: true, KnownHostsFile: "/kh", Password: "dp", Timeout: time.Minute,
				},
			}, "",
		},
		"empty strings are absent": {
			values{"type": s(""), "host": s("h"), "private_key": s(""), "user": s(""), "timeout": s("")},
			remote.Config{User: "u", PrivateKey: "lab"},
			remote.Config{Type: "ssh", Host: "h", User: "u", PrivateKey: "lab"},
			"",
		},
		"a bastion without a host is none": {
			values{"host": s("h"), "bastion": bastion(values{"host": s("")})},
			remote.Config{Bastion: defaults.Bastion},
			remote.Config{Type: "ssh", Host: "h"},
			"",
		},
		"any host key is taken, and said": {
			values{"host": s("h"), "insecure_host_key": types.BoolValue(true)},
			remote.Config{HostKey: "k", KnownHostsFile: "/kh"},
			remote.Config{Type: "ssh", Host: "h", InsecureHostKey: true},
			"Host key of h is not verified",
		},
		"whoever answers is not told the password of the defaults": {
			values{"host": s("h"), "private_key": s("PEM"), "insecure_host_key": types.BoolValue(true), "bastion": bastion(values{"host": s("b")})},
			remote.Config{Password: "dp", HostKey: "k"},
			remote.Config{
				Type: "ssh", Host: "h", PrivateKey: "PEM", InsecureHostKey: true, Bastion: &remote.Config{Type: "ssh", Host: "b", Password: "dp", HostKey: "k"},
			},
			"Host key of h is not verified",
		},
		"nor through a bastion that anybody may be": {
			values{"host": s("h"), "bastion": bastion(values{"host": s("b"), "insecure_host_key": types.BoolValue(true)})},
			remote.Config{Password: "dp", HostKey: "k"},
			remote.Config{Type: "ssh", Host: "h", Password: "dp", HostKey: "k", Bastion: &remote.Config{Type: "ssh", Host: "b", InsecureHostKey: true}},
			"Host key of b is not verified",
		},
		"a password of its own is": {
			values{"host": s("h"), "password": s("p"), "insecure_host_key": types.BoolValue(true)},
			remote.Config{Password: "dp"},
			remote.Config{Type: "ssh", Host: "h", Password: "p", InsecureHostKey: true},
			"Host key of h is not verified",
		},
		"this machine needs nothing": {
			values{"type": s("local"), "sudo": types.BoolValue(true)}, defaults, remote.Config{Type: "local", Sudo: true, Timeout: time.Minute}, "",
		},
		"no connection": {values{"type": s("none")}, defaults, remote.Config{Type: "none", Timeout: time.Minute}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, diags := config(t, c.values, c.defaults)
			if diags.HasError() || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v: %v", got, c.want, diags)
			}

			if warned := diags.WarningsCount() == 1; warned != (c.warning != "") || warned && diags.Warnings()[0].Summary() != c.warning {
				t.Errorf("warnings: %v", diags)
			}
		})
	}
}

// TestOTF05_unknownConnection makes attributes unknown: the defaults never stand in for them.
func TestOTF05_unknownConnection(t *testing.T) {
	t.Parallel()

	defaults := remote.Config{Host: "default", User: "admin", PrivateKey: "PEM", Bastion: &remote.Config{Host: "b"}}

	for name, v := range map[string]values{
		"host": {"host": types.StringUnknown()}, "user": {"host": s("h"), "user": types.StringUnknown()}, "port": {"port": types.Int64Unknown()},
		"private_key": {"private_key": types.StringUnknown()}, "agent": {"agent": types.BoolUnknown()}, "type": {"type": types.StringUnknown()},
		"bastion":      {"bastion": types.ObjectUnknown(connectionvalue.BastionTypes())},
		"bastion.port": {"bastion": bastion(values{"host": s("b"), "port": types.Int64Unknown()})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, diags := config(t, v, defaults)
			if !diags.HasError() || !strings.Contains(diags[0].Detail(), name) || !reflect.DeepEqual(got, remote.Config{}) {
				t.Errorf("got %+v: %v", got, diags)
			}

			if names := connectionvalue.Unknown(connection(v)); len(names) != 1 || names[0] != name {
				t.Errorf("unknown are %v", names)
			}
		})
	}

	if names := connectionvalue.Unknown(types.ObjectUnknown(connectionvalue.AttrTypes())); len(names) != 1 {
		t.Errorf("of a connection that is unknown as a whole: %v", names)
	}
}

func TestValidators(t *testing.T) {
	t.Parallel()

	yes := types.BoolValue(true)

	for name, c := range map[string]struct {
		object types.Object
		wrong  string // attribute; empty: all is well
	}{
		"a host":                     {connection(values{"host": s("h")}), ""},
		"no host":                    {connection(values{"user": s("u")}), "host"},
		"an empty host":              {connection(values{"type": s("ssh"), "host": s("")}), "host"},
		"a host that is not known":   {connection(values{"host": types.StringUnknown()}), ""},
		"a type that is not known":   {connection(values{"type": types.StringUnknown()}), ""},
		"this machine":               {connection(values{"type": s("local")}), ""},
		"this machine, and another":  {connection(values{"type": s("local"), "host": s("h")}), "host"},
		"none":                       {connection(values{"type": s("none")}), ""},
		"two keys":                   {connection(values{"host": s("h"), "private_key": s("k"), "private_key_file": s("f")}), "private_key_file"},
		"a key and an empty one":     {connection(values{"host": s("h"), "private_key": s(""), "private_key_file": s("f")}), ""},
		"two sources of host keys":   {connection(values{"host": s("h"), "host_key": s("k"), "known_hosts_file": s("f")}), "known_hosts_file"},
		"a host key that is ignored": {connection(values{"host": s("h"), "host_key": s("k"), "insecure_host_key": yes}), "insecure_host_key"},
		"a bastion without a host":   {bastion(values{"user": s("u")}), ""},
		"a bastion with two keys":    {bastion(values{"private_key": s("k"), "private_key_file": s("f")}), "private_key_file"},
		"nothing":                    {types.ObjectNull(connectionvalue.AttrTypes()), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var resp validator.ObjectResponse

			for _, v := range connectionvalue.Validators() {
				v.ValidateObject(t.Context(), validator.ObjectRequest{Path: path.Root("node"), ConfigValue: c.object}, &resp)
			}

			if resp.Diagnostics.HasError() != (c.wrong != "") {
				t.Fatalf("got %v", resp.Diagnostics)
			}

			if c.wrong != "" {
				if at, ok := resp.Diagnostics[0].(diag.DiagnosticWithPath); !ok || !at.Path().Equal(path.Root("node").AtName(c.wrong)) {
					t.Errorf("got %v", resp.Diagnostics)
				}
			}
		})
	}
}
