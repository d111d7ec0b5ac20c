// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"crypto/ecdsa"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// Plane is a control plane of kubeadm on one host: etcd, kube-apiserver and
// kube-controller-manager run with the flags of its static Pods, without kubelet and containers.
type Plane struct {
	Address string
	URL     string
	CA      *Pair
	Root    string // what is / on the host

	http *http.Client
}

// Address gives this machine one more address for a host of a test, and takes it back with the
// test. No two tests get the same.
func Address(tb testing.TB) string {
	tb.Helper()

	if os.Getuid() != 0 {
		tb.Skip("only root gives this machine addresses")
	}

	for range 50 {
		// of those that are for documentation; that it is given twice is refused
		address := fmt.Sprintf("198.51.100.%d", 1+rand.IntN(254))
		if exec.CommandContext(tb.Context(), "ip", "address", "add", address+"/32", "dev", "lo").Run() != nil {
			continue
		}

		tb.Cleanup(func() {
			_ = exec.Command("ip", "address", "del", address+"/32", "dev", "lo").Run() //nolint:noctx // the test's is over
		})

		return address
	}

	tb.Fatal("no free address of 198.51.100.0/24")

	return ""
}

const (
	initConfig = "/run/kubeadm/kubeadm.yaml"
	joinConfig = "/run/kubeadm/kubeadm-join-config.yaml"
	superAdmin = "/etc/kubernetes/super-admin.conf"
)

// Boot has a host with an address (of [Address]) boot from the user data of the machine that
// begins a cluster. The endpoint in them is this address. It takes some eight seconds.
func Boot(tb testing.TB, address string, raw []byte) *Plane {
	tb.Helper()

	bin, data, root := Binaries(tb), read(tb, raw), tb.TempDir()

	if !data.runs("kubeadm init --config "+initConfig) || data.content(tb, initConfig) == "" {
		tb.Fatal("nothing in the user data runs kubeadm init")
	}

	data.write(tb, root)

	p := &Plane{Address: address, URL: "https://" + address + ":6443", Root: root}
	kubeadm := func(phase ...string) {
		argv := append([]string{filepath.Join(bin, "kubeadm"), "init", "phase"}, phase...)
		command(tb, append(argv, "--rootfs", root, "--config", initConfig)...)
	}

	for _, phase := range []string{"certs all", "kubeconfig all", "etcd local", "control-plane all"} {
		kubeadm(strings.Fields(phase)...)
	}

	p.CA = loadCA(tb, filepath.Join(root, "etc/kubernetes/pki"))
	p.http = clientFor(p.CA.PEM, p.CA.Client(tb, "kubernetes-admin", "system:masters").TLS(tb))

	p.static(tb, bin, "etcd")
	api := p.static(tb, bin, "kube-apiserver", "--bind-address="+address)
	api.await(tb, 2*time.Minute, func() error { return answers(tb.Context(), p.http, p.URL+"/readyz") })
	p.static(tb, bin, "kube-controller-manager")

	// what kubeadm does once its API answers
	kubeadm("upload-config", "kubeadm", "--kubeconfig", superAdmin)
	kubeadm("upload-config", "kubelet", "--kubeconfig", superAdmin)
	kubeadm("bootstrap-token", "--kubeconfig", superAdmin)
	p.register(tb, data.content(tb, initConfig))
	kubeadm("mark-control-plane")

	return p
}

// Prepare has a host with an address boot from the user data of a further machine of the control
// plane, as far as it goes without a kubelet: it finds the cluster by pin and token, makes its
// certificates from the keys that it got, and writes its static Pods. It returns what is / there.
func (p *Plane) Prepare(tb testing.TB, raw []byte) (root string) {
	tb.Helper()

	bin, data, root := Binaries(tb), read(tb, raw), tb.TempDir()
	if !data.runs("kubeadm join --config "+joinConfig) || data.content(tb, joinConfig) == "" {
		tb.Fatal("nothing in the user data runs kubeadm join")
	}

	data.write(tb, root)

	for _, phase := range []string{"certs", "kubeconfig", "control-plane"} {
		command(tb, filepath.Join(bin, "kubeadm"), "join", "phase", "control-plane-prepare", phase, "--rootfs", root, "--config", joinConfig)
	}

	return root
}

// static starts a server with the flags of its static Pod. What they call this host's own is the
// host's address here: several hosts share a machine.
func (p *Plane) static(tb testing.TB, bin, name string, more ...string) *process {
	tb.Helper()

	manifest, err := os.ReadFile(filepath.Join(p.Root, "etc/kubernetes/manifests", name+".yaml"))
	if err != nil {
		tb.Fatal(err)
	}

	var pod struct {
		Spec struct {
			Containers []struct{ Command []string }
		}
	}

	if err := yaml.Unmarshal(manifest, &pod); err != nil || len(pod.Spec.Containers) != 1 || len(pod.Spec.Containers[0].Command) < 2 {
		tb.Fatalf("the static Pod %s: %v", name, err)
	}

	here := strings.NewReplacer("/etc/kubernetes", p.Root+"/etc/kubernetes", "/var/lib/etcd", p.Root+"/var/lib/etcd", "127.0.0.1", p.Address)
	argv := []string{filepath.Join(bin, name)}

	for _, flag := range pod.Spec.Containers[0].Command[1:] {
		key, values, _ := strings.Cut(here.Replace(flag), "=")
		parts := strings.Split(values, ",")
		slices.Sort(parts)
		argv = append(argv, key+"="+strings.Join(slices.Compact(parts), ","))
	}

	return run(tb, p.Root, name, append(argv, more...)...)
}

// register plays the kubelet of the host itself.
func (p *Plane) register(tb testing.TB, config string) {
	tb.Helper()

	for document := range strings.SplitSeq(config, "\n---\n") {
		var c registration
		if err := yaml.Unmarshal([]byte(document), &c); err != nil {
			tb.Fatal(err)
		}

		if c.Kind != "InitConfiguration" {
			continue
		}

		if status, said := p.Do(tb, http.MethodPost, "/api/v1/nodes", c.node()); status != http.StatusCreated {
			tb.Fatalf("registering the Node: %d %v", status, said["message"])
		}

		return
	}

	tb.Fatal("there is no InitConfiguration")
}

// Do sends a request as administrator, for what a test prepares. Patches are strategic.
func (p *Plane) Do(tb testing.TB, method, path string, body any) (int, map[string]any) {
	tb.Helper()

	return request(tb, p.http, method, p.URL+path, body)
}

// Kubeconfig is one of an administrator (system:masters).
func (p *Plane) Kubeconfig(tb testing.TB) []byte {
	tb.Helper()

	return kubeconfig(p.URL, p.CA.PEM, p.CA.Client(tb, "kubernetes-admin", "system:masters"))
}

func loadCA(tb testing.TB, dir string) *Pair {
	tb.Helper()

	var parts [2][]byte

	for i, name := range []string{"ca.crt", "ca.key"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			tb.Fatal(err)
		}

		parts[i] = content
	}

	p := &Pair{PEM: parts[0], PKey: parts[1]}
	pair := p.TLS(tb)

	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		tb.Fatal("the key of the authority is none of ECDSA")
	}

	p.Cert, p.Key = pair.Leaf, key

	return p
}

// registration is what kubeadm's configurations say of a Node.
type registration struct {
	Kind             string
	NodeRegistration struct {
		Name             string
		KubeletExtraArgs json.RawMessage
	}
	Discovery struct {
		BootstrapToken struct {
			Token, APIServerEndpoint string
			CACertHashes             []string
		}
	}
}

// args are the kubelet's; older forms of the configuration have a map.
func (r registration) args() map[string]string {
	var list []struct{ Name, Value string }

	args := map[string]string{}
	if json.Unmarshal(r.NodeRegistration.KubeletExtraArgs, &args) == nil {
		return args
	}

	args = map[string]string{}
	_ = json.Unmarshal(r.NodeRegistration.KubeletExtraArgs, &list)

	for _, arg := range list {
		args[arg.Name] = arg.Value
	}

	return args
}

// node is the Node as the kubelet registers it.
func (r registration) node() map[string]any {
	name, args := r.NodeRegistration.Name, r.args()
	labels := map[string]any{"kubernetes.io/hostname": name}

	for pair := range strings.SplitSeq(args["node-labels"], ",") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			labels[key] = value
		}
	}

	spec := map[string]any{}
	if id := args["provider-id"]; id != "" {
		spec["providerID"] = id
	}

	return map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": name, "labels": labels}, "spec": spec}
}
