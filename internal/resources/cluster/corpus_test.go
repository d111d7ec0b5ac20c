// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
)

// TestOCL01_twoClustersOfOnePool has two clusters, of two machines and of one, be applied at the same
// time on a pool of three hosts, by an Ironic that lists slowly; then both go. No host is ever two
// machines', and none is left over. The lifecycle's test of this does it fifty times.
func TestOCL01_twoClustersOfOnePool(t *testing.T) {
	t.Parallel()

	inLab(t, 3, func(w world) {
		w.Ironic.Inject(ironic.Trouble{Match: "GET /v1/nodes", Times: -1, Delay: 700 * time.Millisecond})

		for round := range 2 {
			w.bothAtOnce(round)
		}
	})
}

// bothAtOnce makes two clusters at the same time and ends them.
func (w world) bothAtOnce(round int) {
	w.t.Helper()

	cores := map[string]*acctest.Core{"edge": w.Core, "core": w.Lab.Core(w.t, theCluster)}
	configs := map[string]Map{"edge": lived(1), "core": lived(0, Map{"name": "core"})}

	each := func(do func(name string, c *acctest.Core) acctest.Outcome) {
		var wg sync.WaitGroup

		for name, c := range cores {
			wg.Go(func() {
				if o := do(name, c); o.Errors != "" {
					w.t.Errorf("round %d, %s: %s", round, name, o.Errors)
				}
			})
		}

		wg.Wait()
	}

	each(func(name string, c *acctest.Core) acctest.Outcome { return c.Apply(w.ctx, configs[name]) })

	owner := map[any]string{}

	for name, c := range cores {
		all, _ := c.Get("machines").(Map)
		for machine := range all {
			id := c.Get("machines." + machine + ".host_id")
			if other := owner[id]; other != "" || id == nil || c.Get("ready") != true {
				w.t.Fatalf("round %d: %s is on %v, where %q is; %s ready: %v", round, machine, id, other, name, c.Get("ready"))
			}

			owner[id] = machine
		}
	}

	if len(owner) != 3 || w.claims() != 3 {
		w.t.Fatalf("round %d: %d machines, %d claims", round, len(owner), w.claims())
	}

	each(func(_ string, c *acctest.Core) acctest.Outcome { return c.Apply(w.ctx, nil) })

	if n := w.claims(); n != 0 {
		w.t.Fatalf("round %d: %d claims are left", round, n)
	}
}

// TestOCL06_theSameNamesAgain makes a cluster, ends it, and makes one of the same names: there is one
// claim a machine, and it is the new one's.
func TestOCL06_theSameNamesAgain(t *testing.T) {
	t.Parallel()

	inLab(t, 3, func(w world) {
		w.apply(lived(2))

		if o := w.Apply(w.ctx, nil); o.Errors != "" || w.claims() != 0 {
			t.Fatalf("destroy: %s, %d claims are left", o.Errors, w.claims())
		}

		w.apply(lived(2))

		for _, name := range w.machines() {
			if host, _ := w.Get("machines." + name + ".host_id").(string); host == "" {
				t.Errorf("%s has no host", name)
			}
		}

		if n := w.claims(); n != 3 {
			t.Errorf("%d claims", n)
		}
	})
}

// TestOTF01_killedDuringTheWait makes a cluster within two seconds, which is too short: what was begun
// is in the state, the next apply goes on with it, and the end leaves nothing.
func TestOTF01_killedDuringTheWait(t *testing.T) {
	t.Parallel()

	inLab(t, 3, func(w world) {
		short := lived(2, Map{"timeouts": Map{"create": "2s"}})

		if o := w.Apply(w.ctx, short); !w.Exists() || w.Get("id") != "metal3/edge" || w.Get("ready") != false {
			t.Fatalf("exists %v, id %v: %s%s", w.Exists(), w.Get("id"), o.Errors, o.Warnings)
		}

		hosts := map[string]any{}

		for _, name := range w.machines() {
			if id := w.Get("machines." + name + ".host_id"); id != nil {
				hosts[name] = id
			}
		}

		w.apply(lived(2))

		for name, id := range hosts {
			if now := w.Get("machines." + name + ".host_id"); now != id {
				t.Errorf("%s was on %v and is on %v", name, id, now)
			}
		}

		if n := w.claims(); n != 3 || len(w.machines()) != 3 {
			t.Errorf("%d claims, machines %v", n, w.machines())
		}

		if o := w.Apply(w.ctx, nil); o.Errors != "" || w.Exists() || w.claims() != 0 {
			t.Errorf("destroy: %s, %d claims are left", o.Errors, w.claims())
		}
	})
}

// TestOTF02_farSideRewritesWhatItWasSent has Ironic answer in other spellings and with more than it was
// asked for: no plan after an apply changes anything.
func TestOTF02_farSideRewritesWhatItWasSent(t *testing.T) {
	t.Parallel()

	rewrites := map[string]func(kind string, doc map[string]any){
		"as servers do": ironic.Mangle,
		"with more in it": func(kind string, doc map[string]any) {
			if kind != "node" {
				return
			}

			doc["surprise"] = "a field"

			for _, part := range []string{"properties", "instance_info", "extra"} {
				if old, ok := doc[part].(map[string]any); ok {
					more := Map{"added": Map{"by": "the server"}, "count": "7", "nothing": nil}
					doc[part] = merged(more, old)
				}
			}
		},
	}

	for name, rewrite := range rewrites {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inLab(t, 4, func(w world) {
				w.Ironic.Rewrite(rewrite)

				config := lived(2, Map{"control_plane_endpoint": Map{"host": "API.example.com"}})
				config["workers"].(Map)["w"].(Map)["image"] = image(Map{"url": "http://images.lab/debian-12.qcow2?Of=Mine"})

				w.apply(config)
				w.apply(merged(lived(3), Map{"control_plane_endpoint": Map{"host": "API.example.com"}, "workers": Map{"w": merged(config["workers"].(Map)["w"].(Map), Map{"replicas": 3})}}))

				if url, _ := w.Get("machines.edge-w-0.image_url").(string); !strings.HasPrefix(strings.ToLower(url), "http://images.lab/debian-12.qcow2") {
					t.Errorf("the image is %q", url)
				}
			})
		})
	}
}
