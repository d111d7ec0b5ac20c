// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/datatemplate"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/access"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/image"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/onironic"

	lab "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
)

// direct is a transport that calls a service without a network.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if r.Body == nil {
		r.Body = http.NoBody // as a server does
	}

	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)

	return w.Result(), nil
}

// rig is a lab with hosts that rest, in virtual time.
type rig struct {
	t       *testing.T
	service *lab.Service
	far     *onironic.Backend
}

// bubble runs a test on a lab with so many hosts.
func bubble(t *testing.T, hosts int, f func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := lab.New(store.New(""), lab.Options{Pace: time.Second, Machines: machine.Options{Count: hosts}})
		s.KeepRequests()

		r := &rig{t: t, service: s}
		r.far = r.another()

		var wg sync.WaitGroup

		for i := range hosts {
			wg.Go(func() { r.register(i) })
		}

		wg.Wait()
		s.ResetCounts()
		f(r)
	})
}

// another is a second way to the same Ironic, as another process has it.
func (r *rig) another() *onironic.Backend {
	r.t.Helper()

	c, err := ironic.New(ironic.Config{Endpoint: "http://ironic.lab:6385", Transport: direct{r.service}})
	if err != nil {
		r.t.Fatal(err)
	}

	return onironic.New(c)
}

// register brings a host to rest, as the host's resource does.
func (r *rig) register(i int) {
	r.t.Helper()

	a, err := access.Parse(fmt.Sprintf("redfish-virtualmedia+http://node-%d.lab/redfish/v1/Systems/1", i))
	if err != nil {
		r.t.Error(err)

		return
	}

	w := host.Wanted{
		ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", i), Namespace: "metal3", Name: fmt.Sprintf("node-%d", i),
		BMC: host.BMC{Access: a, Username: "admin", Password: "password"}, BootMode: "UEFI", CleaningMode: "metadata", InspectionMode: "agent", Online: true,
	}

	run := &host.Run{Backend: r.far, Wanted: w, Goal: host.Available, Direct: host.Direct{Access: host.AccessIronic}}
	if _, err := run.To(r.t.Context(), host.Seen{}); err != nil {
		r.t.Errorf("host %d: %v", i, err)
	}
}

// run is one verb on the cluster.
func (r *rig) run(w cluster.Wanted) *cluster.Run {
	return &cluster.Run{Far: r.another(), Wanted: w, Log: func(_ context.Context, text string) { r.t.Log(text) }}
}

// template gives each machine an address of the pool prov.
func template() *datatemplate.Template {
	return &datatemplate.Template{
		MetaData: &datatemplate.MetaData{IPAddressesFromPool: []datatemplate.FromPool{{Key: "node_ip", Name: "prov"}}},
	}
}

// wanted is a cluster of one control plane machine and two workers.
func wanted() cluster.Wanted {
	img := &image.Image{URL: "http://images.lab/debian-12.qcow2", Checksum: "http://images.lab/SHA256SUMS", ChecksumType: "auto"}

	return cluster.Wanted{
		Namespace: "metal3", Name: "edge", Endpoint: cluster.Endpoint{Host: "192.0.2.249", Port: 6443},
		IPPools: map[string]addresses.Pool{"prov": {Ranges: []addresses.Range{{Start: "192.0.2.100", End: "192.0.2.150"}}, Prefix: 24, Gateway: "192.0.2.1"}},
		Pools: []cluster.Pool{
			{Name: cluster.ControlPlanePool, Role: cluster.ControlPlane, Replicas: 1, Image: img, Template: template(), Rollout: cluster.Rollout{Strategy: cluster.Replace}},
			{Name: "w", Role: cluster.Worker, Replicas: 2, Image: img, Template: template(), Offset: 10, Rollout: cluster.Rollout{Strategy: cluster.Replace}},
		},
		Wait: cluster.Wait{Level: cluster.LevelProvisioned}, Parallel: cluster.Parallelism{Provision: 10, Deprovision: 10},
		RetryOther: true, HostRetries: 2,
	}
}

// changes counts the requests that change something, since the last reset.
func (r *rig) changes() int {
	n := 0

	for what, count := range r.service.Counts() {
		if !strings.HasPrefix(what, "GET ") {
			n += count
		}
	}

	return n
}

// pause lets a second go by.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
}
