// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	fw "github.com/hashicorp/terraform-plugin-framework/provider"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
)

// composing is what rooms of composable devices see of the provider.
type composing interface {
	Hosts(ctx context.Context) (host.Backend, error)
	Devices(ctx context.Context) (*device.Desk, error)
	Nodes(ctx context.Context) (*remote.Pool, remote.Config, error)
}

func composed(t *testing.T, b block, opts ...provider.Option) composing {
	t.Helper()

	var resp fw.ConfigureResponse

	opts = append([]provider.Option{provider.WithEnvironment(environment(nil))}, opts...)
	provider.New("test", opts...)().Configure(t.Context(), fw.ConfigureRequest{Config: config(t, b)}, &resp)

	services, ok := resp.ActionData.(composing)
	if !ok || resp.EphemeralResourceData != resp.ActionData || resp.DataSourceData != resp.ActionData {
		t.Fatalf("actions get %T, ephemeral resources %T: %v", resp.ActionData, resp.EphemeralResourceData, resp.Diagnostics)
	}

	return services
}

// fabricOf is a whole fabric block.
func fabricOf(more block) block {
	b := block{"endpoint": "f.test", "tenant_id": "t", "auth": block{"username": "u", "password": "p"}, "journal_dir": "off"}
	for name, v := range more {
		b[name] = v
	}

	return block{"fabric": b}
}

func TestDevices_isOneForAll(t *testing.T) {
	t.Parallel()

	network := &counting{}
	services := composed(t, fabricOf(block{"poll_interval": "7s"}), provider.WithTransport(network))

	one, err := services.Devices(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	other, err := services.Devices(t.Context())
	if err != nil || one != other {
		t.Errorf("the second is %v, %v", other, err)
	}

	if one.Fabric.Endpoint() != "https://f.test#tenant=t" || one.Journal != nil || network.n.Load() != 0 || one.Poll != 7*time.Second {
		t.Errorf("%s after %d requests, journal %v", one.Fabric.Endpoint(), network.n.Load(), one.Journal)
	}

	if _, err := services.Hosts(t.Context()); err == nil || !strings.Contains(err.Error(), "ironic.endpoint") {
		t.Errorf("a fabric is no Ironic: %v", err)
	}
}

func TestDevices_errors(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		block block
		says  []string
		is    error
	}{
		"nothing":                    {nil, []string{"fabric.endpoint", "METAL3_FABRIC_ENDPOINT", "lab", "METAL3_LAB"}, nil},
		"an Ironic is no fabric":     {block{"ironic": block{"endpoint": "http://i.test"}}, []string{"fabric.endpoint"}, nil},
		"an address not known yet":   {fabricOf(block{"endpoint": unknown{}}), []string{"fabric.endpoint"}, device.ErrUnknown},
		"no tenant":                  {fabricOf(block{"tenant_id": ""}), []string{"fabric."}, nil},
		"no cluster":                 {fabricOf(block{"type": "fti_cm"}), []string{"fabric.cluster_id"}, nil},
		"no home for the journal":    {fabricOf(block{"journal_dir": ""}), []string{"fabric.journal_dir", "XDG_STATE_HOME", `"off"`}, nil},
		"not known if there's a lab": {block{"lab": unknown{}}, []string{"lab"}, device.ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := composed(t, c.block).Devices(t.Context())
			if err == nil || c.is != nil && !errors.Is(err, c.is) {
				t.Fatalf("got %v", err)
			}

			for _, word := range c.says {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("no %q in %v", word, err)
				}
			}
		})
	}
}

func TestNodes_ofAnUnknownProvider(t *testing.T) {
	t.Parallel()

	_, _, err := composed(t, block{"ssh": block{"user": unknown{}}}).Nodes(t.Context())
	if !errors.Is(err, device.ErrUnknown) || !strings.Contains(err.Error(), "ssh.user") {
		t.Errorf("got %v", err)
	}
}

// TestLab_isOneForAllFarSides looks at one machine through Ironic's client and the fabric's.
func TestLab_isOneForAllFarSides(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	services := composed(t, block{"lab": block{"dir": dir, "machines": 2}, "fabric": block{"request_timeout": "9s"}})

	desk, err := services.Devices(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	if !strings.HasPrefix(desk.Fabric.Endpoint(), lab.FabricEndpoint+"#tenant=") || desk.Journal == nil {
		t.Errorf("fabric at %s, journal %v", desk.Fabric.Endpoint(), desk.Journal)
	}

	machines, err := desk.Fabric.Machines(t.Context())
	if err != nil || len(machines) != 2 {
		t.Fatalf("%d machines: %v", len(machines), err)
	}

	hosts, err := services.Hosts(t.Context())
	if err != nil || hosts.Endpoint() != lab.Endpoint {
		t.Fatalf("%v: %v", hosts, err)
	}

	if err := desk.Journal.Put(device.Intent{ID: "i", Fabric: "f", Machine: "m"}); err != nil {
		t.Fatal(err)
	}

	if _, err := os.Stat(filepath.Join(dir, "fabric-journal")); err != nil {
		t.Errorf("the journal is not beside the lab's memory: %v", err)
	}

	_, defaults, err := services.Nodes(t.Context())
	if err != nil || defaults.Dial == nil {
		t.Fatalf("connections do not go to the lab: %v", err)
	}

	if _, err := defaults.Dial(t.Context(), "tcp", "real.test:22"); !errors.Is(err, lab.ErrNoHost) {
		t.Errorf("a lab reaches out: %v", err)
	}
}
