// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// workersOf is a configuration of a cluster whose workers have more to say.
func workersOf(parts ...Map) Map {
	m := lived(2)
	merged(m["workers"].(Map)["w"].(Map), parts...)

	return m
}

// controlOf is a configuration of a cluster whose control plane has more to say.
func controlOf(parts ...Map) Map {
	m := lived(2)
	merged(m["control_plane"].(Map), parts...)

	return m
}

// TestOTF03_planOpensOnlyWhatMoves looks at what a plan leaves open, and that nothing stable is.
func TestOTF03_planOpensOnlyWhatMoves(t *testing.T) {
	t.Parallel()

	inLab(t, 5, func(w world) {
		w.apply(lived(2))

		for name, c := range map[string]struct {
			config Map
			open   bool
		}{
			"nothing but timeouts":  {lived(2, Map{"timeouts": Map{"create": "3h"}}), false},
			"protection":            {lived(2, Map{"deletion_protection": true}), false},
			"a selector":            {workersOf(Map{"host_selector": Map{"match_labels": Map{"a": "b"}}}), false},
			"how a pool rolls out":  {workersOf(Map{"rollout": Map{"strategy": "rebuild"}}), false},
			"parallelism":           {lived(2, Map{"parallelism": Map{"provision": 3}}), false},
			"remediation":           {lived(2, Map{"remediation": Map{"enabled": true}}), false},
			"a worker more":         {lived(3), true},
			"another cleaning mode": {workersOf(Map{"automated_cleaning_mode": "disabled"}), true},
			"another image":         {imaged(2), true},
		} {
			o := w.Plan(w.ctx, c.config)
			if o.Errors != "" || o.Action != "update" {
				t.Errorf("%s: %q: %s", name, o.Action, o.Errors)

				continue
			}

			for _, attribute := range []string{"ready", "state", "conditions", "drift", "machines.edge-w-1.state"} {
				if _, open := acctest.Get(o.Planned, attribute).(providertest.Unknown); open != c.open {
					t.Errorf("%s: %s is open: %v", name, attribute, open)
				}
			}

			for _, stable := range []string{"id", "namespace", "endpoint", "kubeconfig", "cluster_ca", "machines.edge-w-0.claim_id", "machines.edge-w-0.addresses", "machines.edge-w-0.index"} {
				if now, was := acctest.Get(o.Planned, stable), w.Get(stable); fmt.Sprint(now) != fmt.Sprint(was) {
					t.Errorf("%s: %s changes from %v to %v", name, stable, was, now)
				}
			}

			if host := acctest.Get(o.Planned, "machines.edge-w-0.host_id"); name != "another image" && host != w.Get("machines.edge-w-0.host_id") {
				t.Errorf("%s: the host of a machine that stays is %v", name, host)
			}
		}
	})
}

// TestCluster_settingsAskNobody applies what changes nothing of the cluster.
func TestCluster_settingsAskNobody(t *testing.T) {
	t.Parallel()

	inLab(t, 3, func(w world) {
		w.apply(lived(2))
		w.Mark()
		w.apply(lived(2, Map{"timeouts": Map{"create": "3h"}, "deletion_protection": true, "max_deprovision_per_apply": 1}))

		if sent := w.Sent(); len(sent) != 0 {
			t.Errorf("it sent %v", sent)
		}
	})
}

// Test11_7_immutable changes what makes this cluster this one.
func Test11_7_immutable(t *testing.T) {
	t.Parallel()

	inLab(t, 3, func(w world) {
		w.apply(lived(2))

		for name, change := range map[string]Map{
			"name": {"name": "other"}, "namespace": {"namespace": "other"}, "control_plane_endpoint": endpoint(Map{"host": "192.0.2.250"}),
			"machine_name_format": {"machine_name_format": "m-{pool}-{index}"},
		} {
			o := w.Plan(w.ctx, lived(2, change))
			if !strings.Contains(o.Errors, `AttributeName("`+name+`")`) || !strings.Contains(o.Errors, "would end the cluster") {
				t.Errorf("%s: %q: %s", name, o.Action, o.Errors)
			}
		}

		if o := w.Plan(w.ctx, lived(2, endpoint(Map{"host": "192.0.2.249", "port": 6443}))); o.Action != "" {
			t.Errorf("the port that it has: %v", o.Changed)
		}

		if o := w.Plan(w.ctx, lived(2, endpoint(Map{"host": providertest.Unknown{}}))); o.Errors != "" {
			t.Errorf("an endpoint that is not known yet: %s", o.Errors)
		}

		before := w.Dump()
		if o := w.ApplyUnknown(w.ctx, lived(2, endpoint(Map{"host": providertest.Unknown{}})), lived(2, endpoint(Map{"host": "192.0.2.250"}))); o.Errors == "" || w.Dump() != before {
			t.Errorf("an endpoint that turns out to be another one: %s", o.Errors)
		}
	})
}

// Test11_7_planTellsThePrice holds the warnings and refusals of plans.
func Test11_7_planTellsThePrice(t *testing.T) {
	t.Parallel()

	inLab(t, 5, func(w world) {
		w.apply(lived(4))

		several := func(config Map, n int) Map { return merged(config, Map{"max_deprovision_per_apply": n}) }

		for name, c := range map[string]struct {
			config           Map
			warning, refusal string
		}{
			"nothing":                   {lived(4), "", ""},
			"a machine less":            {lived(3), "Cluster edge loses edge-w-3", ""},
			"one that is named":         {lived(3, Map{"delete_machines": []any{"edge-w-1"}}), "Cluster edge loses edge-w-1", ""},
			"too many less":             {several(lived(1), 2), "loses edge-w-1, edge-w-2, edge-w-3", "max_deprovision_per_apply is 2"},
			"as many as may be":         {several(lived(2), 2), "loses edge-w-2, edge-w-3", ""},
			"another image":             {imaged(4), "Disks of edge-w-0, edge-w-1, edge-w-2, edge-w-3 of cluster edge will be overwritten", ""},
			"another image of too many": {several(imaged(4), 2), "will be overwritten", "would take down 5 machines"},
			"the only control plane":    {controlOf(Map{"user_data_template": "other", "image": image(Map{"url": otherImage})}), "an etcd that is on them is lost", ""},
			"a pool less":               {lived(4, Map{"workers": Map{}}), "loses edge-w-0, edge-w-1, edge-w-2, edge-w-3", ""},
			"more than there are hosts": {lived(6), "needs 2 more machines, and has hosts for 0 of them", ""},
			"more addresses than there are": {
				lived(4, pools(Map{"prov": prov(Map{"ranges": []any{Map{"start": "192.0.2.100", "end": "192.0.2.105"}}})}), Map{"workers": Map{"w": lived(4)["workers"].(Map)["w"], "x": pool(1, Map{"data_template": theTemplate, "ip_index_offset": 20})}}), "", "ip_pools",
			},
			"an address twice": {
				lived(4, Map{"workers": Map{"w": lived(4)["workers"].(Map)["w"], "x": pool(1, Map{"data_template": theTemplate, "ip_index_offset": 10})}}), "", "would both have 192.0.2.110",
			},
			"the end": {nil, "Cluster edge will be destroyed, with 5 machines", ""},
		} {
			o := w.Plan(w.ctx, c.config)

			if (c.warning == "") != (o.Warnings == "") && c.refusal == "" || !strings.Contains(o.Warnings, c.warning) {
				t.Errorf("%s: warnings %q, want %q", name, o.Warnings, c.warning)
			}

			if (c.refusal == "") != (o.Errors == "") || !strings.Contains(o.Errors, c.refusal) {
				t.Errorf("%s: errors %q, want %q", name, o.Errors, c.refusal)
			}
		}
	})
}

// TestCluster_protected refuses the end of a cluster in the plan.
func TestCluster_protected(t *testing.T) {
	t.Parallel()

	inLab(t, 3, func(w world) {
		w.apply(lived(2, Map{"deletion_protection": true}))

		if o := w.Plan(w.ctx, nil); !strings.Contains(o.Errors, "Cluster edge is protected") {
			t.Errorf("destroy: %s", o.Errors)
		}
	})
}

// TestOTF05_appliedOnceKnown plans with values that are unknown, and applies them.
func TestOTF05_appliedOnceKnown(t *testing.T) {
	t.Parallel()

	role := func(name string, config Map) Map {
		if name == "w" {
			return config["workers"].(Map)["w"].(Map)
		}

		return config[name].(Map)
	}

	for name, hide := range map[string]func(Map){
		"hosts":              func(m Map) { m["host_pool"] = Map{"host_ids": providertest.Unknown{}} },
		"pools of addresses": func(m Map) { m["ip_pools"] = providertest.Unknown{} },
		"a gateway":          func(m Map) { m["ip_pools"] = Map{"prov": prov(Map{"gateway": providertest.Unknown{}})} },
		"workers":            func(m Map) { m["workers"] = providertest.Unknown{} },
		"one pool":           func(m Map) { m["workers"] = Map{"w": providertest.Unknown{}} },
		"replicas":           func(m Map) { role("w", m)["replicas"] = providertest.Unknown{} },
		"an image":           func(m Map) { role("control_plane", m)["image"] = providertest.Unknown{} },
		"user data":          func(m Map) { role("control_plane", m)["user_data_template"] = providertest.Unknown{} },
		"a data template":    func(m Map) { role("w", m)["data_template"] = providertest.Unknown{} },
		"an endpoint":        func(m Map) { m["control_plane_endpoint"] = Map{"host": providertest.Unknown{}} },
		"a namespace":        func(m Map) { m["namespace"] = providertest.Unknown{} },
		"a name":             func(m Map) { m["name"] = providertest.Unknown{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			acctest.OneIn(t, 3)

			inLab(t, 4, func(w world) {
				full := lived(2, Map{"namespace": "metal3", "host_pool": Map{"host_ids": w.all()}})
				before := lived(2, Map{"namespace": "metal3", "host_pool": Map{"host_ids": w.all()}})
				hide(before)

				if o := w.ApplyUnknown(w.ctx, before, full); o.Errors != "" || w.Get("ready") != true {
					t.Fatalf("create: %s%s", o.Errors, o.Warnings)
				}

				if o := w.ApplyUnknown(w.ctx, before, full); o.Errors != "" || w.Get("ready") != true {
					t.Fatalf("update: %s%s", o.Errors, o.Warnings)
				}

				if o := w.Plan(w.ctx, full); o.Action != "" {
					t.Errorf("the plan after it changes %v", o.Changed)
				}
			})
		})
	}
}

// all are the ids of all hosts.
func (w world) all() []any {
	var out []any
	for _, id := range w.hosts {
		out = append(out, id)
	}

	return out
}

// TestOCL14_theMiddleMachine takes one machine out of the middle, and puts another one in.
func TestOCL14_theMiddleMachine(t *testing.T) {
	t.Parallel()

	inLab(t, 6, func(w world) {
		w.apply(lived(5))

		stays := func() string {
			text := ""
			for _, name := range []string{"edge-cp-0", "edge-w-0", "edge-w-1", "edge-w-3", "edge-w-4"} {
				for _, part := range []string{"host_id", "index", "claim_id", "addresses", "provisioned_at"} {
					text += fmt.Sprint(w.Get("machines."+name+"."+part), " ")
				}
			}

			return text
		}

		before := stays()
		gone, _ := w.Get("machines.edge-w-2.host_id").(string)

		w.Mark()
		w.apply(lived(4, Map{"delete_machines": []any{"edge-w-2"}}))

		if got := w.machines(); !slices.Equal(got, []string{"edge-cp-0", "edge-w-0", "edge-w-1", "edge-w-3", "edge-w-4"}) || stays() != before {
			t.Errorf("machines %v; before\n%s\nnow\n%s", got, before, stays())
		}

		for _, what := range w.Sent() {
			if strings.Contains(what, "/nodes/") && !strings.Contains(what, gone) {
				t.Errorf("another host got %s", what)
			}
		}

		w.apply(lived(5))

		if got := w.Get("machines.edge-w-2.addresses.prov.address"); got != "192.0.2.112" || stays() != before {
			t.Errorf("the machine that came back has %v", got)
		}
	})
}
