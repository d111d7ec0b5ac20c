// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// TestGPU_invalid are configurations that are refused before anything is asked.
func TestGPU_invalid(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		config Map
		want   string
	}{
		"a size below zero (OGPU13)":     {gpus(-1), "size"},
		"a machine that is named twice":  {gpus(1, hosts(m0, m1, m0)), "named twice"},
		"twice, with a scheme and case":  {gpus(1, hosts(m0, "fsas-cdi://"+strings.ToUpper(m0))), "named twice"},
		"no host":                        {gpus(1, Map{"hosts": []any{}}), "hosts"},
		"a host without a machine id":    {gpus(1, Map{"hosts": []any{Map{"name": "x"}}}), "machine_id is required"},
		"an empty machine id":            {gpus(1, hosts("fsas-cdi://")), "Invalid machine id"},
		"an empty model":                 {gpus(1, Map{"model": ""}), "Invalid model"},
		"a model with a blank behind it": {gpus(1, Map{"model": "A100 "}), "blanks around"},
		"another type":                   {gpus(1, Map{"type": "fpga"}), "type"},
		"more devices than hosts":        {gpus(3, hosts(m0, m1), Map{"allocation_policy": "differentnode"}), "Not enough hosts"},
		"a demand below zero":            {gpus(1, Map{"other_spec": Map{"memory": -1}}), "other_spec"},
		"a demand without a capacity":    {gpus(1, Map{"other_spec": Map{"memory": 1024}}), "Capacity of node-0 is not given"},
		"a demand with another capacity": {gpus(1, Map{
			"other_spec": Map{"memory": 1024}, "hosts": []any{Map{"machine_id": m0, "capacity": Map{"cpu_millis": 1000}}},
		}), "memory_bytes"},
		"a duration without a unit": {gpus(1, Map{"timeouts": Map{"attach": "15"}}), "Invalid duration"},
		"a connection to nowhere":   {gpus(1, Map{"hosts": []any{Map{"machine_id": m0, "node": Map{"user": "root"}}}}), "host"},
		"an unknown choice":         {gpus(1, Map{"on_partial": "retry"}), "on_partial"},

		"a cluster of no kind":      {gpus(1, Map{"workload": Map{"kubeconfig_path": "k"}}), "resource_type"},
		"a cluster of another kind": {gpus(1, Map{"workload": Map{"kubeconfig_path": "k", "resource_type": "DRA"}}), "resource_type"},
		"a cluster without a way":   {gpus(1, Map{"workload": Map{"resource_type": "dra"}}), "kubeconfig"},
		"a cluster with two ways":   {gpus(1, Map{"workload": Map{"resource_type": "dra", "kubeconfig": "k", "kubeconfig_path": "k"}}), "kubeconfig"},
		"a node without a name":     {gpus(1, hosts(m0), cluster("k")), "neither node_name nor name"},
		"two machines of one node":  {gpus(1, Map{"hosts": []any{Map{"machine_id": m0, "name": "a", "node_name": "n"}, Map{"machine_id": m1, "name": "n"}}}, cluster("k")), "Node n is named twice"},
		"memory and a cluster":      {gpus(1, cluster("k"), Map{"type": "cxlmemory"}), "for type = \"gpu\""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			onFarm(t, func(w world) {
				if o := w.Plan(w.ctx, c.config); !strings.Contains(o.Errors, c.want) {
					t.Errorf("errors: %q, want %q", o.Errors, c.want)
				}

				if w.farm.asked != 0 {
					t.Errorf("the fabric was asked %d times", w.farm.asked)
				}
			})
		})
	}
}

func TestGPU_podsAreIgnoredWithAWarning(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		if o := w.Plan(w.ctx, gpus(1, Map{"other_spec": Map{"allowed_pod_number": 10}})); o.Errors != "" || !strings.Contains(o.Warnings, "pods") {
			t.Errorf("errors %q, warnings %q", o.Errors, o.Warnings)
		}
	})
}

// TestOTF05_unknownAtPlan has each input come from something that is created in the same apply.
func TestOTF05_unknownAtPlan(t *testing.T) {
	t.Parallel()

	full := gpus(1, Map{
		"type": "gpu", "allocation_policy": "samenode", "other_spec": Map{"milli_cpu": 1000}, "force_detach": false, "skip_drain": "never",
		"driver_check": "required", "wait_for_visible": true, "existing_devices": "error", "on_partial": "rollback", "on_unhealthy": "detach",
		"on_create_failure": "taint", "detach_first": []any{"f09"}, "exclusive_models": []any{"H100"}, "refresh_node": false, "timeouts": Map{"attach": "15m"},
		"hosts": []any{Map{
			"machine_id": m0, "name": "node-0", "capacity": Map{"cpu_millis": 4000}, "node": Map{"host": "node-0", "user": "root", "private_key": "key"},
		}},
	})

	set := func(path string, v any) Map {
		out := gpus(1, full)
		one, _ := out["hosts"].([]any)[0].(Map)
		h := Map{}

		for k, v := range one {
			h[k] = v
		}

		switch top, inner, nested := strings.Cut(path, "."); {
		case !nested:
			out[top] = v
		case inner == "all":
			out[top] = []any{v}
		default:
			if a, b, deep := strings.Cut(inner, "."); deep {
				c := Map{}
				for k, v := range h[a].(Map) {
					c[k] = v
				}

				c[b] = v
				h[a] = c
			} else {
				h[inner] = v
			}

			out["hosts"] = []any{h}
		}

		return out
	}

	var paths []string
	for name := range full {
		paths = append(paths, name)
	}

	paths = append(paths, "hosts.all", "hosts.machine_id", "hosts.name", "hosts.capacity", "hosts.capacity.cpu_millis", "hosts.node", "hosts.node.host", "hosts.node.private_key")

	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			t.Parallel()

			onFarm(t, func(w world) {
				if o := w.ApplyUnknown(w.ctx, set(path, providertest.Unknown{}), full); o.Errors != "" || w.Get("state") != "Running" {
					t.Fatalf("create: %s", o.Errors)
				}

				if slices.Contains([]string{"type", "model", "allocation_policy"}, path) {
					w.Replaces = true // what is not known yet may be another kind
				}

				if o := w.Plan(w.ctx, set(path, providertest.Unknown{})); o.Errors != "" {
					t.Errorf("update: %s", o.Errors)
				}
			})
		})
	}
}

// TestOTF05_checkedAtApply has values that turn out to be wrong once they are known.
func TestOTF05_checkedAtApply(t *testing.T) {
	t.Parallel()

	unknown := Map{"hosts": []any{Map{"machine_id": providertest.Unknown{}}, Map{"machine_id": m1}}}

	onFarm(t, func(w world) {
		o := w.ApplyUnknown(w.ctx, gpus(1, unknown), gpus(1, hosts(m1, m1)))
		if !strings.Contains(o.Errors, "named twice") || w.farm.attached != 0 || w.Exists() {
			t.Errorf("%d attached: %s", w.farm.attached, o.Errors)
		}
	})
}

// TestGPU_planOpensOnlyWhatMoves looks at what a plan leaves open.
func TestGPU_planOpensOnlyWhatMoves(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(gpus(1, hosts(m0, m1)))

		for name, c := range map[string]struct {
			config Map
			open   bool
		}{
			"another size":               {gpus(2, hosts(m0, m1)), true},
			"a size that is not known":   {gpus(providertest.Unknown{}, hosts(m0, m1)), true},
			"one host less":              {gpus(1, hosts(m0)), true},
			"one host more":              {gpus(1, hosts(m0, m1, m2)), true},
			"hosts in another order":     {gpus(1, hosts(m1, m0)), false},
			"hosts that are not known":   {gpus(1, Map{"hosts": providertest.Unknown{}}), true},
			"a name for a host":          {gpus(1, Map{"hosts": []any{Map{"machine_id": m0, "name": "a"}, Map{"machine_id": m1}}}), false},
			"another policy for partial": {gpus(1, hosts(m0, m1), Map{"on_partial": "keep"}), false},
		} {
			o := w.Plan(w.ctx, c.config)
			if _, open := o.Planned["devices"].(providertest.Unknown); open != c.open || o.Errors != "" || o.Action != "update" {
				t.Errorf("%s: %q changes %v: %s", name, o.Action, o.Changed, o.Errors)
			}

			for _, stable := range []string{"id", "endpoint"} {
				if slices.Contains(o.Changed, stable) {
					t.Errorf("%s: %s changes", name, stable)
				}
			}
		}
	})
}

// TestGPU_planTellsThePrice holds each warning of a plan, and that there is none where
// nothing is taken away.
func TestGPU_planTellsThePrice(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(gpus(2, hosts(m0, m1), Map{"allocation_policy": "differentnode"}))

		for name, c := range map[string]struct {
			config Map
			want   string
		}{
			"a smaller size":      {gpus(1, hosts(m0, m1), Map{"allocation_policy": "differentnode"}), "1 of these 2 go"},
			"one host less":       {gpus(1, hosts(m0), Map{"allocation_policy": "differentnode"}), "leave their host"},
			"another model":       {gpus(2, hosts(m0, m1), Map{"allocation_policy": "differentnode", "model": "H100"}), "A change of model detaches 2 devices"},
			"nothing":             {gpus(2, hosts(m0, m1), Map{"allocation_policy": "differentnode"}), ""},
			"a host more":         {gpus(2, hosts(m0, m1, m2), Map{"allocation_policy": "differentnode"}), ""},
			"growth":              {gpus(3, hosts(m0, m1, m2), Map{"allocation_policy": "differentnode"}), ""},
			"the end":             {nil, "The destroy detaches 2 devices"},
			"the policy of drain": {gpus(2, hosts(m0, m1), Map{"allocation_policy": "differentnode", "skip_drain": "always"}), ""},
		} {
			w.Replaces = name == "another model"

			o := w.Plan(w.ctx, c.config)

			if o.Errors != "" || (c.want == "") != (o.Warnings == "") || !strings.Contains(o.Warnings, c.want) {
				t.Errorf("%s: warnings %q, errors %q", name, o.Warnings, o.Errors)
			}
		}
	})
}

// TestGPU_planForeseesShortage asks for more than is free. It never fails a plan.
func TestGPU_planForeseesShortage(t *testing.T) {
	t.Parallel()

	spread := Map{"allocation_policy": "differentnode"}

	for name, c := range map[string]struct {
		config Map
		free   int
		down   error
		want   bool
	}{
		"enough":                        {gpus(4), 4, nil, false},
		"too few":                       {gpus(4), 3, nil, true},
		"a fabric that does not answer": {gpus(4), 3, errors.New("no answer"), false},
		"what is adopted needs none":    {gpus(4, Map{"existing_devices": "adopt"}), 0, nil, false},
		"one for each host":             {gpus(3, hosts(m0, m1, m2), spread), 3, nil, false},
		"a pool that hosts share":       {gpus(3, hosts(m0, m1, m2), spread), 2, nil, true},
		"nothing is wanted":             {gpus(0), 0, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			onFarm(t, func(w world) {
				w.farm.free, w.farm.down = c.free, c.down

				if o := w.Plan(w.ctx, c.config); o.Errors != "" || strings.Contains(o.Warnings, "Too few free devices") != c.want {
					t.Errorf("errors %q, warnings %q", o.Errors, o.Warnings)
				}
			})
		})
	}
}

// TestGPU_capacityShort attaches nothing where the pool has too few.
func TestGPU_capacityShort(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.farm.free = 1

		if o := w.Apply(w.ctx, gpus(2)); o.Errors == "" || w.farm.attached != 0 || w.Exists() {
			t.Errorf("%d attached: %s", w.farm.attached, o.Errors)
		}
	})
}

// TestGPU_unknownProvider keeps the state where the provider's configuration is not known.
func TestGPU_unknownProvider(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(gpus(1))

		before := w.Dump()
		w.Options = []provider.Option{provider.WithEnvironment(func(string) string { return "" })}
		w.Provider = Map{"fabric": Map{"type": "fti_fm", "endpoint": providertest.Unknown{}}}

		o := w.Refresh(w.ctx)
		if o.Errors != "" || !strings.Contains(o.Warnings, "not refreshed") || w.Dump() != before {
			t.Errorf("errors %q, warnings %q", o.Errors, o.Warnings)
		}

		if o := w.Plan(w.ctx, gpus(3)); o.Errors != "" || o.Action != "update" {
			t.Errorf("plan: %q: %s", o.Action, o.Errors)
		}
	})
}
