// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
)

// fabricEnv fills everything of a fabric that the environment can fill.
func fabricEnv() map[string]string {
	return map[string]string{
		"METAL3_FABRIC_TYPE": "fti_cm", "METAL3_FABRIC_ENDPOINT": " env.test:443 ", "METAL3_FABRIC_TENANT_ID": "t", "METAL3_FABRIC_CLUSTER_ID": "c",
		"METAL3_FABRIC_REALM": "r", "METAL3_FABRIC_CLIENT_ID": "id", "METAL3_FABRIC_CLIENT_SECRET": "S3cret", "METAL3_FABRIC_USERNAME": "u",
		"METAL3_FABRIC_PASSWORD": "p", "METAL3_FABRIC_CA_CERT_FILE": "/ca",
	}
}

func TestSettings_fabric(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		block block
		env   map[string]string
		want  fabric.Config
	}{
		"nothing is no fabric": {nil, nil, fabric.Config{Type: "fti_fm"}},
		"the environment counts where the block is silent": {
			nil, fabricEnv(), fabric.Config{
				Type: "fti_cm", Endpoint: "env.test:443", TenantID: "t", ClusterID: "c", CACertFile: "/ca",
				Auth: fabric.Auth{Realm: "r", ClientID: "id", ClientSecret: "S3cret", Username: "u", Password: "p"},
			},
		},
		"the block counts before the environment": {
			block{"fabric": block{
				"type": "fti_fm", "endpoint": "https://block.test/cdi/", "tenant_id": "bt", "cluster_id": "bc", "layout_endpoint": "orders.test",
				"auth":        block{"realm": "br", "client_id": "bid", "client_secret": "bs", "username": "bu", "password": "bp"},
				"ca_cert_pem": "PEM", "tls_server_name": "name", "request_timeout": "7s", "mutate_timeout": "8s", "model_column": "gpu_model",
				"busy_error_codes": []any{"E1"}, "capacity_error_codes": []any{"E2"},
			}},
			fabricEnv(),
			fabric.Config{
				Type: "fti_fm", Endpoint: "https://block.test/cdi/", LayoutEndpoint: "orders.test", TenantID: "bt", ClusterID: "bc",
				Auth:      fabric.Auth{Realm: "br", ClientID: "bid", ClientSecret: "bs", Username: "bu", Password: "bp"},
				CACertPEM: "PEM", TLSServerName: "name", RequestTimeout: 7 * time.Second, MutateTimeout: 8 * time.Second, ModelColumn: "gpu_model",
				BusyCodes: []string{"E1"}, CapacityCodes: []string{"E2"},
			},
		},
		"empty strings are absent": {
			block{"fabric": block{"type": "", "endpoint": "", "tenant_id": "", "ca_cert_pem": "", "auth": block{"username": "", "password": ""}}},
			map[string]string{"METAL3_FABRIC_ENDPOINT": "env.test", "METAL3_FABRIC_PASSWORD": "p", "METAL3_FABRIC_CA_CERT_FILE": "/ca"},
			fabric.Config{Type: "fti_fm", Endpoint: "env.test", CACertFile: "/ca", Auth: fabric.Auth{Password: "p"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, diags := provider.Resolve(t.Context(), config(t, c.block), environment(c.env))
			if diags.HasError() || got.Unknown != "" {
				t.Fatalf("%v %s", diags, got.Unknown)
			}

			if !reflect.DeepEqual(got.Fabric, c.want) {
				t.Errorf("got %s %+v, want %s %+v", got.Fabric, got.Fabric.Auth.Username, c.want, c.want.Auth.Username)
			}
		})
	}
}

func TestSettings_journal(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		block block
		env   map[string]string
		want  string
	}{
		"the state directory":                 {nil, map[string]string{"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/terraform-provider-metal3/fabric-journal"},
		"a relative state directory is none":  {nil, map[string]string{"XDG_STATE_HOME": "s", "HOME": "/h"}, "/h/.local/state/terraform-provider-metal3/fabric-journal"},
		"the home directory":                  {nil, map[string]string{"HOME": "/h"}, "/h/.local/state/terraform-provider-metal3/fabric-journal"},
		"no home":                             {nil, nil, "!"},
		"a directory of the block":            {block{"fabric": block{"journal_dir": "/j"}}, map[string]string{"HOME": "/h"}, "/j"},
		"off":                                 {block{"fabric": block{"journal_dir": "off"}}, nil, ""},
		"a lab keeps it beside its memory":    {block{"lab": block{"dir": "/l"}}, map[string]string{"HOME": "/h"}, "/l/fabric-journal"},
		"a lab with a directory of the block": {block{"lab": block{}, "fabric": block{"journal_dir": "/j"}}, nil, "/j"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, diags := provider.Resolve(t.Context(), config(t, c.block), environment(c.env))
			if diags.HasError() || filepath.ToSlash(got.Journal) != c.want {
				t.Errorf("journal %q, want %q (%v)", got.Journal, c.want, diags)
			}
		})
	}
}

func TestSettings_ssh(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		block block
		env   map[string]string
		want  remote.Config
	}{
		"nothing":                {nil, nil, remote.Config{}},
		"an agent that is there": {nil, map[string]string{"SSH_AUTH_SOCK": "/a"}, remote.Config{Agent: true}},
		"an agent that is there and not wanted": {
			block{"ssh": block{"agent": false}}, map[string]string{"SSH_AUTH_SOCK": "/a"}, remote.Config{},
		},
		"everything": {
			block{"ssh": block{
				"user": "admin", "private_key_file": "/k", "password": "p", "agent": true, "known_hosts_file": "/kh",
				"bastion": block{"host": "b.test", "port": 2222, "user": "jump"},
			}}, nil, remote.Config{
				User: "admin", PrivateKeyFile: "/k", Password: "p", Agent: true, KnownHostsFile: "/kh",
				Bastion: &remote.Config{
					Type: "ssh", Host: "b.test", Port: 2222, User: "jump", PrivateKeyFile: "/k", Password: "p", Agent: true, KnownHostsFile: "/kh",
				},
			},
		},
		"a bastion without a host is none": {block{"ssh": block{"bastion": block{"host": ""}}}, nil, remote.Config{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, diags := provider.Resolve(t.Context(), config(t, c.block), environment(c.env))
			if diags.HasError() || !reflect.DeepEqual(got.SSH, c.want) {
				t.Errorf("got %+v, want %+v (%v)", got.SSH, c.want, diags)
			}
		})
	}
}

func TestSettings_labFabric(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		block block
		env   map[string]string
		want  string
	}{
		"a lab needs no word of a fabric": {block{"lab": block{}}, nil, "fti_fm map[]"},
		"a lab as configured":             {block{"lab": block{"fabric_type": "fti_cm", "gpus": block{"H100": 3}}}, nil, "fti_cm map[H100:3]"},
		"fabric.type counts, too":         {block{"lab": block{}, "fabric": block{"type": "fti_cm"}}, nil, "fti_cm map[]"},
		"METAL3_LAB":                      {nil, map[string]string{"METAL3_LAB": "/l", "METAL3_FABRIC_TYPE": "fti_cm"}, "fti_cm map[]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, diags := provider.Resolve(t.Context(), config(t, c.block), environment(c.env))
			if diags.HasError() || got.LabFabric != c.want {
				t.Errorf("lab's fabric %q, want %q (%v)", got.LabFabric, c.want, diags)
			}
		})
	}
}

// TestOTF05_unknownFabricIsNoFallback makes each attribute unknown in turn, with an
// environment that would fill it. Only who needs the attribute is told.
func TestOTF05_unknownFabricIsNoFallback(t *testing.T) {
	t.Parallel()

	fabricOf := func(name string, v any) block { return block{"fabric": block{name: v}} }
	env := fabricEnv()
	env["METAL3_LAB"], env["SSH_AUTH_SOCK"] = "/l", "/a"

	for name, b := range map[string]block{
		"fabric.type": fabricOf("type", unknown{}), "fabric.endpoint": fabricOf("endpoint", unknown{}), "fabric.tenant_id": fabricOf("tenant_id", unknown{}),
		"fabric.cluster_id": fabricOf("cluster_id", unknown{}), "fabric.auth.realm": fabricOf("auth", unknown{}),
		"fabric.auth.password": fabricOf("auth", block{"password": unknown{}}), "fabric.ca_cert_file": fabricOf("ca_cert_file", unknown{}),
		"fabric.busy_error_codes": fabricOf("busy_error_codes", []any{unknown{}}), "fabric.journal_dir": fabricOf("journal_dir", unknown{}),
		"fabric.insecure_skip_verify": fabricOf("insecure_skip_verify", unknown{}), "fabric.mutate_timeout": fabricOf("mutate_timeout", unknown{}),
		"ssh.user": {"ssh": unknown{}}, "ssh.agent": {"ssh": block{"agent": unknown{}}}, "ssh.private_key": {"ssh": block{"private_key": unknown{}}},
		"ssh.bastion": {"ssh": block{"bastion": unknown{}}}, "ssh.bastion.port": {"ssh": block{"bastion": block{"host": "b", "port": unknown{}}}},
	} {
		t.Run(name+" is noted and nothing stands in for it", func(t *testing.T) {
			t.Parallel()

			got, diags := provider.Resolve(t.Context(), config(t, b), environment(env))
			if diags.HasError() {
				t.Fatal(diags)
			}

			who, _, _ := strings.Cut(name, ".")
			for of, noted := range got.UnknownOf {
				if strings.Contains(" "+noted+" ", " "+name+" ") != (of == who) {
					t.Errorf("unknown to %s: %q", of, noted)
				}
			}

			for attribute, field := range map[string]any{
				"fabric.type": got.Fabric.Type, "fabric.endpoint": got.Fabric.Endpoint, "fabric.tenant_id": got.Fabric.TenantID,
				"fabric.auth.realm": got.Fabric.Auth, "fabric.auth.password": got.Fabric.Auth.Password, "fabric.ca_cert_file": got.Fabric.CACertFile,
				"ssh.agent": got.SSH.Agent,
			} {
				if attribute == name && !reflect.ValueOf(field).IsZero() {
					t.Errorf("%s became something", name)
				}
			}
		})
	}

	got, _ := provider.Resolve(t.Context(), config(t, block{"lab": unknown{}}), environment(nil))
	for of, noted := range got.UnknownOf {
		if noted != "lab" {
			t.Errorf("%s is not told that it is not known whether there is a lab: %q", of, noted)
		}
	}
}
