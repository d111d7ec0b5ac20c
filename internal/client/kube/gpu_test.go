// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube_test

import (
	"reflect"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
)

// withDevices is a cluster that serves all kinds of resource.k8s.io, and its client.
func withDevices(tb testing.TB) (*kubetest.Server, *kube.Client) {
	tb.Helper()

	s := kubetest.New(tb)
	s.ServeDevices(map[string]string{"resourceslices": "v1", "resourceclaims": "v1", "devicetaintrules": "v1"})

	c, err := kube.New(kube.Config{Kubeconfig: s.Kubeconfig()})
	if err != nil {
		tb.Fatal(err)
	}

	return s, c
}

func TestResourceClaims(t *testing.T) {
	t.Parallel()

	s, c := withDevices(t)

	type m = map[string]any

	s.Add("resourceclaims", "team", "pending", m{"status": m{}})
	s.Add("resourceclaims", "team", "train", m{"status": m{
		"allocation": m{"devices": m{"results": []any{
			m{"request": "a", "driver": "gpu.nvidia.com", "pool": "n", "device": "gpu-0"},
			m{"request": "b", "driver": "gpu.nvidia.com", "pool": "n", "device": "gpu-1", "adminAccess": true},
			"nonsense",
		}}},
		"reservedFor": []any{m{"resource": "pods", "name": "train-0"}, m{"apiGroup": "x", "resource": "jobs", "name": "j"}, m{"resource": "pods"}, 7},
	}})

	got, err := c.ResourceClaims(t.Context())
	want := []kube.ResourceClaim{{
		Namespace: "team", Name: "train", Pods: []string{"train-0"},
		Devices: []kube.ClaimedDevice{{"gpu.nvidia.com", "n", "gpu-0", false}, {"gpu.nvidia.com", "n", "gpu-1", true}},
	}}

	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}

	s.ServeDevices(nil)

	other, err := kube.New(kube.Config{Kubeconfig: s.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}

	if got, err := other.ResourceClaims(t.Context()); got != nil || err != nil {
		t.Errorf("a cluster without the group: %v, %v", got, err)
	}
}

func TestHasDaemonSet(t *testing.T) {
	t.Parallel()

	s, c := withDevices(t)
	s.Add("daemonsets", "gpu-operator", "plugin", map[string]any{})

	for name, want := range map[string]bool{"plugin": true, "other": false} {
		if got, err := c.HasDaemonSet(t.Context(), "gpu-operator", name); err != nil || got != want {
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}

	s.OnRequest(kubetest.Fault{Status: 403, Message: "no"})

	if got, err := c.HasDaemonSet(t.Context(), "gpu-operator", "plugin"); err == nil || got {
		t.Errorf("without the right: %t, %v", got, err)
	}
}

// FuzzResourceClaims: whatever comes, each claim that is told has a device.
func FuzzResourceClaims(f *testing.F) {
	f.Add(`{"items":[{"metadata":{"name":"a","namespace":"b"},"status":{"allocation":{"devices":{"results":[{"device":"gpu-0"}]}},"reservedFor":[{"resource":"pods","name":"p"}]}}]}`)
	f.Add(`{"items":[{"status":{"allocation":{"devices":{"results":[null,7,{"driver":[],"adminAccess":"yes"}]}},"reservedFor":{"name":1}}}]}`)
	f.Add(`{"items":{"0":[]}}`)

	s, c := withDevices(f)

	if _, err := c.ResourceClaims(f.Context()); err != nil { // which version is served is asked once
		f.Fatal(err)
	}

	f.Fuzz(func(t *testing.T, body string) {
		if body == "" {
			return
		}

		defer s.OnRequest(kubetest.Fault{Path: "/resourceclaims", Body: body})()

		all, _ := c.ResourceClaims(t.Context())
		for _, claim := range all {
			if len(claim.Devices) == 0 {
				t.Errorf("%s gives %+v", body, claim)
			}
		}
	})
}
