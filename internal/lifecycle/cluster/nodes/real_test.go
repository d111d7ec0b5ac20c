// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	kubeparts "github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
)

type object = map[string]any

// create makes an object on a real API server.
func create(t *testing.T, c *kubeparts.Cluster, path string, o object) {
	t.Helper()

	if status, said := c.Do(t, http.MethodPost, path, o); status != http.StatusCreated {
		t.Fatalf("%s: %d %v", path, status, said["message"])
	}
}

// register does what a kubelet does.
func register(t *testing.T, c *kubeparts.Cluster, name, ready string, labels object) {
	t.Helper()

	create(t, c, "/api/v1/nodes", object{"metadata": object{"name": name, "labels": labels}})

	status := object{"conditions": []any{object{"type": "Ready", "status": ready, "reason": "Test", "lastHeartbeatTime": time.Now().UTC().Format(time.RFC3339), "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}}}
	if code, said := c.Do(t, http.MethodPatch, "/api/v1/nodes/"+name+"/status", object{"status": status}); code != http.StatusOK {
		t.Fatalf("status of %s: %d %v", name, code, said["message"])
	}
}

func pod(t *testing.T, c *kubeparts.Cluster, name, node string, labels object) {
	t.Helper()

	create(t, c, "/api/v1/namespaces/default/pods", object{
		"metadata": object{"name": name, "labels": labels},
		"spec": object{
			"nodeName": node, "terminationGracePeriodSeconds": 0, "tolerations": []any{object{"key": "node.kubernetes.io/unreachable", "operator": "Exists"}, object{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}},
			"containers": []any{object{"name": "c", "image": "registry.example/pause"}},
		},
	})
}

// TestReal_aNodesLife joins, drains and fences on a real API server with its controllers; only the
// kubelets are played.
func TestReal_aNodesLife(t *testing.T) {
	t.Parallel()

	c := kubeparts.Start(t, kubeparts.WithControllers())

	api, err := kube.New(kube.Config{Kubeconfig: c.Kubeconfig})
	if err != nil {
		t.Fatal(err)
	}

	register(t, c, "edge-w-0", "True", object{"example.com/old": "1"})

	if _, err := nodes.Join(t.Context(), api, full(), nil, time.Minute); err != nil {
		t.Fatal(err)
	}

	states, err := nodes.Status(t.Context(), api, []nodes.Want{full()})
	if s := states["edge-w-0"]; err != nil || s.ProviderID != mine || len(s.Differs) > 0 {
		t.Errorf("got %+v, %v", s, err)
	}

	n, err := api.Node(t.Context(), "edge-w-0")
	if err != nil || n.Labels["example.com/zone"] != "a" || n.Labels["example.com/old"] != "" || n.Labels["tier"] != "edge" {
		t.Errorf("labels are %v, %v", n.Labels, err)
	}

	// What is not wanted any more goes, what others put there stays.
	if _, err := nodes.Join(t.Context(), api, want("edge-w-0", "h0"), nil, time.Minute); err != nil {
		t.Fatal(err)
	}

	n, err = api.Node(t.Context(), "edge-w-0")
	if err != nil || n.Labels["tier"] != "" || len(n.Annotations) > 1 || strings.Contains(taintsOf(n), "gpu") {
		t.Errorf("labels are %v, annotations %v, taints %s, %v", n.Labels, n.Annotations, taintsOf(n), err)
	}

	drained(t, c, api)
	fenced(t, c, api)
}

func taintsOf(n kube.Node) string {
	var b strings.Builder
	for _, t := range n.Taints {
		b.WriteString(t.Key + "=" + t.Value + ":" + t.Effect + " ")
	}

	return b.String()
}

func drained(t *testing.T, c *kubeparts.Cluster, api *kube.Client) {
	t.Helper()

	pod(t, c, "web", "edge-w-0", object{"app": "web"})
	create(t, c, "/apis/policy/v1/namespaces/default/poddisruptionbudgets", object{
		"metadata": object{"name": "guard"}, "spec": object{"minAvailable": 1, "selector": object{"matchLabels": object{"app": "web"}}},
	})

	running := object{"status": object{"phase": "Running", "conditions": []any{object{"type": "Ready", "status": "True"}}}}
	if code, said := c.Do(t, http.MethodPatch, "/api/v1/namespaces/default/pods/web/status", running); code != http.StatusOK {
		t.Fatal(said["message"])
	}

	err := nodes.Drain(t.Context(), api, "edge-w-0", nodes.Options{Timeout: 7 * time.Second})
	if err == nil || !strings.Contains(err.Error(), "default/web (may not be evicted") || !strings.Contains(err.Error(), "guard") {
		t.Errorf("got %v", err)
	}

	if code, said := c.Do(t, http.MethodDelete, "/apis/policy/v1/namespaces/default/poddisruptionbudgets/guard", nil); code != http.StatusOK {
		t.Fatal(said["message"])
	}

	if err := nodes.Drain(t.Context(), api, "edge-w-0", nodes.Options{Timeout: time.Minute}); err != nil {
		t.Error(err)
	}

	if err := nodes.Uncordon(t.Context(), api, "edge-w-0"); err != nil {
		t.Error(err)
	}
}

func fenced(t *testing.T, c *kubeparts.Cluster, api *kube.Client) {
	t.Helper()

	register(t, c, "lost", "Unknown", nil)
	pod(t, c, "db", "lost", nil)

	create(t, c, "/apis/storage.k8s.io/v1/volumeattachments", object{
		"metadata": object{"name": "csi-1"}, "spec": object{"attacher": "test", "nodeName": "lost", "source": object{"persistentVolumeName": "pv"}},
	})

	go func() { // the CSI driver's work
		for {
			if _, there := c.Do(t, http.MethodGet, "/api/v1/namespaces/default/pods/db", nil); there["kind"] != "Pod" {
				break
			}

			time.Sleep(time.Second)
		}

		c.Do(t, http.MethodDelete, "/apis/storage.k8s.io/v1/volumeattachments/csi-1", nil)
	}()

	start := time.Now()

	backup, err := nodes.Fence(t.Context(), api, "lost", 2*time.Minute)
	if err != nil || backup.Deleted {
		t.Fatalf("got %+v, %v", backup, err)
	}

	t.Logf("fenced after %s", time.Since(start).Round(time.Second))

	if err := nodes.Unfence(t.Context(), api, "lost", backup); err != nil {
		t.Fatal(err)
	}

	n, err := api.Node(t.Context(), "lost")
	if err != nil || strings.Contains(taintsOf(n), "out-of-service") {
		t.Errorf("taints are %s, %v", taintsOf(n), err)
	}
}
