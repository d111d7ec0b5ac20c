// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"slices"
	"strings"
)

// smi is nvidia-smi. Its words are those of the 550 driver, as far as anybody reads them.
func (v *view) smi(args []string) Answer {
	if len(args) > 0 && args[0] == "drain" {
		return v.drain(args[1:])
	}

	v.load("nvidia") // the tool does that by itself
	v.initialise()

	cards := v.visible()

	if len(args) >= 2 && args[0] == "-i" {
		cards = slices.DeleteFunc(cards, func(c card) bool { return !c.is(args[1]) })
		args = args[2:]
	}

	if len(cards) == 0 {
		return Answer{Stdout: "No devices were found\n", Exit: exitNoDevice}
	}

	switch {
	case len(args) == 0, len(args) == 1 && args[0] == "-L":
		return v.list(cards)
	case len(args) == 2 && args[0] == "-pm":
		return v.persistence(cards, args[1])
	case strings.HasPrefix(args[0], "--query-gpu="):
		return v.query(cards, strings.TrimPrefix(args[0], "--query-gpu="), args[1:])
	case strings.HasPrefix(args[0], "--query-compute-apps="):
		return v.apps(cards, strings.TrimPrefix(args[0], "--query-compute-apps="))
	default:
		return Answer{Stdout: "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n", Exit: 2}
	}
}

// driverBus is a PCI address as nvidia-smi writes it.
func (c card) driverBus() string { return "0000" + strings.ToUpper(c.Slot) }

// is tells whether a UUID or a PCI address is this GPU's.
func (c card) is(id string) bool {
	domain, rest, ok := strings.Cut(id, ":")
	for len(domain) > 4 && domain[0] == '0' {
		domain = domain[1:]
	}

	return strings.EqualFold(id, c.Serial) || ok && strings.EqualFold(domain+":"+rest, c.Slot)
}

func (v *view) list(cards []card) Answer {
	var b strings.Builder
	for i, c := range cards {
		fmt.Fprintf(&b, "GPU %d: NVIDIA %s (UUID: %s)\n", i, c.Model, c.Serial)
	}

	return say("%s", b.String())
}

func (v *view) persistence(cards []card, to string) Answer {
	var b strings.Builder

	for _, c := range cards {
		v.edit(c.ID, func(g *GPU) { g.Persistence = to == "1" })
		fmt.Fprintf(&b, "%s persistence mode for GPU %s.\n", map[bool]string{true: "Enabled", false: "Disabled"}[to == "1"], c.driverBus())
	}

	return say("%sAll done.\n", b.String())
}

func (v *view) query(cards []card, fields string, rest []string) Answer {
	var b strings.Builder

	if !slices.ContainsFunc(rest, func(s string) bool { return strings.Contains(s, "noheader") }) {
		b.WriteString(strings.ReplaceAll(fields, ",", ", ") + "\n")
	}

	for i, c := range cards {
		g := v.GPUs[c.ID]

		for j, f := range strings.Split(fields, ",") {
			if j > 0 {
				b.WriteString(", ")
			}

			switch strings.TrimSpace(f) {
			case "gpu_uuid", "uuid":
				b.WriteString(c.Serial)
			case "pci.bus_id", "gpu_bus_id":
				b.WriteString(c.driverBus())
			case "index":
				fmt.Fprint(&b, i)
			case "name", "gpu_name":
				b.WriteString("NVIDIA " + c.Model)
			case "persistence_mode":
				b.WriteString(map[bool]string{true: "Enabled", false: "Disabled"}[g.Persistence])
			default:
				return Answer{Stdout: fmt.Sprintf("Field %q is not a valid field to query.\n", f), Exit: 2}
			}
		}

		b.WriteString("\n")
	}

	return say("%s", b.String())
}

func (v *view) apps(cards []card, fields string) Answer {
	var b strings.Builder

	for _, c := range cards {
		for _, p := range v.Processes[c.Serial] {
			if p.Idle {
				continue
			}

			line := make([]string, 0, 3)

			for f := range strings.SplitSeq(fields, ",") {
				switch strings.TrimSpace(f) {
				case "gpu_uuid":
					line = append(line, c.Serial)
				case "pid":
					line = append(line, fmt.Sprint(p.PID))
				case "process_name", "name":
					line = append(line, p.Name)
				default:
					return Answer{Stdout: fmt.Sprintf("Field %q is not a valid field to query.\n", f), Exit: 2}
				}
			}

			b.WriteString(strings.Join(line, ", ") + "\n")
		}
	}

	return say("%s", b.String())
}

// drain is nvidia-smi drain -p <bus id> -q, -m 0|1 or -r. A GPU that drains is still there for it.
func (v *view) drain(args []string) Answer {
	if len(args) < 3 || args[0] != "-p" {
		return Answer{Stdout: "Invalid combination of input arguments.\n", Exit: 2}
	}

	i := slices.IndexFunc(v.inKernel(), func(c card) bool { return c.is(args[1]) })
	if i < 0 {
		return Answer{Stdout: fmt.Sprintf("Failed to find GPU %s: Not Found\n", args[1]), Exit: exitNoDevice}
	}

	c := v.inKernel()[i]
	g := v.GPUs[c.ID]

	switch {
	case args[2] == "-q":
		return say("GPU %s\n    Drain State: %s\n", c.driverBus(), map[bool]string{true: "Draining", false: "Not Draining"}[g.Draining])
	case args[2] == "-m" && len(args) == 4 && args[3] == "0":
		v.edit(c.ID, func(g *GPU) { g.Draining = false })

		return say("Successfully set GPU %s drain state to: not draining.\n", c.driverBus())
	case args[2] == "-m" && len(args) == 4:
		if v.FailDrain || g.Persistence || v.Running {
			return Answer{Stdout: fmt.Sprintf("Failed to set GPU %s drain state to: draining: In use by another client\n", c.driverBus()), Exit: 19}
		}

		v.edit(c.ID, func(g *GPU) { g.Draining = true })

		return say("Successfully set GPU %s drain state to: draining.\n", c.driverBus())
	case args[2] == "-r":
		return v.driverRemove(c, g)
	default:
		return Answer{Stdout: "Invalid combination of input arguments.\n", Exit: 2}
	}
}

// driverRemove is the driver's own way to take a GPU from the kernel: it works neither in a
// virtual machine nor for the last GPU, nor while anybody uses the GPU, which goes on to drain.
func (v *view) driverRemove(c card, g GPU) Answer {
	switch {
	case v.FailRemove, v.VM, len(v.inKernel()) == 1:
		return Answer{Stdout: fmt.Sprintf("Failed to remove GPU %s: Unknown Error\n", c.driverBus()), Exit: 255}
	case len(v.Processes[c.Serial]) > 0, v.Running, g.Persistence:
		return Answer{Stdout: fmt.Sprintf("Failed to remove GPU %s: In use by another client\n", c.driverBus()), Exit: 19}
	}

	v.edit(c.ID, func(g *GPU) { g.Removed = true })

	return say("Successfully removed GPU %s.\n", c.driverBus())
}
