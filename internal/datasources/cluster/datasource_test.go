// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

const typeName = "metal3_cluster"

type block = providertest.Map

func read(t *testing.T, l acctest.Lab, config block) (block, string, string) {
	t.Helper()

	s := providertest.NewServer(t, provider.WithTransport(l.Transport()), provider.WithLab(l.Lab))
	if text := providertest.Errors(s.Configure(t, block{"ironic": block{"endpoint": lab.Endpoint, "auth": "noauth"}})); text != "" {
		t.Fatal(text)
	}

	got, diags := s.Read(t, typeName, config)

	return got, providertest.Errors(diags), providertest.Warnings(diags)
}

// conditions are the conditions by type.
func conditions(got block) string {
	all, _ := got["conditions"].([]any)

	var out []string

	for _, c := range all {
		one, _ := c.(block)
		out = append(out, fmt.Sprintf("%v=%v", one["type"], one["status"]))
	}

	return strings.Join(out, " ")
}

// TestCluster_ofTheLab reads a cluster without its configuration, in the shape of the resource.
func TestCluster_ofTheLab(t *testing.T) {
	t.Parallel()

	l := acctest.NewLab(t, lab.Options{Pace: 5 * time.Millisecond})
	made := l.Edge(t, 3)

	l.Mark()

	got, errs, warnings := read(t, l, block{"name": "edge"})
	if errs+warnings != "" || got["id"] != "metal3/edge" || got["endpoint"] != lab.Endpoint {
		t.Fatalf("%s%s: %v", errs, warnings, got)
	}

	if paths := l.Paths(); len(paths) > 4 || len(l.Sent()) > 0 {
		t.Errorf("it asked for %v", paths)
	}

	for _, name := range []string{"edge-cp-0", "edge-w-0", "edge-w-1"} {
		one, _ := acctest.Get(got, "machines."+name).(block)
		same, _ := made.Get("machines." + name).(block)

		if len(one) != len(same) || len(same) == 0 {
			t.Fatalf("machine %s: %v", name, one)
		}

		for key, want := range same {
			if key != "up_to_date" && fmt.Sprint(one[key]) != fmt.Sprint(want) {
				t.Errorf("%s of %s: %v, want %v", key, name, one[key], want)
			}
		}

		if one["up_to_date"] != nil {
			t.Errorf("%s knows that it is up to date", name)
		}
	}

	if s := conditions(got); strings.Contains(s, "UpToDate") || !strings.Contains(s, "Ready=True") || !strings.Contains(s, "NodesReady=Unknown") {
		t.Errorf("conditions: %s", s)
	}

	for _, config := range []block{{"name": "core"}, {"name": "edge", "namespace": "other"}} {
		if _, errs, _ = read(t, l, config); !strings.Contains(errs, "There is no cluster") {
			t.Errorf("one that is not there: %s", errs)
		}
	}
}

// TestCluster_withNodes tells how Nodes are, where the API is given and answers.
func TestCluster_withNodes(t *testing.T) {
	t.Parallel()

	l := acctest.NewLab(t, lab.Options{Pace: 5 * time.Millisecond})
	l.Edge(t, 3)

	server := kubetest.New(t)
	server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "True"})
	server.AddNode(kubetest.Node{Name: "edge-w-1", Ready: "False"})

	config := block{"name": "edge", "workload_api": block{"kubeconfig": string(server.Kubeconfig())}}

	got, errs, warnings := read(t, l, config)
	if errs+warnings != "" {
		t.Fatal(errs, warnings)
	}

	for path, want := range map[string]any{
		"machines.edge-w-0.node_name": "edge-w-0", "machines.edge-w-0.node_ready": true, "machines.edge-w-0.state": "ready",
		"machines.edge-w-1.node_ready": false, "machines.edge-cp-0.node_name": nil, "machines.edge-cp-0.state": "joining",
	} {
		if have := acctest.Get(got, path); have != want {
			t.Errorf("%s is %v, want %v", path, have, want)
		}
	}

	if s := conditions(got); !strings.Contains(s, "NodesReady=False") {
		t.Errorf("conditions: %s", s)
	}

	if len(server.Writes()) > 0 {
		t.Errorf("it wrote %v", server.Writes())
	}

	server.Close()

	if got, errs, warnings = read(t, l, config); errs != "" || !strings.Contains(warnings, "could not be asked") || len(got) == 0 {
		t.Errorf("an API that is not there: %s%s", errs, warnings)
	}
}
