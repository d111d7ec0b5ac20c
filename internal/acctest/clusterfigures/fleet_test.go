// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clusterfigures_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/access"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/onironic"
)

// How a host's BMC is reached, and with that how it boots.
const (
	virtualMedia = "redfish-virtualmedia+http"
	network      = "redfish+http"
)

// client is one of a lab's Ironic.
func client(t *testing.T, transport http.RoundTripper) *ironic.Client {
	t.Helper()

	c, err := ironic.New(ironic.Config{Endpoint: lab.Endpoint, Transport: transport})
	if err != nil {
		t.Fatal(err)
	}

	return c
}

// register brings so many hosts of a lab to rest.
func register(t *testing.T, transport http.RoundTripper, hosts int, scheme string) {
	t.Helper()

	far := onironic.New(client(t, transport))

	var wg sync.WaitGroup
	for i := range hosts {
		wg.Go(func() {
			a, err := access.Parse(fmt.Sprintf("%s://node-%d.lab/redfish/v1/Systems/1", scheme, i))
			if err != nil {
				t.Error(err)

				return
			}

			run := &host.Run{Backend: far, Goal: host.Available, Direct: host.Direct{Access: host.AccessIronic}, Wanted: host.Wanted{
				ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", i), Namespace: "metal3", Name: fmt.Sprintf("node-%d", i),
				BMC:      host.BMC{Access: a, Username: "admin", Password: "password"},
				BootMode: "UEFI", CleaningMode: "metadata", InspectionMode: "agent", Online: true,
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
