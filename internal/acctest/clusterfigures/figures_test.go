// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clusterfigures_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/access"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/onironic"
)

// register brings so many hosts of a lab to rest.
func register(t *testing.T, l acctest.Lab, hosts int) {
	t.Helper()

	c, err := ironic.New(ironic.Config{Endpoint: lab.Endpoint, Transport: l.Transport()})
	if err != nil {
		t.Fatal(err)
	}

	far := onironic.New(c)

	var wg sync.WaitGroup
	for i := range hosts {
		wg.Go(func() {
			a, err := access.Parse(fmt.Sprintf("redfish-virtualmedia+http://node-%d.lab/redfish/v1/Systems/1", i))
			if err != nil {
				t.Error(err)

				return
			}

			run := &host.Run{Backend: far, Goal: host.Available, Direct: host.Direct{Access: host.AccessIronic}, Wanted: host.Wanted{
				ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", i), Namespace: "metal3", Name: fmt.Sprintf("node-%d", i),
				BMC: host.BMC{Access: a, Username: "admin", Password: "password"}, BootMode: "UEFI", CleaningMode: "metadata", InspectionMode: "agent", Online: true,
			}}
			if _, err := run.To(t.Context(), host.Seen{}); err != nil {
				t.Errorf("host %d: %v", i, err)
			}
		})
	}

	wg.Wait()
}

// config is a cluster of so many machines.
func config(machines int) acctest.Map {
	image := acctest.Map{"url": "http://images.lab/debian-12.qcow2", "checksum": "http://images.lab/SHA256SUMS", "checksum_type": "auto"}

	return acctest.Map{
		"name": "edge", "control_plane_endpoint": acctest.Map{"host": "192.0.2.249"},
		"control_plane": acctest.Map{"replicas": 1, "image": image},
		"workers":       acctest.Map{"w": acctest.Map{"replicas": machines - 1, "image": image}},
		"parallelism":   acctest.Map{"provision": machines},
	}
}

// TestFigures_planOfAHundred counts the requests of a plan; how long the create took is only said.
func TestFigures_planOfAHundred(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("not in the short run: its create takes long")
	}

	l := acctest.NewLab(t, lab.Options{Machines: 100, Pace: time.Millisecond})
	register(t, l, 100)

	core, start := l.Core(t, "metal3_cluster"), time.Now()
	if o := core.Apply(t.Context(), config(100)); o.Errors != "" || core.Get("ready") != true {
		t.Fatal(o.Errors, o.Warnings)
	}

	t.Logf("a hundred machines in %s", time.Since(start))
	l.Mark()

	if o := core.Plan(t.Context(), config(100)); o.Errors != "" || o.Action != "" {
		t.Errorf("the plan changes %v: %s", o.Changed, o.Errors)
	}

	// One page of nodes, one of ports, one of allocations, and the version.
	if got := l.Paths(); len(got) > 4 {
		t.Errorf("a plan costs %d requests, the limit is 4: %s", len(got), strings.Join(got[:min(len(got), 8)], "\n"))
	}
}
