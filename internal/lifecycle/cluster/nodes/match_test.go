// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
)

// want is a machine of a cluster "edge" on a host.
func want(machine, host string, addresses ...string) nodes.Want {
	return nodes.Want{
		Machine: machine, Host: host, ProviderID: nodes.ProviderID("default", host, machine), Addresses: addresses,
		ClaimID: "claim of " + machine, HostID: "id of " + host,
	}
}

func node(name, providerID string, addresses ...string) kube.Node {
	n := kube.Node{Name: name, ProviderID: providerID, Ready: "True"}
	for _, a := range addresses {
		n.Addresses = append(n.Addresses, kube.Address{Type: "InternalIP", Address: a})
	}

	return n
}

func labelled(n kube.Node, value string) kube.Node {
	n.Labels = map[string]string{nodes.UUIDLabel: value}

	return n
}

func clouded(w nodes.Want) nodes.Want {
	w.CloudProvider = true

	return w
}

func anonymous(w nodes.Want) nodes.Want {
	w.ProviderID = ""

	return w
}

// machines is a cluster's list of machines.
func machines(names ...string) func(string) bool {
	return func(m string) bool { return slices.Contains(names, m) }
}

func names(all []kube.Node) []string {
	out := make([]string, 0, len(all))
	for _, n := range all {
		out = append(out, n.Name)
	}

	return out
}

const mine = "metal3://default/h0/edge-w-0"

func TestFind(t *testing.T) {
	t.Parallel()

	edge := machines("edge-w-0", "edge-w-1")

	for name, c := range map[string]struct {
		want     nodes.Want
		nodes    []kube.Node
		existing func(string) bool
		node     string   // "" means none
		stale    []string // to be deleted
		err      string   // part of it
	}{
		"there is none":                       {want: want("edge-w-0", "h0"), nodes: []kube.Node{node("other", "")}},
		"by provider ID, whatever its name":   {want: want("edge-w-0", "h0"), nodes: []kube.Node{node("edge-w-0", ""), node("x", mine)}, node: "x"},
		"by name":                             {want: want("edge-w-0", "h0"), nodes: []kube.Node{node("edge-w-0", ""), node("edge-w-00", "")}, node: "edge-w-0"},
		"a name is not a part of a name":      {want: want("edge-w-0", "h0"), nodes: []kube.Node{node("edge-w-00", ""), node("xedge-w-0", "")}},
		"by an address":                       {want: want("edge-w-0", "h0", "192.0.2.10"), nodes: []kube.Node{node("x", "", "192.0.2.10"), node("y", "", "192.0.2.1")}, node: "x"},
		"an address in another spelling":      {want: want("edge-w-0", "h0", "2001:DB8:0::10"), nodes: []kube.Node{node("x", "", "2001:db8::10")}, node: "x"},
		"an address is no part of an address": {want: want("edge-w-0", "h0", "192.0.2.1"), nodes: []kube.Node{node("x", "", "192.0.2.10")}},
		"an address that two Nodes have":      {want: want("edge-w-0", "h0", "192.0.2.1"), nodes: []kube.Node{node("x", "", "192.0.2.1"), node("y", "", "192.0.2.1")}, err: "x, y share an address"},
		"one of two addresses is shared":      {want: want("edge-w-0", "h0", "192.0.2.1", "192.0.2.2"), nodes: []kube.Node{node("x", "", "192.0.2.1", "192.0.2.2"), node("y", "", "192.0.2.1")}, node: "x"},
		"two addresses of two Nodes":          {want: want("edge-w-0", "h0", "192.0.2.1", "192.0.2.2"), nodes: []kube.Node{node("x", "", "192.0.2.1"), node("y", "", "192.0.2.2")}, err: "several Nodes: x, y"},
		"the Node of another machine is not taken by its address": {
			want: want("edge-w-0", "h0", "192.0.2.1"), nodes: []kube.Node{node("edge-w-1", "", "192.0.2.1")}, existing: edge,
		},
		"nor one with another provider ID": {
			want: want("edge-w-0", "h0", "192.0.2.1"), nodes: []kube.Node{node("x", "metal3://default/h1/edge-w-1", "192.0.2.1")}, existing: edge,
		},
		"addresses that every machine has say nothing": {
			want: want("edge-w-0", "h0", "127.0.0.1", "::1", "fe80::1", "0.0.0.0", ""), nodes: []kube.Node{node("x", "", "127.0.0.1", "::1", "fe80::1", "0.0.0.0", "")},
		},
		"two Nodes with its provider ID": {want: want("edge-w-0", "h0"), nodes: []kube.Node{node("x", mine), node("y", mine)}, err: "x, y all have the provider ID"},
		"a Node of its name that says to be another machine": {
			want: want("edge-w-0", "h0"), nodes: []kube.Node{labelled(node("edge-w-0", ""), "another")}, err: "is of another one",
		},
		"a Node of its name that says to be this claim": {
			want: want("edge-w-0", "h0"), nodes: []kube.Node{labelled(node("edge-w-0", ""), "claim of edge-w-0")}, node: "edge-w-0",
		},
		"a Node of its name that says to be this host": {
			want: want("edge-w-0", "h0"), nodes: []kube.Node{labelled(node("edge-w-0", ""), "id of h0")}, node: "edge-w-0",
		},
		"a Node of its address that says to be another machine": {
			want: want("edge-w-0", "h0", "192.0.2.1"), nodes: []kube.Node{labelled(node("x", "", "192.0.2.1"), "another")}, err: "is of another one",
		},

		"left over: this machine on an earlier host": {
			want: want("edge-w-0", "h0"), nodes: []kube.Node{node("edge-w-0", "metal3://default/h9/edge-w-0")}, existing: edge, stale: []string{"edge-w-0"},
		},
		"left over: an earlier machine on this host": {
			want: want("edge-w-0", "h0"), nodes: []kube.Node{node("old", "metal3://default/h0/edge-w-7")}, existing: edge, stale: []string{"old"},
		},
		"left over, and the Node is there, too": {
			want: want("edge-w-0", "h0"), nodes: []kube.Node{node("old", "metal3://default/h0/edge-w-7"), node("edge-w-0", mine)}, existing: edge, node: "edge-w-0", stale: []string{"old"},
		},
		"left over under its name while it joined under another": {
			want: want("edge-w-0", "h0"), nodes: []kube.Node{node("edge-w-0", "metal3://default/h9/edge-w-8"), node("x", mine)}, existing: edge, node: "x", stale: []string{"edge-w-0"},
		},
		"on this host, of a machine that exists": {
			want: want("edge-w-0", "h0"), nodes: []kube.Node{node("old", "metal3://default/h0/edge-w-1")}, existing: edge, err: "on the host of machine edge-w-0",
		},
		"of its name, of a machine that exists": {
			want: want("edge-w-0", "h0"), nodes: []kube.Node{node("edge-w-0", "metal3://default/h1/edge-w-1")}, existing: edge, err: "Kubernetes never changes one",
		},
		"nobody knows which machines there are: nothing is left over": {
			want: want("edge-w-0", "h0"), nodes: []kube.Node{node("edge-w-0", "metal3://default/h9/edge-w-8")}, err: "Kubernetes never changes one",
		},
		"of another namespace, whose machines nobody knows": {
			want: want("edge-w-0", "h0"), nodes: []kube.Node{node("x", "metal3://other/h0/edge-w-7")}, existing: edge,
		},
		"on another host, of a machine that does not exist: not its business": {
			want: want("edge-w-0", "h0"), nodes: []kube.Node{node("old", "metal3://default/h1/gone")}, existing: edge,
		},

		"another cloud's provider ID": {want: want("edge-w-0", "h0"), nodes: []kube.Node{node("edge-w-0", "k3s://edge-w-0")}, err: "cloud_provider_enabled"},
		"another cloud's, as it should be": {
			want: clouded(want("edge-w-0", "h0")), nodes: []kube.Node{node("edge-w-0", "k3s://edge-w-0")}, node: "edge-w-0",
		},
		"another cloud's, by an address": {
			want: clouded(want("edge-w-0", "h0", "192.0.2.1")), nodes: []kube.Node{node("x", "k3s://x", "192.0.2.1")}, node: "x",
		},
		"nobody says its provider ID": {
			want: anonymous(want("edge-w-0", "h0")), nodes: []kube.Node{node("edge-w-0", "metal3://default/h9/edge-w-0")}, node: "edge-w-0",
		},
	} {
		t.Run("11.6 "+name, func(t *testing.T) {
			t.Parallel()

			found, err := nodes.NewIndex(c.nodes).Find(c.want, c.existing)

			if c.err != "" {
				if !errors.Is(err, nodes.ErrMismatch) || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v", err)
				}

				return
			}

			got := ""
			if found.Node != nil {
				got = found.Node.Name
			}

			if err != nil || got != c.node || !slices.Equal(names(found.Stale), c.stale) {
				t.Errorf("got %q, stale %v, %v", got, names(found.Stale), err)
			}
		})
	}
}

func TestOCL03_worker1AndWorker10(t *testing.T) {
	t.Parallel()

	const uuid = "0b5c1f2e-9e6a-4c8b-8e2d-0a1b2c3d4e5f"

	workers := []string{"worker1", "worker10", "worker100"}

	var all []kube.Node
	for _, w := range workers {
		all = append(all, node("node-of-"+w, nodes.ProviderID("default", w, w), "192.0.2."+strings.TrimPrefix(w, "worker")))
	}

	for _, w := range workers {
		found, err := nodes.NewIndex(all).Find(want(w, w, "192.0.2."+strings.TrimPrefix(w, "worker")), machines(workers...))
		if err != nil || found.Node == nil || found.Node.Name != "node-of-"+w || len(found.Stale) > 0 {
			t.Errorf("%s: got %+v, %v", w, found, err)
		}
	}

	// worker1 is gone, and a new machine comes to its host: its Node goes, and no other.
	found, err := nodes.NewIndex(all).Find(want("worker2", "worker1"), machines("worker2", "worker10", "worker100"))
	if err != nil || found.Node != nil || !slices.Equal(names(found.Stale), []string{"node-of-worker1"}) {
		t.Errorf("got %+v, %v", found, err)
	}

	// UUIDs of a host differ in letter case alone.
	w := want("m", "ignored")
	w.ProviderID = "metal3://" + uuid

	found, err = nodes.NewIndex([]kube.Node{node("n", "metal3://"+strings.ToUpper(uuid)), node("o", "metal3://"+uuid+"0")}).Find(w, nil)
	if err != nil || found.Node == nil || found.Node.Name != "n" {
		t.Errorf("got %+v, %v", found, err)
	}
}

// TestFind_properties holds whatever Nodes there are: a machine gets no Node of another, no
// Node of a machine that exists is left over, and no two machines get the same one.
func TestFind_properties(t *testing.T) {
	t.Parallel()

	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		pick := func(prefix string) string { return fmt.Sprintf("%s%d", prefix, r.IntN(12)) }

		var (
			wants  []nodes.Want
			exist  []string
			hosts  = r.Perm(12)
			places = map[string]string{} // provider ID by machine
		)

		for i := range 1 + r.IntN(6) {
			m := fmt.Sprintf("m%d", i)
			wants = append(wants, want(m, fmt.Sprintf("h%d", hosts[i]), fmt.Sprintf("192.0.2.%d", i)))
			exist = append(exist, m)
			places[m] = wants[i].ProviderID
		}

		var all []kube.Node

		for i := range r.IntN(10) {
			n := node([]string{pick("m"), fmt.Sprintf("n%d", i)}[r.IntN(2)], []string{"", nodes.ProviderID("default", pick("h"), pick("m")), places[pick("m")], "k3s://x"}[r.IntN(4)], "192.0.2."+pick(""))
			if !slices.Contains(names(all), n.Name) {
				all = append(all, n)
			}
		}

		check(t, seed, wants, all, exist)
	}
}

func check(t *testing.T, seed uint64, wants []nodes.Want, all []kube.Node, exist []string) {
	t.Helper()

	taken := map[string]string{}

	for _, w := range wants {
		found, err := nodes.NewIndex(all).Find(w, machines(exist...))
		if err != nil {
			continue
		}

		for _, s := range found.Stale {
			id, ours := nodes.ParseProviderID(s.ProviderID)
			if !ours || (slices.Contains(exist, id.Machine) && id.Machine != w.Machine) || s.ProviderID == w.ProviderID {
				t.Errorf("seed %d: %s: %+v is no Node that is left over", seed, w.Machine, s)
			}
		}

		if found.Node == nil {
			continue
		}

		n := found.Node
		if n.ProviderID != "" && n.ProviderID != w.ProviderID {
			t.Errorf("seed %d: %s got %+v", seed, w.Machine, n)
		}

		if before := taken[n.Name]; before != "" {
			t.Errorf("seed %d: %s and %s got %s", seed, before, w.Machine, n.Name)
		}

		taken[n.Name] = w.Machine
	}
}
