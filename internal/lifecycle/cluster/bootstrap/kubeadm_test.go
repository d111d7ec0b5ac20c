// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
)

func TestVersion(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"1.31.4": "v1.31.4", "v1.31.4": "v1.31.4", "v1.37.0-rc.1": "v1.37.0-rc.1", "1.22.0": "v1.22.0",
		"": "", "1.31": "", "stable": "", "stable-1.31": "", "2.0.0": "", "v1.31.4+k3s1": "", "1.031.4": "", " 1.31.4": "", "1.31.4\n": "",
		"1.31.99999999999999999999": "", "latest": "", "1.-1.0": "",
	} {
		got, err := bootstrap.ParseVersion(text)
		if (err == nil) != (want != "") || (err == nil && got.String() != want) {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestVersion_adminGroup(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{"1.28.9": "system:masters", "1.29.0": "kubeadm:cluster-admins", "1.37.2": "kubeadm:cluster-admins"} {
		v, err := bootstrap.ParseVersion(text)
		if err != nil || v.AdminGroup() != want {
			t.Errorf("%s: %s, %v", text, v.AdminGroup(), err)
		}
	}
}

func FuzzVersion(f *testing.F) {
	for _, seed := range []string{"1.31.4", "v1.37.0-rc.1", "1.31", "9.9.9", "1.0000000000.1"} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, text string) {
		v, err := bootstrap.ParseVersion(text)
		if err != nil {
			return
		}

		if again, err := bootstrap.ParseVersion(v.String()); err != nil || again != v {
			t.Errorf("%q became %q: %v", text, v, err)
		}
	})
}

func TestKubeadm_check(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(*bootstrap.Kubeadm)
		says   []string
	}{
		"nothing":               {func(*bootstrap.Kubeadm) {}, nil},
		"no version":            {func(k *bootstrap.Kubeadm) { k.Version = "" }, []string{"version: this is no version"}},
		"too old a version":     {func(k *bootstrap.Kubeadm) { k.Version = "1.21.14" }, []string{"version: ", "1.22 and newer, not v1.21.14"}},
		"an algorithm too soon": {func(k *bootstrap.Kubeadm) { k.Version, k.EncryptionAlgorithm = "1.30.1", "RSA-2048" }, []string{"encryption_algorithm: kubeadm takes it from 1.31 on"}},
		"an unknown algorithm":  {func(k *bootstrap.Kubeadm) { k.EncryptionAlgorithm = "ED25519" }, []string{`encryption_algorithm: there are no keys of kind "ED25519"; there are ECDSA-P256`}},
		"a subnet that is none": {func(k *bootstrap.Kubeadm) { k.PodSubnet = "10.244.0.0" }, []string{`pod_subnet: "10.244.0.0" is no subnet`}},
		"a subnet not masked":   {func(k *bootstrap.Kubeadm) { k.ServiceSubnet = "10.96.0.1/12" }, []string{"service_subnet: ", "the subnet is 10.96.0.0/12"}},
		"a relative file":       {func(k *bootstrap.Kubeadm) { k.Files[0].Path = "etc/motd" }, []string{`files: "etc/motd" is no absolute path`}},
		"odd permissions":       {func(k *bootstrap.Kubeadm) { k.Files[0].Permissions = "rw-r--r--" }, []string{"files: /etc/motd: permissions"}},
		"an unknown encoding":   {func(k *bootstrap.Kubeadm) { k.Files[0].Encoding = "rot13" }, []string{"files: /etc/motd: ", "rot13"}},
		"a file of no role":     {func(k *bootstrap.Kubeadm) { k.Files[0].Role = "gpu" }, []string{"files: /etc/motd: role"}},
		"no name of a user":     {func(k *bootstrap.Kubeadm) { k.Users[0].Name = "a b" }, []string{`users: "a b"`}},
		"no image":              {func(k *bootstrap.Kubeadm) { k.KubeVIP = &bootstrap.KubeVIP{} }, []string{"kube_vip: image"}},
		"two at the endpoint": {
			func(k *bootstrap.Kubeadm) { k.Keepalived = &bootstrap.Keepalived{Interface: "eth0", RouterID: 1} }, []string{"choose one"},
		},
		"no router": {func(k *bootstrap.Kubeadm) { k.KubeVIP, k.Keepalived = nil, &bootstrap.Keepalived{Interface: "eth0"} }, []string{"keepalived: router_id"}},
		"a template for a name": {
			func(k *bootstrap.Kubeadm) { k.NodeName = "<< .Machine" }, []string{"node_name: line 1 of the template"},
		},
		"many at once": {
			func(k *bootstrap.Kubeadm) { k.Version, k.PodSubnet, k.BindPort = "x", "y", 70000 }, []string{"version: ", "pod_subnet: ", "bind_port: "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			k := profile("1.37.2")
			c.change(&k)

			errs := k.Check()
			if (len(errs) == 0) != (len(c.says) == 0) {
				t.Errorf("got %v", errs)
			}

			contains(t, fmt.Sprint(errs), c.says...)
		})
	}
}

func TestKubeadm_fragments(t *testing.T) {
	t.Parallel()

	const secret = "s3cr3t"

	for name, c := range map[string]struct {
		of   bootstrap.Fragments
		says string
	}{
		"a feature gate":             {bootstrap.Fragments{ClusterConfiguration: "featureGates: {ControlPlaneKubeletLocalMode: true}"}, ""},
		"the same as ours":           {bootstrap.Fragments{ClusterConfiguration: "clusterName: c"}, ""},
		"another endpoint":           {bootstrap.Fragments{ClusterConfiguration: "controlPlaneEndpoint: " + secret + ":1"}, "cluster_configuration: these are set by the provider: controlPlaneEndpoint;"},
		"another form":               {bootstrap.Fragments{ClusterConfiguration: "apiVersion: kubeadm.k8s.io/v1beta3"}, "cluster_configuration: these are set by the provider: apiVersion;"},
		"tokens":                     {bootstrap.Fragments{InitConfiguration: `{"bootstrapTokens": [{"token": "` + secret + `"}]}`}, "init_configuration: these are set by the provider: bootstrapTokens;"},
		"an argument of ours":        {bootstrap.Fragments{JoinConfiguration: "nodeRegistration: {name: " + secret + ", kubeletExtraArgs: {provider-id: " + secret + "}}"}, "nodeRegistration.kubeletExtraArgs.provider-id, nodeRegistration.name"},
		"unsafe discovery":           {bootstrap.Fragments{JoinConfiguration: "discovery: {bootstrapToken: {caCertHashes: []}}"}, "set by the provider: discovery;"},
		"a text where we have a map": {bootstrap.Fragments{JoinConfiguration: "discovery: " + secret}, "join_configuration: these are set by the provider: discovery;"},
		"no YAML":                    {bootstrap.Fragments{KubeletConfiguration: "a: b\n  " + secret + ": [\n"}, "kubelet_configuration: neither JSON nor YAML at line"},
		"no object":                  {bootstrap.Fragments{KubeProxyConfiguration: "- " + secret}, "kube_proxy_configuration: an object is meant"},
		"two documents":              {bootstrap.Fragments{ClusterConfiguration: "a: 1\n---\nb: " + secret}, "cluster_configuration: one document is meant"},
		"a key that is there twice":  {bootstrap.Fragments{ClusterConfiguration: "a: 1\na: " + secret}, "cluster_configuration: neither JSON nor YAML at line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			text := fmt.Sprint(bootstrap.Kubeadm{Version: "1.37.2", Extra: c.of}.Check())
			contains(t, text, c.says)

			if (text == "[]") != (c.says == "") || strings.Contains(text, secret) {
				t.Errorf("got %s", text)
			}
		})
	}
}

// TestKubeadm_discoveryStaysPinned shows that no fragment takes the pin away.
func TestKubeadm_discoveryStaysPinned(t *testing.T) {
	t.Parallel()

	k := bootstrap.Kubeadm{Version: "1.37.2", Extra: bootstrap.Fragments{JoinConfiguration: "discovery: {bootstrapToken: {caCertHashes: [], unsafeSkipCAVerification: true}}"}}

	text, err := k.JoinWorker(worker(vars()), caHash, token())
	if err == nil || !strings.Contains(err.Error(), "join_configuration: these are set by the provider: discovery;") {
		t.Errorf("got %v:\n%s", err, text)
	}
}

// TestKubeadm_workerStaysWorker shows that what a user adds for control planes makes no worker one.
func TestKubeadm_workerStaysWorker(t *testing.T) {
	t.Parallel()

	k := profile("1.37.2")
	k.Extra.JoinConfiguration = "controlPlane: {certificateKey: abc}"

	for kind, text := range all(t, k, pki(t)) {
		if got := strings.Contains(string(text), "certificateKey"); got != (kind == "join") {
			t.Errorf("%s: it is there: %v", kind, got)
		}

		if strings.Contains(string(text), "controlPlane:") && kind != "join" {
			t.Errorf("%s is a joining control plane", kind)
		}
	}
}

func TestKubeadm_refusals(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(*bootstrap.Kubeadm, *bootstrap.Vars)
		says   string
	}{
		"no endpoint":            {func(_ *bootstrap.Kubeadm, v *bootstrap.Vars) { v.Cluster.Endpoint.Host = "" }, "name and endpoint"},
		"no machine":             {func(_ *bootstrap.Kubeadm, v *bootstrap.Vars) { v.Machine.Name = "" }, "the machine's name"},
		"an id without a scheme": {func(_ *bootstrap.Kubeadm, v *bootstrap.Vars) { v.Machine.ProviderID = "default/node-0/m" }, "lacks its scheme"},
		"another port":           {func(k *bootstrap.Kubeadm, v *bootstrap.Vars) { k.BindPort, v.Cluster.Endpoint.Port = 6443, 443 }, "kube-vip leads port 443"},
		"no such pool":           {func(k *bootstrap.Kubeadm, _ *bootstrap.Vars) { k.AddressPool = "oob" }, `edge-cp-0 has no address of the pool "oob"`},
		"no name of a Node":      {func(k *bootstrap.Kubeadm, _ *bootstrap.Vars) { k.NodeName = "<< .Machine.Name >>_x" }, "DNS name"},
		"no key for a name":      {func(k *bootstrap.Kubeadm, _ *bootstrap.Vars) { k.NodeName = "<< .Machine.Nope >>" }, `node_name: line 1 of the template: there is no key "Nope"`},
		"no version":             {func(k *bootstrap.Kubeadm, _ *bootstrap.Vars) { k.Version = "" }, "version"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			k, v := profile("1.37.2"), vars()
			c.change(&k, &v)

			if text, err := k.Init(v, pki(t), token(), time.Hour); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q:\n%s", err, c.says, text)
			}
		})
	}

	k, v := profile("1.37.2"), vars()
	if _, err := k.Init(v, pki(t), bootstrap.Token{}, time.Hour); err == nil {
		t.Error("a cluster begins without a token")
	}

	if _, err := k.Init(v, bootstrap.PKI{}, token(), time.Hour); err == nil {
		t.Error("a cluster begins without keys")
	}

	if _, err := k.JoinWorker(worker(v), "", token()); err == nil {
		t.Error("a worker joins without a pin")
	}
}

func TestKubeadm_sourceHash(t *testing.T) {
	t.Parallel()

	base := profile("1.37.2")

	for name, c := range map[string]struct {
		change          func(*bootstrap.Kubeadm)
		control, worker bool // it is another source for
	}{
		"nothing":                 {func(*bootstrap.Kubeadm) {}, false, false},
		"the version":             {func(k *bootstrap.Kubeadm) { k.Version = "1.37.3" }, true, true},
		"a command":               {func(k *bootstrap.Kubeadm) { k.PreCommands = []string{"true"} }, true, true},
		"a name of a certificate": {func(k *bootstrap.Kubeadm) { k.CertSANs = nil }, true, false},
		"kube-vip":                {func(k *bootstrap.Kubeadm) { k.KubeVIP = nil }, true, false},
		"the join configuration":  {func(k *bootstrap.Kubeadm) { k.Extra.JoinConfiguration = "" }, true, true},
		"the kubelet's":           {func(k *bootstrap.Kubeadm) { k.Extra.KubeletConfiguration = "" }, true, false},
		"a control plane's file": {func(k *bootstrap.Kubeadm) {
			k.Files = slices.DeleteFunc(slices.Clone(k.Files), func(f bootstrap.File) bool { return f.Role != "" })
		}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			k := profile("1.37.2")
			c.change(&k)

			if got := k.SourceHash(true) != base.SourceHash(true); got != c.control {
				t.Errorf("another source for a control plane: %v", got)
			}

			if got := k.SourceHash(false) != base.SourceHash(false); got != c.worker {
				t.Errorf("another source for a worker: %v", got)
			}
		})
	}
}

func TestKubeadm_warnings(t *testing.T) {
	t.Parallel()

	for version, want := range map[string]string{"1.37.2": "", "1.39.0": "newer than 1.37", "1.29.6": "hostAliases", "1.29.7": "", "x": ""} {
		got := strings.Join(profile(version).Warnings(), "\n")
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q", version, got)
		}
	}
}
