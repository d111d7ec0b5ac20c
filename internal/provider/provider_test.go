// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	fw "github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// counting is a network that only counts.
type counting struct{ n atomic.Int64 }

func (c *counting) RoundTrip(*http.Request) (*http.Response, error) {
	c.n.Add(1)

	return nil, errors.New("nobody is there")
}

func TestConfigure_diagnostics(t *testing.T) {
	t.Parallel()

	ironicBlock := func(b block) block { return block{"ironic": b} }
	fabricBlock := func(b block) block { return block{"fabric": b} }

	for name, c := range map[string]struct {
		block   block
		env     map[string]string
		errors  []string // all of them occur; none means that it is accepted
		warning string
	}{
		"nothing at all is accepted": {},
		"a lab beside an endpoint": {
			block: block{"lab": block{"dir": "/l"}, "ironic": block{"endpoint": "http://i.test"}}, errors: []string{`AttributeName("lab")`, "ironic.endpoint"},
		},
		"a lab beside a cloud": {
			block: block{"lab": block{}, "ironic": block{"cloud": "c"}}, errors: []string{`AttributeName("lab")`, "ironic.cloud"},
		},
		"a lab beside an endpoint that is not known yet is accepted": {block: block{"lab": block{}, "ironic": block{"endpoint": unknown{}}}},
		"a lab beside settings is accepted":                          {block: block{"lab": block{}, "ironic": block{"provisioning_limit": 5}}},
		"a lab beside a variable": {
			block: block{"lab": block{}}, env: map[string]string{"IRONIC_ENDPOINT": "http://i.test"}, warning: "IRONIC_ENDPOINT is ignored",
		},
		"a lab beside a fabric": {
			block: block{"lab": block{}, "fabric": block{"endpoint": "f.test"}}, errors: []string{`AttributeName("lab")`, "fabric.endpoint"},
		},
		"a lab beside a second address of a fabric": {
			block: block{"lab": block{}, "fabric": block{"layout_endpoint": "f.test"}}, errors: []string{`AttributeName("lab")`, "fabric.layout_endpoint"},
		},
		"a lab beside a fabric of another type": {
			block: block{"lab": block{"fabric_type": "fti_cm"}, "fabric": block{"type": "fti_fm"}}, errors: []string{`AttributeName("fabric_type")`, "Two types"},
		},
		"a lab beside settings of a fabric is accepted":           {block: block{"lab": block{}, "fabric": block{"type": "fti_cm", "poll_interval": "1s"}}},
		"a lab beside a fabric that is not known yet is accepted": {block: block{"lab": block{}, "fabric": unknown{}}},
		"a lab beside a variable of a fabric": {
			block: block{"lab": block{}}, env: map[string]string{"METAL3_FABRIC_ENDPOINT": "f.test"}, warning: "METAL3_FABRIC_ENDPOINT is ignored",
		},
		"a lab with a fabric that nobody knows": {block: block{"lab": block{"fabric_type": "liqid"}}, errors: []string{`AttributeName("fabric_type")`}},
		"a lab with GPUs less than none":        {block: block{"lab": block{"gpus": block{"A100": -1}}}, errors: []string{`AttributeName("gpus")`}},
		"a lab without machines":                {block: block{"lab": block{"machines": 0}}, errors: []string{"machines"}},
		"a lab without a pace":                  {block: block{"lab": block{"pace": "0s"}}, errors: []string{"pace", "more than zero"}},
		"insecure": {
			block: ironicBlock(block{"endpoint": "https://i.test", "insecure": true}), warning: "not verified",
		},
		"insecure by the environment": {env: map[string]string{"IRONIC_INSECURE": "1"}, warning: "not verified"},
		"an endpoint without a scheme": {
			block: ironicBlock(block{"endpoint": "i.test:6385"}), errors: []string{`AttributeName("endpoint")`, "http://"},
		},
		"an endpoint with a password in it": {
			block: ironicBlock(block{"endpoint": "http://u:S3cret@i.test"}), errors: []string{`AttributeName("endpoint")`, "own attributes"},
		},
		"a variable without a scheme": {
			env: map[string]string{"IRONIC_ENDPOINT": "i.test"}, errors: []string{`AttributeName("endpoint")`, "IRONIC_ENDPOINT"},
		},
		"a variable with a password in it": {
			env: map[string]string{"IRONIC_ENDPOINT": "http://u:S3cret@i.test"}, errors: []string{"IRONIC_ENDPOINT"},
		},
		"a bad time":            {block: ironicBlock(block{"timeout": "60"}), errors: []string{`AttributeName("timeout")`, "unit"}},
		"a bad time variable":   {env: map[string]string{"IRONIC_CLIENT_TIMEOUT": "soon"}, errors: []string{"IRONIC_CLIENT_TIMEOUT"}},
		"a bad switch variable": {env: map[string]string{"IRONIC_INSECURE": "perhaps"}, errors: []string{"IRONIC_INSECURE"}},
		"a bad limit":           {block: ironicBlock(block{"provisioning_limit": -1}), errors: []string{"provisioning_limit"}},
		"a bad limit variable":  {env: map[string]string{"PROVISIONING_LIMIT": "many"}, errors: []string{"PROVISIONING_LIMIT"}},
		"an unknown auth":       {block: ironicBlock(block{"auth": "kerberos"}), errors: []string{`AttributeName("auth")`}},
		"http_basic alone":      {block: ironicBlock(block{"auth": "http_basic"}), errors: []string{`AttributeName("username")`, `AttributeName("password")`}},
		"a name alone":          {block: ironicBlock(block{"username": "u"}), errors: []string{`AttributeName("password")`, "IRONIC_PASSWORD"}},
		"a password alone":      {block: ironicBlock(block{"password": "S3cret"}), errors: []string{`AttributeName("username")`, "IRONIC_USERNAME"}},
		"a cloud with noauth":   {block: ironicBlock(block{"cloud": "c", "auth": "noauth"}), errors: []string{`AttributeName("cloud")`}},
		"a certificate alone":   {block: ironicBlock(block{"client_cert_file": "/c"}), errors: []string{`AttributeName("client_key_file")`}},
		"a key alone":           {env: map[string]string{"IRONIC_CLIENT_PRIVATE_KEY_FILE": "/k"}, errors: []string{`AttributeName("client_cert_file")`}},
		"a kernel alone":        {block: ironicBlock(block{"deploy_kernel_url": "http://i.test/k"}), errors: []string{`AttributeName("deploy_ramdisk_url")`}},
		"a ramdisk alone":       {env: map[string]string{"DEPLOY_RAMDISK_URL": "http://i.test/r"}, errors: []string{`AttributeName("deploy_kernel_url")`}},
		"a fabric without TLS": {
			block: fabricBlock(block{"endpoint": "http://f.test", "allow_plain_http": true}), warning: "without TLS",
		},
		"a fabric whose certificate nobody looks at": {
			block: fabricBlock(block{"endpoint": "f.test", "insecure_skip_verify": true}), warning: "not verified",
		},
		"plain HTTP that is allowed and not used": {block: fabricBlock(block{"endpoint": "f.test", "allow_plain_http": true})},
		"plain HTTP that is not allowed": {
			block: fabricBlock(block{"endpoint": "http://f.test"}), errors: []string{`AttributeName("endpoint")`, "allow_plain_http"},
		},
		"plain HTTP of which it is not known whether it is allowed": {
			block: fabricBlock(block{"endpoint": "http://f.test", "allow_plain_http": unknown{}}),
		},
		"a fabric's address with a password in it": {
			block: fabricBlock(block{"endpoint": "https://u:S3cret@f.test"}), errors: []string{`AttributeName("endpoint")`, "use auth"},
		},
		"a variable with a fabric's password in it": {
			env: map[string]string{"METAL3_FABRIC_ENDPOINT": "https://u:S3cret@f.test"}, errors: []string{"METAL3_FABRIC_ENDPOINT"},
		},
		"a second address with a blank inside": {
			block: fabricBlock(block{"layout_endpoint": "f test"}), errors: []string{`AttributeName("layout_endpoint")`, "blank"},
		},
		"a fabric of a type that nobody knows": {block: fabricBlock(block{"type": "liqid"}), errors: []string{`AttributeName("type")`}},
		"a fabric with a bad time":             {block: fabricBlock(block{"poll_interval": "5"}), errors: []string{`AttributeName("poll_interval")`, "unit"}},
		"a fabric with two authorities": {
			block: fabricBlock(block{"ca_cert_pem": "x", "ca_cert_file": "y"}), errors: []string{`AttributeName("ca_cert_file")`},
		},
		"two keys for SSH": {
			block: block{"ssh": block{"private_key": "S3cret", "private_key_file": "/k"}}, errors: []string{`AttributeName("private_key_file")`},
		},
		"a bastion with a scheme": {
			block: block{"ssh": block{"bastion": block{"host": "ssh://b.test"}}}, errors: []string{`AttributeName("host")`, "without scheme"},
		},
		"a bastion with any host key": {
			block: block{"ssh": block{"bastion": block{"host": "b.test", "insecure_host_key": true}}}, warning: "b.test is not verified",
		},
		"a bad namespace":        {block: block{"namespace": "Not~this"}, errors: []string{`AttributeName("namespace")`}},
		"a bad access":           {block: block{"bmc": block{"access": "maybe"}}, errors: []string{`AttributeName("access")`}},
		"a BMC with a scheme":    {block: block{"bmc": block{"hosts": block{"http://b.test": block{}}}}, errors: []string{`AttributeName("hosts")`, "without scheme"}},
		"a BMC by IPv6 address":  {block: block{"bmc": block{"hosts": block{"2001:db8::7": block{"username": "u"}}}}},
		"a BMC without anything": {block: block{"bmc": block{"hosts": block{"b.test": nil}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			network := &counting{}
			diags := providertest.NewServer(t, provider.WithEnvironment(environment(c.env)), provider.WithTransport(network)).Configure(t, c.block)
			text := providertest.Errors(diags)

			if (text == "") != (len(c.errors) == 0) {
				t.Errorf("errors: %q", text)
			}

			for _, want := range c.errors {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in %q", want, text)
				}
			}

			if got := providertest.Warnings(diags); (got == "") != (c.warning == "") || !strings.Contains(got, c.warning) {
				t.Errorf("warnings: %q", got)
			}

			if strings.Contains(text, "S3cret") {
				t.Errorf("the secret is shown: %q", text)
			}

			if n := network.n.Load(); n != 0 {
				t.Errorf("%d requests while configuring", n)
			}
		})
	}
}

// offered is what resources and data sources see of the provider.
type offered interface {
	Hosts(ctx context.Context) (host.Backend, error)
	HostDefaults() host.Defaults
	UnknownDefaults() []string
}

func configure(t *testing.T, b block, opts ...provider.Option) offered {
	t.Helper()

	var resp fw.ConfigureResponse

	opts = append([]provider.Option{provider.WithEnvironment(environment(nil))}, opts...)
	provider.New("test", opts...)().Configure(t.Context(), fw.ConfigureRequest{Config: config(t, b)}, &resp)

	services, ok := resp.ResourceData.(offered)
	if !ok || resp.DataSourceData != resp.ResourceData {
		t.Fatalf("resources get %T, data sources %T: %v", resp.ResourceData, resp.DataSourceData, resp.Diagnostics)
	}

	return services
}

func TestHosts_withoutFarSide(t *testing.T) {
	t.Parallel()

	services := configure(t, nil)

	_, err := services.Hosts(t.Context())
	for _, word := range []string{"ironic.endpoint", "IRONIC_ENDPOINT", "OS_CLOUD", "lab"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("no %q in %v", word, err)
		}
	}
}

func TestOTF05_hostsOfUnknownProvider(t *testing.T) {
	t.Parallel()

	services := configure(t, block{"ironic": block{"endpoint": unknown{}}, "namespace": unknown{}})

	_, err := services.Hosts(t.Context())
	if !errors.Is(err, host.ErrUnknown) || !strings.Contains(err.Error(), "ironic.endpoint") {
		t.Errorf("got %v", err)
	}

	if got := services.UnknownDefaults(); len(got) != 1 || got[0] != "namespace" {
		t.Errorf("unknown defaults: %v", got)
	}
}

func TestHosts_isOneForAll(t *testing.T) {
	t.Parallel()

	network := &counting{}
	services := configure(t, block{"ironic": block{"endpoint": "http://I.test:80/v1/"}}, provider.WithTransport(network))

	one, err := services.Hosts(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	other, err := services.Hosts(t.Context())
	if err != nil || one != other {
		t.Errorf("the second is %v, %v", other, err)
	}

	if one.Endpoint() != "http://i.test" || network.n.Load() != 0 {
		t.Errorf("%s after %d requests", one.Endpoint(), network.n.Load())
	}
}

func TestHosts_missingFileNamesAttribute(t *testing.T) {
	t.Parallel()

	services := configure(t, block{"ironic": block{"endpoint": "https://i.test", "ca_cert_file": "/no/such/file"}})

	_, err := services.Hosts(t.Context())
	if err == nil || !strings.Contains(err.Error(), "ironic.ca_cert_file") || !strings.Contains(err.Error(), "/no/such/file") {
		t.Errorf("got %v", err)
	}
}

func TestConfigure_defersWhereAllowed(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		block  block
		defers bool
	}{
		"an unknown endpoint defers":     {block{"ironic": block{"endpoint": unknown{}}}, true},
		"an unknown fabric defers":       {block{"fabric": block{"endpoint": unknown{}}}, true},
		"an unknown SSH user does not":   {block{"ssh": block{"user": unknown{}}}, false},
		"an unknown namespace does not":  {block{"namespace": unknown{}}, false},
		"a known configuration does not": {block{"ironic": block{"endpoint": "http://i.test"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var resp fw.ConfigureResponse

			provider.New("test", provider.WithEnvironment(environment(nil)))().Configure(t.Context(), fw.ConfigureRequest{
				Config: config(t, c.block), ClientCapabilities: fw.ConfigureProviderClientCapabilities{DeferralAllowed: true},
			}, &resp)

			if (resp.Deferred != nil) != c.defers {
				t.Errorf("deferred: %v", resp.Deferred)
			}
		})
	}
}

func TestSchema_isWellMade(t *testing.T) {
	t.Parallel()

	schema := providertest.NewServer(t).Schema()

	// An action has no state and no plan: the framework's schema of one (1.19) cannot mark secrets.
	actions := map[string]bool{}
	for name := range schema.ActionSchemas {
		actions[name] = true
	}

	check := func(where string, a *tfprotov6.SchemaAttribute) {
		if a.Description == "" || a.DescriptionKind != tfprotov6.StringKindMarkdown {
			t.Errorf("%s.%s has no description", where, a.Name)
		}

		top, _, _ := strings.Cut(where, ".")

		for _, secret := range []string{"password", "secret", "private_key", "token"} {
			if strings.HasSuffix(a.Name, secret) && !a.Sensitive && !actions[top] {
				t.Errorf("%s.%s is shown", where, a.Name)
			}
		}
	}

	var walk func(where string, all []*tfprotov6.SchemaAttribute)

	walk = func(where string, all []*tfprotov6.SchemaAttribute) {
		for _, a := range all {
			check(where, a)

			if a.NestedType != nil {
				walk(where+"."+a.Name, a.NestedType.Attributes)
			}
		}
	}

	walk("provider", schema.Provider.Block.Attributes)

	for name, s := range schema.DataSourceSchemas {
		walk(name, s.Block.Attributes)
	}

	for name, s := range schema.EphemeralResourceSchemas {
		walk(name, s.Block.Attributes)
	}

	for name, s := range schema.ActionSchemas {
		walk(name, s.Schema.Block.Attributes)
	}

	if schema.EphemeralResourceSchemas["metal3_fabric_token"] == nil || schema.ActionSchemas["metal3_gpu_drain"] == nil {
		t.Error("no token or no drain")
	}

	for _, name := range []string{
		"metal3_baremetal_host", "metal3_baremetal_hosts", "metal3_fabric_machines", "metal3_fabric_devices", "metal3_fabric_capacity",
	} {
		if schema.DataSourceSchemas[name] == nil {
			t.Errorf("no data source %s", name)
		}
	}

	if len(schema.Functions) == 0 {
		t.Error("no functions")
	}
}

// BenchmarkSchema is the part of the provider's start that is ours: until the first schema
// answer.
func BenchmarkSchema(b *testing.B) {
	for b.Loop() {
		served, err := providerserver.NewProtocol6WithError(provider.New("test")())()
		if err != nil {
			b.Fatal(err)
		}

		if _, err := served.GetProviderSchema(b.Context(), &tfprotov6.GetProviderSchemaRequest{}); err != nil {
			b.Fatal(err)
		}
	}
}
