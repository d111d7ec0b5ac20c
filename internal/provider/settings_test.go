// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	fw "github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

type (
	block   = providertest.Map
	unknown = providertest.Unknown
)

// config is a provider block.
func config(t *testing.T, b block) tfsdk.Config {
	t.Helper()

	var schema fw.SchemaResponse

	provider.New("test")().Schema(t.Context(), fw.SchemaRequest{}, &schema)

	return tfsdk.Config{Schema: schema.Schema, Raw: providertest.Value(schema.Schema.Type().TerraformType(t.Context()), b)}
}

func environment(env map[string]string) func(string) string {
	return func(name string) string { return env[name] }
}

func TestSettings_ironic(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		block block
		env   map[string]string
		want  ironic.Config
	}{
		"nothing is no far side": {nil, nil, ironic.Config{Auth: ironic.NoAuth}},
		"the environment counts where the block is silent": {
			nil,
			map[string]string{
				"IRONIC_ENDPOINT": "https://ironic.test", "IRONIC_CACERT_FILE": "/ca", "IRONIC_CLIENT_CERT_FILE": "/cert",
				"IRONIC_CLIENT_PRIVATE_KEY_FILE": "/key", "IRONIC_CLIENT_TIMEOUT": "30", "IRONIC_USERNAME": "u", "IRONIC_PASSWORD": "p",
			},
			ironic.Config{
				Endpoint: "https://ironic.test", Auth: ironic.HTTPBasic, Username: "u", Password: "p", CACertFile: "/ca", ClientCertFile: "/cert",
				ClientKeyFile: "/key", Timeout: 30 * time.Second,
			},
		},
		"the block counts before the environment": {
			block{"ironic": block{"endpoint": "http://block.test", "auth": "noauth", "timeout": "5s", "insecure": false}},
			map[string]string{
				"IRONIC_ENDPOINT": "http://env.test", "IRONIC_CLIENT_TIMEOUT": "1m", "IRONIC_INSECURE": "true", "OS_CLOUD": "c",
				"IRONIC_USERNAME": "u", "IRONIC_PASSWORD": "p",
			},
			ironic.Config{Endpoint: "http://block.test", Auth: ironic.NoAuth, Timeout: 5 * time.Second},
		},
		"empty strings are absent": {
			block{"ironic": block{"endpoint": "", "auth": "", "username": "", "password": "", "ca_cert_file": "", "timeout": ""}},
			map[string]string{"IRONIC_ENDPOINT": "http://env.test", "IRONIC_CLIENT_TIMEOUT": "90s"},
			ironic.Config{Endpoint: "http://env.test", Auth: ironic.NoAuth, Timeout: 90 * time.Second},
		},
		"a cloud of the block is keystone": {
			block{"ironic": block{"cloud": "metal"}}, nil, ironic.Config{Auth: ironic.Keystone, Cloud: "metal"},
		},
		"a cloud of the environment is keystone": {
			nil, map[string]string{"OS_CLOUD": "metal"}, ironic.Config{Auth: ironic.Keystone, Cloud: "metal"},
		},
		"keystone without a cloud takes the OS variables": {
			block{"ironic": block{"auth": "keystone"}}, nil, ironic.Config{Auth: ironic.Keystone},
		},
		"credentials of the block count before a cloud of the environment": {
			block{"ironic": block{"endpoint": "http://block.test", "username": "u", "password": "p"}},
			map[string]string{"OS_CLOUD": "metal"},
			ironic.Config{Endpoint: "http://block.test", Auth: ironic.HTTPBasic, Username: "u", Password: "p"},
		},
		"a password may come from the environment and the name from the block": {
			block{"ironic": block{"endpoint": "http://block.test", "username": "u"}},
			map[string]string{"IRONIC_USERNAME": "other", "IRONIC_PASSWORD": "p"},
			ironic.Config{Endpoint: "http://block.test", Auth: ironic.HTTPBasic, Username: "u", Password: "p"},
		},
		"insecure in the environment counts": {
			block{"ironic": block{"endpoint": "https://block.test"}},
			map[string]string{"IRONIC_INSECURE": "True"},
			ironic.Config{Endpoint: "https://block.test", Auth: ironic.NoAuth, Insecure: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, diags := provider.Resolve(t.Context(), config(t, c.block), environment(c.env))
			if diags.HasError() || got.Unknown != "" {
				t.Fatalf("%v %s", diags, got.Unknown)
			}

			if !reflect.DeepEqual(got.Ironic, c.want) {
				t.Errorf("got %s %+v, want %s", got.Ironic, got.Ironic.Timeout, c.want)
			}
		})
	}
}

func TestSettings_credentialFiles(t *testing.T) {
	t.Parallel()

	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "ironic"), 0o700); err != nil {
		t.Fatal(err)
	}

	for name, content := range map[string]string{"username": "admin\n", "password": " S3cret \n"} {
		if err := os.WriteFile(filepath.Join(root, "ironic", name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	env := map[string]string{"IRONIC_ENDPOINT": "http://env.test", "METAL3_AUTH_ROOT_DIR": root}

	got, diags := provider.Resolve(t.Context(), config(t, nil), environment(env))
	if diags.HasError() || got.Ironic.Auth != ironic.HTTPBasic || got.Ironic.Username != "admin" || got.Ironic.Password != "S3cret" {
		t.Errorf("%s as %q: %v", got.Ironic, got.Ironic.Username, diags)
	}

	env["METAL3_AUTH_ROOT_DIR"] = t.TempDir()

	got, diags = provider.Resolve(t.Context(), config(t, nil), environment(env))
	if diags.HasError() || got.Ironic.Auth != ironic.NoAuth {
		t.Errorf("an empty directory gives %s: %v", got.Ironic, diags)
	}

	if err := os.MkdirAll(filepath.Join(env["METAL3_AUTH_ROOT_DIR"], "ironic", "username"), 0o700); err != nil {
		t.Fatal(err)
	}

	if _, diags = provider.Resolve(t.Context(), config(t, nil), environment(env)); !diags.HasError() {
		t.Error("credentials that cannot be read are passed over")
	}
}

func TestSettings_defaults(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		block block
		env   map[string]string
		want  host.Defaults
	}{
		"nothing": {nil, nil, host.Defaults{Namespace: "metal3", BMCAccess: "auto", ProvisioningLimit: 20}},
		"the environment": {
			nil,
			map[string]string{
				"METAL3_NAMESPACE": "edge", "METAL3_OWNER_ID": "team-a", "PROVISIONING_LIMIT": "3", "DEPLOY_KERNEL_URL": "http://i.test/k",
				"DEPLOY_RAMDISK_URL": "file:///images/r", "DEPLOY_ISO_URL": "http://i.test/iso",
			},
			host.Defaults{
				Namespace: "edge", OwnerID: "team-a", BMCAccess: "auto", ProvisioningLimit: 3,
				DeployKernelURL: "http://i.test/k", DeployRamdiskURL: "file:///images/r", DeployISOURL: "http://i.test/iso",
			},
		},
		"the block": {
			block{
				"namespace": "rack", "owner_id": "team-b", "ironic": block{"provisioning_limit": 0},
				"bmc": block{
					"username": "root", "password": "calvin", "access": "ironic",
					"hosts": block{"BMC-1.test": block{"username": "u1", "password": "p1"}, "10.0.0.7": block{"password": "p2"}},
				},
			},
			map[string]string{"METAL3_NAMESPACE": "edge", "PROVISIONING_LIMIT": "3"},
			host.Defaults{
				Namespace: "rack", OwnerID: "team-b", BMCAccess: "ironic", Username: "root", Password: "calvin",
				Credentials: map[string]host.Credentials{"bmc-1.test": {Username: "u1", Password: "p1"}, "10.0.0.7": {Password: "p2"}},
			},
		},
	} {
		t.Run(name+" gives what it should", func(t *testing.T) {
			t.Parallel()

			got, diags := provider.Resolve(t.Context(), config(t, c.block), environment(c.env))
			if diags.HasError() || !reflect.DeepEqual(got.Defaults, c.want) {
				t.Errorf("got %+v, want %+v (%v)", got.Defaults, c.want, diags)
			}
		})
	}
}

func TestSettings_lab(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		block block
		env   map[string]string
		want  string
	}{
		"a lab needs no word":                 {block{"lab": block{}}, nil, ".metal3-lab 8 1s"},
		"a lab as configured":                 {block{"lab": block{"dir": "/l", "machines": 300, "pace": "1ms"}}, map[string]string{"METAL3_LAB_TRACE": "/t"}, "/l 300 1ms /t"},
		"METAL3_LAB without any far side":     {nil, map[string]string{"METAL3_LAB": "/l"}, "/l 8 1s"},
		"METAL3_LAB beside an empty endpoint": {block{"ironic": block{"endpoint": ""}}, map[string]string{"METAL3_LAB": "/l"}, "/l 8 1s"},
		"METAL3_LAB beside an endpoint":       {block{"ironic": block{"endpoint": "http://i.test"}}, map[string]string{"METAL3_LAB": "/l"}, ""},
		"METAL3_LAB beside a variable":        {nil, map[string]string{"METAL3_LAB": "/l", "IRONIC_ENDPOINT": "http://i.test"}, ""},
		"METAL3_LAB beside a cloud":           {nil, map[string]string{"METAL3_LAB": "/l", "OS_CLOUD": "c"}, ""},
		"METAL3_LAB beside keystone":          {block{"ironic": block{"auth": "keystone"}}, map[string]string{"METAL3_LAB": "/l"}, ""},
		"METAL3_LAB beside an unknown":        {block{"ironic": block{"endpoint": unknown{}}}, map[string]string{"METAL3_LAB": "/l"}, ""},
		"METAL3_LAB beside a fabric":          {block{"fabric": block{"endpoint": "f.test"}}, map[string]string{"METAL3_LAB": "/l"}, ""},
		"METAL3_LAB beside a fabric variable": {nil, map[string]string{"METAL3_LAB": "/l", "METAL3_FABRIC_ENDPOINT": "f.test"}, ""},
		"METAL3_LAB beside an unknown fabric": {block{"fabric": block{"endpoint": unknown{}}}, map[string]string{"METAL3_LAB": "/l"}, ""},
		"METAL3_LAB beside fabric settings":   {block{"fabric": block{"poll_interval": "1s"}}, map[string]string{"METAL3_LAB": "/l"}, "/l 8 1s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, diags := provider.Resolve(t.Context(), config(t, c.block), environment(c.env))
			if diags.HasError() || got.Lab != c.want {
				t.Errorf("lab %q, want %q (%v)", got.Lab, c.want, diags)
			}
		})
	}
}

// TestOTF05_unknownIsNoFallback makes each attribute unknown in turn, with an environment
// that would fill it.
func TestOTF05_unknownIsNoFallback(t *testing.T) {
	t.Parallel()

	env := environment(map[string]string{
		"IRONIC_ENDPOINT": "http://env.test", "IRONIC_USERNAME": "u", "IRONIC_PASSWORD": "p", "IRONIC_CACERT_FILE": "/ca",
		"IRONIC_INSECURE": "true", "IRONIC_CLIENT_TIMEOUT": "30s", "METAL3_NAMESPACE": "env", "METAL3_OWNER_ID": "env", "PROVISIONING_LIMIT": "3",
		"DEPLOY_KERNEL_URL": "http://i.test/k", "DEPLOY_RAMDISK_URL": "http://i.test/r", "DEPLOY_ISO_URL": "http://i.test/iso", "METAL3_LAB": "/l",
	})

	for name, b := range map[string]block{
		"ironic": {"ironic": unknown{}}, "bmc": {"bmc": unknown{}}, "lab": {"lab": unknown{}},
		"ironic.endpoint": {"ironic": block{"endpoint": unknown{}}}, "ironic.auth": {"ironic": block{"auth": unknown{}}},
		"ironic.cloud": {"ironic": block{"cloud": unknown{}}}, "ironic.username": {"ironic": block{"username": unknown{}}},
		"ironic.password": {"ironic": block{"password": unknown{}}}, "ironic.insecure": {"ironic": block{"insecure": unknown{}}},
		"ironic.ca_cert_file": {"ironic": block{"ca_cert_file": unknown{}}}, "ironic.timeout": {"ironic": block{"timeout": unknown{}}},
		"ironic.client_key_file":    {"ironic": block{"client_key_file": unknown{}, "client_cert_file": "/c"}},
		"ironic.provisioning_limit": {"ironic": block{"provisioning_limit": unknown{}}},
		"ironic.deploy_kernel_url":  {"ironic": block{"deploy_kernel_url": unknown{}}},
		"ironic.deploy_iso_url":     {"ironic": block{"deploy_iso_url": unknown{}}},
		"namespace":                 {"namespace": unknown{}}, "owner_id": {"owner_id": unknown{}},
		"bmc.username": {"bmc": block{"username": unknown{}}}, "bmc.access": {"bmc": block{"access": unknown{}}},
		"bmc.hosts": {"bmc": block{"hosts": unknown{}}}, `bmc.hosts["a"]`: {"bmc": block{"hosts": block{"a": unknown{}}}},
		`bmc.hosts["a"].password`: {"bmc": block{"hosts": block{"a": block{"password": unknown{}}}}},
		"lab.dir":                 {"lab": block{"dir": unknown{}}}, "lab.machines": {"lab": block{"machines": unknown{}}},
	} {
		t.Run(name+" is noted and nothing stands in for it", func(t *testing.T) {
			t.Parallel()

			got, diags := provider.Resolve(t.Context(), config(t, b), env)
			if diags.HasError() {
				t.Fatal(diags)
			}

			if !strings.Contains(" "+got.Unknown+" ", name) && name != "ironic" && name != "bmc" || got.Unknown == "" {
				t.Errorf("noted as unknown: %q", got.Unknown)
			}

			if field := valueOf(got, name); field != "" {
				t.Errorf("%s became %q", name, field)
			}
		})
	}
}

func valueOf(r provider.Resolved, attribute string) string {
	return map[string]string{
		"ironic": r.Ironic.Endpoint, "ironic.endpoint": r.Ironic.Endpoint, "ironic.auth": string(r.Ironic.Auth), "ironic.cloud": string(r.Ironic.Auth),
		"ironic.username": r.Ironic.Username, "ironic.password": r.Ironic.Password, "ironic.ca_cert_file": r.Ironic.CACertFile,
		"ironic.client_key_file": r.Ironic.ClientKeyFile, "ironic.deploy_kernel_url": r.Defaults.DeployKernelURL,
		"ironic.deploy_iso_url": r.Defaults.DeployISOURL, "namespace": r.Defaults.Namespace, "owner_id": r.Defaults.OwnerID,
		"bmc.username": r.Defaults.Username, "bmc.access": r.Defaults.BMCAccess, "lab": r.Lab,
	}[attribute]
}
