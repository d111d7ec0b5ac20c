// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpukill_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// kernel plays the kernel of a host whose files are in a folder: it shows what the fabric
// attached to the machine, and lets go of what it is told to.
type kernel struct {
	t    *testing.T
	far  *far
	root string

	mu      sync.Mutex
	hotplug bool            // new devices are shown at once, not only after a rescan
	removed map[string]bool // devices that were let go of and are still attached
	rescans int
}

// The machine of these tests.
var gpuHost = machine.Name(0)

// boot starts a kernel in an empty folder; it ends with the test.
func boot(t *testing.T, f *far, root string) *kernel {
	t.Helper()

	k := &kernel{t: t, far: f, root: root, hotplug: true, removed: map[string]bool{}}

	for _, dir := range []string{"proc/nvidia/gpus", "pci/devices", "gpu"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}

	k.put("pci/rescan", "")
	k.put("proc/nvidia/version", "NVRM version\n")
	k.put("modules", "nvidia_drm\nnvidia_modeset\nnvidia_uvm\nnvidia\n")
	k.put("persistenced", "")
	k.put("apps", "")
	k.put("calls", "")

	ends, ended := make(chan struct{}), make(chan struct{})

	go func() {
		defer close(ended)

		for {
			select {
			case <-ends:
				return
			case <-time.After(20 * time.Millisecond):
				k.tick()
			}
		}
	}()

	t.Cleanup(func() {
		close(ends)
		<-ended
	})

	return k
}

// shows decides whether new devices are shown at once.
func (k *kernel) shows(hotplug bool) {
	k.mu.Lock()
	defer k.mu.Unlock()

	k.hotplug = hotplug
}

// scans are the rescans so far.
func (k *kernel) scans() int {
	k.mu.Lock()
	defer k.mu.Unlock()

	return k.rescans
}

func (k *kernel) put(name, text string) {
	if err := os.WriteFile(filepath.Join(k.root, name), []byte(text), 0o666); err != nil {
		k.t.Error(err)
	}
}

func (k *kernel) rm(name string) {
	if err := os.RemoveAll(filepath.Join(k.root, name)); err != nil {
		k.t.Error(err)
	}
}

func (k *kernel) get(name string) string {
	raw, _ := os.ReadFile(filepath.Join(k.root, name)) // a file that is not there is empty

	return strings.TrimSpace(string(raw))
}

func (k *kernel) has(name string) bool {
	_, err := os.Stat(filepath.Join(k.root, name))

	return err == nil
}

// bus are the addresses of the devices that the kernel has.
func (k *kernel) bus() []string {
	entries, err := os.ReadDir(filepath.Join(k.root, "pci/devices"))
	if err != nil {
		k.t.Error(err)
	}

	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}

	return all
}

// tick does what has become due.
func (k *kernel) tick() {
	all, err := k.far.On(gpuHost)
	if err != nil {
		k.t.Error(err)

		return
	}

	k.mu.Lock()
	defer k.mu.Unlock()

	all = slices.DeleteFunc(all, func(d hardware.Device) bool { return !d.Present() })
	at := func(slot string) int {
		return slices.IndexFunc(all, func(d hardware.Device) bool { return d.Slot == slot })
	}

	for _, slot := range k.bus() {
		i, told := at(slot), k.get("pci/devices/"+slot+"/remove") != ""

		switch {
		case i < 0 || all[i].Serial != k.get("gpu/"+slot+"/uuid"):
			k.t.Errorf("the fabric took the device at %s, which the kernel had not let go of", slot)
			k.drop(slot)
		case told:
			k.removed[all[i].ID] = true
			k.drop(slot)
		}
	}

	for id := range k.removed {
		if !slices.ContainsFunc(all, func(d hardware.Device) bool { return d.ID == id }) {
			delete(k.removed, id)
		}
	}

	rescan := k.get("pci/rescan") != ""
	if rescan {
		k.rescans++
		k.put("pci/rescan", "")
		clear(k.removed)
	}

	for _, d := range all {
		if (rescan || k.hotplug && !k.removed[d.ID]) && !k.has("pci/devices/"+d.Slot) {
			k.plug(d)
		}
	}
}

// plug makes a device known, which the driver initialises later.
func (k *kernel) plug(d hardware.Device) {
	minor, taken := 0, map[string]bool{}
	for _, slot := range k.bus() {
		taken[k.get("gpu/"+slot+"/minor")] = true
	}

	for taken[strconv.Itoa(minor)] {
		minor++
	}

	for _, dir := range []string{"gpu/", "proc/nvidia/gpus/", "pci/devices/"} {
		if err := os.MkdirAll(filepath.Join(k.root, dir+d.Slot), 0o755); err != nil {
			k.t.Error(err)
		}
	}

	k.put("gpu/"+d.Slot+"/uuid", d.Serial)
	k.put("proc/nvidia/gpus/"+d.Slot+"/information", fmt.Sprintf(
		"Model: \t\t NVIDIA %s\nGPU UUID: \t GPU-????????-????-????-????-????????????\nBus Location: \t %s\nDevice Minor: \t %d\n", d.Model, d.Slot, minor))
	k.put("pci/devices/"+d.Slot+"/class", "0x030200\n")
	k.put("pci/devices/"+d.Slot+"/remove", "")
	k.put("pci/devices/"+d.Slot+"/vendor", "0x10de\n")
	k.put("gpu/"+d.Slot+"/minor", strconv.Itoa(minor)) // last: with it a tool takes the device for whole
}

func (k *kernel) drop(slot string) {
	k.rm("gpu/" + slot + "/minor")

	for _, dir := range []string{"pci/devices/", "proc/nvidia/gpus/", "gpu/"} {
		k.rm(dir + slot)
	}
}
