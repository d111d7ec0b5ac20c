// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
)

var aboutNodes = map[string]func(t *testing.T, r rig){
	"a provider ID is set once": func(t *testing.T, r rig) {
		t.Helper()

		r.node(t, "provided")

		for range 2 { // the same again is no error
			if err := r.client.SetProviderID(t.Context(), "provided", "metal3://ns/host/machine"); err != nil {
				t.Fatal(err)
			}
		}

		var other *api.ProviderIDError
		if err := r.client.SetProviderID(t.Context(), "provided", "metal3://ns/host/another"); !errors.As(err, &other) {
			t.Errorf("another one: %v", err)
		}

		r.want(t, http.StatusUnprocessableEntity, http.MethodPatch, "/api/v1/nodes/provided", mergeKind, `{"spec":{"providerID":null}}`)

		if n, err := r.client.Node(t.Context(), "provided"); err != nil || n.ProviderID != "metal3://ns/host/machine" {
			t.Errorf("got %q, %v", n.ProviderID, err)
		}

		r.want(t, http.StatusBadRequest, http.MethodGet, "/api/v1/nodes?fieldSelector=spec.providerID%3Dmetal3", jsonKind, "")
	},
	"labels and annotations are merged": func(t *testing.T, r rig) {
		t.Helper()

		r.node(t, "merged")

		one := "1"
		if err := r.client.MergeMeta(t.Context(), "merged", map[string]*string{"example.com/a": &one}, map[string]*string{"example.com/b": &one}); err != nil {
			t.Fatal(err)
		}

		if n, err := r.client.Node(t.Context(), "merged"); err != nil || n.Labels["example.com/a"] != "1" || n.Annotations["example.com/b"] != "1" {
			t.Errorf("got %+v, %v", n, err)
		}

		if err := r.client.MergeMeta(t.Context(), "merged", map[string]*string{"example.com/a": nil}, nil); err != nil {
			t.Fatal(err)
		}

		if n, err := r.client.Node(t.Context(), "merged"); err != nil || len(n.Labels) != 0 {
			t.Errorf("got %+v, %v", n.Labels, err)
		}

		bad := "bad value!"
		if err := r.client.MergeMeta(t.Context(), "merged", map[string]*string{"example.com/a": &bad}, nil); !errors.Is(err, api.ErrInvalid) {
			t.Errorf("a bad label: %v", err)
		}
	},
	"labels are applied":                      applied,
	"an apply makes no Node":                  applyMakesNone,
	"taints are changed":                      taints,
	"somebody else is faster with the taints": tainted,
	"conditions have their own path": func(t *testing.T, r rig) {
		t.Helper()

		r.node(t, "conditioned")

		ready := `{"status":{"conditions":[{"type":"Ready","status":"%s","lastTransitionTime":"2001-02-03T04:05:06Z"}]}}`
		r.want(t, http.StatusOK, http.MethodPatch, "/api/v1/nodes/conditioned/status", deepKind, fmt.Sprintf(ready, "True"))
		r.want(t, http.StatusOK, http.MethodPatch, "/api/v1/nodes/conditioned", deepKind, fmt.Sprintf(ready, "False"))

		n, err := r.client.Node(t.Context(), "conditioned")
		if err != nil || n.Ready != "True" || n.Conditions["Ready"] != "True" || n.ReadySince.Year() != 2001 {
			t.Errorf("got %+v, %v", n, err)
		}
	},
	"an old version is refused": func(t *testing.T, r rig) {
		t.Helper()

		r.node(t, "versioned")
		r.want(t, http.StatusConflict, http.MethodPatch, "/api/v1/nodes/versioned", mergeKind, `{"metadata":{"resourceVersion":"1","labels":{"a":"b"}}}`)
	},
	"a change that changes nothing makes no version": func(t *testing.T, r rig) {
		t.Helper()

		r.node(t, "unchanged")

		patch := `{"metadata":{"labels":{"a":"b"}}}`
		first := r.want(t, http.StatusOK, http.MethodPatch, "/api/v1/nodes/unchanged", mergeKind, patch)
		second := r.want(t, http.StatusOK, http.MethodPatch, "/api/v1/nodes/unchanged", mergeKind, patch)

		if field(first, "metadata", "resourceVersion") != field(second, "metadata", "resourceVersion") {
			t.Error("it made one")
		}
	},
	"a Node is cordoned": func(t *testing.T, r rig) {
		t.Helper()

		r.node(t, "cordoned")

		for _, cordoned := range []bool{true, true, false} {
			if err := r.client.Cordon(t.Context(), "cordoned", cordoned); err != nil {
				t.Fatal(err)
			}

			if n, err := r.client.Node(t.Context(), "cordoned"); err != nil || n.Unschedulable != cordoned {
				t.Errorf("got %t, %v", n.Unschedulable, err)
			}
		}
	},
	"a Node is deleted": func(t *testing.T, r rig) {
		t.Helper()

		r.node(t, "deleted")

		for range 2 {
			if err := r.client.DeleteNode(t.Context(), "deleted"); err != nil {
				t.Fatal(err)
			}
		}

		if _, err := r.client.Node(t.Context(), "deleted"); !errors.Is(err, api.ErrNotFound) {
			t.Errorf("read after it: %v", err)
		}

		if err := r.client.Cordon(t.Context(), "deleted", true); !errors.Is(err, api.ErrNotFound) {
			t.Errorf("cordoned after it: %v", err)
		}
	},
	"Nodes are listed in pages": func(t *testing.T, r rig) {
		t.Helper()

		for _, name := range []string{"page-1", "page-2", "page-3"} {
			r.node(t, name)
		}

		nodes, err := r.client.Nodes(t.Context())
		if err != nil || !slices.ContainsFunc(nodes, func(n api.Node) bool { return n.Name == "page-3" && n.UID != "" && !n.Created.IsZero() }) {
			t.Errorf("got %d, %v", len(nodes), err)
		}

		page := r.want(t, http.StatusOK, http.MethodGet, "/api/v1/nodes?limit=2", jsonKind, "")
		if items, _ := page["items"].([]any); len(items) != 2 || field(page, "metadata", "continue") == "" {
			t.Errorf("a page has %d, and continues with %v", len(items), field(page, "metadata", "continue"))
		}
	},
}

func applied(t *testing.T, r rig) {
	t.Helper()

	r.node(t, "applied")

	foreign, node := "f", func() map[string]string {
		n, err := r.client.Node(t.Context(), "applied")
		if err != nil {
			t.Fatal(err)
		}

		return n.Labels
	}
	apply := func(labels map[string]string, force bool) error {
		return r.client.ApplyLabels(t.Context(), "applied", labels, force)
	}

	if err := r.client.MergeMeta(t.Context(), "applied", map[string]*string{"example.com/foreign": &foreign}, nil); err != nil {
		t.Fatal(err)
	}

	if err := apply(map[string]string{"example.com/a": "1", "example.com/b": "2"}, false); err != nil {
		t.Fatal(err)
	}

	if err := apply(map[string]string{"example.com/a": "3"}, false); err != nil {
		t.Fatal(err)
	}

	if got := node(); got["example.com/a"] != "3" || got["example.com/foreign"] != "f" || len(got) != 2 {
		t.Errorf("got %v", got)
	}

	// somebody else changes ours: then it is theirs
	r.want(t, http.StatusOK, http.MethodPatch, "/api/v1/nodes/applied?fieldManager=kubectl-label", mergeKind, `{"metadata":{"labels":{"example.com/a":"4"}}}`)

	var held *api.HeldError

	err := apply(map[string]string{"example.com/a": "3"}, false)
	if !errors.As(err, &held) || !strings.Contains(err.Error(), "kubectl-label") || !strings.Contains(err.Error(), "example.com/a") {
		t.Errorf("held by somebody else: %v", err)
	}

	if err := apply(map[string]string{"example.com/a": "4"}, false); err != nil {
		t.Errorf("the same value is no conflict: %v", err)
	}

	if err := apply(map[string]string{"example.com/a": "5"}, true); err != nil || node()["example.com/a"] != "5" {
		t.Errorf("by force: %v, %v", node(), err)
	}

	if err := apply(nil, false); err != nil || len(node()) != 1 {
		t.Errorf("nothing is ours any more: %v, %v", node(), err)
	}

	if err := apply(map[string]string{"example.com/a": "bad value!"}, false); !errors.Is(err, api.ErrInvalid) {
		t.Errorf("a bad label: %v", err)
	}
}

func applyMakesNone(t *testing.T, r rig) {
	t.Helper()

	if err := r.client.ApplyLabels(t.Context(), "nobody", map[string]string{"a": "b"}, true); !errors.Is(err, api.ErrNotFound) {
		t.Errorf("applied to nobody: %v", err)
	}

	body := `{"apiVersion":"v1","kind":"Node","metadata":{"name":"nobody"%s,"labels":{"a":"b"}}}`
	r.want(t, http.StatusConflict, http.MethodPatch, "/api/v1/nodes/nobody?fieldManager=m", applyKind, fmt.Sprintf(body, `,"uid":"00000000-0000-4000-8000-00000000dead"`))
	r.want(t, http.StatusUnprocessableEntity, http.MethodPatch, "/api/v1/nodes/nobody", applyKind, fmt.Sprintf(body, ""))

	// this is what the uid is for
	r.want(t, http.StatusCreated, http.MethodPatch, "/api/v1/nodes/nobody?fieldManager=m", applyKind, fmt.Sprintf(body, ""))
	r.want(t, http.StatusUnprocessableEntity, http.MethodPatch, "/api/v1/nodes/nobody?fieldManager=m", applyKind, fmt.Sprintf(body, `,"uid":"00000000-0000-4000-8000-00000000dead"`))
	r.want(t, http.StatusUnprocessableEntity, http.MethodPatch, "/api/v1/nodes/nobody", mergeKind, `{"metadata":{"uid":"00000000-0000-4000-8000-00000000dead","labels":{"a":"c"}}}`)
	r.want(t, http.StatusOK, http.MethodDelete, "/api/v1/nodes/nobody", jsonKind, "")
	r.want(t, http.StatusUnsupportedMediaType, http.MethodPatch, "/api/v1/nodes/nobody", "text/plain", `{}`)
}

func taints(t *testing.T, r rig) {
	t.Helper()

	r.node(t, "tainted")

	ours := api.Taint{Key: "node.kubernetes.io/out-of-service", Value: "nodeshutdown", Effect: "NoExecute"}
	add := func(all []api.Taint) []api.Taint { return append(all, ours) }

	if err := r.client.ChangeTaints(t.Context(), "tainted", add); err != nil {
		t.Fatal(err)
	}

	n, err := r.client.Node(t.Context(), "tainted")
	if err != nil || !slices.Contains(n.Taints, ours) || !slices.ContainsFunc(n.Taints, func(t api.Taint) bool { return t.Key == "node.kubernetes.io/not-ready" }) {
		t.Errorf("got %v, %v", n.Taints, err)
	}

	if err := r.client.ChangeTaints(t.Context(), "tainted", add); !errors.Is(err, api.ErrInvalid) {
		t.Errorf("the same taint twice: %v", err)
	}

	drop := func(all []api.Taint) []api.Taint {
		return slices.DeleteFunc(all, func(taint api.Taint) bool { return taint == ours })
	}

	for range 2 {
		if err := r.client.ChangeTaints(t.Context(), "tainted", drop); err != nil {
			t.Fatal(err)
		}
	}

	// what a strategic patch would do to the others
	said := r.want(t, http.StatusOK, http.MethodPatch, "/api/v1/nodes/tainted", deepKind, `{"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}}`)
	if left, _ := field(said, "spec", "taints").([]any); len(left) != 1 {
		t.Errorf("the list is merged: %v", left)
	}

	r.want(t, http.StatusUnprocessableEntity, http.MethodPatch, "/api/v1/nodes/tainted", mergeKind, `{"spec":{"taints":[{"key":"a","effect":"Never"}]}}`)
}

func tainted(t *testing.T, r rig) {
	t.Helper()

	r.node(t, "raced")

	looks := 0
	err := r.client.ChangeTaints(t.Context(), "raced", func(all []api.Taint) []api.Taint {
		if looks++; looks < 3 {
			value, _ := json.Marshal(looks)
			r.want(t, http.StatusOK, http.MethodPatch, "/api/v1/nodes/raced", mergeKind, `{"metadata":{"labels":{"race":"`+string(value)+`"}}}`)
		}

		return append(all, api.Taint{Key: "mine", Effect: "NoSchedule"})
	})
	if err != nil || looks != 3 {
		t.Errorf("%d looks, %v", looks, err)
	}

	looks = 10
	err = r.client.ChangeTaints(t.Context(), "raced", func([]api.Taint) []api.Taint {
		looks++
		r.want(t, http.StatusOK, http.MethodPatch, "/api/v1/nodes/raced", mergeKind, fmt.Sprintf(`{"metadata":{"labels":{"race":"%d"}}}`, looks))

		return nil
	})

	if !errors.Is(err, api.ErrConflict) || looks != 15 {
		t.Errorf("%d looks, %v", looks-10, err)
	}
}
