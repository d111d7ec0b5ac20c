// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	labironic "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
)

// TestHost_refreshCostsPages refreshes many hosts in one command: pages of nodes, pages of
// ports and one request for the version, whether something changed or not.
func TestHost_refreshCostsPages(t *testing.T) {
	t.Parallel()

	const hosts, page = 12, 5

	inLab(t, lab.Options{Machines: hosts, Ironic: labironic.Options{PageSize: page}}, func(w world) {
		var all []*acctest.Core

		for i := range hosts {
			one := world{Core: w.Lab.Core(w.t, theHost), Lab: w.Lab, t: w.t, ctx: w.ctx}
			if o := one.Apply(w.ctx, node(i)); o.Errors != "" {
				w.t.Fatal(o.Errors)
			}

			all = append(all, one.Core)
		}

		const want = (hosts+page-1)/page + (2*hosts+page-1)/page + 1

		for _, changed := range []bool{false, true} {
			if changed {
				for _, one := range all {
					id, _ := one.Get("id").(string)
					if err := w.Ironic.Edit(id, Map{"description": "by hand"}); err != nil {
						w.t.Fatal(err)
					}
				}
			}

			w.Mark()

			if o := all[0].RefreshWith(w.ctx, all[1:]...); o.Errors != "" {
				w.t.Fatal(o.Errors)
			}

			if n := w.Asked(); n != want || len(w.Sent()) != 0 {
				w.t.Errorf("%d requests, want %d:\n%s", n, want, strings.Join(w.Paths(), "\n"))
			}

			if changed && all[3].Get("description") != "by hand" {
				w.t.Error("the change is not seen")
			}
		}
	})
}

// TestHost_capacityGate lets one host at a time through; the wait does not count against the
// deadline, and all reach their goal.
func TestHost_capacityGate(t *testing.T) {
	t.Parallel()

	const hosts = 4

	inLab(t, lab.Options{Machines: hosts, Pace: minute}, func(w world) {
		done := make(chan acctest.Outcome, hosts)

		for i := range hosts {
			one := w.Lab.Core(w.t, theHost)
			one.Provider = Map{"ironic": Map{"endpoint": lab.Endpoint, "auth": "noauth", "provisioning_limit": 1}}

			config := bmc(node(i, disk(image), Map{"boot_mac_address": w.mac(i)}), Map{"address": strings.Replace(address(i), "redfish-virtualmedia+", "redfish+", 1)})

			go func() { done <- one.Apply(w.ctx, with(config, Map{"timeouts": Map{"create": "40m"}})) }()
		}

		for range hosts {
			if o := <-done; o.Errors != "" {
				w.t.Error(o.Errors)
			}
		}
	})
}
