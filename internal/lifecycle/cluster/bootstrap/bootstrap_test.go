// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
)

var update = flag.Bool("update", false, "write the golden files anew")

// now is when all of these tests happen.
var now = time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)

const caHash = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func token() bootstrap.Token { return bootstrap.Token{ID: "abcdef", Secret: "0123456789abcdef"} }

func pki(t *testing.T) bootstrap.PKI {
	t.Helper()

	p, err := bootstrap.Generate(bootstrap.PKI{}, bootstrap.PKIOptions{Now: now})
	if err != nil {
		t.Fatal(err)
	}

	return p
}

// vars are those of a machine of the control plane.
func vars() bootstrap.Vars {
	address := func(a string) map[string]bootstrap.Address {
		return map[string]bootstrap.Address{"prov": {Address: a, Prefix: 24, Gateway: "192.0.2.1", DNS: []string{"192.0.2.53"}}}
	}

	return bootstrap.Vars{
		Cluster: bootstrap.Cluster{Name: "edge", Namespace: "default", Endpoint: bootstrap.Endpoint{Host: "192.0.2.10", Port: 6443}},
		Machine: bootstrap.Machine{
			Name: "edge-cp-0", Role: "control_plane", Pool: "control_plane", ProviderID: "metal3://default/node-0/edge-cp-0",
			First: true, ClaimID: "5c2f1f3e-0000-5000-8000-000000000001",
		},
		Host: bootstrap.Host{
			Name: "node-0", UUID: "0a0b0c0d-0000-4000-8000-000000000001", Labels: map[string]string{"rack": "r1", "metal3.io/gpu": "a100"},
			NICs: []bootstrap.NIC{{Name: "eth0", MAC: "52:54:00:00:00:01", IP: "192.0.2.100"}},
		},
		Addresses: address("192.0.2.11"),
		Peers:     []bootstrap.Peer{{Name: "edge-cp-0", Addresses: address("192.0.2.11")}, {Name: "edge-cp-1", Addresses: address("192.0.2.12")}},
	}
}

// worker makes the machine one of a pool of workers.
func worker(v bootstrap.Vars) bootstrap.Vars {
	v.Machine = bootstrap.Machine{
		Name: "edge-w-0", Role: "worker", Pool: "w", ProviderID: "metal3://default/node-3/edge-w-0", ClaimID: "5c2f1f3e-0000-5000-8000-000000000009",
	}

	return v
}

func profile(version string) bootstrap.Kubeadm {
	return bootstrap.Kubeadm{
		Version: version, PodSubnet: "10.244.0.0/16", ServiceSubnet: "10.96.0.0/12", DNSDomain: "cluster.local", CertSANs: []string{"edge.example.com", "192.0.2.10"},
		AddressPool:  "prov",
		PreCommands:  []string{"swapoff -a", `echo "{{ not jinja }}"`},
		PostCommands: []string{"kubectl version || true"},
		Files: []bootstrap.File{
			{Path: "/etc/motd", Content: "an \"edge\": machine\n\ttab\n"},
			{Path: "/etc/kubernetes/audit.yaml", Content: "kind: Policy\n", Permissions: "0600", Role: bootstrap.RoleControlPlane},
			{Path: "/home/ops/.profile", Content: "# ops\n", Owner: "ops:ops"},
		},
		Users:   []bootstrap.User{{Name: "ops", SSHAuthorizedKeys: []string{"ssh-ed25519 AAAA ops"}, Sudo: "ALL=(ALL) NOPASSWD:ALL", Groups: []string{"adm", "wheel"}}},
		NTP:     []string{"ntp.example.com"},
		KubeVIP: &bootstrap.KubeVIP{Image: "registry.example.com/kube-vip:v1.2.3", Interface: "eth0"},
		Extra: bootstrap.Fragments{
			ClusterConfiguration:   "apiServer:\n  certSANs: [more.example.com]\n  extraArgs: {profiling: false, v: 2}\n",
			InitConfiguration:      `{"nodeRegistration": {"taints": [], "kubeletExtraArgs": {"max-pods": 200}}}`,
			JoinConfiguration:      "nodeRegistration:\n  kubeletExtraArgs:\n  - {name: max-pods, value: \"200\"}\n",
			KubeletConfiguration:   "serverTLSBootstrap: true\n",
			KubeProxyConfiguration: "mode: nftables\n",
		},
	}
}

// all are the user data of the three kinds of machines.
func all(t *testing.T, k bootstrap.Kubeadm, p bootstrap.PKI) map[string][]byte {
	t.Helper()

	v := vars()
	out := map[string][]byte{}

	var err error

	if out["init"], err = k.Init(v, p, token(), time.Hour); err != nil {
		t.Fatal(err)
	}

	v.Machine.Name, v.Machine.First = "edge-cp-1", false

	if out["join"], err = k.JoinControlPlane(v, p, token()); err != nil {
		t.Fatal(err)
	}

	hash, err := p.CAHash()
	if err != nil {
		t.Fatal(err)
	}

	if out["worker"], err = k.JoinWorker(worker(v), hash, token()); err != nil {
		t.Fatal(err)
	}

	return out
}

// changing are the parts of user data that are new in each run.
var changing = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`(?s)-----BEGIN ([A-Z ]+)-----.*?-----END [A-Z ]+-----`), "<$1>"},
	{regexp.MustCompile(`sha256:[0-9a-f]{64}`), "<hash>"},
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()

	text := string(got)
	for _, c := range changing {
		text = c.what.ReplaceAllString(text, c.with)
	}

	path := filepath.Join("testdata", name)

	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	if text != string(want) {
		t.Errorf("%s is not as it was (go test -update writes it anew):\n%s", path, text)
	}
}

func contains(t *testing.T, text string, wants ...string) {
	t.Helper()

	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}
