// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clusternodes_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
)

const typeName = "metal3_cluster_nodes"

// Map is an object of a configuration.
type Map = acctest.Map

// far is an Ironic with some hosts.
type far struct {
	host.Backend

	hosts []host.Seen
	err   error
}

func (f *far) All(context.Context) ([]host.Seen, error) { return f.hosts, f.err }

// seen is a host with a machine of the cluster default/edge on it.
func seen(name, machine string, state ironic.State, labels map[string]string) host.Seen {
	t := host.Tenancy{
		ID: "claim-" + machine, Namespace: "default", Cluster: "edge", Machine: machine, Addresses: map[string]string{"lan": "192.0.2." + machine[len(machine)-1:]},
	}

	return host.Seen{
		Node:    ironic.Node{UUID: "id-" + name, Name: name, ProvisionState: state, InstanceUUID: t.ID, InstanceInfo: map[string]any{host.TenancyKey: t.Value()}},
		Journal: host.Journal{Name: name, Labels: labels},
	}
}

// cluster is a workload cluster and one kubeconfig of it: each call of Kubeconfig makes another.
type cluster struct {
	*kubetest.Server

	kubeconfig string
}

func core(t *testing.T, f *far) (*acctest.Core, cluster) {
	t.Helper()

	server := kubetest.New(t)

	return acctest.NewCore(t, typeName, nil, provider.WithBackend(f)), cluster{server, string(server.Kubeconfig())}
}

// config is a configuration with a kubeconfig.
func config(server cluster, more Map) Map {
	c := Map{"kubeconfig": server.kubeconfig, "timeouts": Map{"create": "1s", "update": "1s"}}
	maps.Copy(c, more)

	return c
}

func worker() Map {
	return Map{"provider_id": "metal3://default/h0/edge-w-0", "host_name": "h0", "addresses": Map{"lan": Map{"address": "192.0.2.10"}}}
}

func drift(c *acctest.Core) string { return fmt.Sprint(c.Get("drift")) }

func TestNodes_life(t *testing.T) {
	t.Parallel()

	c, server := core(t, nil)
	server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "False", Labels: map[string]string{"example.com/old": "1"}})

	all := Map{
		"machines": Map{"edge-w-0": Map{
			"provider_id": "metal3://default/h0/edge-w-0", "host_labels": Map{"example.com/zone": "a", "other.com/zone": "b"}, "labels": Map{"disk": "ssd"},
		}},
		"labels": Map{"node-role.kubernetes.io/worker": "", "disk": "none"}, "annotations": Map{"example.com/rack": "r 1"},
		"taints": []any{Map{"key": "gpu", "effect": "NoSchedule"}}, "label_sync_prefixes": []any{"example.com"},
	}

	if o := c.Apply(t.Context(), config(server, all)); o.Errors != "" || o.Warnings != "" {
		t.Fatal(o.Errors, o.Warnings)
	}

	expect := map[string]string{"kubernetes.io/hostname": "edge-w-0", "node-role.kubernetes.io/worker": "", "disk": "ssd", "example.com/zone": "a"}
	if got := server.Labels("edge-w-0"); !maps.Equal(got, expect) {
		t.Errorf("labels are %v", got)
	}

	if got := server.Taints("edge-w-0"); !slices.Contains(got, "gpu:NoSchedule") {
		t.Errorf("taints are %v", got)
	}

	for path, expect := range map[string]any{
		"id": server.URL(), "ready": true, "nodes.edge-w-0.node_name": "edge-w-0", "nodes.edge-w-0.provider_id": "metal3://default/h0/edge-w-0", "nodes.edge-w-0.ready": false,
	} {
		if got := c.Get(path); got != expect {
			t.Errorf("%s is %v", path, got)
		}
	}

	before := len(server.Requests())
	if o := c.Plan(t.Context(), config(server, all)); o.Errors != "" || o.Action != "" {
		t.Errorf("the plan after it: %s %v %s", o.Action, o.Changed, o.Errors)
	}

	if n := len(server.Requests()) - before; n != 1 {
		t.Errorf("a refresh costs %d requests", n)
	}

	// Somebody changes a label by hand: an update mends it.
	server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "True", ProviderID: "metal3://default/h0/edge-w-0", Labels: map[string]string{"disk": "hand"}})

	if o := c.Apply(t.Context(), config(server, all)); o.Errors != "" || o.Action != "update" || server.Labels("edge-w-0")["disk"] != "ssd" {
		t.Errorf("%s, %s, labels %v", o.Action, o.Errors, server.Labels("edge-w-0"))
	}

	// What is not configured any more goes.
	fewer := config(server, Map{"machines": Map{"edge-w-0": Map{"provider_id": "metal3://default/h0/edge-w-0"}}})
	if o := c.Apply(t.Context(), fewer); o.Errors != "" || server.Labels("edge-w-0")["disk"] != "" || slices.Contains(server.Taints("edge-w-0"), "gpu:NoSchedule") {
		t.Errorf("%s, labels %v, taints %v", o.Errors, server.Labels("edge-w-0"), server.Taints("edge-w-0"))
	}

	// A destroy asks for nothing.
	writes := len(server.Writes())
	if o := c.Apply(t.Context(), nil); o.Errors != "" || c.Exists() || len(server.Writes()) != writes {
		t.Errorf("%s, wrote %v", o.Errors, server.Writes()[writes:])
	}
}

func TestNodes_aNodeThatNeverJoins(t *testing.T) {
	t.Parallel()

	c, server := core(t, nil)
	server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "True"})

	machines := Map{"machines": Map{"edge-w-0": worker(), "edge-w-1": Map{}}}

	o := c.Apply(t.Context(), config(server, machines))
	if !strings.Contains(o.Errors, "1 of 2 are not as configured") || !strings.Contains(o.Errors, `Machine edge-w-1: wait for its Node (looked for name "edge-w-1")`) {
		t.Error(o.Errors)
	}

	if c.Get("nodes.edge-w-0.node_name") != "edge-w-0" || c.Get("ready") != false || !strings.Contains(drift(c), "edge-w-1") {
		t.Errorf("nodes are %v, drift %s", c.Get("nodes"), drift(c))
	}

	c.Untaint()
	server.AddNode(kubetest.Node{Name: "edge-w-1", Ready: "True"})

	// It came by itself, and nothing is to be set on it.
	if o := c.Apply(t.Context(), config(server, machines)); o.Errors != "" || o.Action != "" || c.Get("ready") != true || drift(c) != "[]" {
		t.Errorf("%s %s %v", o.Action, o.Errors, c.Get("nodes"))
	}
}

func TestNodes_anAPIThatDoesNotAnswerIsAWarning(t *testing.T) {
	t.Parallel()

	c, server := core(t, nil)
	server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "True"})

	given := config(server, Map{"machines": Map{"edge-w-0": worker()}})
	if o := c.Apply(t.Context(), given); o.Errors != "" {
		t.Fatal(o.Errors)
	}

	before := c.Dump()
	server.OnRequest(kubetest.Fault{Status: 403, Message: "no"})

	o := c.Plan(t.Context(), given)
	if o.Errors != "" || !strings.Contains(o.Warnings, "are not known") || o.Action != "" || c.Dump() != before {
		t.Errorf("%s %s %s", o.Action, o.Errors, o.Warnings)
	}
}

func TestNodes_ofAClusterInIronic(t *testing.T) {
	t.Parallel()

	f := &far{hosts: []host.Seen{
		seen("h0", "edge-w-0", ironic.Active, map[string]string{"example.com/zone": "a"}),
		seen("h1", "edge-w-1", ironic.Active, map[string]string{"example.com/zone": "b"}),
		seen("h2", "edge-w-2", ironic.Deploying, nil),
		{Node: ironic.Node{UUID: "id-h3", Name: "h3", ProvisionState: ironic.Available}},
	}}
	c, server := core(t, f)

	server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "True"})
	server.AddNode(kubetest.Node{Name: "other", Ready: "True", InternalIP: "192.0.2.1"})
	server.AddNode(kubetest.Node{Name: "edge-w-9", Ready: "Unknown", ProviderID: "metal3://default/h1/edge-w-9"})
	server.AddNode(kubetest.Node{Name: "stranger", Ready: "True", ProviderID: "metal3://default/h9/stranger"})

	given := config(server, Map{"cluster_id": "default/edge", "label_sync_prefixes": []any{"example.com"}, "wait_ready": true})
	if o := c.Apply(t.Context(), given); o.Errors != "" {
		t.Fatal(o.Errors)
	}

	if got := []any{c.Get("id"), c.Get("nodes.edge-w-0.node_name"), c.Get("nodes.edge-w-1.node_name"), c.Get("nodes.edge-w-1.provider_id"), c.Get("nodes.edge-w-2")}; !slices.Equal(got, []any{"default/edge", "edge-w-0", "other", "metal3://default/h1/edge-w-1", nil}) {
		t.Errorf("got %v", got)
	}

	if server.Labels("other")["example.com/zone"] != "b" || server.Labels("edge-w-9") != nil || server.Labels("stranger") == nil {
		t.Errorf("labels %v; the Node of an earlier machine is %v", server.Labels("other"), server.Labels("edge-w-9"))
	}

	// A machine more: the next plan sees that it has no Node yet.
	f.hosts[2].Node.ProvisionState = ironic.Active

	if o := c.Plan(t.Context(), given); o.Errors != "" || o.Action != "update" || !strings.Contains(drift(c), "edge-w-2: no node") {
		t.Errorf("%s %s, drift %s", o.Action, o.Errors, drift(c))
	}

	// Ironic does not answer: what is known stays.
	f.err = errors.New("no answer")

	if o := c.Refresh(t.Context()); o.Errors != "" || !strings.Contains(o.Warnings, "are not known") || !strings.Contains(drift(c), "edge-w-2") {
		t.Errorf("%s %s", o.Errors, o.Warnings)
	}
}

func TestNodes_noMachineIsDeployed(t *testing.T) {
	t.Parallel()

	c, server := core(t, &far{})

	if o := c.Apply(t.Context(), config(server, Map{"cluster_id": "default/edge"})); !strings.Contains(o.Errors, "No machine of the cluster is deployed") {
		t.Error(o.Errors)
	}
}

func TestNodes_aKubeconfigThatIsNotStored(t *testing.T) {
	t.Parallel()

	c, server := core(t, nil)
	server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "True"})

	given := func(version int, labels Map) Map {
		return Map{
			"kubeconfig_wo": server.kubeconfig, "kubeconfig_wo_version": version, "machines": Map{"edge-w-0": worker()}, "labels": labels,
		}
	}

	if o := c.Apply(t.Context(), given(1, Map{"tier": "edge"})); o.Errors != "" || server.Labels("edge-w-0")["tier"] != "edge" {
		t.Fatal(o.Errors)
	}

	if strings.Contains(c.Dump(), "client-key-data") {
		t.Error("the kubeconfig is in the state")
	}

	requests := len(server.Requests())
	if o := c.Plan(t.Context(), given(1, Map{"tier": "edge"})); o.Errors+o.Warnings != "" || o.Action != "" || len(server.Requests()) != requests {
		t.Errorf("%s %s %s", o.Action, o.Errors, o.Warnings)
	}

	// An update that fails is not forgotten, although nobody can look.
	undo := server.OnRequest(kubetest.Fault{Method: "PATCH", Status: 403, Message: "no"})
	if o := c.Apply(t.Context(), given(1, Map{"tier": "core"})); o.Errors == "" {
		t.Error("no error")
	}

	undo()

	if o := c.Apply(t.Context(), given(1, Map{"tier": "core"})); o.Errors != "" || o.Action != "update" || server.Labels("edge-w-0")["tier"] != "core" {
		t.Errorf("%s %s, labels %v", o.Action, o.Errors, server.Labels("edge-w-0"))
	}

	server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "True"})

	if o := c.Apply(t.Context(), given(2, Map{"tier": "core"})); o.Errors != "" || server.Labels("edge-w-0")["tier"] != "core" {
		t.Errorf("%s, labels %v", o.Errors, server.Labels("edge-w-0"))
	}
}

func TestNodes_aKubeconfigInAFile(t *testing.T) {
	t.Parallel()

	c, server := core(t, nil)
	server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "True"})

	file := filepath.Join(t.TempDir(), "kubeconfig")
	given := Map{"kubeconfig_path": file, "machines": Map{"edge-w-0": worker()}}

	if o := c.Apply(t.Context(), given); !strings.Contains(o.Errors, "cannot be reached") || !strings.Contains(o.Errors, file) {
		t.Error(o.Errors)
	}

	c.Untaint()

	if err := os.WriteFile(file, []byte(server.kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}

	if o := c.Apply(t.Context(), given); o.Errors != "" || c.Get("ready") != true {
		t.Errorf("%s %s", o.Action, o.Errors)
	}
}

func TestNodes_providerIDsOfOthers(t *testing.T) {
	t.Parallel()

	c, server := core(t, nil)
	server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "True", ProviderID: "k3s://edge-w-0"})

	given := config(server, Map{"machines": Map{"edge-w-0": worker()}})
	if o := c.Apply(t.Context(), given); !strings.Contains(o.Errors, "another cloud provider set it") {
		t.Error(o.Errors)
	}

	c.Untaint()

	given["provider_ids"] = false
	if o := c.Apply(t.Context(), given); o.Errors != "" || c.Get("nodes.edge-w-0.provider_id") != "k3s://edge-w-0" {
		t.Errorf("%s %v", o.Errors, c.State())
	}
}

func TestNodes_interrupted(t *testing.T) {
	t.Parallel()

	c, server := core(t, nil)
	given := config(server, Map{"machines": Map{"edge-w-0": worker()}, "timeouts": Map{"create": "1h", "update": "1h"}})

	ctx, interrupt := context.WithCancel(t.Context())
	server.OnRequest(kubetest.Fault{Path: "/nodes", Times: 1, Status: 503})

	done := make(chan struct{})

	go func() {
		defer close(done)

		o := c.Apply(ctx, given)
		if o.Errors != "" || !strings.Contains(o.Warnings, "not as configured") || c.Get("ready") != false {
			t.Errorf("%s %s", o.Errors, o.Warnings)
		}
	}()

	for len(server.Requests()) == 0 {
		continue
	}

	interrupt()
	<-done

	server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "True"})

	if o := c.Apply(t.Context(), given); o.Errors != "" || o.Action != "update" {
		t.Errorf("%s %s", o.Action, o.Errors)
	}
}

func TestNodes_badInputIsToldInThePlan(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		edit func(Map)
		says []string
	}{
		"no kubeconfig":            {func(m Map) { delete(m, "kubeconfig") }, []string{"kubeconfig"}},
		"two kubeconfigs":          {func(m Map) { m["kubeconfig_path"] = "/k" }, []string{"kubeconfig_path"}},
		"neither cluster nor list": {func(m Map) { delete(m, "machines") }, []string{"cluster_id", "machines"}},
		"no machine":               {func(m Map) { m["machines"] = Map{} }, []string{"machines"}},
		"an id that is none":       {func(m Map) { m["cluster_id"] = "edge" }, []string{"NAMESPACE/NAME"}},
		"reserved prefixes, each":  {func(m Map) { m["label_sync_prefixes"] = []any{"k8s.io", "node.kubernetes.io", "a.b"} }, []string{`"k8s.io"`, `"node.kubernetes.io"`}},
		"everything at once": {func(m Map) {
			m["labels"], m["annotations"] = Map{"a b": ""}, Map{"c d": ""}
			m["taints"] = []any{Map{"key": "a", "effect": "NoSchedule"}, Map{"key": "a", "effect": "NoSchedule", "value": "b"}}
		}, []string{"a b", "c d", "another one of that key"}},
		"an effect that is none": {func(m Map) { m["taints"] = []any{Map{"key": "a", "effect": "Never"}} }, []string{"NoExecute"}},
		"a label of one machine": {func(m Map) { m["machines"] = Map{"edge-w-0": Map{"labels": Map{"x": "y z"}}} }, []string{"Node of machine edge-w-0", "y z"}},
		"a label of one host": {func(m Map) {
			m["label_sync_prefixes"] = []any{"a.b"}
			m["machines"] = Map{"edge-w-0": Map{"host_name": "h0", "host_labels": Map{"a.b/x": "y z"}}}
		}, []string{"host h0", "y z"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			core, server := core(t, nil)
			given := config(server, Map{"machines": Map{"edge-w-0": worker()}})
			c.edit(given)

			o := core.Plan(t.Context(), given)
			for _, part := range c.says {
				if !strings.Contains(o.Errors, part) {
					t.Errorf("got %q without %q", o.Errors, part)
				}
			}

			if len(server.Requests()) > 0 {
				t.Error("it asked the cluster")
			}
		})
	}
}
