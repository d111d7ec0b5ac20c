// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// TestOTF04_import forgets a cluster and imports it: the first plan changes nothing on a host, and
// the second one nothing at all.
func TestOTF04_import(t *testing.T) {
	t.Parallel()

	inLab(t, 4, func(w world) {
		w.apply(lived(2))

		hosts := map[string]any{}
		for _, name := range w.machines() {
			hosts[name] = w.Get("machines." + name + ".host_id")
		}

		w.Forget()

		if o := w.Import(w.ctx, "metal3/edge"); o.Errors != "" || w.Identity() != "metal3/edge" {
			t.Fatalf("identity %q: %s", w.Identity(), o.Errors)
		}

		for name, host := range hosts {
			if w.Get("machines."+name+".host_id") != host {
				t.Errorf("%s is on %v, was on %v", name, w.Get("machines."+name+".host_id"), host)
			}
		}

		w.Mark()

		o := w.apply(lived(2))
		if o.Action != "update" || strings.Contains(o.Warnings, "overwritten") || strings.Contains(o.Warnings, "loses") {
			t.Errorf("%q: %s", o.Action, o.Warnings)
		}

		if i := slices.IndexFunc(w.Sent(), func(s string) bool { return strings.Contains(s, "/states/") }); i >= 0 {
			t.Errorf("it sent %s", w.Sent()[i])
		}

		for name, host := range hosts {
			if w.Get("machines."+name+".host_id") != host || w.Get("machines."+name+".addresses.prov.prefix") != int64(24) {
				t.Errorf("%s is %v", name, w.Get("machines."+name))
			}
		}
	})
}

// TestCluster_importRefusals are ids that name no cluster.
func TestCluster_importRefusals(t *testing.T) {
	t.Parallel()

	inLab(t, 1, func(w world) {
		for _, id := range []string{"", "edge", "metal3/", "/edge", "metal3/edge/x", "Metal3/edge", "metal3/Edge"} {
			if o := w.Import(w.ctx, id); !strings.Contains(o.Errors, "NAMESPACE/NAME") {
				t.Errorf("%q: %s", id, o.Errors)
			}
		}

		if o := w.Import(w.ctx, "metal3/none"); o.Errors != "" || w.Exists() {
			t.Errorf("a cluster that there is not: exists %v, %s", w.Exists(), o.Errors)
		}
	})
}

// TestCluster_list finds the clusters of an Ironic as terraform query does.
func TestCluster_list(t *testing.T) {
	t.Parallel()

	inLab(t, 5, func(w world) {
		w.apply(lived(1))

		other := w.Lab.Core(w.t, theCluster)
		if o := other.Apply(w.ctx, lived(1, Map{"name": "core", "namespace": "prod"})); o.Errors != "" {
			t.Fatal(o.Errors)
		}

		for name, c := range map[string]struct {
			config Map
			limit  int64
			want   []string
		}{
			"all":                     {Map{}, 10, []string{"metal3/edge (2 machines)", "prod/core (2 machines)"}},
			"of one namespace":        {Map{"namespace": "prod"}, 10, []string{"prod/core (2 machines)"}},
			"of one that has nothing": {Map{"namespace": "x"}, 10, nil},
			"no more than one":        {Map{}, 1, []string{"metal3/edge (2 machines)"}},
		} {
			if got := w.list(c.config, c.limit); !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
		}
	})
}

// list returns what the list resource shows people.
func (w world) list(config Map, limit int64) []string {
	w.t.Helper()

	s := providertest.NewServer(w.t, w.Options...)
	s.Configure(w.t, w.Provider)

	lister, ok := s.ProviderServer.(tfprotov6.ListResourceServer)
	if !ok {
		w.t.Fatal("the provider lists nothing")
	}

	kind := s.Schema().ListResourceSchemas[theCluster].ValueType()

	block, err := tfprotov6.NewDynamicValue(kind, providertest.Value(kind, config))
	if err != nil {
		w.t.Fatal(err)
	}

	stream, err := lister.ListResource(w.ctx, &tfprotov6.ListResourceRequest{TypeName: theCluster, Config: &block, IncludeResource: true, Limit: limit})
	if err != nil {
		w.t.Fatal(err)
	}

	var out []string

	for r := range stream.Results {
		if text := providertest.Errors(r.Diagnostics); text != "" || r.Resource == nil {
			w.t.Errorf("%s: %s", r.DisplayName, text)
		}

		out = append(out, r.DisplayName)
	}

	return out
}
