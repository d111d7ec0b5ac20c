// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/datatemplate"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/onironic"

	lab "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
)

// TestOCL01_twoClustersOfOnePool has two processes make a cluster each, of two machines and of one, at
// the same time on a pool of three hosts, by an Ironic that lists slowly; then both end theirs.
func TestOCL01_twoClustersOfOnePool(t *testing.T) {
	t.Parallel()

	rounds := 50
	if testing.Short() {
		rounds = 5
	}

	for round := range rounds {
		t.Run(fmt.Sprintf("11.4 round %d", round), func(t *testing.T) {
			t.Parallel()
			bubble(t, 3, func(r *rig) {
				r.service.Inject(lab.Trouble{Match: "GET /v1/nodes", Times: -1, Delay: time.Duration(100+round*37%900) * time.Millisecond})

				edge, core := wanted(), wanted()
				edge.Pools[1].Replicas, core.Name, core.Pools[1].Replicas = 1, "core", 0

				results := make([]cluster.Result, 2)
				both := func(verb func(i int, run *cluster.Run) cluster.Result) {
					var wg sync.WaitGroup

					for i, w := range []cluster.Wanted{edge, core} {
						wg.Go(func() {
							if results[i] = verb(i, r.run(w)); results[i].Err != nil {
								r.t.Errorf("%s: %v", w.Name, results[i].Err)
							}
						})
					}

					wg.Wait()
				}

				both(func(_ int, run *cluster.Run) cluster.Result { return run.Create(r.t.Context()) })

				owner := map[string]string{}

				for _, res := range results {
					for name, m := range res.Record.Machines {
						if other := owner[m.HostID]; other != "" || !res.Record.Ready {
							r.t.Errorf("%s and %s are on %s; ready %t", name, other, m.HostName, res.Record.Ready)
						}

						owner[m.HostID] = name
					}
				}

				if now := r.claims(); len(owner) != 3 || len(now) != 3 { // which looks for claims on two hosts, too
					r.t.Errorf("machines %v, claims %v", owner, now)
				}

				both(func(i int, run *cluster.Run) cluster.Result { return run.Delete(r.t.Context(), results[i].Record) })

				if left := r.claims(); len(left) > 0 {
					r.t.Errorf("left are %v", left)
				}
			})
		})
	}
}

// TestOCL03_worker1LeavesAndWorker10Stays takes one machine out of eleven whose names begin alike:
// only its pods are evicted, only its Node is deleted, and no other host is asked for anything.
func TestOCL03_worker1LeavesAndWorker10Stays(t *testing.T) {
	t.Parallel()

	bubble(t, 12, func(r *rig) {
		w := &ward{rig: r, api: kubetest.New(r.t, kubetest.InMemory()), boots: map[string]int{}, cured: 99}
		defer w.later.Wait()

		want := crew(1)
		want.Pools[1].Replicas = 11
		want.Wait.Level = cluster.LevelRegistered

		for i := range 11 {
			name := fmt.Sprintf("edge-w-%d", i)
			w.api.AddNode(kubetest.Node{Name: name, Ready: "True"})
			w.api.AddPod(kubetest.Pod{Name: "web-" + name, Node: name})
		}

		w.api.AddNode(kubetest.Node{Name: master, Ready: "True"})

		res := w.verb(want).Create(w.t.Context())
		if res.Err != nil || !res.Record.Ready {
			w.t.Fatalf("%v: %s", res.Err, res.Stands)
		}

		before := res.Record.Machines
		want.Pools[1].Replicas, want.DeleteMachines = 10, []string{"edge-w-1"}

		w.service.ResetCounts()

		if res = w.verb(want).Update(w.t.Context(), res.Record); res.Err != nil || len(res.Record.Machines) != 11 {
			w.t.Fatalf("%v: %s", res.Err, res.Stands)
		}

		if got := w.api.Evictions(); len(got) != 1 || !strings.HasSuffix(got[0], "/web-edge-w-1") {
			w.t.Errorf("evicted: %v", got)
		}

		for name, m := range before {
			switch now, stays := res.Record.Machines[name]; {
			case stays == (name == "edge-w-1"), (w.api.Object("nodes", "", name) != nil) != stays:
				w.t.Errorf("%s is there: %t; its Node: %v", name, stays, w.api.Object("nodes", "", name))
			case stays && (now.HostID != m.HostID || now.Node != name):
				w.t.Errorf("%s was %+v and is %+v", name, m, now)
			}
		}

		for _, q := range w.service.Requests() {
			if q.Method != http.MethodGet && !strings.Contains(q.Path, before["edge-w-1"].HostID) && !strings.Contains(q.Path, "/allocations/"+before["edge-w-1"].ClaimID) {
				w.t.Errorf("it sent %s %s", q.Method, q.Path)
			}
		}
	})
}

// TestOCL07_templateThatDoesNotRender: a template that does not render costs nothing. No disk is
// written, and what was claimed for it is given back; the error names machine, host and key.
func TestOCL07_templateThatDoesNotRender(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(p *cluster.Pool)
		says   []string
	}{
		"user data with a label that the host lacks": {
			func(p *cluster.Pool) { p.UserData.Template = "rack: << .Host.Labels.rack >>" }, []string{`"rack"`},
		},
		"an interface that is not in the inventory": {
			func(p *cluster.Pool) {
				p.Template = &datatemplate.Template{MetaData: &datatemplate.MetaData{FromHostInterfaces: []datatemplate.FromInterface{{Key: "lan", Interface: "eth9"}}}}
			}, []string{`key "lan"`, `"eth9"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, 4, func(r *rig) {
				w := wanted()
				c.change(&w.Pools[1])

				res := r.run(w).Create(r.t.Context())
				if res.Err == nil || res.Known || len(r.claims()) > 0 {
					r.t.Fatalf("%+v; %v", res, r.claims())
				}

				for _, want := range append(c.says, "edge-w-0 on host node-") {
					if !strings.Contains(res.Err.Error(), want) {
						r.t.Errorf("no %q in %v", want, res.Err)
					}
				}

				for _, q := range r.service.Requests() {
					if strings.HasSuffix(q.Path, "/states/provision") {
						r.t.Errorf("it sent %s %s", q.Path, q.Body)
					}
				}
			})
		})
	}
}

// TestOCL08_twoClustersReplaceAtOnce: two clusters make all their machines anew at the same time on
// the hosts that they have, and a third one asks for a host all the while. It never gets one.
func TestOCL08_twoClustersReplaceAtOnce(t *testing.T) {
	t.Parallel()

	bubble(t, 6, func(r *rig) {
		another := *wanted().Pools[0].Image
		another.URL = "http://images.lab/debian-12.raw"

		wants, was := map[string]cluster.Wanted{}, map[string]cluster.Record{}

		for _, name := range []string{"edge", "core"} {
			w := wanted()
			w.Name = name

			res := r.run(w).Create(r.t.Context())
			if res.Err != nil {
				r.t.Fatal(res.Err)
			}

			for i := range w.Pools {
				w.Pools[i].Image, w.Pools[i].Reuse = &another, cluster.ReuseRequired
			}

			wants[name], was[name] = w, res.Record
		}

		before := r.claims()

		var both, rival sync.WaitGroup

		ctx, over := context.WithCancel(r.t.Context())
		tries := 0

		rival.Go(func() {
			for ; ctx.Err() == nil; tries++ {
				thief := wanted()
				thief.Name, thief.Pools = "thief", thief.Pools[1:]
				thief.Pools[0].Replicas = 1

				if res := r.run(thief).Create(ctx); res.Err == nil || res.Known {
					r.t.Errorf("the third cluster got a host: %+v", res.Record.Machines)
				}

				pause(ctx)
			}
		})

		for name, w := range wants {
			both.Go(func() {
				res := r.run(w).Update(r.t.Context(), was[name])
				if res.Err != nil || !res.Record.Ready {
					r.t.Errorf("%s: %v, %s", name, res.Err, res.Stands)
				}

				for machine, m := range res.Record.Machines {
					if m.HostID != was[name].Machines[machine].HostID || m.ImageURL != another.URL {
						r.t.Errorf("%s was on %s and is on %s with %s", machine, was[name].Machines[machine].HostName, m.HostName, m.ImageURL)
					}
				}
			})
		}

		both.Wait()
		over()
		rival.Wait()

		if now := r.claims(); fmt.Sprint(now) != fmt.Sprint(before) || tries < 10 {
			r.t.Errorf("claims were %v and are %v; the third cluster asked %d times", before, now, tries)
		}
	})
}

// TestOCL12_theEndpointIsJoined: an address of IPv6 is dialled in brackets.
func TestOCL12_theEndpointIsJoined(t *testing.T) {
	t.Parallel()

	for host, want := range map[string]string{"2001:db8::10": "[2001:db8::10]:6443", "192.0.2.249": "192.0.2.249:6443", "api.example.com": "api.example.com:6443"} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			bubble(t, 3, func(r *rig) {
				w := wanted()
				w.Endpoint.Host, w.Wait.Level = host, cluster.LevelReachable

				dialled := map[string]int{}
				run := r.run(w)
				run.Dial = func(_ context.Context, network, address string) (net.Conn, error) {
					dialled[network+" "+address]++
					if dialled[network+" "+address] < 3 {
						return nil, errors.New("nobody listens")
					}

					one, other := net.Pipe()

					return one, other.Close()
				}

				res := run.Create(r.t.Context())
				if res.Err != nil || !res.Record.Ready || len(dialled) != 1 || dialled["tcp "+want] != 3 {
					r.t.Errorf("%v; dialled %v, want %s", res.Err, dialled, want)
				}
			})
		})
	}
}

// oddNICs answers inventories with network cards that have no address, one twice, or one of IPv6 only.
type oddNICs struct{ direct }

func (o oddNICs) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := o.direct.RoundTrip(r)
	if err == nil && resp.StatusCode == http.StatusOK && strings.HasSuffix(r.URL.Path, "/inventory") {
		resp.Body = io.NopCloser(strings.NewReader(`{"inventory": {"hostname": "one", "interfaces": [
			{"name": "d", "mac_address": "02:00:00:00:00:04", "ipv4_address": "192.0.2.7"},
			{"name": "a", "mac_address": "02:00:00:00:00:01", "ipv4_address": "", "ipv6_address": null},
			{"name": "b", "mac_address": "02:00:00:00:00:02", "ipv4_address": null},
			{"name": "c", "mac_address": "02:00:00:00:00:03", "ipv4_address": "192.0.2.7", "ipv6_address": "2001:db8::7"},
			{"name": "e", "mac_address": "02:00:00:00:00:05", "ipv6_address": "2001:db8::8"},
			{"name": "d", "mac_address": "02:00:00:00:00:04", "ipv4_address": "192.0.2.7"}
		]}, "plugin_data": {}}`))
		resp.ContentLength = -1
	}

	return resp, err
}

// TestOCL13_inventoryOfOddCards renders templates of a host with odd network cards: each card once, by
// name, no address where there is none, and the same again at the next apply, which changes nothing.
func TestOCL13_inventoryOfOddCards(t *testing.T) {
	t.Parallel()

	bubble(t, 3, func(r *rig) {
		w := wanted()
		w.Pools[1].UserData.Template = "<< range .Host.NICs >><< .Name >>=<< .IP >>;<< end >>"

		run := func() *cluster.Run {
			c, err := ironic.New(ironic.Config{Endpoint: "http://ironic.lab:6385", Transport: oddNICs{direct{r.service}}})
			if err != nil {
				r.t.Fatal(err)
			}

			return &cluster.Run{Far: onironic.New(c), Wanted: w}
		}

		res := run().Create(r.t.Context())
		if res.Err != nil {
			r.t.Fatal(res.Err)
		}

		data := map[string]int{}

		for _, q := range r.service.Requests() {
			var body struct {
				ConfigDrive struct {
					UserData string `json:"user_data"`
					MetaData struct {
						Hostname string `json:"local-hostname"`
					} `json:"meta_data"`
				} `json:"configdrive"`
			}

			if json.Unmarshal([]byte(q.Body), &body) == nil && strings.HasPrefix(body.ConfigDrive.MetaData.Hostname, "edge-w-") {
				data[body.ConfigDrive.UserData]++
			}
		}

		if want := "a=;b=;c=192.0.2.7;d=192.0.2.7;e=2001:db8::8;"; len(data) != 1 || data[want] != 2 {
			r.t.Errorf("user data: %v, want %s twice", data, want)
		}

		r.service.ResetCounts()

		if again := run().Update(r.t.Context(), res.Record); again.Err != nil || r.changes() > 0 || fmt.Sprint(again.Record.Machines) != fmt.Sprint(res.Record.Machines) {
			r.t.Errorf("a second apply: %v; it sent %v\n%v\n%v", again.Err, r.service.Counts(), res.Record.Machines, again.Record.Machines)
		}
	})
}
