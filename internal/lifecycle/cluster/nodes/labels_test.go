// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
)

func TestOCL11_reservedPrefixesAreRefused(t *testing.T) {
	t.Parallel()

	good, bad := nodes.CheckSyncPrefixes([]string{"example.com", "", " ", "kubernetes.io", "node.kubernetes.io", "k8s.io.", " example.com ", "a.example.com", "Example.com", "*", "KUBERNETES.IO"})
	if !slices.Equal(good, []string{"a.example.com", "example.com"}) {
		t.Errorf("good are %q", good)
	}

	var refused []string

	for _, err := range bad {
		refused = append(refused, strings.Split(err.Error(), `"`)[1])
	}

	if !slices.Equal(refused, []string{"kubernetes.io", "node.kubernetes.io", "k8s.io.", "Example.com", "*", "KUBERNETES.IO"}) {
		t.Errorf("refused are %q", refused)
	}
}

func TestOCL11_onlyManagedPrefixesFollowTheHost(t *testing.T) {
	t.Parallel()

	n := node("edge-w-0", mine)
	n.Labels = map[string]string{
		"example.com/stays":          "1",
		"example.com/changed":        "by-hand",
		"example.com/removed":        "was-on-the-host",
		"example.com/own":            "asked-for",
		"sub.example.com/foreign":    "1",
		"example.community/foreign":  "1",
		"example.com":                "no-slash",
		"kubernetes.io/hostname":     "edge-w-0",
		"node.kubernetes.io/foreign": "1",
	}
	f := newFake(n)

	w := want("edge-w-0", "h0")
	w.SyncPrefixes = []string{"example.com", "", " "}
	w.Labels = map[string]string{"example.com/own": "asked-for"}
	w.HostLabels = map[string]string{
		"example.com/stays": "1", "example.com/changed": "2", "example.com/new": "3", "example.com/own": "of-the-host",
		"sub.example.com/x": "4", "kubernetes.io/hostname": "wrong", "plain": "5", "node.kubernetes.io/x": "6",
	}

	if _, err := nodes.Join(t.Context(), f, w, nil, 0); err != nil {
		t.Fatal(err)
	}

	expect := map[string]string{
		"example.com/stays": "1", "example.com/changed": "2", "example.com/new": "3", "example.com/own": "asked-for",
		"sub.example.com/foreign": "1", "example.community/foreign": "1", "example.com": "no-slash", "kubernetes.io/hostname": "edge-w-0", "node.kubernetes.io/foreign": "1",
	}
	if got := f.node("edge-w-0").Labels; !maps.Equal(got, expect) {
		t.Errorf("got %v", got)
	}
}

func TestOCL11_theLabelByWhichAMachineIsKnownStays(t *testing.T) {
	t.Parallel()

	f := newFake(labelled(node("edge-w-0", mine), "claim of edge-w-0"))
	w := want("edge-w-0", "h0")
	w.SyncPrefixes = []string{"metal3.io"}

	if _, err := nodes.Join(t.Context(), f, w, nil, 0); err != nil {
		t.Fatal(err)
	}

	if got := f.node("edge-w-0").Labels[nodes.UUIDLabel]; got == "" {
		t.Error("it was removed")
	}
}

func TestWant_Check(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		edit func(*nodes.Want)
		err  string
	}{
		"nothing is asked for":             {func(*nodes.Want) {}, ""},
		"a reserved prefix":                {func(w *nodes.Want) { w.SyncPrefixes = []string{"k8s.io"} }, "belong to the cluster"},
		"a label with a bad value":         {func(w *nodes.Want) { w.Labels = map[string]string{"a": "x y"} }, `label a = "x y"`},
		"a label with a bad key":           {func(w *nodes.Want) { w.Labels = map[string]string{"a/b/c": ""} }, `label a/b/c = ""`},
		"the label of a role":              {func(w *nodes.Want) { w.Labels = map[string]string{"node-role.kubernetes.io/gpu": ""} }, ""},
		"a host's label that no Node has":  {host("example.com/a", "x y"), `label of host h0 example.com/a = "x y"`},
		"one that is not synchronised":     {host("other.com/a", "x y"), ""},
		"an annotation with a bad key":     {func(w *nodes.Want) { w.Annotations = map[string]string{"a b": ""} }, "annotation a b"},
		"our own annotation":               {func(w *nodes.Want) { w.Annotations = map[string]string{"metal3.io/terraform-managed": ""} }, "notes what it has set"},
		"a taint without an effect":        {tainted(kube.Taint{Key: "a"}), "the effect must be one of"},
		"a taint with a bad value":         {tainted(kube.Taint{Key: "a", Value: "x y", Effect: "NoExecute"}), "taint a=x y:NoExecute"},
		"one taint twice":                  {tainted(kube.Taint{Key: "a", Effect: "NoExecute"}, kube.Taint{Key: "a", Value: "b", Effect: "NoExecute"}), "another one of that key"},
		"one key with two effects is fine": {tainted(kube.Taint{Key: "a", Effect: "NoExecute"}, kube.Taint{Key: "a", Effect: "NoSchedule"}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := want("edge-w-0", "h0")
			c.edit(&w)

			err := w.Check()
			if (err == nil) != (c.err == "") || (err != nil && !strings.Contains(err.Error(), c.err)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func host(key, value string) func(*nodes.Want) {
	return func(w *nodes.Want) {
		w.SyncPrefixes, w.HostLabels = []string{"example.com"}, map[string]string{key: value}
	}
}

func tainted(taints ...kube.Taint) func(*nodes.Want) {
	return func(w *nodes.Want) { w.Taints = taints }
}
