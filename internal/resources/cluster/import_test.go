// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"slices"
	"strings"
	"testing"
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
