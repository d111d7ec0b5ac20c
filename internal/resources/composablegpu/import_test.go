// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// TestOTF04_import imports in both forms and plans with configuration that was written by
// hand: at most settings change.
func TestOTF04_import(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		id   string
		size int
		with Map
		free int // of the same kind, not ours
		want []string
	}{
		"all of a kind":               {m0 + "/gpu/A100", 3, nil, 0, nil},
		"all, with a scheme":          {"fsas-cdi://" + m0 + "/gpu/A100", 3, nil, 0, nil},
		"one device":                  {m0 + "/f02", 1, nil, 2, nil},
		"two devices, spaced":         {m0 + "/f03, f01", 2, nil, 1, nil},
		"a connection, written later": {m0 + "/gpu/A100", 3, node(), 0, []string{"hosts"}},
		"settings, written later": {
			m0 + "/gpu/A100", 3, Map{"force_detach": true, "timeouts": Map{"drain": "1m"}}, 0, []string{"force_detach", "timeouts"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			onFarm(t, func(w world) {
				for range 3 {
					w.farm.put(m0, "gpu", "A100")
				}

				w.farm.put(m0, "gpu", "H100")

				if o := w.Import(w.ctx, c.id); o.Errors != "" {
					t.Fatal(o.Errors)
				}

				others, _ := w.Get("unmanaged_devices").([]any)
				if w.Get("state") != "Running" || len(w.devices()) != c.size || len(others) != c.free || w.Get("id") == nil || w.Get("on_create_failure") != "taint" {
					t.Errorf("imported: %v", w.State())
				}

				if p := w.Plan(w.ctx, w.Configurable()); p.Action != "" || p.Errors != "" {
					t.Errorf("with generated configuration: %q changes %v: %s", p.Action, p.Changed, p.Errors)
				}

				config := gpus(c.size, hosts(m0), c.with)

				p := w.Plan(w.ctx, config)
				if !slices.Equal(p.Changed, c.want) || p.Errors != "" || p.Warnings != "" {
					t.Errorf("with hand-written configuration: %q changes %v: %s %s", p.Action, p.Changed, p.Errors, p.Warnings)
				}

				w.apply(config)

				if w.farm.attached+w.farm.detached != 0 {
					t.Error("devices were touched")
				}

				w.destroy()

				if got := w.farm.left(); len(got) != 4-c.size {
					t.Errorf("left: %v", got)
				}
			})
		})
	}
}

// TestGPU_importRefuses what names no devices of one kind.
func TestGPU_importRefuses(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.farm.put(m0, "gpu", "A100")
		w.farm.put(m0, "gpu", "H100")

		for id, want := range map[string]string{
			m0: "Must be", m0 + "/": "Must be", m0 + "/gpu/": "model is missing", m0 + "/fpga/X": "neither", m0 + "/gpu/L40S": "has no gpu of model",
			m0 + "/f09": "is not on machine", m0 + "/f01,f02": "one type and model", "nowhere/gpu/A100": "no such machine", m1 + "/gpu/A100": "no devices",
		} {
			if o := w.Import(w.ctx, id); !strings.Contains(o.Errors, want) || w.Exists() {
				t.Errorf("%s: %s", id, o.Errors)
			}
		}
	})
}

var identityType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"machine_id": tftypes.String, "type": tftypes.String, "model": tftypes.String}}

func TestGPU_importByIdentity(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.farm.put(m1, "gpu", "A100")

		s := providertest.NewServer(w.t, w.Options...)
		s.Configure(w.t, Map{})

		who, err := tfprotov6.NewDynamicValue(identityType, providertest.Value(identityType, Map{"machine_id": m1, "type": "gpu", "model": "A100"}))
		if err != nil {
			t.Fatal(err)
		}

		resp, err := s.ImportResourceState(w.ctx, &tfprotov6.ImportResourceStateRequest{TypeName: theGPU, Identity: &tfprotov6.ResourceIdentityData{IdentityData: &who}})
		if err != nil || providertest.Errors(resp.Diagnostics) != "" || len(resp.ImportedResources) != 1 {
			t.Fatalf("%v: %s", err, providertest.Errors(resp.Diagnostics))
		}

		got, err := resp.ImportedResources[0].Identity.IdentityData.Unmarshal(identityType)
		if m, _ := providertest.Plain(got).(Map); err != nil || m["machine_id"] != m1 || m["model"] != "A100" {
			t.Errorf("identity: %v, %v", m, err)
		}
	})
}

// TestGPU_list lists what is attached, by machine and kind.
func TestGPU_list(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.farm.put(m0, "gpu", "A100")
		w.farm.put(m0, "gpu", "A100")
		w.farm.put(m0, "gpu", "H100")
		w.farm.put(m1, "cxlmemory", "CXL-128G")
		w.farm.put(m2, "ssd", "NVMe")

		for name, c := range map[string]struct {
			config Map
			limit  int64
			want   []string
		}{
			"all":               {Map{}, 0, []string{"node-0: 2 × gpu A100", "node-0: 1 × gpu H100", "node-1: 1 × cxlmemory CXL-128G"}},
			"a machine":         {Map{"machine_id": m1}, 0, []string{"node-1: 1 × cxlmemory CXL-128G"}},
			"a type":            {Map{"type": "gpu"}, 0, []string{"node-0: 2 × gpu A100", "node-0: 1 × gpu H100"}},
			"a model":           {Map{"model": "H100"}, 0, []string{"node-0: 1 × gpu H100"}},
			"a limit":           {Map{}, 2, []string{"node-0: 2 × gpu A100", "node-0: 1 × gpu H100"}},
			"nothing of a kind": {Map{"model": "B200"}, 0, nil},
		} {
			var got []string

			for _, r := range w.list(c.config, c.limit) {
				got = append(got, r.DisplayName)

				kind := w.schema().ValueType()

				state, err := r.Resource.Unmarshal(kind)
				if err != nil || !state.IsFullyKnown() {
					t.Errorf("%s: %v: %v", name, err, state)
				}
			}

			if !slices.Equal(got, c.want) {
				t.Errorf("%s: %v", name, got)
			}
		}
	})
}

func (w world) schema() *tfprotov6.Schema {
	return providertest.NewServer(w.t, w.Options...).Schema().ResourceSchemas[theGPU]
}

// list asks as terraform query does.
func (w world) list(config Map, limit int64) []tfprotov6.ListResourceResult {
	w.t.Helper()

	s := providertest.NewServer(w.t, w.Options...)
	s.Configure(w.t, Map{})

	lister, ok := s.ProviderServer.(tfprotov6.ListResourceServer)
	if !ok {
		w.t.Fatal("the provider lists nothing")
	}

	kind := s.Schema().ListResourceSchemas[theGPU].ValueType()

	block, err := tfprotov6.NewDynamicValue(kind, providertest.Value(kind, config))
	if err != nil {
		w.t.Fatal(err)
	}

	stream, err := lister.ListResource(w.ctx, &tfprotov6.ListResourceRequest{TypeName: theGPU, Config: &block, IncludeResource: true, Limit: limit})
	if err != nil {
		w.t.Fatal(err)
	}

	var out []tfprotov6.ListResourceResult

	for r := range stream.Results {
		if text := providertest.Errors(r.Diagnostics); text != "" {
			w.t.Fatal(text)
		}

		out = append(out, r)
	}

	return out
}
