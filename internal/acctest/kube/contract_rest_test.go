// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"testing"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

func trusting(ca []byte) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)

	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}, IdleConnTimeout: time.Second}}
}

var aboutPods = map[string]func(t *testing.T, r rig){
	"Pods are found by their Node": func(t *testing.T, r rig) {
		t.Helper()

		r.node(t, "host-1")
		r.node(t, "host-10")
		r.pod(t, "host-1", "on-1")
		r.pod(t, "host-10", "on-10")

		pods, err := r.client.PodsOn(t.Context(), "host-1")
		if err != nil || len(pods) != 1 || pods[0].Name != "on-1" || pods[0].Node != "host-1" || !pods[0].Ready || pods[0].Phase != "Running" {
			t.Errorf("got %+v, %v", pods, err)
		}

		pods, err = r.client.Pods(t.Context(), "default", "pod=on-10")
		if err != nil || len(pods) != 1 || pods[0].Name != "on-10" {
			t.Errorf("got %+v, %v", pods, err)
		}

		if pods, err := r.client.Pods(t.Context(), "kube-system", "pod=on-10"); err != nil || len(pods) != 0 {
			t.Errorf("got %+v, %v", pods, err)
		}
	},
	"a Pod is evicted": func(t *testing.T, r rig) {
		t.Helper()

		r.node(t, "evicting")
		r.pod(t, "evicting", "free")

		if err := r.client.Evict(t.Context(), "default", "free"); err != nil {
			t.Fatal(err)
		}

		// nothing is done by the API server: its kubelet ends it
		pods, err := r.client.PodsOn(t.Context(), "evicting")
		if err != nil || len(pods) != 1 || !pods[0].Deleting {
			t.Errorf("got %+v, %v", pods, err)
		}

		if err := r.client.Evict(t.Context(), "default", "nobody"); err != nil {
			t.Errorf("a Pod that is not there: %v", err)
		}
	},
	"a disruption budget forbids an eviction": func(t *testing.T, r rig) {
		t.Helper()

		r.node(t, "guarding")
		r.pod(t, "guarding", "guarded")
		r.block(t, "guarded")

		var blocked *api.BlockedError

		began := time.Now()

		err := r.client.Evict(t.Context(), "default", "guarded")
		if !errors.As(err, &blocked) || !wait.IsTransient(err) || blocked.Pod != "guarded" || blocked.Reason == "" {
			t.Errorf("got %v", err)
		}

		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it waited %s", took)
		}

		r.unblock(t, "guarded")

		if err := r.client.Evict(t.Context(), "default", "guarded"); err != nil {
			t.Errorf("allowed: %v", err)
		}
	},
	"the Pod of the same name is another one": func(t *testing.T, r rig) {
		t.Helper()

		r.node(t, "renewing")
		r.pod(t, "renewing", "renewed")

		if err := r.client.EvictPod(t.Context(), api.Pod{Namespace: "default", Name: "renewed", UID: "00000000-0000-4000-8000-00000000dead"}); err != nil {
			t.Fatal(err)
		}

		if pods, err := r.client.PodsOn(t.Context(), "renewing"); err != nil || len(pods) != 1 || pods[0].Deleting {
			t.Errorf("got %+v, %v", pods, err)
		}
	},
	"a Pod is deleted": func(t *testing.T, r rig) {
		t.Helper()

		r.node(t, "deleting")
		r.pod(t, "deleting", "going")

		for range 2 {
			if err := r.client.DeletePod(t.Context(), "default", "going"); err != nil {
				t.Fatal(err)
			}
		}

		if err := r.client.DeletePod(t.Context(), "default", "nobody"); err != nil {
			t.Errorf("a Pod that is not there: %v", err)
		}
	},
}

var aboutTheRest = map[string]func(t *testing.T, r rig){
	"the API server says what it is": func(t *testing.T, r rig) {
		t.Helper()

		v, err := r.client.Version(t.Context())
		if err != nil || !v.AtLeast(1, 28) || v.Git == "" {
			t.Errorf("got %+v, %v", v, err)
		}

		if err := r.client.Ready(t.Context()); err != nil {
			t.Error(err)
		}

		if end, err := r.client.ServingCertificate(t.Context()); err != nil || time.Until(end) < time.Hour {
			t.Errorf("its certificate ends %s, %v", end, err)
		}
	},
	"a ConfigMap is read": func(t *testing.T, r rig) {
		t.Helper()

		r.want(t, http.StatusCreated, http.MethodPost, "/api/v1/namespaces/kube-system/configmaps", jsonKind, `{"metadata":{"name":"kubeadm-config"},"data":{"ClusterConfiguration":"x"}}`)

		if data, err := r.client.ConfigMap(t.Context(), "kube-system", "kubeadm-config"); err != nil || data["ClusterConfiguration"] != "x" {
			t.Errorf("got %v, %v", data, err)
		}

		if _, err := r.client.ConfigMap(t.Context(), "kube-system", "nobody"); !errors.Is(err, api.ErrNotFound) {
			t.Errorf("one that is not there: %v", err)
		}

		r.want(t, http.StatusNotFound, http.MethodPost, "/api/v1/namespaces/nowhere/configmaps", jsonKind, `{"metadata":{"name":"x"}}`)
		r.want(t, http.StatusConflict, http.MethodPost, "/api/v1/namespaces/kube-system/configmaps", jsonKind, `{"metadata":{"name":"kubeadm-config"}}`)
	},
	"volumes are attached": func(t *testing.T, r rig) {
		t.Helper()

		r.want(t, http.StatusCreated, http.MethodPost, "/apis/storage.k8s.io/v1/volumeattachments", jsonKind,
			`{"metadata":{"name":"va-1"},"spec":{"attacher":"csi.example.com","nodeName":"n","source":{"persistentVolumeName":"pv"}}}`)

		all, err := r.client.VolumeAttachments(t.Context())
		if err != nil || len(all) != 1 || all[0] != (api.VolumeAttachment{Name: "va-1", Node: "n"}) {
			t.Errorf("got %+v, %v", all, err)
		}
	},
	"a DaemonSet is there": func(t *testing.T, r rig) {
		t.Helper()

		r.want(t, http.StatusCreated, http.MethodPost, "/apis/apps/v1/namespaces/kube-system/daemonsets", jsonKind,
			`{"metadata":{"name":"plugin"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)

		for name, want := range map[string]bool{"plugin": true, "plug": false, "nobody": false} {
			if got, err := r.client.HasDaemonSet(t.Context(), "kube-system", name); err != nil || got != want {
				t.Errorf("%s: %t, %v", name, got, err)
			}
		}

		if got, err := r.client.HasDaemonSet(t.Context(), "default", "plugin"); err != nil || got {
			t.Errorf("in another namespace: %t, %v", got, err)
		}
	},
	"devices are given to claims":     claims,
	"devices are offered and tainted": devices,
}

func devices(t *testing.T, r rig) {
	t.Helper()

	slice := `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"%s"},"spec":{"driver":"gpu.example.com","nodeName":"%s",
		"pool":{"name":"%s","generation":1,"resourceSliceCount":1},"devices":[{"name":"gpu-0","attributes":{"uuid":{"string":"GPU-1"},"index":{"int":7},"big":{"bool":true}}}]}}`
	for _, node := range []string{"with", "without"} {
		r.want(t, http.StatusCreated, http.MethodPost, "/apis/resource.k8s.io/v1/resourceslices", jsonKind, fmt.Sprintf(slice, "slice-"+node, node, node))
	}

	got, err := r.client.ResourceSlices(t.Context(), "with")
	if err != nil || len(got) != 1 || got[0].Driver != "gpu.example.com" || got[0].Pool != "with" || len(got[0].Devices) != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}

	if d := got[0].Devices[0]; d.Name != "gpu-0" || d.Attributes["uuid"] != "GPU-1" || d.Attributes["index"] != "7" || d.Attributes["big"] != "true" {
		t.Errorf("got %+v", d)
	}

	selector, taint := api.DeviceSelector{Driver: "gpu.example.com", Pool: "with", Device: "gpu-0"}, api.Taint{Key: "example.com/leaving", Value: "yes", Effect: "NoSchedule"}
	for range 2 {
		if err := r.client.CreateDeviceTaintRule(t.Context(), "leaving", selector, taint); err != nil {
			t.Fatal(err)
		}
	}

	taint.Effect = "NoExecute"
	if err := r.client.CreateDeviceTaintRule(t.Context(), "leaving", selector, taint); !errors.Is(err, api.ErrConflict) {
		t.Errorf("another rule of the name: %v", err)
	}

	for range 2 {
		if err := r.client.DeleteDeviceTaintRule(t.Context(), "leaving"); err != nil {
			t.Error(err)
		}
	}
}

// claims plays the scheduler, which gives a device to a claim for a Pod.
func claims(t *testing.T, r rig) {
	t.Helper()

	const path = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"

	for _, name := range []string{"waiting", "training"} {
		r.want(t, http.StatusCreated, http.MethodPost, path, jsonKind,
			`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"`+name+`"},"spec":{"devices":{"requests":[{"name":"gpu","exactly":{"deviceClassName":"gpu"}}]}}}`)
	}

	r.want(t, http.StatusOK, http.MethodPatch, path+"/training/status", mergeKind, `{"status":{
		"allocation":{"devices":{"results":[{"request":"gpu","driver":"gpu.example.com","pool":"node-a","device":"gpu-0"}]}},
		"reservedFor":[{"resource":"pods","name":"train-0","uid":"11111111-2222-4333-8444-555555555555"}]}}`)

	got, err := r.client.ResourceClaims(t.Context())
	want := api.ResourceClaim{
		Namespace: "default", Name: "training", Pods: []string{"train-0"},
		Devices: []api.ClaimedDevice{{Driver: "gpu.example.com", Pool: "node-a", Device: "gpu-0"}},
	}

	if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// strangers asks with bootstrap tokens and without any credentials.
func strangers(t *testing.T, r rig, url string, ca []byte) {
	t.Helper()

	token := api.Token{ID: "abcdef", Secret: "0123456789abcdef", Description: "of a test"}
	if err := r.client.EnsureToken(t.Context(), token, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}

	end := time.Now().Add(2 * time.Hour)
	if err := r.client.EnsureToken(t.Context(), token, end); err != nil {
		t.Fatal(err)
	}

	http := trusting(ca)
	status := func(token string) int {
		// the API server learns of a token a moment later, on a busy machine seconds later
		code, _ := send(t, http, "GET", url+"/api/v1/nodes", jsonKind, "", token)
		for n := 0; code == 401 && n < 400 && token == "abcdef.0123456789abcdef"; n++ {
			time.Sleep(50 * time.Millisecond)

			code, _ = send(t, http, "GET", url+"/api/v1/nodes", jsonKind, "", token)
		}

		return code
	}

	if got := status("abcdef.0123456789abcdef"); got != 403 {
		t.Errorf("with the token: %d", got)
	}

	if got := status("abcdef.0000000000000000"); got != 401 {
		t.Errorf("with a wrong one: %d", got)
	}

	for name, config := range map[string]api.Config{"nobody": {Server: url, CAData: ca}, "a wrong token": {Server: url, CAData: ca, Token: "abcdef.0000000000000000"}} {
		client, err := api.New(config)
		if err != nil {
			t.Fatal(err)
		}

		if err := client.Ready(t.Context()); err != nil {
			t.Errorf("%s: ready: %v", name, err)
		}

		if _, err := client.Nodes(t.Context()); !errors.Is(err, api.ErrAuth) || wait.IsTransient(err) {
			t.Errorf("%s: Nodes: %v", name, err)
		}
	}

	for range 2 {
		if err := r.client.DeleteToken(t.Context(), "abcdef"); err != nil {
			t.Error(err)
		}
	}
}
