// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clusterreal_test

import (
	"sync"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// ironics are the real Ironics, each with and without a resource class on the hosts, that is with
// allocations and with an instance_uuid alone.
func ironics(t *testing.T, test func(t *testing.T, r acctest.Real, class bool)) {
	t.Helper()

	for name, c := range map[string]struct {
		part  func(*testing.T) acctest.Real
		class bool
	}{
		"allocations":                       {acctest.Ironic, true},
		"instance_uuid":                     {acctest.Ironic, false},
		"allocations, password and TLS":     {acctest.IronicBasic, true},
		"instance_uuid, with password, TLS": {acctest.IronicBasic, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, c.part(t), c.class)
		})
	}
}

// TestOCL01_twoPipelinesAtOnce applies two clusters from two folders to the hosts of a third one,
// at the same time.
func TestOCL01_twoPipelinesAtOnce(t *testing.T) {
	t.Parallel()
	ironics(t, func(t *testing.T, r acctest.Real, class bool) { //nolint:thelper // it is the test
		p := newPool(t, r, 6, class)
		a, b := p.newCluster("a"), p.newCluster("b")

		atOnce(func() { a.Must("apply", "-auto-approve") }, func() { b.Must("apply", "-auto-approve") })

		taken := map[string]string{}

		for _, c := range []*cluster{a, b} {
			c.Empty()

			for machine, host := range c.is(2) {
				if other := taken[host]; other != "" {
					t.Errorf("host %s has %s and %s", host, other, machine)
				}

				taken[host] = machine
			}
		}

		want := 0
		if class {
			want = 6
		}

		if got := p.allocations(t.Context()); len(taken) != 6 || len(got) != want {
			t.Errorf("%d hosts are taken, with %d allocations: %v", len(taken), len(got), taken)
		}

		atOnce(a.destroyed, b.destroyed)
		p.over()
	})
}

func atOnce(all ...func()) {
	var wg sync.WaitGroup
	for _, f := range all {
		wg.Go(f)
	}

	wg.Wait()
}
