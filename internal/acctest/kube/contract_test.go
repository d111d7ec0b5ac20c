// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/kube"
	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
)

// rig is an API server to hold against the contract: the double or a real one.
type rig struct {
	client     *api.Client
	kubeconfig []byte
	raw        func(t *testing.T, method, path, kind, body string) (int, map[string]any)
	// a disruption budget that forbids the eviction of a Pod, and its end
	block   func(t *testing.T, pod string)
	unblock func(t *testing.T, pod string)
}

// TestContract is what the client and everything above it rely on. The double answers all of it
// as a real API server does.
func TestContract(t *testing.T) {
	t.Parallel()

	t.Run("the double", func(t *testing.T) {
		t.Parallel()

		s := kubetest.New(t)
		s.ServeDevices(map[string]string{"resourceslices": "v1", "resourceclaims": "v1", "devicetaintrules": "v1beta2"})

		r := rig{
			kubeconfig: s.Kubeconfig(),
			block:      func(_ *testing.T, pod string) { s.Block("default", pod, -1, 0) },
			unblock:    func(_ *testing.T, pod string) { s.Unblock("default", pod) },
		}
		contract(t, r, s.URL(), s.CA(), kubetest.AdminToken)
	})

	t.Run("a real one", func(t *testing.T) {
		t.Parallel()

		tokens := t.TempDir() + "/tokens"
		if err := os.WriteFile(tokens, []byte(kubetest.AdminToken+",admin,1,system:masters\n"), 0o600); err != nil {
			t.Fatal(err)
		}

		c := kube.Start(t, kube.WithFlags("--token-auth-file="+tokens,
			"--runtime-config=resource.k8s.io/v1beta2=true,resource.k8s.io/v1alpha3=true", "--feature-gates=DRADeviceTaints=true,DRADeviceTaintRules=true"))

		r := rig{kubeconfig: c.Kubeconfig}
		r.block, r.unblock = func(t *testing.T, pod string) { t.Helper(); budget(t, c, pod, 0) }, func(t *testing.T, pod string) { t.Helper(); budget(t, c, pod, 1) }
		contract(t, r, c.URL, c.CA.PEM, kubetest.AdminToken)
	})
}

// budget makes a disruption budget for a Pod and plays the controller that looks at it.
func budget(t *testing.T, c *kube.Cluster, pod string, allowed int) {
	t.Helper()

	path := "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
	c.Do(t, http.MethodPost, path, map[string]any{
		"metadata": map[string]any{"name": "guard-" + pod},
		"spec":     map[string]any{"minAvailable": 1, "selector": map[string]any{"matchLabels": map[string]any{"pod": pod}}},
	})

	status := map[string]any{"status": map[string]any{
		"observedGeneration": 1, "expectedPods": 1, "currentHealthy": 1, "desiredHealthy": 1 - allowed, "disruptionsAllowed": allowed,
	}}

	if code, said := c.Do(t, http.MethodPatch, path+"/guard-"+pod+"/status", status); code != http.StatusOK {
		t.Fatalf("the budget's status: %d %v", code, said)
	}
}

func contract(t *testing.T, r rig, url string, ca []byte, token string) {
	t.Helper()

	client, err := api.New(api.Config{Kubeconfig: r.kubeconfig, UserAgent: "contract/1"})
	if err != nil {
		t.Fatal(err)
	}

	r.client = client

	byToken, err := api.New(api.Config{Server: url, CAData: ca, Token: token})
	if err != nil {
		t.Fatal(err)
	}

	if _, err := byToken.Nodes(t.Context()); err != nil {
		t.Fatal(err)
	}

	r.raw = rawRequests(url, ca, token)

	for _, part := range []map[string]func(t *testing.T, r rig){aboutNodes, aboutPods, aboutTheRest} {
		for name, check := range part {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				check(t, r)
			})
		}
	}

	t.Run("who may ask what", func(t *testing.T) {
		t.Parallel()
		strangers(t, r, url, ca)
	})
}

// rawRequests sends requests past the client.
func rawRequests(url string, ca []byte, token string) func(*testing.T, string, string, string, string) (int, map[string]any) {
	http := trusting(ca)

	return func(t *testing.T, method, path, kind, body string) (int, map[string]any) {
		t.Helper()

		return send(t, http, method, url+path, kind, body, token)
	}
}

func send(t *testing.T, client *http.Client, method, url, kind, body, token string) (int, map[string]any) {
	t.Helper()

	q, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}

	q.Header.Set("Authorization", "Bearer "+token)
	q.Header.Set("Content-Type", kind)

	answer, err := client.Do(q)
	if err != nil {
		t.Fatal(err)
	}

	defer func() { _ = answer.Body.Close() }()

	said, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}

	var o map[string]any
	_ = json.Unmarshal(bytes.TrimSpace(said), &o)

	return answer.StatusCode, o
}

const (
	jsonKind  = "application/json"
	mergeKind = "application/merge-patch+json"
	deepKind  = "application/strategic-merge-patch+json"
	applyKind = "application/apply-patch+yaml"
)

func (r rig) want(t *testing.T, status int, method, path, kind, body string) map[string]any {
	t.Helper()

	got, said := r.raw(t, method, path, kind, body)
	if got != status {
		t.Errorf("%s %s %s: answered %d, want %d: %v", method, path, body, got, status, said["message"])
	}

	return said
}

// node makes a Node past the client.
func (r rig) node(t *testing.T, name string) {
	t.Helper()

	r.want(t, http.StatusCreated, http.MethodPost, "/api/v1/nodes?fieldManager=kubelet", jsonKind, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q}}`, name))
	t.Cleanup(func() {
		if err := r.client.DeleteNode(t.Context(), name); err != nil {
			t.Logf("left behind: %v", err)
		}
	})
}

// pod makes a Pod that runs, past the client.
func (r rig) pod(t *testing.T, node, name string) {
	t.Helper()

	r.want(t, http.StatusCreated, http.MethodPost, "/api/v1/namespaces/default/pods", jsonKind, fmt.Sprintf(
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"labels":{"pod":%q}},"spec":{"nodeName":%q,"containers":[{"name":"c","image":"registry.example/pause"}]}}`, name, name, node))
	r.want(t, http.StatusOK, http.MethodPatch, "/api/v1/namespaces/default/pods/"+name+"/status", deepKind,
		`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)
}

// field follows a path in an answer.
func field(o map[string]any, path ...string) any {
	var value any = o

	for _, name := range path {
		inner, _ := value.(map[string]any)
		value = inner[name]
	}

	return value
}
