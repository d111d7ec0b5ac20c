// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
)

// Lab is a lab in memory that one test has for itself, with its hooks: what goes wrong
// ([ironic.Service.Inject]), what is changed by hand, which requests came.
type Lab struct {
	*lab.Lab

	state string // directory of what providers keep for themselves
}

// NewLab opens a lab for one test. It remembers all requests.
func NewLab(t *testing.T, o lab.Options) Lab {
	t.Helper()

	l, err := lab.Open(o)
	if err != nil {
		t.Fatal(err)
	}

	l.Ironic.KeepRequests()

	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close the lab: %v", err)
		}
	})

	return Lab{l, t.TempDir()}
}

// ProviderBlock is the provider's configuration for a lab: the block of a real Ironic, so
// that tests may give the provider another address.
const ProviderBlock = `
provider "metal3" {
  ironic = { endpoint = "` + lab.Endpoint + `", auth = "noauth" }
}
`

// Factories makes providers for tests with Terraform whose requests all go to this lab.
func (l Lab) Factories() map[string]func() (tfprotov6.ProviderServer, error) {
	return map[string]func() (tfprotov6.ProviderServer, error){
		"metal3": func() (tfprotov6.ProviderServer, error) { return provider.NewServer("test", l.options()...)(), nil },
	}
}

// options give a provider this lab as its world, and an environment that only says where
// state is kept.
func (l Lab) options() []provider.Option {
	return []provider.Option{
		provider.WithTransport(l.Transport()),
		provider.WithLab(l.Lab),
		provider.WithEnvironment(func(name string) string { return map[string]string{"XDG_STATE_HOME": l.state}[name] }),
	}
}

// Machine is a machine of the lab as it is now.
func (l Lab) Machine(t *testing.T, name string) machine.Machine {
	t.Helper()

	var m machine.Machine

	l.update(t, func(tx store.Tx) error {
		var err error
		m, err = l.load(t, tx, name)

		return err
	})

	return m
}

// Change changes a machine behind everybody's back.
func (l Lab) Change(t *testing.T, name string, how func(*machine.Machine)) {
	t.Helper()

	l.update(t, func(tx store.Tx) error {
		m, err := l.load(t, tx, name)
		if err != nil {
			return err
		}

		how(&m)

		return machine.Save(tx, m)
	})
}

func (l Lab) load(t *testing.T, tx store.Tx, name string) (machine.Machine, error) {
	t.Helper()

	m, ok, err := machine.Load(tx, name)
	if err == nil && !ok {
		t.Fatalf("there is no machine %s yet", name)
	}

	return m, err //nolint:wrapcheck // for the test
}

func (l Lab) update(t *testing.T, f func(store.Tx) error) {
	t.Helper()

	if err := l.Store.Update(f); err != nil {
		t.Fatal(err)
	}
}

// Sent are the requests since the last Mark that change something, as "METHOD path", with
// the target of a provision or power request behind it.
func (l Lab) Sent() []string {
	var out []string

	for _, r := range l.Ironic.Requests() {
		if r.Method != "GET" {
			out = append(out, words(r))
		}
	}

	return out
}

// Asked counts all requests since the last Mark.
func (l Lab) Asked() int { return len(l.Ironic.Requests()) }

// Mark forgets the requests so far.
func (l Lab) Mark() { l.Ironic.ResetCounts() }

func words(r ironic.Request) string {
	s := r.Method + " " + r.Path

	if _, rest, ok := strings.Cut(r.Body, `"target":"`); ok {
		target, _, _ := strings.Cut(rest, `"`)
		s += " " + target
	}

	return s
}

// Paths are all requests since the last Mark, as "METHOD path?query".
func (l Lab) Paths() []string {
	var out []string
	for _, r := range l.Ironic.Requests() {
		out = append(out, r.Method+" "+r.Path+"?"+r.Query)
	}

	return out
}
