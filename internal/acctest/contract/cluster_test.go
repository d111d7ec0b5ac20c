// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package contract_test

import (
	"encoding/json"
	"strings"
	"testing"
)

const edge = "metal3_cluster.edge"

// TestAccContract_clusterLab makes a cluster, applies the changes that the configuration's first
// lines name, forgets it and imports it, and destroys all.
func TestAccContract_clusterLab(t *testing.T) {
	t.Parallel()

	w := newWorkspace(t, "cluster-lab")
	w.run("apply", "-auto-approve", "-target=metal3_baremetal_host.pool")
	w.foresees(map[string]string{"edge-cp-0": "192.0.2.100", "edge-w-0": "192.0.2.110", "edge-w-1": "192.0.2.111"})

	w.applies("")
	w.outputs(map[string]any{"addresses": map[string]any{"edge-cp-0": "192.0.2.100", "edge-w-0": "192.0.2.110", "edge-w-1": "192.0.2.111"}})

	w.applies("", "-var=workers=4")
	w.applies("loses edge-w-1, edge-w-2, edge-w-3", "-var=workers=1")
	w.outputs(map[string]any{"addresses": map[string]any{"edge-cp-0": "192.0.2.100", "edge-w-0": "192.0.2.110"}})

	w.applies("Disks of edge-w-0 of cluster edge will be overwritten", "-var=workers=1", "-var=image="+newImage)
	w.importsCluster()

	w.run("destroy", "-auto-approve", "-var=workers=1", "-var=image="+newImage)
	w.left()
}

// importsCluster forgets the cluster and imports it: what only the configuration says is an update
// in place that changes nothing on a host.
func (w *workspace) importsCluster() {
	w.t.Helper()

	vars := []string{"-var=workers=1", "-var=image=" + newImage}

	w.run("state", "rm", edge)
	w.run(append(append([]string{"import"}, vars...), edge, "metal3/edge")...)
	w.forget()

	said := w.run(append([]string{"apply", "-auto-approve"}, vars...)...)
	if !strings.Contains(said, "0 added, 1 changed, 0 destroyed") {
		w.t.Errorf("after the import it says\n%s", said)
	}

	for _, line := range w.requests() {
		if parts := strings.Fields(line); parts[1] != "GET" && parts[1] != "PATCH" || strings.Contains(line, "/states/") {
			w.t.Errorf("the import sent %s", line)
		}
	}

	w.empty(vars...)
}

// foresees wants names and addresses of machines in a plan.
func (w *workspace) foresees(want map[string]string, args ...string) {
	w.t.Helper()
	w.run(append([]string{"plan", "-out=tfplan"}, args...)...)

	var plan struct {
		Changes map[string]struct{ After map[string]string } `json:"output_changes"`
	}

	if err := json.Unmarshal([]byte(w.run("show", "-json", "tfplan")), &plan); err != nil {
		w.t.Fatal(err)
	}

	for machine, address := range want {
		if got := plan.Changes["addresses"].After[machine]; got != address {
			w.t.Errorf("%s is planned with %q, want %s: %v", machine, got, address, plan.Changes["addresses"].After)
		}
	}
}
