// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/kube"
	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/etcd"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
)

// TestBoot brings a cluster up from the user data that the provider writes, with kubeadm itself.
func TestBoot(t *testing.T) {
	t.Parallel()
	kube.Binaries(t)

	address := kube.Address(t)
	pki, err := bootstrap.Generate(bootstrap.PKI{}, bootstrap.PKIOptions{Now: time.Now()})
	check(t, err)

	profile := bootstrap.Kubeadm{Version: kube.Release, PodSubnet: "10.244.0.0/16", ServiceSubnet: "10.96.0.0/12", AddressPool: "prov"}
	vars := bootstrap.Vars{
		Cluster:   bootstrap.Cluster{Name: "edge", Namespace: "default", Endpoint: bootstrap.Endpoint{Host: address, Port: 6443}},
		Machine:   bootstrap.Machine{Name: "edge-cp-0", Role: "control_plane", Pool: "control_plane", ProviderID: "metal3://default/node-0/edge-cp-0", First: true},
		Host:      bootstrap.Host{Name: "node-0", UUID: "0a0b0c0d-0000-4000-8000-000000000001"},
		Addresses: map[string]bootstrap.Address{"prov": {Address: address, Prefix: 24}},
	}

	first, err := profile.Init(vars, pki, newToken(t), time.Hour)
	check(t, err)

	plane := kube.Boot(t, address, first)

	access, err := bootstrap.Kubeconfig(pki, vars.Cluster.Endpoint, bootstrap.Options{Organizations: []string{bootstrap.GroupClusterAdmins}, Now: time.Now(), TTL: time.Hour})
	check(t, err)

	client, err := api.New(api.Config{Kubeconfig: access.Kubeconfig})
	check(t, err)
	check(t, client.Ready(t.Context()))

	if data, err := client.ConfigMap(t.Context(), "kube-system", "kubeadm-config"); err != nil || !strings.Contains(data["ClusterConfiguration"], "edge") {
		t.Errorf("the cluster's configuration: %v, %v", data, err)
	}

	n, err := client.Node(t.Context(), "edge-cp-0")
	if _, marked := n.Labels["node-role.kubernetes.io/control-plane"]; err != nil || n.ProviderID != vars.Machine.ProviderID || !marked {
		t.Errorf("the first Node: %+v, %v", n, err)
	}

	t.Run("a worker joins", func(t *testing.T) {
		t.Parallel()
		joins(t, client, profile, vars, pki)
	})
	t.Run("another machine of the control plane is prepared", func(t *testing.T) {
		t.Parallel()
		prepares(t, client, plane, profile, vars, pki)
	})
	t.Run("its etcd answers", func(t *testing.T) {
		t.Parallel()

		cert, _, err := bootstrap.EtcdClient(pki, time.Hour, time.Now())
		check(t, err)

		c, err := etcd.New(etcd.Config{Endpoints: []string{"https://" + address + ":2379"}, CA: []byte(pki.EtcdCA.Certificate), Certificate: cert})
		check(t, err)

		members, err := c.Members(t.Context())
		if err != nil || len(members) != 1 || members[0].Name != "edge-cp-0" || members[0].Learner {
			t.Errorf("got %+v, %v", members, err)
		}
	})
}

func prepares(t *testing.T, client *api.Client, plane *kube.Plane, profile bootstrap.Kubeadm, vars bootstrap.Vars, pki bootstrap.PKI) {
	t.Helper()

	vars.Machine = bootstrap.Machine{Name: "edge-cp-1", Role: "control_plane", Pool: "control_plane", ProviderID: "metal3://default/node-2/edge-cp-1"}
	vars.Addresses = map[string]bootstrap.Address{"prov": {Address: kube.Address(t), Prefix: 24}}
	token := newToken(t)
	check(t, client.EnsureToken(t.Context(), api.Token{ID: token.ID, Secret: token.Secret}, time.Now().Add(time.Hour)))

	second, err := profile.JoinControlPlane(vars, pki, token)
	check(t, err)

	root := plane.Prepare(t, second)

	for _, file := range []string{"manifests/kube-apiserver.yaml", "pki/apiserver.crt", "pki/etcd/server.crt", "admin.conf"} {
		if _, err := os.Stat(filepath.Join(root, "etc/kubernetes", file)); err != nil {
			t.Error(err)
		}
	}
}

func joins(t *testing.T, client *api.Client, profile bootstrap.Kubeadm, vars bootstrap.Vars, pki bootstrap.PKI) {
	t.Helper()

	vars.Machine = bootstrap.Machine{Name: "edge-w-0", Role: "worker", Pool: "w", ProviderID: "metal3://default/node-1/edge-w-0", ClaimID: "5c2f1f3e-0000-5000-8000-000000000009"}
	vars.Host = bootstrap.Host{Name: "node-1", UUID: "0a0b0c0d-0000-4000-8000-000000000002"}

	hash, err := pki.CAHash()
	check(t, err)

	token := newToken(t)
	check(t, client.EnsureToken(t.Context(), api.Token{ID: token.ID, Secret: token.Secret, Description: "edge-w-0"}, time.Now().Add(time.Hour)))

	wrong, err := profile.JoinWorker(vars, "sha256:"+strings.Repeat("0", 64), token)
	check(t, err)

	if _, err := kube.Join(t, wrong); !errors.Is(err, kube.ErrNotPinned) {
		t.Errorf("with the pin of another cluster: %v", err)
	}

	right, err := profile.JoinWorker(vars, hash, token)
	check(t, err)

	name, err := kube.Join(t, right)
	check(t, err)

	n, err := client.Node(t.Context(), name)
	if err != nil || n.ProviderID != vars.Machine.ProviderID || n.Ready != "True" || n.Labels["metal3.io/uuid"] != vars.Machine.ClaimID {
		t.Errorf("got %+v, %v", n, err)
	}

	// a kubelet may not: it is the provider that does
	check(t, client.ApplyLabels(t.Context(), name, map[string]string{"node-role.kubernetes.io/worker": ""}, false))
	check(t, client.DeleteToken(t.Context(), token.ID))
}

func newToken(t *testing.T) bootstrap.Token {
	t.Helper()

	token, err := bootstrap.NewToken()
	check(t, err)

	return token
}

func check(t *testing.T, err error) {
	t.Helper()

	if err != nil {
		t.Fatal(err)
	}
}
