// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clusterreal_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// TestImport_aRunningCluster forgets a cluster that runs and imports it: the next apply changes
// settings at most, and no machine.
func TestImport_aRunningCluster(t *testing.T) {
	t.Parallel()
	ironics(t, func(t *testing.T, r acctest.Real, class bool) { //nolint:thelper // it is the test
		c := newPool(t, r, 3, class).newCluster("i")
		hosts := c.applied(2)
		before := c.pool.changed(t.Context())

		c.Must("state", "rm", "metal3_cluster.c")
		c.Must("import", "metal3_cluster.c", "metal3/"+c.name)

		said := c.Must("apply", "-auto-approve")
		if !strings.Contains(said, "0 added, 1 changed, 0 destroyed") && !strings.Contains(said, "0 added, 0 changed, 0 destroyed") {
			t.Errorf("after the import it says\n%s", said)
		}

		if strings.Contains(said, "will be overwritten") || strings.Contains(said, "loses") {
			t.Errorf("after the import a machine changes:\n%s", said)
		}

		c.Empty()

		for machine, host := range c.is(2) {
			if hosts[machine] != host {
				t.Errorf("%s was on %s and is on %s", machine, hosts[machine], host)
			}
		}

		if after := c.pool.changed(t.Context()); after != before {
			t.Errorf("states of hosts have changed:\n%s\nand were\n%s", after, before)
		}

		c.destroyed()
		c.pool.over()
	})
}
