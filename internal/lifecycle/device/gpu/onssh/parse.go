// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onssh

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/hostcmd"
)

// facts are what scriptDriver tells.
type facts struct {
	hostSMI, containerSMI       bool
	hostModule, containerModule bool
	loaded                      bool
	modeset                     bool
	hypervisor                  bool
	persistenced                bool
}

// driver tells where the driver is. A module that is loaded belongs to the one place that
// has the tools.
func (f facts) driver() gpu.Driver {
	switch {
	case f.hostSMI && f.hostModule:
		return gpu.DriverHost
	case f.containerSMI && (f.containerModule || f.loaded):
		return gpu.DriverContainer
	case f.hostSMI && f.loaded:
		return gpu.DriverHost
	default:
		return gpu.DriverNone
	}
}

// parseFacts reads what scriptDriver prints; what it does not know it passes over.
func parseFacts(out string) facts {
	var f facts

	known := map[string]*bool{
		"smi host": &f.hostSMI, "smi container": &f.containerSMI,
		"module host": &f.hostModule, "module container": &f.containerModule,
		"loaded": &f.loaded, "modeset Y": &f.modeset, "modeset 1": &f.modeset,
		"hypervisor": &f.hypervisor, "persistenced": &f.persistenced,
	}

	for line := range lines(out) {
		if fact := known[line]; fact != nil {
			*fact = true
		}
	}

	return f
}

// lines yields the lines of a text that are not blank, trimmed.
func lines(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && !yield(line) {
				return
			}
		}
	}
}

// noDevices is what nvidia-smi says on a host without a GPU, with an exit status that
// depends on its version.
const noDevices = "no devices were found"

// isNone reports whether nvidia-smi says that there is no GPU, and nothing else.
func isNone(out string) bool {
	return strings.TrimSuffix(strings.ToLower(strings.TrimSpace(out)), ".") == noDevices
}

// columns cuts a line of nvidia-smi from the left: only the last column may hold commas.
func columns(line string, n int) ([]string, error) {
	cut := strings.SplitN(line, ",", n)
	if len(cut) < n {
		return nil, fmt.Errorf("%w: nvidia-smi said %q where %d columns were asked for", gpu.ErrCommand, hostcmd.Words([]byte(line)), n)
	}

	for i := range cut {
		cut[i] = strings.TrimSpace(cut[i])
	}

	return cut, nil
}

// value is a value of nvidia-smi, empty where it says that there is none: [N/A], N/A,
// [Not Supported], [Unknown Error] and their like.
func value(s string) string {
	s = strings.TrimSpace(s)
	if s == "N/A" || (strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]")) {
		return ""
	}

	return s
}

// realUUID is a UUID of a GPU, empty while the driver shows question marks for it, or
// nothing that is one.
func realUUID(s string) string {
	s = value(s)
	if !strings.HasPrefix(strings.ToUpper(s), "GPU-") || strings.Contains(s, "?") {
		return ""
	}

	return s
}

// parseVisible reads the answer to --query-gpu=gpu_uuid,pci.bus_id.
func parseVisible(out string) ([]gpu.GPU, error) {
	if isNone(out) {
		return nil, nil
	}

	var all []gpu.GPU

	for line := range lines(out) {
		cut, err := columns(line, 2)
		if err != nil {
			return nil, err
		}

		g := gpu.GPU{UUID: realUUID(cut[0]), Minor: -1}
		g.BusID, _ = gpu.NormalBusID(value(cut[1]))

		if g.UUID == "" && g.BusID == "" {
			return nil, fmt.Errorf("%w: nvidia-smi said %q where a UUID and a bus id were asked for", gpu.ErrCommand, hostcmd.Words([]byte(line)))
		}

		all = append(all, g)
	}

	return all, nil
}

// unnamed stands for a process whose name nvidia-smi does not tell.
const unnamed = "a process without a name"

// parseApps reads the answer to --query-compute-apps=gpu_uuid,process_name. A line whose GPU
// is not told is an error: it may be any.
func parseApps(out string) ([]gpu.App, error) {
	if isNone(out) {
		return nil, nil
	}

	var all []gpu.App

	for line := range lines(out) {
		cut, err := columns(line, 2)
		if err != nil {
			return nil, err
		}

		a := gpu.App{UUID: realUUID(cut[0]), Name: value(cut[1])}
		if a.UUID == "" {
			return nil, fmt.Errorf("%w: nvidia-smi said %q, which does not tell the GPU of a process", gpu.ErrCommand, hostcmd.Words([]byte(line)))
		}

		if a.Name == "" {
			a.Name = unnamed
		}

		all = append(all, a)
	}

	return all, nil
}

// parsePresent reads what scriptPresent prints.
func parsePresent(out string) []gpu.GPU {
	var all []gpu.GPU

	for line := range lines(out) {
		if bus, ok := strings.CutPrefix(line, "gpu "); ok {
			g := gpu.GPU{Minor: -1}
			g.BusID, _ = gpu.NormalBusID(bus)
			all = append(all, g)

			continue
		}

		key, val, ok := strings.Cut(line, ":")
		if !ok || len(all) == 0 {
			continue
		}

		g := &all[len(all)-1]

		switch val = strings.TrimSpace(val); strings.TrimSpace(key) {
		case "GPU UUID":
			g.UUID = realUUID(val)
		case "Bus Location":
			if bus, ok := gpu.NormalBusID(val); ok {
				g.BusID = bus
			}
		case "Device Minor":
			if n, err := strconv.Atoi(val); err == nil && n >= 0 {
				g.Minor = n
			}
		}
	}

	return all
}

// parsePCI reads what scriptPCI prints: the bus ids of display controllers (class 0x0300
// VGA, 0x0302 3D), for NVIDIA also makes sound, USB and switches.
func parsePCI(out string) []string {
	var all []string

	for line := range lines(out) {
		f := strings.Fields(line)
		if len(f) < 3 || (!strings.HasPrefix(f[2], "0x0300") && !strings.HasPrefix(f[2], "0x0302")) {
			continue
		}

		if bus, ok := gpu.NormalBusID(f[0]); ok {
			all = append(all, bus)
		}
	}

	return all
}

// parseForeign reads from what scriptPCI prints the driver of the device at an address, unless
// it is NVIDIA's, or none.
func parseForeign(out, bus string) string {
	for line := range lines(out) {
		f := strings.Fields(line)
		if len(f) < 4 || f[3] == "-" || f[3] == "nvidia" {
			continue
		}

		if id, ok := gpu.NormalBusID(f[0]); ok && id == bus {
			return strings.ToValidUTF8(f[3], "?")
		}
	}

	return ""
}

// parseHolders reads what scriptHolders prints.
func parseHolders(out string) ([]gpu.Process, error) {
	var all []gpu.Process

	for line := range lines(out) {
		pid, comm, _ := strings.Cut(line, " ")

		n, err := strconv.Atoi(pid)
		if err != nil || n <= 0 {
			return nil, fmt.Errorf("%w: %q is no process", gpu.ErrCommand, hostcmd.Words([]byte(line)))
		}

		all = append(all, gpu.Process{PID: n, Comm: strings.ToValidUTF8(strings.TrimSpace(comm), "?")})
	}

	return all, nil
}

// parseDrain reads the answer to drain -q: after the word "drain" of a line either "not
// draining" or "draining". A bus id may stand before it, with colons of its own.
func parseDrain(out string) (bool, error) {
	for line := range lines(out) {
		low := strings.ToLower(line)

		i := strings.Index(low, "drain")
		if i < 0 {
			continue
		}

		_, said, ok := strings.Cut(low[i:], ":")

		switch {
		case !ok:
		case strings.Contains(said, "not draining"):
			return false, nil
		case strings.Contains(said, "draining"):
			return true, nil
		}
	}

	return false, fmt.Errorf("%w: nvidia-smi said %q where a drain state was asked for", gpu.ErrCommand, hostcmd.Words([]byte(out)))
}

// parseModules reads lsmod: the names of the loaded modules.
func parseModules(out string) map[string]bool {
	all := map[string]bool{}

	s := bufio.NewScanner(strings.NewReader(out))
	for s.Scan() {
		if f := strings.Fields(s.Text()); len(f) >= 3 {
			all[f[0]] = true
		}
	}

	return all
}
