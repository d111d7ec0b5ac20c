// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// labCluster is a cluster of which the lab's machines are nodes, with NVIDIA's plug-ins: they show the
// devices that the fabric has attached when they start.
type labCluster struct {
	*kubetest.Server

	t          *testing.T
	lab        acctest.Lab
	kubeconfig string // path

	mu     sync.Mutex
	starts int
}

func newLabCluster(t *testing.T, l acctest.Lab) *labCluster {
	t.Helper()

	c := &labCluster{Server: kubetest.New(t), t: t, lab: l, kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	c.ServeDevices(map[string]string{"resourceslices": "v1", "resourceclaims": "v1", "devicetaintrules": "v1"})
	c.Add("daemonsets", "gpu-operator", "nvidia-device-plugin-daemonset", Map{})

	if err := os.WriteFile(c.kubeconfig, c.Kubeconfig(), 0o600); err != nil {
		t.Fatal(err)
	}

	c.start()
	c.OnRequest(kubetest.Fault{Method: http.MethodDelete, Path: "plugin", Do: func(*http.Request) { c.start() }})

	return c
}

// serials are the devices of the lab's first machine.
func (c *labCluster) serials() []string {
	all, err := c.lab.Fabric.On("node-0")
	if err != nil {
		c.t.Error(err)
	}

	var out []string
	for _, d := range all {
		out = append(out, d.Serial)
	}

	slices.Sort(out)

	return out
}

// start has the plug-ins of both kinds start on the node, and show what is there.
func (c *labCluster) start() {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.starts++

	devices := []any{}
	for _, serial := range c.serials() {
		devices = append(devices, Map{"name": strings.ToLower(serial), "attributes": Map{"uuid": Map{"string": serial}, "productName": Map{"string": "NVIDIA A100"}}})
	}

	c.AddNode(kubetest.Node{Name: "edge-gpu-0", Ready: "True", Allocatable: map[string]string{"nvidia.com/gpu": fmt.Sprint(len(devices))}})
	c.Add("resourceslices", "", "edge-gpu-0", Map{"spec": Map{
		"driver": "gpu.nvidia.com", "nodeName": "edge-gpu-0", "devices": devices, "pool": Map{"name": "edge-gpu-0", "generation": c.starts, "resourceSliceCount": 1},
	}})
	c.AddPod(kubetest.Pod{
		Namespace: "nvidia-dra-driver-gpu", Name: fmt.Sprintf("nvidia-dra-driver-gpu-kubelet-plugin-%d", c.starts), Node: "edge-gpu-0",
		Labels: map[string]string{"app.kubernetes.io/name": "nvidia-dra-driver-gpu"}, Owner: "DaemonSet/nvidia-dra-driver-gpu-kubelet-plugin",
	})
	c.AddPod(kubetest.Pod{
		Namespace: "gpu-operator", Name: fmt.Sprintf("nvidia-device-plugin-daemonset-%d", c.starts), Node: "edge-gpu-0", Owner: "DaemonSet/nvidia-device-plugin-daemonset",
	})
}

// train has a pod use all GPUs of the node, or none any more.
func (c *labCluster) train(on bool) {
	if !on {
		c.Remove("resourceclaims", "team", "train")
		c.RemovePod("team", "train-0")

		return
	}

	given := []any{}
	for _, serial := range c.serials() {
		given = append(given, Map{"request": "gpu", "driver": "gpu.nvidia.com", "pool": "edge-gpu-0", "device": strings.ToLower(serial)})
	}

	c.Add("resourceclaims", "team", "train", Map{"status": Map{
		"allocation": Map{"devices": Map{"results": given}}, "reservedFor": []any{Map{"resource": "pods", "name": "train-0", "uid": "1"}},
	}})
	c.AddPod(kubetest.Pod{Namespace: "team", Name: "train-0", Node: "edge-gpu-0", Limits: map[string]string{"nvidia.com/gpu": fmt.Sprint(len(given))}})
}

// config takes the hosts from a cluster's machines, in the form of metal3_cluster.x.machines.
func (c *labCluster) config(size int, kind, connection, more string) string {
	return fmt.Sprintf(`
provider "metal3" {
  fabric = { type = "fti_fm" }
}

locals {
  fabric_ids = { "host-0" = %q }
  machines   = { "edge-gpu-0" = { name = "node-0", pool = "gpu", host_id = "host-0", node_name = "edge-gpu-0" } }
}

resource "metal3_composable_gpu" "this" {
  model = "A100"
  size  = %d
  hosts = [for m in local.machines : { machine_id = local.fabric_ids[m.host_id], name = m.name, node_name = m.node_name%s } if m.pool == "gpu"]

  workload = { kubeconfig_path = %q, resource_type = %q }
%s
}
`, machine.ID(0), size, connection, c.kubeconfig, kind, more)
}

// TestAccGPU_cluster is the life of GPUs on a node of a cluster: a pod that uses them keeps
// them there, and the cluster shows them or no longer does.
func TestAccGPU_cluster(t *testing.T) {
	t.Parallel()

	ssh := `, node = { host = "node-0.lab", user = "root" }`

	for name, how := range map[string][2]string{
		"DRA": {"dra", ""}, "DRA with a connection": {"dra", ssh}, "device plug-in": {"device_plugin", ""}, "device plug-in with a connection": {"device_plugin", ssh},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			l := acctest.NewAcc(t)
			c := newLabCluster(t, l)
			of := func(size int, more string) string { return c.config(size, how[0], how[1], more) }

			busy := resource.TestStep{
				PreConfig: func() { c.train(true) }, Config: of(0, ""), ExpectError: regexp.MustCompile(`(?s)team/train-0.*Nothing\s+was\s+detached`),
			}
			free := step(of(1, ""), plancheck.ResourceActionUpdate, 1)
			free.PreConfig = func() { c.train(false) }

			var undo func()

			silent := step(of(1, "refresh_node = true"), plancheck.ResourceActionNoop, 1)
			silent.PreConfig = func() { undo = c.OnRequest(kubetest.Fault{Status: http.StatusForbidden, Message: "no longer"}) }

			dead := resource.TestStep{
				Config: of(0, "refresh_node = true"), ExpectError: regexp.MustCompile(`(?is)workload\s+API.*skip_drain`),
			}
			gone := step(of(0, ""), plancheck.ResourceActionUpdate, 0)
			gone.PreConfig = func() { undo() }

			l.Acc(t,
				step(of(2, ""), plancheck.ResourceActionCreate, 2), busy, free,
				step(of(1, "refresh_node = true"), plancheck.ResourceActionUpdate, 1), silent, dead, gone,
			)

			if rules := c.rules(); len(rules) != 0 || len(c.serials()) != 0 {
				t.Errorf("left: taints %v, devices %v", rules, c.serials())
			}
		})
	}
}

// rules are the writes to taints that were not taken back.
func (c *labCluster) rules() []string {
	open := map[string]bool{}

	for _, r := range c.Requests() {
		if name, ok := strings.CutPrefix(r.Path, "/apis/resource.k8s.io/v1/devicetaintrules/"); ok && r.Method == http.MethodDelete {
			delete(open, name)
		} else if _, name, found := strings.Cut(r.Body, `"metadata":{"name":"`); found && r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/devicetaintrules") {
			name, _, _ = strings.Cut(name, `"`)
			open[name] = true
		}
	}

	var out []string
	for name := range open {
		out = append(out, name)
	}

	return out
}
