// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"fmt"
	"sync"
	"testing"
)

// Edge makes the cluster metal3/edge on a lab, for tests of what works on clusters: edge-cp-0,
// edge-w-0 and edge-w-1, on so many hosts.
func (l Lab) Edge(t *testing.T, hosts int) *Core {
	t.Helper()

	var wg sync.WaitGroup

	for i := range hosts {
		wg.Go(func() {
			o := l.Core(t, "metal3_baremetal_host").Apply(t.Context(), Map{
				"name": fmt.Sprintf("node-%d", i),
				"bmc": Map{
					"address":  fmt.Sprintf("redfish-virtualmedia+http://node-%d.lab/redfish/v1/Systems/1", i),
					"username": "admin", "password_wo": "password", "password_wo_version": 1,
				},
			})
			if o.Errors != "" {
				t.Errorf("host %d: %s", i, o.Errors)
			}
		})
	}

	wg.Wait()

	if t.Failed() {
		t.FailNow()
	}

	c := l.Core(t, "metal3_cluster")
	if o := c.Apply(t.Context(), EdgeConfig()); o.Errors != "" || c.Get("ready") != true {
		t.Fatalf("the cluster is not ready: %s%s", o.Errors, o.Warnings)
	}

	l.Mark()

	return c
}

// EdgeConfig is the configuration of [Lab.Edge].
func EdgeConfig() Map {
	pool := func(replicas int) Map {
		return Map{
			"replicas": replicas,
			"image":    Map{"url": "http://images.lab/debian-12.qcow2", "checksum": "http://images.lab/SHA256SUMS", "checksum_type": "auto"},
		}
	}

	return Map{
		"name": "edge", "control_plane_endpoint": Map{"host": "192.0.2.249"},
		"control_plane": pool(1), "workers": Map{"w": pool(2)},
	}
}
