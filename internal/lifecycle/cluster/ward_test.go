// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/onironic"
)

// The machines that tests heal.
const (
	sick   = "edge-w-0"
	master = "edge-cp-0"
)

// bootTime is how long a machine takes from its power to a Node that is Ready.
const bootTime = 30 * time.Second

// ward is a cluster that runs, with Nodes that follow the power of their machines.
type ward struct {
	*rig

	api    *kubetest.Server
	record cluster.Record

	later  sync.WaitGroup // what goes on in the cluster by itself
	mu     sync.Mutex
	boots  map[string]int // by machine
	cured  int            // boots after which a Node is Ready again
	quick  bool           // nobody notices that a machine is off: its Node stays Ready, and comes back as of another boot
	events []string
}

// inWard runs a test on a cluster of so many control plane machines and two workers, on so many hosts.
func inWard(t *testing.T, masters, hosts int, f func(w *ward)) {
	t.Helper()

	bubble(t, hosts, func(r *rig) {
		w := &ward{rig: r, api: kubetest.New(r.t, kubetest.InMemory()), boots: map[string]int{}, cured: 1}

		res := r.run(crew(masters)).Create(r.t.Context())
		if res.Err != nil {
			r.t.Fatal(res.Err)
		}

		w.record = res.Record

		for name, m := range res.Record.Machines {
			w.api.AddNode(kubetest.Node{Name: name, ProviderID: m.ProviderID, Ready: "True"})
		}

		w.api.OnRequest(kubetest.Fault{Method: http.MethodPatch, Path: "/api/v1/nodes/", Do: func(r *http.Request) {
			w.note("node " + r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:])
		}})
		r.service.ResetCounts()

		defer w.later.Wait()

		f(w)
	})
}

// crew is the wanted cluster.
func crew(masters int) cluster.Wanted {
	w := wanted()
	w.Pools[0].Replicas = masters

	return w
}

// watched is the wanted cluster, with an eye on its Nodes.
func watched(masters int) cluster.Wanted {
	w := crew(masters)
	w.Wait.Level = cluster.LevelRegistered
	w.Remediation = cluster.Remediation{
		Enabled: true, UnhealthyTimeout: 5 * time.Minute, Strategy: cluster.RemedyReboot, OnFailure: cluster.AfterFail, MaxUnhealthy: cluster.Share{Number: 100, Percent: true},
	}

	return w
}

func (w *ward) note(event string) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.events = append(w.events, event)
}

func (w *ward) noted() []string {
	w.mu.Lock()
	defer w.mu.Unlock()

	return slices.Clone(w.events)
}

// ServeHTTP is Ironic, beside which kubelets end and begin.
func (w *ward) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))

	w.service.ServeHTTP(out, r)

	if rest, ok := strings.CutSuffix(r.URL.Path, "/states/power"); ok && r.Method == http.MethodPut {
		w.powered(w.on(rest[strings.LastIndex(rest, "/")+1:]), strings.Contains(string(body), "power on"))
	}
}

// on is the machine that was on a host.
func (w *ward) on(id string) string {
	for name, m := range w.record.Machines {
		if m.HostID == id {
			return name
		}
	}

	return ""
}

func (w *ward) powered(name string, on bool) {
	if w.api.Labels(name) == nil && !on {
		w.note("off " + name)

		return
	}

	if !on {
		w.note("off " + name)

		if !w.quick {
			w.api.SetReady(name, "Unknown")
		}

		return
	}

	w.note("on " + name)

	w.mu.Lock()
	defer w.mu.Unlock()

	if w.boots[name]++; w.boots[name] < w.cured {
		return
	}

	w.later.Go(func() {
		time.Sleep(bootTime)

		if w.quick || w.api.Labels(name) == nil {
			w.api.AddNode(kubetest.Node{Name: name, ProviderID: w.record.Machines[name].ProviderID, BootID: "later"})
		}

		w.api.SetReady(name, "True")
	})
}

// way is a way to Ironic past the kubelets.
func (w *ward) way(t http.RoundTripper) *onironic.Backend {
	w.t.Helper()

	c, err := ironic.New(ironic.Config{Endpoint: "http://ironic.lab:6385", Transport: t})
	if err != nil {
		w.t.Fatal(err)
	}

	return onironic.New(c)
}

// verb is one verb on the cluster whose API can be reached.
func (w *ward) verb(want cluster.Wanted) *cluster.Run {
	r := w.run(want)
	r.Far = w.way(direct{w})
	r.Access, r.Dial = cluster.Access{Kubeconfig: w.api.Kubeconfig()}, w.api.Dial

	return r
}

// byHand is what a person knows of the cluster.
func byHand() cluster.Wanted {
	return cluster.Wanted{Namespace: "metal3", Name: "edge", CloudProvider: true, Wait: cluster.Wait{Level: cluster.LevelRegistered}}
}

// heal remediates a machine by a person's word.
func (w *ward) heal(name string, how cluster.Remediation) cluster.Result {
	return w.verb(byHand()).Remediate(w.t.Context(), name, how)
}

// dies is a verb in a process that is killed at its nth change of Ironic.
func (w *ward) dies(n int, after bool, verb func(ctx context.Context, run *cluster.Run) cluster.Result) bool {
	ctx, cancel := context.WithCancelCause(w.t.Context())
	defer cancel(nil)

	m := &mortal{direct: direct{w}, after: after, die: cancel}
	m.left.Store(int64(n))

	run := w.verb(byHand())
	run.Far = w.way(m)
	verb(ctx, run)

	return m.left.Load() < 0
}

// host is the host of a machine, as it is now.
func (w *ward) host(name string) host.Seen {
	w.t.Helper()

	s, err := w.another().Look(w.t.Context(), w.record.Machines[name].HostID)
	if err != nil {
		w.t.Fatal(err)
	}

	return s
}

// well checks that a machine is on, its Node in service, and its remediation over, the nth one.
func (w *ward) well(name string, count int) {
	w.t.Helper()

	s := w.host(name)
	if s.Node.PowerState != ironic.PowerOn {
		w.t.Errorf("%s is %s", name, s.Node.PowerState)
	}

	t, _ := s.Tenancy()
	if t.Remediation == nil || t.Remediation.Phase != "" || t.Remediation.Count != count {
		w.t.Errorf("the note says %+v", t.Remediation)
	}

	if slices.ContainsFunc(w.api.Taints(name), func(t string) bool { return strings.Contains(t, "out-of-service") }) {
		w.t.Errorf("its Node is out of service: %v", w.api.Taints(name))
	}
}

// untouched checks that nothing was asked of Ironic that changes something.
func (w *ward) untouched() {
	w.t.Helper()

	if w.changes() > 0 || len(w.noted()) > 0 {
		w.t.Errorf("it sent %v: %v", w.service.Counts(), w.noted())
	}
}

// says checks that an error holds texts.
func (w *ward) says(err error, texts ...string) {
	w.t.Helper()

	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			w.t.Errorf("no %q in %v", text, err)
		}
	}
}
