// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remediate_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

type block = providertest.Map

// invoke invokes the action on a lab.
func invoke(t *testing.T, l acctest.Lab, config block) (progress, errs, warnings string) {
	t.Helper()

	s := providertest.NewServer(t, provider.WithTransport(l.Transport()), provider.WithLab(l.Lab))
	if text := providertest.Errors(s.Configure(t, block{"ironic": block{"endpoint": lab.Endpoint, "auth": "noauth"}})); text != "" {
		t.Fatal(text)
	}

	lines, diags := s.Invoke(t, "metal3_remediate", config)

	return strings.Join(lines, "\n"), providertest.Errors(diags), providertest.Warnings(diags)
}

func says(t *testing.T, text string, wants ...string) {
	t.Helper()

	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
}

func powers(l acctest.Lab) []string {
	return slices.DeleteFunc(l.Sent(), func(s string) bool { return !strings.Contains(s, "/states/power") })
}

// TestRemediate_onTheLab: without an API of the cluster, machines are switched off and on; what the
// cluster's apply is to do is noted; what must not be is refused.
func TestRemediate_onTheLab(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := acctest.NewLab(t, lab.Options{})
		core := l.Edge(t, 4)

		progress, errs, warnings := invoke(t, l, block{"cluster_id": "metal3/edge", "machine": "edge-w-0"})
		says(t, progress, "machine edge-w-0 on host", "power off", "power on", "is on again", "no workload_api")

		if errs+warnings != "" || len(powers(l)) != 2 {
			t.Errorf("%s%s; it sent %v", errs, warnings, l.Sent())
		}

		l.Mark()

		progress, errs, warnings = invoke(t, l, block{"cluster_id": "metal3/edge", "machine": "edge-w-0", "strategy": "replace"})
		says(t, progress, "next apply of its cluster")
		says(t, warnings, "is to be replaced", "metal3_cluster metal3/edge")

		if errs != "" || len(powers(l)) > 0 {
			t.Errorf("%s; it sent %v", errs, l.Sent())
		}

		if o := core.Apply(t.Context(), acctest.EdgeConfig()); o.Errors != "" || o.Action != "update" || core.Get("ready") != true {
			t.Errorf("the cluster's apply: %q: %s%s", o.Action, o.Errors, o.Warnings)
		}

		if got := core.Get("machines.edge-w-0.remediation_count"); got != int64(2) {
			t.Errorf("it was healed %v times", got)
		}

		l.Mark()

		for machine, want := range map[string]string{"edge-w-7": "no machine", "edge-cp-0": "would be lost"} {
			_, errs, _ = invoke(t, l, block{"cluster_id": "metal3/edge", "machine": machine, "strategy": "rebuild"})
			says(t, errs, want, "Nothing was changed")
		}

		_, errs, _ = invoke(t, l, block{"cluster_id": "metal3/core", "machine": "core-w-0"})
		says(t, errs, "no cluster metal3/core")

		if len(l.Sent()) > 0 {
			t.Errorf("refusals sent %v", l.Sent())
		}
	})
}

// TestRemediate_withTheClustersAPI fences a Node and waits until it is Ready.
func TestRemediate_withTheClustersAPI(t *testing.T) {
	t.Parallel()

	l := acctest.NewLab(t, lab.Options{Pace: 5 * time.Millisecond})
	core := l.Edge(t, 3)
	server := kubetest.New(t)

	id, _ := core.Get("machines.edge-w-1.provider_id").(string)
	server.AddNode(kubetest.Node{Name: "edge-w-1", ProviderID: id, Ready: "Unknown"})

	var switched atomic.Int64

	l.Ironic.Inject(ironic.Trouble{Match: "PUT /v1/nodes/*/states/power", Times: -1, Then: func() {
		if switched.Add(1) == 2 {
			server.SetReady("edge-w-1", "True")
		}
	}})

	config := block{"cluster_id": "metal3/edge", "machine": "edge-w-1", "timeout": "30s", "workload_api": block{"kubeconfig": string(server.Kubeconfig())}}

	progress, errs, warnings := invoke(t, l, config)
	says(t, progress, "fencing machine edge-w-1", "Node edge-w-1 is Ready (1 attempt)")

	if errs+warnings != "" || len(server.Writes()) < 2 {
		t.Errorf("%s%s; the API was asked for %v", errs, warnings, server.Writes())
	}

	if slices.ContainsFunc(server.Taints("edge-w-1"), func(s string) bool { return strings.Contains(s, "out-of-service") }) {
		t.Errorf("the fence is still there: %v", server.Taints("edge-w-1"))
	}

	server.SetReady("edge-w-1", "False")

	config["timeout"], config["retry_limit"] = "1s", 0
	_, errs, _ = invoke(t, l, config)
	says(t, errs, "1 attempt did not help", `Ready is "False"`, "The machine is switched on", "replace")

	if strings.Contains(errs, "PRIVATE KEY") {
		t.Error("it tells a secret")
	}
}

// TestRemediate_configurations that are refused before anything is asked.
func TestRemediate_configurations(t *testing.T) {
	t.Parallel()

	l := acctest.NewLab(t, lab.Options{})

	for name, c := range map[string]struct {
		config block
		says   string
	}{
		"no id of a cluster":     {block{"cluster_id": "edge", "machine": "m"}, "NAMESPACE/NAME"},
		"an id of too much":      {block{"cluster_id": "a/b/c", "machine": "m"}, "NAMESPACE/NAME"},
		"no machine":             {block{"cluster_id": "a/b", "machine": ""}, "machine"},
		"no strategy":            {block{"cluster_id": "a/b", "machine": "m", "strategy": "pray"}, "strategy"},
		"no time":                {block{"cluster_id": "a/b", "machine": "m", "timeout": "soon"}, "duration"},
		"too many retries":       {block{"cluster_id": "a/b", "machine": "m", "retry_limit": 11}, "retry_limit"},
		"two ways to the API":    {block{"cluster_id": "a/b", "machine": "m", "workload_api": block{"kubeconfig": "k", "kubeconfig_path": "/k"}}, "kubeconfig_path"},
		"no way to the API":      {block{"cluster_id": "a/b", "machine": "m", "workload_api": block{"context": "k"}}, "kubeconfig"},
		"a cluster of no fences": {block{"cluster_id": "a/b", "machine": "m", "fence": "maybe"}, "fence"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, errs, _ := invoke(t, l, c.config)
			says(t, errs, c.says)
		})
	}
}
