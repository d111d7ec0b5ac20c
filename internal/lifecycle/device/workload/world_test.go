// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/workload"
)

const (
	uuidA = "GPU-aaaaaaaa-0000-4000-8000-000000000001"
	uuidB = "GPU-bbbbbbbb-0000-4000-8000-000000000002"
	uuidC = "GPU-cccccccc-0000-4000-8000-000000000003"

	busA = "0000:1f:00.0"

	here = "node-0"
)

// world is a cluster with one node that has GPUs, and the plug-ins that tell of them.
type world struct {
	*kubetest.Server

	t       *testing.T
	node    *workload.Node
	mode    workload.Mode
	present []string // UUIDs of the GPUs that the node really has
	told    []string // those that the plug-ins have found at their last start
	starts  int
	deaf    bool // plug-ins find nothing new
}

// inCluster runs a test on a world of its own, in virtual time.
func inCluster(t *testing.T, mode workload.Mode, test func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := kubetest.New(t, kubetest.InMemory())
		s.ServeDevices(map[string]string{"resourceslices": "v1", "resourceclaims": "v1", "devicetaintrules": "v1"})

		client, err := kube.New(kube.Config{Kubeconfig: s.Kubeconfig(), Dial: s.Dial})
		if err != nil {
			t.Fatal(err)
		}

		w := &world{Server: s, t: t, mode: mode, node: workload.New(client, here, mode, "")}
		w.start()
		s.Add("daemonsets", workload.DefaultNamespace, "nvidia-device-plugin-daemonset", map[string]any{})
		s.OnRequest(kubetest.Fault{Method: http.MethodDelete, Path: "/pods/", Do: func(r *http.Request) {
			if strings.Contains(r.URL.Path, "plugin") {
				w.start()
			}
		}})
		test(w)
	})
}

// start has a plug-in find what the node has.
func (w *world) start() {
	w.starts++

	if !w.deaf {
		w.told = slices.Clone(w.present)
	}

	w.tell()

	pod := kubetest.Pod{Node: here, Namespace: workload.DefaultNamespace}
	if w.mode == workload.DRA {
		pod.Name = fmt.Sprintf("nvidia-dra-driver-gpu-kubelet-plugin-%d", w.starts)
		pod.Labels = map[string]string{"app.kubernetes.io/name": "nvidia-dra-driver-gpu"}
	} else {
		pod.Name = fmt.Sprintf("nvidia-device-plugin-daemonset-%d", w.starts)
		pod.Owner = "DaemonSet/nvidia-device-plugin-daemonset"
	}

	w.AddPod(pod)
}

// tell has the API server show what the plug-ins found.
func (w *world) tell() {
	w.AddNode(kubetest.Node{Name: here, Ready: "True", Allocatable: map[string]string{"nvidia.com/gpu": fmt.Sprint(len(w.told))}})
	w.slice("slice", 2, w.told...)
}

func (w *world) slice(name string, generation int, uuids ...string) {
	devices := []any{}

	for _, u := range uuids {
		attributes := map[string]any{
			"uuid": map[string]any{"string": u}, "type": map[string]any{"string": "gpu"}, "index": map[string]any{"int": 0},
		}
		if u == uuidA {
			attributes["resource.kubernetes.io/pciBusID"] = map[string]any{"string": busA}
		}

		devices = append(devices, map[string]any{"name": "gpu-" + u[4:5], "attributes": attributes})
	}

	w.Add("resourceslices", "", name, map[string]any{"spec": map[string]any{
		"driver": "gpu.nvidia.com", "nodeName": here, "devices": devices,
		"pool": map[string]any{"name": here, "generation": generation, "resourceSliceCount": 1},
	}})
}

// claim has a pod use a GPU.
func (w *world) claim(name, uuid string, pods ...string) {
	users := []any{}
	for _, pod := range pods {
		users = append(users, map[string]any{"resource": "pods", "name": pod, "uid": pod})
	}

	given := map[string]any{"request": "gpu", "driver": "gpu.nvidia.com", "pool": here, "device": "gpu-" + uuid[4:5]}
	w.Add("resourceclaims", "team", name, map[string]any{"status": map[string]any{
		"allocation": map[string]any{"devices": map[string]any{"results": []any{given}}}, "reservedFor": users,
	}})
}

// rule is the taint of GPU A, as "key=value:effect of driver/pool/device"; empty: none.
func (w *world) rule() string {
	o := w.Object("devicetaintrules", "", "metal3-"+strings.TrimPrefix(uuidA, "GPU-")+"-taint")
	if o == nil {
		return ""
	}

	spec, _ := o["spec"].(map[string]any)
	taint, _ := spec["taint"].(map[string]any)
	where, _ := spec["deviceSelector"].(map[string]any)

	return fmt.Sprintf("%s=%s:%s of %s/%s/%s", taint["key"], taint["value"], taint["effect"], where["driver"], where["pool"], where["device"])
}
