// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
)

// runScript plays the provider's named scripts. What each prints is said where it is written.
func (v *view) runScript(r request, stdin []byte) Answer {
	switch r.script {
	case "gpu-driver":
		return v.facts()
	case "gpu-present":
		return v.present()
	case "gpu-pci":
		return v.pci()
	case "gpu-holders":
		return v.holders(r.param(1))
	case "sysfs-remove":
		return v.sysfsRemove(r.param(0))
	case "sysfs-removing":
		return v.sysfsRemoving(r.param(0))
	case "pci-rescan":
		v.rescan()

		return Answer{}
	case "device-file-remove":
		return v.removeFile(r.param(0))
	case "persistenced-runs":
		if !v.Running || v.Driver != DriverContainer {
			return say("none\n")
		}

		return say("running\n")
	case "persistenced-stop":
		if !v.Running || v.Driver != DriverContainer {
			return say("none\n")
		}

		v.Running = false

		return say("stopped\n")
	case "cxl-list":
		return v.cxlList()
	case "cxl-regions":
		return v.cxlRegions(r.param(0))
	case "cxl-holders":
		return Answer{} // its memory is the system's, never a file's
	case "write-file":
		return v.writeFile(r, stdin)
	default:
		return refuse(exitNoCommand, "the lab's machines have no shell: they know the provider's own scripts, not this one")
	}
}

func (v *view) facts() Answer {
	var b strings.Builder

	switch v.Driver {
	case DriverHost:
		b.WriteString("smi host\nmodule host\n")
	case DriverContainer:
		b.WriteString("smi container\nmodule container\n")
	}

	if v.loaded("nvidia") {
		b.WriteString("loaded\n")
	}

	if v.loaded("nvidia_drm") {
		fmt.Fprintf(&b, "modeset %s\n", map[bool]string{true: "Y", false: "N"}[v.Modeset])
	}

	if v.VM {
		b.WriteString("hypervisor\n")
	}

	if v.Persistenced && v.Driver == DriverHost {
		b.WriteString("persistenced\n")
	}

	return say("%s", b.String())
}

// information is /proc/driver/nvidia/gpus/<bus id>/information.
func (v *view) information(c card) string {
	g, uuid := v.GPUs[c.ID], c.Serial
	if !g.Initialised {
		uuid = "GPU-????????-????-????-????-????????????"
	}

	return fmt.Sprintf("Model: \t\t NVIDIA %s\nIRQ:   \t\t 11\nGPU UUID: \t %s\nVideo BIOS: \t 92.00.45.00.03\nBus Type: \t PCIe\n"+
		"DMA Size: \t 47 bits\nBus Location: \t %s\nDevice Minor: \t %d\nGPU Excluded:\t No\n", c.Model, uuid, c.Slot, g.Minor)
}

func (v *view) present() Answer {
	var b strings.Builder
	for _, c := range v.inKernel() {
		fmt.Fprintf(&b, "gpu %s\n%s", c.Slot, v.information(c))
	}

	return say("%s", b.String())
}

func (v *view) pci() Answer {
	var b strings.Builder
	for _, c := range v.onBus() {
		driver := v.GPUs[c.ID].Foreign

		switch {
		case driver != "":
		case v.loaded("nvidia"):
			driver = "nvidia"
		default:
			driver = "-"
		}

		fmt.Fprintf(&b, "%s 0x10de 0x030200 %s\n", c.Slot, driver)
	}

	return say("%s", b.String())
}

// holders are the processes that hold a device file; the persistence daemon holds all of them.
func (v *view) holders(minor string) Answer {
	var b strings.Builder

	for _, c := range v.inKernel() {
		if strconv.Itoa(v.GPUs[c.ID].Minor) != minor {
			continue
		}

		if v.Running {
			b.WriteString("613 nvidia-persiste\n")
		}

		for _, p := range v.Processes[c.Serial] {
			comm := path.Base(p.Name)
			fmt.Fprintf(&b, "%d %s\n", p.PID, comm[:min(len(comm), 15)])
		}
	}

	return say("%s", b.String())
}

// sysfsRemove is a write to the device's file "remove". It waits for whoever uses the device,
// and for the driver's parts where no other GPU is left.
func (v *view) sysfsRemove(bus string) Answer {
	all := v.onBus()

	i := slices.IndexFunc(all, func(c card) bool { return c.Slot == bus })
	if i < 0 {
		return say("gone\n")
	}

	blocked := v.holds(all[i])

	v.edit(all[i].ID, func(g *GPU) { g.Removed, g.Blocked = !blocked, blocked })

	if blocked {
		return say("running\n")
	}

	return say("gone\n")
}

// holds tells whether somebody keeps the kernel from the removal of a GPU: a virtual machine
// where another driver has it.
func (v *view) holds(c card) bool {
	used := v.RemoveBlocks || len(v.Processes[c.Serial]) > 0

	if v.Driver == DriverNone || v.GPUs[c.ID].Foreign != "" {
		return used
	}

	last := len(v.inKernel()) == 1 && (v.loaded("nvidia_uvm") || v.loaded("nvidia_drm"))

	return used || last || v.Running
}

// sysfsRemoving tells how a removal stands, and begins none.
func (v *view) sysfsRemoving(bus string) Answer {
	all := v.onBus()

	i := slices.IndexFunc(all, func(c card) bool { return c.Slot == bus })

	switch {
	case i < 0:
		return say("gone\n")
	case v.GPUs[all[i].ID].Blocked:
		return say("running\n")
	default:
		return say("idle\n")
	}
}

func (v *view) removeFile(minor string) Answer {
	for _, c := range v.inKernel() {
		if strconv.Itoa(v.GPUs[c.ID].Minor) == minor {
			return say("kept\n")
		}
	}

	for _, c := range v.gpus {
		if strconv.Itoa(v.GPUs[c.ID].Minor) == minor {
			v.edit(c.ID, func(g *GPU) { g.File = false })
		}
	}

	return say("removed\n")
}

// cat shows the files that there are.
func (v *view) cat(args []string) Answer {
	var b strings.Builder

	for _, name := range args {
		if name == "--" {
			continue
		}

		text, ok := v.file(name)
		if !ok {
			return refuse(1, "cat: '%s': No such file or directory", name)
		}

		b.WriteString(text)
	}

	return say("%s", b.String())
}

func (v *view) file(name string) (string, bool) {
	if f, ok := v.Files[name]; ok {
		return string(f.Data), true
	}

	for _, c := range v.inKernel() {
		if name == "/proc/driver/nvidia/gpus/"+c.Slot+"/information" {
			return v.information(c), true
		}
	}

	switch name {
	case "/etc/hostname":
		return v.name + "\n", true
	case "/etc/os-release":
		return "PRETTY_NAME=\"Lab node\"\nID=debian\nVERSION_ID=\"12\"\n", true
	case "/etc/machine-id":
		return strings.ReplaceAll(hardware.UUID("machine "+v.name), "-", "") + "\n", true
	default:
		return "", false
	}
}

// writeFile is the provider's way to replace a file: $2 the file, $3 owner, $4 mode, $5 length.
func (v *view) writeFile(r request, stdin []byte) Answer {
	if n, err := strconv.Atoi(r.param(4)); err != nil || n != len(stdin) {
		return refuse(1, "%d of %s bytes came", len(stdin), r.param(4))
	}

	if v.Files == nil {
		v.Files = map[string]File{}
	}

	v.Files[r.param(1)] = File{Data: stdin, Owner: r.param(2), Mode: r.param(3)}

	return Answer{}
}
