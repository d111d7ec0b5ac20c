// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
)

// inCluster runs a test on a lab with an API server of the cluster that its machines make, which has
// their Nodes.
func inCluster(t *testing.T, hosts int, test func(world, *kubetest.Server), options ...kubetest.Option) {
	t.Helper()

	inLab(t, hosts, func(w world) {
		server := kubetest.New(w.t, append(options, kubetest.InMemory())...)

		for _, name := range []string{"edge-cp-0", "edge-w-0", "edge-w-1", "edge-w-2"} {
			server.AddNode(kubetest.Node{Name: name, Ready: "True"})
		}

		w.Options = append(w.Options, provider.WithClusterDial(server.Dial))
		test(w, server)
	})
}

func providerID(server *kubetest.Server, node string) string {
	spec, _ := server.Object("nodes", "", node)["spec"].(map[string]any)
	id, _ := spec["providerID"].(string)

	return id
}

// reached is a configuration of a cluster whose API is reached by a kubeconfig.
func reached(server *kubetest.Server, replicas int, parts ...Map) Map {
	m := lived(replicas, endpoint(Map{"host": "kube.test"}), Map{"workload_api": Map{"kubeconfig": string(server.Kubeconfig())}})
	merged(m["workers"].(Map)["w"].(Map), Map{"node_labels": Map{"example.com/role": "w"}})

	return merged(m, parts...)
}

// TestCluster_nodes makes a cluster, finds its Nodes, labels them, and empties one before its
// machine leaves.
func TestCluster_nodes(t *testing.T) {
	t.Parallel()

	inCluster(t, 4, func(w world, server *kubetest.Server) {
		w.apply(reached(server, 2))

		for node, want := range map[string]string{"edge-cp-0": "metal3://metal3/", "edge-w-1": "metal3://metal3/"} {
			if id := providerID(server, node); !strings.HasPrefix(id, want) || !strings.HasSuffix(id, "/"+node) || id != w.Get("machines."+node+".provider_id") {
				t.Errorf("%s has the provider id %q", node, id)
			}
		}

		if server.Labels("edge-w-0")["example.com/role"] != "w" || server.Labels("edge-cp-0")["example.com/role"] != "" {
			t.Errorf("labels: %v and %v", server.Labels("edge-w-0"), server.Labels("edge-cp-0"))
		}

		if w.Get("machines.edge-w-0.state") != "ready" || w.Get("machines.edge-w-0.node_ready") != true {
			t.Errorf("edge-w-0: %v", w.Get("machines.edge-w-0"))
		}

		config := reached(server, 2)
		config["workers"].(Map)["w"].(Map)["node_labels"] = Map{"example.com/role": "x"}
		w.Mark()
		w.apply(config)

		if server.Labels("edge-w-0")["example.com/role"] != "x" || len(w.Sent()) != 0 {
			t.Errorf("labels %v; sent %v", server.Labels("edge-w-0"), w.Sent())
		}

		server.AddPod(kubetest.Pod{Namespace: "default", Name: "web", Node: "edge-w-1"})
		w.apply(reached(server, 1))

		if len(server.Evictions()) != 1 || server.Object("nodes", "", "edge-w-1") != nil {
			t.Errorf("evictions %v", server.Evictions())
		}
	})
}

// TestCluster_apiDown has the cluster's API not answer a refresh: what the state says of its Nodes
// stays, and nothing is planned.
func TestCluster_apiDown(t *testing.T) {
	t.Parallel()

	inCluster(t, 3, func(w world, server *kubetest.Server) {
		config := reached(server, 2)
		w.apply(config)

		server.Close()

		o := w.Plan(w.ctx, config)
		if o.Action != "" || o.Errors != "" || !strings.Contains(o.Warnings, "could not be asked") {
			t.Errorf("%q changes %v: %s%s", o.Action, o.Changed, o.Errors, o.Warnings)
		}

		if w.Get("machines.edge-w-0.node_ready") != true || w.Get("ready") != true {
			t.Errorf("the state says %v", w.Get("machines.edge-w-0"))
		}
	})
}

// TestCluster_nodeThatNeverJoins leaves a machine joining, without an error that taints.
func TestCluster_nodeThatNeverJoins(t *testing.T) {
	t.Parallel()

	inCluster(t, 3, func(w world, server *kubetest.Server) {
		server.Remove("nodes", "", "edge-w-1")

		config := reached(server, 2, Map{"wait": Map{"node_timeout": "10m"}})

		o := w.Apply(w.ctx, config)
		if o.Errors != "" || w.Get("ready") != false || w.Tainted || !strings.Contains(o.Warnings, "edge-w-1") {
			t.Errorf("tainted %v: %s%s", w.Tainted, o.Errors, o.Warnings)
		}

		server.AddNode(kubetest.Node{Name: "edge-w-1", Ready: "True"})
		w.apply(config)
	})
}

// TestCluster_kubeadm makes a cluster of the kubeadm profile with keys that the user brings: nothing
// secret of them is in the state, and they reach the cluster that uses them.
func TestCluster_kubeadm(t *testing.T) {
	t.Parallel()

	pki, err := bootstrap.Generate(bootstrap.PKI{}, bootstrap.PKIOptions{Now: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}

	inCluster(t, 4, func(w world, _ *kubetest.Server) {
		config := func(replicas int) Map {
			m := lived(replicas, endpoint(Map{"host": "kube.test"}), Map{"bootstrap": Map{"kubeadm": Map{
				"version": "v1.37.2", "pki_wo_version": 1, "pki": Map{"ca_certificate": pki.CA.Certificate, "ca_private_key_wo": pki.CA.Key},
			}}})
			merged(m["workers"].(Map)["w"].(Map), Map{"hooks": Map{"connection": Map{"private_key_file": "/no/such/key", "insecure_host_key": true}}})

			return m
		}

		// Templates of one's own decide where the profile goes.
		for _, replicas := range []int{1, 2} {
			w.apply(without(config(replicas), "user_data_template"))
		}

		if strings.Contains(w.Dump(), strings.TrimSpace(pki.CA.Key)) || w.Get("cluster_ca") != pki.CA.Certificate {
			t.Error("the key of the CA is in the state, or the CA is another one")
		}

		if !strings.Contains(w.Dump(), "front_proxy_ca") {
			t.Error("the keys that were made are not kept")
		}

		// Nobody asked for the reset of a machine that leaves, so it keeps none.
		if o := w.apply(without(config(1), "user_data_template")); !strings.Contains(o.Warnings, `"kubeadm reset -f"`) {
			t.Errorf("warnings: %s", o.Warnings)
		}

		if o := w.Apply(w.ctx, nil); o.Errors != "" {
			t.Errorf("destroy: %s", o.Errors)
		}
	}, kubetest.WithCA([]byte(pki.CA.Certificate), []byte(pki.CA.Key)))
}

// without is a configuration whose control plane does not have an attribute.
func without(m Map, attribute string) Map {
	delete(m["control_plane"].(Map), attribute)

	return m
}

// TestCluster_planNamesWhatIsMended has a Node be ill: the plan names the machine and what is done to
// it, where remediation is wanted, and is empty where it is not.
func TestCluster_planNamesWhatIsMended(t *testing.T) {
	t.Parallel()

	inCluster(t, 3, func(w world, server *kubetest.Server) {
		config := reached(server, 2, Map{"remediation": Map{"enabled": true, "max_unhealthy": "100%"}})
		w.apply(config)
		server.SetReady("edge-w-0", "False")
		time.Sleep(20 * time.Minute) // of the test's own clock

		o := w.Plan(w.ctx, config)
		if o.Action != "update" || !strings.Contains(o.Warnings, "Machine edge-w-0 of cluster edge will be remediated (reboot)") || strings.Contains(o.Warnings, "edge-w-1") {
			t.Errorf("%q: %s%s", o.Action, o.Errors, o.Warnings)
		}

		if w.Get("machines.edge-w-0.healthy") != false || w.Get("machines.edge-w-1.healthy") != true {
			t.Errorf("edge-w-0: %v", w.Get("machines.edge-w-0"))
		}
	})
}
