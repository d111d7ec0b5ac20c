// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package contract_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/drivers"
)

const train = "metal3_composable_gpu.train"

// TestAccContract_gpuLab attaches two GPUs, applies the sizes that the configuration's first
// line names, forgets the resource and imports it, and destroys all.
func TestAccContract_gpuLab(t *testing.T) {
	t.Parallel()

	w := newWorkspace(t, "gpu-lab")
	w.applies("")
	w.devices(2)
	w.outputs(map[string]any{"state": "Running"})

	w.applies("", "-var=size=4")
	w.devices(4)
	w.applies("", "-var=size=1")
	w.devices(1)

	id := w.machine() + "/gpu/A100"
	w.run("state", "rm", train)
	w.forget()
	w.run("import", "-var=size=1", train, id)
	// The connection is what only the user knows: an update in place that no device sees.
	w.applies("0 to add, 1 to change, 0 to destroy", "-var=size=1")
	w.devices(1)

	for _, line := range w.requests() {
		if strings.HasPrefix(line, "fabric.lab ") && !strings.HasPrefix(line, "fabric.lab GET ") && !strings.Contains(line, "/id_manager/") {
			t.Errorf("the import sent %s", line)
		}
	}

	w.run("destroy", "-auto-approve")
	w.left()
}

// TestAccContract_gpuLabOfEachFabric has the same configuration on the other managers.
func TestAccContract_gpuLabOfEachFabric(t *testing.T) {
	t.Parallel()

	for _, kind := range slices.DeleteFunc(drivers.Names(), func(name string) bool { return name == "fti_fm" }) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()

			w := newWorkspace(t, "gpu-lab")

			content, err := os.ReadFile(filepath.Join(w.dir, "main.tf"))
			if err != nil {
				t.Fatal(err)
			}

			const as = `lab = { dir = "${path.root}/.metal3-lab"`
			if !strings.Contains(string(content), as) {
				t.Fatalf("there is no %s", as)
			}

			w.write("main.tf", strings.Replace(string(content), as, as+`, pace = "100ms", fabric_type = "`+kind+`"`, 1))
			w.applies("")
			w.devices(2)
			w.applies("", "-var=size=3")
			w.devices(3)
			w.run("destroy", "-auto-approve")
			w.left()
			w.loggedOut()
		})
	}
}

// loggedOut wants every session with the manager ended: some services have few places.
func (w *workspace) loggedOut() {
	w.t.Helper()

	in, out := 0, 0

	for _, line := range w.requests() {
		switch {
		case strings.HasPrefix(line, "fabric.lab POST /redfish/v1/SessionService/Sessions "):
			in++
		case strings.HasPrefix(line, "fabric.lab DELETE /redfish/v1/SessionService/Sessions/"):
			out++
		}
	}

	if in != out {
		w.t.Errorf("%d sessions were begun and %d ended", in, out)
	}
}

// devices wants that many devices, all of them Online.
func (w *workspace) devices(want int) {
	w.t.Helper()

	var all []string
	if err := json.Unmarshal([]byte(w.run("output", "-json", "devices")), &all); err != nil {
		w.t.Fatal(err)
	}

	if len(all) != want || slices.ContainsFunc(all, func(s string) bool { return !strings.HasSuffix(s, " Online") }) {
		w.t.Errorf("devices are %v, want %d", all, want)
	}
}

// machine is the machine that the state names.
func (w *workspace) machine() string {
	w.t.Helper()

	doc, err := os.ReadFile(filepath.Join(w.dir, "terraform.tfstate"))
	if err != nil {
		w.t.Fatal(err)
	}

	var state struct {
		Resources []struct {
			Type      string
			Instances []struct {
				Attributes struct {
					Hosts []struct {
						MachineID string `json:"machine_id"`
					}
				}
			}
		}
	}

	if err := json.Unmarshal(doc, &state); err != nil {
		w.t.Fatal(err)
	}

	for _, r := range state.Resources {
		if r.Type == "metal3_composable_gpu" {
			return r.Instances[0].Attributes.Hosts[0].MachineID
		}
	}

	w.t.Fatal("the state has no GPUs")

	return ""
}
