// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"strings"
)

// containerRoot is where the driver container has its root.
const containerRoot = "/run/nvidia/driver"

// The exit statuses that a shell has for what it cannot run, and nvidia-smi for no device.
const (
	exitNoCommand = 127
	exitNoDevice  = 6
)

// say is an answer that worked.
func say(format string, args ...any) Answer { return Answer{Stdout: fmt.Sprintf(format, args...)} }

// refuse is an answer with words on standard error.
func refuse(exit int, format string, args ...any) Answer {
	return Answer{Exit: exit, Stderr: fmt.Sprintf(format, args...) + "\n"}
}

func notFound(program string) Answer { return refuse(exitNoCommand, "sh: 1: %s: not found", program) }

// answer does a request.
func (v *view) answer(r request, stdin []byte) Answer {
	text := r.String()
	v.note(text)

	for begin, a := range v.Answers {
		if strings.HasPrefix(text, begin) {
			return a
		}
	}

	if r.script != "" {
		return v.runScript(r, stdin)
	}

	args, inContainer := r.args, false

	if len(args) > 2 && args[0] == "chroot" && args[1] == containerRoot {
		if v.Driver != DriverContainer {
			return refuse(125, "chroot: cannot change root directory to '%s': No such file or directory", containerRoot)
		}

		args, inContainer = args[2:], true
	}

	return v.program(args, inContainer)
}

func (v *view) program(args []string, inContainer bool) Answer {
	switch args[0] {
	case "nvidia-smi", "modinfo", "nvidia-persistenced":
		// The driver's own: only where the driver is.
		if v.Driver == DriverNone || (v.Driver == DriverContainer) != inContainer {
			if args[0] == "modinfo" {
				return refuse(1, "modinfo: ERROR: Module nvidia not found.")
			}

			return notFound(args[0])
		}
	}

	switch args[0] {
	case "nvidia-smi":
		return v.smi(args[1:])
	case "modinfo":
		return say("filename:       /lib/modules/6.1.0/updates/dkms/nvidia.ko\nversion:        550.54.15\n")
	case "nvidia-persistenced":
		v.Running = true

		return Answer{}
	case "lsmod", "rmmod", "modprobe":
		return v.module(args)
	case "systemctl":
		return v.service(args[1:])
	case "cxl", "daxctl":
		return v.cxlTool(args)
	case "cat":
		return v.cat(args[1:])
	default:
		return v.basic(args)
	}
}

// basic are the commands that every system has, as far as somebody may try a connection with them.
func (v *view) basic(args []string) Answer {
	switch args[0] {
	case "true":
		return Answer{}
	case "false":
		return Answer{Exit: 1}
	case "echo":
		return say("%s\n", strings.Join(args[1:], " "))
	case "hostname":
		return say("%s\n", v.name)
	case "uname":
		return say("Linux %s 6.1.0-lab x86_64 GNU/Linux\n", v.name)
	case "id":
		switch strings.Join(args[1:], " ") {
		case "-u":
			return say("0\n")
		case "-un":
			return say("root\n")
		}

		return say("uid=0(root) gid=0(root) groups=0(root)\n")
	default:
		return notFound(args[0])
	}
}

// service is systemctl, for the one service that there is.
func (v *view) service(args []string) Answer {
	if len(args) != 2 || strings.TrimSuffix(args[1], ".service") != "nvidia-persistenced" || v.Driver != DriverHost {
		if len(args) > 0 && args[0] == "is-active" {
			return Answer{Stdout: "inactive\n", Exit: 3}
		}

		return refuse(5, "Failed: Unit %s not found.", strings.Join(args, " "))
	}

	switch args[0] {
	case "is-active":
		if !v.Running {
			return Answer{Stdout: "inactive\n", Exit: 3}
		}

		return say("active\n")
	case "is-enabled":
		if !v.Persistenced {
			return Answer{Stdout: "disabled\n", Exit: 1}
		}

		return say("enabled\n")
	case "stop", "start", "restart":
		v.Running = args[0] != "stop"

		return Answer{}
	default:
		return refuse(1, "Unknown command verb %s.", args[0])
	}
}

// parts of the driver, each used by the ones before it.
var parts = []string{"nvidia_drm", "nvidia_modeset", "nvidia_uvm", "nvidia"}

func (v *view) loaded(module string) bool {
	for _, m := range v.Unloaded {
		if m == module {
			return false
		}
	}

	return v.Driver != DriverNone
}

// usedBy is what keeps a module from being unloaded.
func (v *view) usedBy(module string) string {
	switch module {
	case "nvidia_drm":
		if v.Modeset {
			return "nvidia_drm is in use"
		}
	case "nvidia_modeset":
		if v.loaded("nvidia_drm") {
			return "nvidia_modeset is in use by: nvidia_drm"
		}
	case "nvidia_uvm":
		if v.computes() {
			return "nvidia_uvm is in use"
		}
	case "nvidia":
		if len(v.inKernel()) > 0 || v.loaded("nvidia_uvm") || v.loaded("nvidia_modeset") {
			return "nvidia is in use"
		}
	}

	return ""
}

// computes tells whether any process computes on a GPU of the machine.
func (v *view) computes() bool {
	for _, c := range v.inKernel() {
		for _, p := range v.Processes[c.Serial] {
			if !p.Idle {
				return true
			}
		}
	}

	return false
}

func (v *view) module(args []string) Answer {
	if args[0] == "lsmod" {
		var b strings.Builder

		b.WriteString("Module                  Size  Used by\n")

		for _, m := range append([]string{"ext4"}, parts...) {
			if m == "ext4" || v.loaded(m) {
				fmt.Fprintf(&b, "%-19s %8d  0\n", m, 65536)
			}
		}

		return say("%s", b.String())
	}

	module := strings.ReplaceAll(args[len(args)-1], "-", "_")
	known := false

	for _, p := range parts {
		known = known || p == module
	}

	switch {
	case len(args) < 2 || !known || v.Driver == DriverNone:
		return refuse(1, "%s: FATAL: Module %s not found.", args[0], module)
	case args[0] == "modprobe" && args[1] != "-r":
		v.load(module)

		return Answer{}
	case !v.loaded(module):
		return refuse(1, "%s: ERROR: Module %s is not currently loaded", args[0], module)
	}

	if why := v.usedBy(module); why != "" {
		return refuse(1, "%s: ERROR: Module %s", args[0], why)
	}

	v.Unloaded = append(v.Unloaded, module)

	return Answer{}
}

// load loads a module and what it needs.
func (v *view) load(module string) {
	need := map[string]bool{module: true, "nvidia": true}
	if module == "nvidia_drm" {
		need["nvidia_modeset"] = true
	}

	kept := v.Unloaded[:0:0]

	for _, m := range v.Unloaded {
		if !need[m] {
			kept = append(kept, m)
		}
	}

	v.Unloaded = kept
}
