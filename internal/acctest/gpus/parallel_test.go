// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpus_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/drivers"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
)

// oneRun makes all resources of this world those of one run of Terraform: they share a desk
// over the real client, as they do in one process.
func (w world) oneRun() provider.Option {
	w.t.Helper()

	f, err := drivers.New(fabric.Config{
		Type: w.setup.kind.driver, Endpoint: lab.FabricEndpoint, AllowPlainHTTP: true, TenantID: labfabric.Tenant, ClusterID: labfabric.Cluster,
		Transport: w.lab.Transport(), Auth: fabric.Auth{
			Realm: labfabric.Realm, ClientID: labfabric.ClientID, ClientSecret: labfabric.ClientSecret, Username: labfabric.Username, Password: labfabric.Password,
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}

	return provider.WithDesk(device.NewDesk(f, device.NewJournal(w.journal)))
}

// together applies configurations at the same time, each with a resource of its own.
func (w world) together(share bool, configs ...Map) (all []world, said []acctest.Outcome) {
	w.t.Helper()

	desk := w.oneRun()
	said = make([]acctest.Outcome, len(configs))

	var applies sync.WaitGroup

	for i := range configs {
		one := w
		if i > 0 {
			one = w.another()
		}

		if share {
			one.Options = append(one.Options, desk)
		}

		all = append(all, one)
	}

	for i, config := range configs {
		applies.Go(func() { said[i] = all[i].Apply(w.ctx, config) })
	}

	applies.Wait()

	return all, said
}

// TestGPU_twoResources changes one machine for two resources at the same time.
func TestGPU_twoResources(t *testing.T) {
	t.Parallel()

	for _, k := range kinds {
		for name, share := range map[string]bool{"in one run": true, "in two runs": false} {
			t.Run("11.14 two models on one machine, "+name+", "+k.name, func(t *testing.T) {
				t.Parallel()

				inLab(t, setup{kind: k, apart: !share}, func(w world) {
					all, said := w.together(share, gpus(2, nodes(0)), gpus(2, nodes(0), Map{"model": l40s}))

					for i, one := range all {
						if said[i].Errors != "" || len(one.devices()) != 2 || one.Get("state") != "Running" {
							t.Errorf("resource %d: %v: %s", i, one.State(), said[i].Errors)
						}
					}

					// One grows while the other goes.
					var changes sync.WaitGroup

					changes.Go(func() { said[0] = all[0].Apply(w.ctx, gpus(3, nodes(0))) })
					changes.Go(func() { said[1] = all[1].Apply(w.ctx, nil) })
					changes.Wait()

					if said[0].Errors+said[1].Errors != "" || len(all[0].devices()) != 3 || all[1].Exists() || len(w.on(0)) != 3 {
						t.Errorf("%s %s: %v", said[0].Errors, said[1].Errors, w.on(0))
					}
				})
			})
		}

		t.Run("O-GPU-03 11.14 one model on one machine belongs to one resource, "+k.name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: k}, func(w world) {
				all, said := w.together(true, gpus(1), gpus(1))

				good := slices.IndexFunc(said, func(o acctest.Outcome) bool { return o.Errors == "" })
				if good < 0 || len(all[good].devices()) != 1 || len(w.on(0)) != 1 {
					t.Fatalf("%v: %v", said, w.on(0))
				}

				if bad := 1 - good; !strings.Contains(said[bad].Errors, "node-0") || all[bad].Exists() {
					t.Errorf("the other says %q; state %v", said[bad].Errors, all[bad].State())
				}
			})
		})
	}
}

// TestGPU_figures measures in the lab's time, and in requests.
func TestGPU_figures(t *testing.T) {
	t.Parallel()

	for _, k := range kinds {
		for _, add := range []time.Duration{addTime, 90 * time.Second} {
			t.Run("speed: an attach costs the fabric's "+add.String()+" and a poll, "+k.name, func(t *testing.T) {
				t.Parallel()

				o := lab.Options{}
				o.Fabric.AddTime = add

				inLab(t, setup{kind: k, lab: o}, func(w world) {
					begun := time.Now()
					if o := w.Apply(w.ctx, gpus(1)); o.Errors != "" {
						t.Fatal(o.Errors)
					}

					if took := time.Since(begun); took < add || took > add+poll {
						t.Errorf("it took %s", took)
					}
				})
			})
		}

		t.Run("speed: three machines side by side, one machine in order, "+k.name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: k}, func(w world) {
				begun := time.Now()
				if o := w.Apply(w.ctx, gpus(3, different, on(0, 1, 2))); o.Errors != "" {
					t.Fatal(o.Errors)
				}

				if took := time.Since(begun); took > k.side {
					t.Errorf("side by side it took %s", took)
				}

				begun = time.Now()
				if o := w.another().Apply(w.ctx, gpus(3, Map{"model": l40s})); o.Errors != "" {
					t.Fatal(o.Errors)
				}

				if took := time.Since(begun); took < 3*addTime || took > 3*(addTime+poll) {
					t.Errorf("in order it took %s", took)
				}
			})
		})
	}
}

// TestGPU_refreshOfMany reads each of 20 machines once for 100 resources.
func TestGPU_refreshOfMany(t *testing.T) {
	t.Parallel()

	const machines, perMachine = 20, 5

	for _, k := range []kind{fm, cm} {
		t.Run("speed: 100 resources on 20 machines cost 20 reads, "+k.name, func(t *testing.T) {
			t.Parallel()

			models := map[string]int{}
			for _, model := range []string{"m0", "m1", "m2", "m3", "m4"} {
				models[model] = machines
			}

			inLab(t, setup{kind: k, lab: lab.Options{Machines: machines, GPUs: models}, strange: true}, func(w world) {
				var all []*acctest.Core

				for i := range machines {
					for model := range models {
						w.foreign(i, 1, model)

						c := w.another()
						if o := c.Import(w.ctx, hostID(i)+"/gpu/"+model); o.Errors != "" {
							t.Fatal(o.Errors)
						}

						all = append(all, c.Core)
					}
				}

				w.far.ResetCounts()

				if o := w.hear(all[0].RefreshWith(w.ctx, all[1:]...)); o.Errors != "" || len(all) != machines*perMachine {
					t.Errorf("%d: %s", len(all), o.Errors)
				}

				if n := w.far.Count(k.read); n > machines {
					t.Errorf("%d reads: %v", n, w.far.Counts())
				}

				for _, c := range all {
					if c.Get("size") != int64(1) {
						t.Errorf("size %v", c.Get("size"))
					}
				}
			})
		})
	}
}
