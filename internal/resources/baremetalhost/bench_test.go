// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// canned is an Ironic that answers lists of deployed hosts from memory, as a transport.
type canned struct {
	pages   map[string][]byte // by path and marker
	asked   atomic.Int64
	latency time.Duration
}

const pageOfCanned = 1000

func newCanned(hosts int) *canned {
	c := &canned{pages: map[string][]byte{"/v1/": []byte(`{"default_version":{"id":"v1"},"versions":[{"id":"v1"}]}`)}}
	c.list("/v1/nodes/detail", "nodes", hosts, func(i int) Map {
		name := fmt.Sprintf("h-%d", i)
		url := "http://images.example.com/a.raw"

		return Map{
			"uuid": hostID(i), "name": "metal3~" + name, "driver": "fake-hardware", "provision_state": "active", "power_state": "power on",
			"automated_clean": true, "boot_interface": "fake", "deploy_interface": "fake", "inspect_interface": "no-inspect",
			"properties":    Map{"capabilities": "boot_mode:uefi", "cpu_arch": "x86_64"},
			"instance_info": Map{"image_source": url, "image_disk_format": "raw"},
			"extra": Map{"metal3": Map{
				"v": 1, "managed_by": "terraform-provider-metal3", "namespace": "metal3", "name": name, "phase": "provisioned",
				"labels": Map{"rack": "r1"}, "applied": Map{"image": Map{"url": url, "format": "raw"}, "boot_mode": "UEFI"},
			}},
		}
	})
	c.list("/v1/ports", "ports", hosts, func(i int) Map {
		return Map{"uuid": fmt.Sprintf("00000000-0000-4000-9000-%012d", i), "node_uuid": hostID(i), "pxe_enabled": true, "address": fmt.Sprintf("52:54:00:00:%02x:%02x", i/256, i%256)}
	})

	return c
}

func hostID(i int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", i) }

// list makes the pages of a list; as Ironic does, one that is just full has a next one.
func (c *canned) list(path, key string, count int, item func(int) Map) {
	for from, marker := 0, ""; ; {
		var items []Map

		for i := from; i < min(from+pageOfCanned, count); i++ {
			items = append(items, item(i))
		}

		page := Map{key: append([]Map{}, items...)}
		next := ""

		if len(items) == pageOfCanned {
			next = items[len(items)-1]["uuid"].(string)
			page["next"] = lab.Endpoint + path + "?marker=" + next
		}

		doc, err := json.Marshal(page)
		if err != nil {
			panic(err)
		}

		c.pages[path+marker] = doc

		if next == "" {
			return
		}

		from, marker = from+pageOfCanned, next
	}
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	c.asked.Add(1)
	time.Sleep(c.latency)

	header := http.Header{
		"Content-Type": {"application/json"}, "X-Openstack-Ironic-Api-Version": {"1.96"},
		"X-Openstack-Ironic-Api-Minimum-Version": {"1.1"}, "X-Openstack-Ironic-Api-Maximum-Version": {"1.96"},
	}

	body, ok := c.pages[r.URL.Path+r.URL.Query().Get("marker")]
	if !ok || (r.URL.Query().Get("limit") != strconv.Itoa(pageOfCanned) && !strings.HasSuffix(r.URL.Path, "/v1/")) {
		return nil, fmt.Errorf("not expected: %s", r.URL)
	}

	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
}

// refresher reads hosts as a plan does: a provider of its own, ten reads at a time.
type refresher struct {
	far    *canned
	kind   *tfprotov6.Schema
	block  *tfprotov6.DynamicValue
	states []*tfprotov6.ReadResourceRequest
}

// newRefresher knows one of every so many hosts of a far side.
func newRefresher(tb testing.TB, hosts, every int) *refresher {
	tb.Helper()

	r := &refresher{far: newCanned(hosts)}

	schema, err := r.server().GetProviderSchema(tb.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		tb.Fatal(err)
	}

	r.kind = schema.ResourceSchemas[theHost]
	kind := schema.Provider.ValueType()

	block, err := tfprotov6.NewDynamicValue(kind, providertest.Value(kind, Map{"ironic": Map{"endpoint": lab.Endpoint, "auth": "noauth"}}))
	if err != nil {
		tb.Fatal(err)
	}

	r.block = &block

	for i := 0; i < hosts; i += every {
		state, err := tfprotov6.NewDynamicValue(r.kind.ValueType(), providertest.Value(r.kind.ValueType(), Map{"id": hostID(i)}))
		if err != nil {
			tb.Fatal(err)
		}

		r.states = append(r.states, &tfprotov6.ReadResourceRequest{TypeName: theHost, CurrentState: &state})
	}

	return r
}

func (r *refresher) server() tfprotov6.ProviderServer {
	return provider.NewServer("test", provider.WithTransport(r.far), provider.WithEnvironment(func(string) string { return "" }))()
}

// configured is a provider that was configured, as at the beginning of a plan.
func (r *refresher) configured(tb testing.TB) tfprotov6.ProviderServer {
	tb.Helper()

	s := r.server()

	resp, err := s.ConfigureProvider(tb.Context(), &tfprotov6.ConfigureProviderRequest{Config: r.block})
	if err != nil || len(resp.Diagnostics) > 0 {
		tb.Fatal(err, providertest.Errors(resp.Diagnostics))
	}

	return s
}

// refresh reads all hosts. What was read is the state that the next refresh begins with.
func (r *refresher) refresh(tb testing.TB, s tfprotov6.ProviderServer, readers int) {
	tb.Helper()

	var (
		all   sync.WaitGroup
		queue = make(chan int)
	)

	for range readers {
		all.Go(func() {
			for i := range queue {
				r.read(tb, s, i)
			}
		})
	}

	for i := range r.states {
		queue <- i
	}

	close(queue)
	all.Wait()
}

func (r *refresher) read(tb testing.TB, s tfprotov6.ProviderServer, i int) {
	tb.Helper()

	resp, err := s.ReadResource(tb.Context(), r.states[i])
	if err != nil || len(resp.Diagnostics) > 0 {
		tb.Errorf("%v %s%s", err, providertest.Errors(resp.Diagnostics), providertest.Warnings(resp.Diagnostics))

		return
	}

	r.states[i] = &tfprotov6.ReadResourceRequest{TypeName: theHost, CurrentState: resp.NewState, Private: resp.Private, CurrentIdentity: resp.NewIdentity}
}

// Pages of nodes, pages of ports and one request for the version, whatever the number of hosts.
func TestHost_refreshOfAThousandHosts(t *testing.T) {
	t.Parallel()

	every := 1
	if testing.Short() {
		every = 20 // the lists are the same, and a first read of a host costs ten milliseconds
	}

	r := newRefresher(t, 1000, every)

	for _, readers := range []int{10, 200} {
		r.far.asked.Store(0)
		r.refresh(t, r.configured(t), readers)

		if n := r.far.asked.Load(); n != 5 {
			t.Errorf("%d readers: %d requests, want 5: the version, two pages of nodes, two of ports", readers, n)
		}
	}
}

// Latency counts for the version, two pages of nodes and two of ports beside them, whatever
// the number of hosts: in virtual time nothing else takes any.
func TestHost_latencyOfARefresh(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRefresher(t, 1000, 20)
		r.far.latency = 50 * time.Millisecond

		start := time.Now()
		r.refresh(t, r.configured(t), 10)

		if took := time.Since(start); took > 200*time.Millisecond {
			t.Errorf("50 ms of latency add %s", took)
		}
	})
}

// BenchmarkRefresh reads hosts to which nothing happened.
func BenchmarkRefresh(b *testing.B) {
	for _, hosts := range []int{100, 1000} {
		b.Run(strconv.Itoa(hosts), func(b *testing.B) {
			r := newRefresher(b, hosts, 1)
			r.refresh(b, r.configured(b), 10)
			b.ReportAllocs()

			var asked int64

			for b.Loop() {
				r.far.asked.Store(0)
				r.refresh(b, r.configured(b), 10)

				asked = r.far.asked.Load()
			}

			b.ReportMetric(float64(asked), "requests/op")
		})
	}
}

// BenchmarkFill reads one host the long way: its record goes through the whole model.
func BenchmarkFill(b *testing.B) {
	r := newRefresher(b, 2, 1)
	s := r.configured(b)

	r.refresh(b, s, 2) // two readers fetch a list
	b.ReportAllocs()

	for b.Loop() {
		r.states[0].Private = nil
		r.read(b, s, 0)
	}
}
