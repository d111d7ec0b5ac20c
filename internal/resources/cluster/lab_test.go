// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

func TestMain(m *testing.M) { acctest.Main(m) }

// theTemplate gives each machine an address of the pool prov.
const theTemplate = `{"meta_data":{"ip_addresses_from_pool":[{"key":"node_ip","name":"prov"}]}}`

const otherImage = "http://images.lab/ubuntu-24.04.qcow2"

// world is a lab whose hosts rest, and one cluster of a configuration on it.
type world struct {
	*acctest.Core
	acctest.Lab

	t     *testing.T
	ctx   context.Context //nolint:containedctx // of one test
	hosts []string        // their ids
}

// inLab runs a test in virtual time on a lab of its own, with so many hosts.
func inLab(t *testing.T, hosts int, test func(world)) {
	t.Helper()

	synctest.Test(t, func(t *testing.T) {
		l := acctest.NewLab(t, lab.Options{Machines: 8})
		w := world{Core: l.Core(t, theCluster), Lab: l, t: t, ctx: t.Context(), hosts: make([]string, hosts)}

		var wg sync.WaitGroup

		for i := range hosts {
			wg.Go(func() {
				core := l.Core(t, "metal3_baremetal_host")
				if o := core.Apply(w.ctx, host(i)); o.Errors != "" {
					t.Errorf("host %d: %s", i, o.Errors)
				}

				w.hosts[i], _ = core.Get("id").(string)
			})
		}

		wg.Wait()

		if !t.Failed() {
			test(w)
		}
	})
}

// host is a configuration of the lab's machine i, changed by parts.
func host(i int, parts ...Map) Map {
	return merged(Map{
		"name": fmt.Sprintf("node-%d", i),
		"bmc": Map{
			"address":  fmt.Sprintf("redfish-virtualmedia+http://node-%d.lab/redfish/v1/Systems/1", i),
			"username": "admin", "password_wo": "password", "password_wo_version": 1,
		},
	}, parts...)
}

// lived is a configuration of a cluster with addresses, changed by parts.
func lived(replicas int, parts ...Map) Map {
	return edge(append([]Map{{
		"control_plane": pool(1, Map{"data_template": theTemplate, "user_data_template": "#cloud-config\nhostname: << .Machine.Name >>\n"}),
		"workers":       Map{"w": pool(replicas, Map{"data_template": theTemplate, "ip_index_offset": 10})},
	}}, parts...)...)
}

// imaged is a configuration with another image of all machines.
func imaged(replicas int) Map {
	m := lived(replicas)
	for _, role := range []any{m["control_plane"], m["workers"].(Map)["w"]} {
		role.(Map)["image"] = image(Map{"url": otherImage})
	}

	return m
}

// apply wants an apply without errors, and an empty plan after it.
func (w world) apply(config Map) acctest.Outcome {
	w.t.Helper()

	o := w.Apply(w.ctx, config)
	if o.Errors != "" {
		w.t.Fatalf("apply: %s", o.Errors)
	}

	if w.Get("ready") != true {
		w.t.Fatalf("the cluster is not ready: %v\n%s", w.State(), o.Warnings)
	}

	if again := w.Plan(w.ctx, config); again.Action != "" || again.Errors != "" {
		w.t.Errorf("the plan after it is %q, changes %v: %s", again.Action, again.Changed, again.Errors)
	}

	return o
}

// machines are the names of the machines in the state.
func (w world) machines() []string {
	all, _ := w.Get("machines").(Map)

	var out []string
	for name := range all {
		out = append(out, name)
	}

	slices.Sort(out)

	return out
}

// Test11_7_lifeAndWhatItsPlansKnow makes a cluster, grows it, shrinks it, changes its image and ends it.
func Test11_7_lifeAndWhatItsPlansKnow(t *testing.T) {
	t.Parallel()

	inLab(t, 5, func(w world) {
		o := w.Plan(w.ctx, lived(2))
		for path, want := range map[string]any{
			"machines.edge-cp-0.addresses.prov.address": "192.0.2.100", "machines.edge-w-0.addresses.prov.address": "192.0.2.110",
			"machines.edge-w-1.index": int64(1), "machines.edge-w-1.role": "worker", "machines.edge-w-1.host_id": providertest.Unknown{},
			"id": "metal3/edge", "ready": providertest.Unknown{}, "kubeconfig": nil,
		} {
			if got := acctest.Get(o.Planned, path); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("planned %s: %v, want %v", path, got, want)
			}
		}

		w.apply(lived(2))

		if got := w.machines(); !slices.Equal(got, []string{"edge-cp-0", "edge-w-0", "edge-w-1"}) {
			t.Errorf("machines: %v", got)
		}

		w.apply(lived(4))

		if o := w.apply(lived(1)); !strings.Contains(o.Warnings, "Cluster edge loses edge-w-1, edge-w-2, edge-w-3") {
			t.Errorf("warnings: %s", o.Warnings)
		}

		if o := w.apply(imaged(1)); !strings.Contains(o.Warnings, "Disks of edge-w-0 of cluster edge will be overwritten") || !strings.Contains(o.Warnings, "and nothing is drained") {
			t.Errorf("warnings: %s", o.Warnings)
		}

		if got := w.Get("machines.edge-cp-0.image_url"); got != otherImage {
			t.Errorf("image: %v", got)
		}

		if o := w.Apply(w.ctx, nil); o.Errors != "" || w.Exists() || !strings.Contains(o.Warnings, "Cluster edge will be destroyed, with 2 machines") {
			t.Errorf("destroy: %s\n%s", o.Errors, o.Warnings)
		}

		for i := range 5 {
			if m := w.Machine(t, fmt.Sprintf("node-%d", i)); m.Image != "" {
				t.Errorf("node-%d still has %s", i, m.Image)
			}
		}
	})
}
