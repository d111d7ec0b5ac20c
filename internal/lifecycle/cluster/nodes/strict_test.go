// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
)

// strict is a strict API server and its client, for a bubble of synctest.
func strict(t *testing.T) (*kubetest.Server, *kube.Client) {
	t.Helper()

	server := kubetest.New(t, kubetest.InMemory())

	client, err := kube.New(kube.Config{Kubeconfig: server.Kubeconfig(), Dial: server.Dial})
	if err != nil {
		t.Fatal(err)
	}

	return server, client
}

// providerID is that of the Node edge-w-0.
func providerID(server *kubetest.Server) any {
	s, _ := server.Object("nodes", "", "edge-w-0")["spec"].(map[string]any)

	return s["providerID"]
}

func annotations(server *kubetest.Server) map[string]any {
	meta, _ := server.Object("nodes", "", "edge-w-0")["metadata"].(map[string]any)
	a, _ := meta["annotations"].(map[string]any)

	return a
}

func full() nodes.Want {
	w := want("edge-w-0", "h0")
	w.Labels = map[string]string{"node-role.kubernetes.io/gpu": "", "tier": "edge"}
	w.Annotations = map[string]string{"example.com/rack": "r1 u2"}
	w.Taints = []kube.Taint{{Key: "gpu", Value: "yes", Effect: "NoSchedule"}}
	w.SyncPrefixes = []string{"example.com"}
	w.HostLabels = map[string]string{"example.com/zone": "a", "other.com/zone": "b"}

	return w
}

func TestJoin_everythingThatIsWanted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := strict(t)

		server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "False", Labels: map[string]string{"example.com/old": "1"}})

		before := server.Taints("edge-w-0")

		joined, err := nodes.Join(t.Context(), client, full(), nil, time.Minute)
		if err != nil || joined.Node != "edge-w-0" || joined.ProviderID != mine || joined.Ready {
			t.Fatalf("got %+v, %v", joined, err)
		}

		if id := providerID(server); id != mine {
			t.Errorf("provider ID is %v", id)
		}

		expect := map[string]string{"kubernetes.io/hostname": "edge-w-0", "node-role.kubernetes.io/gpu": "", "tier": "edge", "example.com/zone": "a"}
		if got := server.Labels("edge-w-0"); !maps.Equal(got, expect) {
			t.Errorf("labels are %v", got)
		}

		if got := server.Taints("edge-w-0"); !slices.Equal(got, append(before, "gpu=yes:NoSchedule")) || len(before) == 0 {
			t.Errorf("taints are %v, were %v", got, before)
		}

		if got := annotations(server); got["example.com/rack"] != "r1 u2" {
			t.Errorf("annotations are %v", got)
		}

		// The second time nothing is asked for.
		writes := len(server.Writes())
		if _, err := nodes.Join(t.Context(), client, full(), nil, time.Minute); err != nil || len(server.Writes()) != writes {
			t.Errorf("wrote %v, %v", server.Writes()[writes:], err)
		}
	})
}

func TestJoin_whatIsNotWantedAnyMoreGoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := strict(t)

		server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "True", Labels: map[string]string{"mine": "kubelet"}})

		if _, err := nodes.Join(t.Context(), client, full(), nil, time.Minute); err != nil {
			t.Fatal(err)
		}

		foreign := map[string]*string{"hand": pointer("1")}
		if err := client.MergeMeta(t.Context(), "edge-w-0", foreign, foreign); err != nil {
			t.Fatal(err)
		}

		if err := client.ChangeTaints(t.Context(), "edge-w-0", func(have []kube.Taint) []kube.Taint {
			return append(have, kube.Taint{Key: "hand", Effect: "NoSchedule"})
		}); err != nil {
			t.Fatal(err)
		}

		if _, err := nodes.Join(t.Context(), client, want("edge-w-0", "h0"), nil, time.Minute); err != nil {
			t.Fatal(err)
		}

		expect := map[string]string{"kubernetes.io/hostname": "edge-w-0", "mine": "kubelet", "hand": "1"}
		if got := server.Labels("edge-w-0"); !maps.Equal(got, expect) {
			t.Errorf("labels are %v", got)
		}

		if got := annotations(server); len(got) != 1 || got["hand"] != "1" {
			t.Errorf("annotations are %v", got)
		}

		if got := server.Taints("edge-w-0"); slices.Contains(got, "gpu=yes:NoSchedule") || !slices.Contains(got, "hand:NoSchedule") {
			t.Errorf("taints are %v", got)
		}
	})
}

func pointer(s string) *string { return &s }

// TestJoin_interruptedAnywhere ends each write once, before and after it is done; the next
// run reaches the same.
func TestJoin_interruptedAnywhere(t *testing.T) {
	t.Parallel()

	for _, after := range []bool{false, true} {
		for step := range 8 {
			synctest.Test(t, func(t *testing.T) {
				server, client := strict(t)

				server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "True"})

				if step >= 4 { // what was wanted before goes
					was := full()
					was.Labels["gone"], was.Annotations["example.com/gone"] = "1", "1"
					was.Taints = append(was.Taints, kube.Taint{Key: "gone", Effect: "NoExecute"})

					if _, err := nodes.Join(t.Context(), client, was, nil, time.Minute); err != nil {
						t.Fatal(err)
					}
				}

				for range step % 4 { // these pass
					server.OnRequest(kubetest.Fault{Method: "PATCH", Times: 1})
				}

				server.OnRequest(kubetest.Fault{Method: "PATCH", Status: 403, Message: "not now", Times: 1, After: after})

				if _, err := nodes.Join(t.Context(), client, full(), nil, time.Minute); err == nil {
					t.Errorf("step %d: it was not interrupted", step)
				}

				if _, err := nodes.Join(t.Context(), client, full(), nil, time.Minute); err != nil {
					t.Fatalf("step %d: %v", step, err)
				}

				expect := map[string]string{"kubernetes.io/hostname": "edge-w-0", "node-role.kubernetes.io/gpu": "", "tier": "edge", "example.com/zone": "a"}
				if got := server.Labels("edge-w-0"); !maps.Equal(got, expect) {
					t.Errorf("step %d: labels are %v", step, got)
				}

				if got := server.Taints("edge-w-0"); slices.Contains(got, "gone:NoExecute") || !slices.Contains(got, "gpu=yes:NoSchedule") {
					t.Errorf("step %d: taints are %v", step, got)
				}

				if got := annotations(server); got["example.com/gone"] != nil || got["example.com/rack"] != "r1 u2" {
					t.Errorf("step %d: annotations are %v", step, got)
				}
			})
		}
	}
}

func TestJoin_aProviderIDThatSomebodyElseSetMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := strict(t)

		server.AddNode(kubetest.Node{Name: "edge-w-0"})
		server.OnRequest(kubetest.Fault{Method: "PATCH", Times: 1, Status: 422, Body: refusedProviderID()})

		_, err := nodes.Join(t.Context(), client, want("edge-w-0", "h0"), nil, time.Hour)
		if err == nil || !strings.Contains(err.Error(), "kubectl delete node edge-w-0") {
			t.Errorf("got %v", err)
		}
	})
}

func refusedProviderID() string {
	b, _ := json.Marshal(map[string]any{
		"kind": "Status", "status": "Failure", "reason": "Invalid", "message": "no", "code": 422,
		"details": map[string]any{"causes": []any{map[string]any{"reason": "FieldValueForbidden", "field": "spec.providerID", "message": "no"}}},
	})

	return string(b)
}

func TestOCL13_addressesThatAreNone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := strict(t)

		server.AddNode(kubetest.Node{Name: "silent"})
		server.AddNode(kubetest.Node{Name: "localhost", InternalIP: "192.0.2.7"})

		w := want("edge-w-0", "h0", "", "192.0.2.7", "192.0.2.7", "  ")

		joined, err := nodes.Join(t.Context(), client, w, machines("edge-w-0"), time.Minute)
		if err != nil || joined.Node != "localhost" {
			t.Errorf("got %+v, %v", joined, err)
		}
	})
}

func TestStatus(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := strict(t)

		server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "True", Labels: map[string]string{"tier": "core", "example.com/old": "1"}})
		server.AddNode(kubetest.Node{Name: "edge-w-1", Ready: "Unknown", ProviderID: "metal3://default/h1/edge-w-1"})
		server.AddNode(kubetest.Node{Name: "edge-w-2", ProviderID: "k3s://edge-w-2"})

		states, err := nodes.Status(t.Context(), client, []nodes.Want{full(), want("edge-w-1", "h1"), want("edge-w-2", "h2"), want("edge-w-3", "h3")})
		if err != nil || len(states) != 4 {
			t.Fatalf("got %v, %v", states, err)
		}

		differs := []string{
			`annotation example.com/rack: none instead of "r1 u2"`,
			`label example.com/old: "1" instead of none, as on the host`,
			`label example.com/zone: none instead of "a"`,
			`label node-role.kubernetes.io/gpu: none instead of ""`,
			`label tier: "core" instead of "edge"`,
			`provider ID: none instead of "metal3://default/h0/edge-w-0"`,
			`taint gpu=yes:NoSchedule: missing`,
		}
		if s := states["edge-w-0"]; s.Node != "edge-w-0" || s.Ready != "True" || s.Since.IsZero() || !slices.Equal(s.Differs, differs) {
			t.Errorf("got %+v", s)
		}

		if s := states["edge-w-1"]; s.Ready != "Unknown" || s.ProviderID != "metal3://default/h1/edge-w-1" || len(s.Differs) > 0 {
			t.Errorf("got %+v", s)
		}

		if s := states["edge-w-2"]; s.Problem == "" || s.Node != "" {
			t.Errorf("got %+v", s)
		}

		if s, there := states["edge-w-3"]; !there || s.Node != "" || s.Problem != "" {
			t.Errorf("got %+v", s)
		}

		if n := len(server.Requests()); n != 1 || len(server.Writes()) > 0 {
			t.Errorf("%d requests", n)
		}

		// What is applied differs no more.
		if _, err := nodes.Join(t.Context(), client, full(), nil, time.Minute); err != nil {
			t.Fatal(err)
		}

		states, err = nodes.Status(t.Context(), client, []nodes.Want{full()})
		if err != nil || len(states["edge-w-0"].Differs) > 0 {
			t.Errorf("got %+v, %v", states, err)
		}
	})
}

func TestStatus_cannotBeAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := strict(t)

		server.Close()

		if states, err := nodes.Status(t.Context(), client, []nodes.Want{full()}); err == nil {
			t.Errorf("got %v", states)
		}
	})
}

// FuzzNote reads whatever stands where the provider notes what it has set: nothing of others
// goes, and one apply brings the Node to rest.
func FuzzNote(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"labels":["tier"],"taints":["gpu:NoSchedule"]}`, `{"labels":"x"}`, "null", `{"annotations":["metal3.io/terraform-managed"]}`} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, text string) {
		n := node("edge-w-0", mine)
		n.Annotations = map[string]string{"metal3.io/terraform-managed": text}
		n.Labels = map[string]string{nodes.UUIDLabel: "claim of edge-w-0"}

		api := newFake(n)
		for range 2 {
			if _, err := nodes.Join(t.Context(), api, full(), nil, time.Minute); err != nil {
				t.Fatal(err)
			}
		}

		states, err := nodes.Status(t.Context(), api, []nodes.Want{full()})
		if err != nil || len(states["edge-w-0"].Differs) > 0 {
			t.Errorf("%q: got %v, %v", text, states, err)
		}
	})
}
