// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"strings"
)

// cxlBytes is how much memory each device has.
const cxlBytes = "0x1000000000"

// memory are the CXL devices that the kernel knows.
func (v *view) memory() map[string]CXL {
	all := map[string]CXL{}

	for _, c := range v.cxl {
		if m := v.CXL[c.ID]; !v.Never && (m.Seen || !v.NeedsRescan) {
			all[c.ID] = m
		}
	}

	return all
}

func (v *view) cxlList() Answer {
	var b strings.Builder

	known := v.memory()

	for _, c := range v.cxl {
		if m, ok := known[c.ID]; ok {
			fmt.Fprintf(&b, "mem%d 0x%s %s 0x0\n", m.Number, c.Serial, cxlBytes)
		}
	}

	return say("%s", b.String())
}

func (v *view) cxlRegions(mem string) Answer {
	for _, m := range v.memory() {
		if mem != fmt.Sprintf("mem%d", m.Number) || m.NoRegion {
			continue
		}

		text := fmt.Sprintf("region region%d ram %s 1\n", m.Number, cxlBytes)

		if !m.Idle {
			driver := "kmem"
			if m.NoDax {
				driver = "-"
			}

			text += fmt.Sprintf("dax dax%d.0 region%d %s\n", m.Number, m.Number, driver)
		}

		return say("%s", text)
	}

	return Answer{}
}

// cxlTool is cxl and daxctl: one step down, or up, and only from the step beside it.
func (v *view) cxlTool(args []string) Answer {
	if len(args) < 3 {
		return refuse(1, "usage: %s <command> <device>", args[0])
	}

	target := args[len(args)-1]

	for id, m := range v.memory() {
		names := []string{fmt.Sprintf("mem%d", m.Number), fmt.Sprintf("region%d", m.Number), fmt.Sprintf("dax%d.0", m.Number)}
		if target != names[0] && target != names[1] && target != names[2] {
			continue
		}

		if why := v.cxlStep(args[1], &m); why != "" {
			return refuse(1, "%s: %s: %s: %s", args[0], args[1], target, why)
		}

		v.CXL[id] = m

		return Answer{}
	}

	return refuse(1, "%s: %s: %s: no such device", args[0], args[1], target)
}

// cxlStep does one step; the words say why not.
func (v *view) cxlStep(verb string, m *CXL) string {
	switch verb {
	case "offline-memory":
		if v.CXLInUse {
			return "failed to offline: Device or resource busy"
		}

		m.Offline = true
	case "online-memory":
		m.Offline = false
	case "disable-device":
		if !m.Offline {
			return "memory is still online"
		}

		m.NoDax = true
	case "enable-device":
		m.NoDax, m.Offline = false, false
	case "disable-region":
		if !m.Offline && !m.NoDax {
			return "memory is in use"
		}

		m.Idle = true
	case "enable-region":
		m.Idle, m.NoDax, m.Offline = false, false, false
	case "destroy-region":
		if !m.Idle {
			return "region is active"
		}

		m.NoRegion = true
	case "create-region":
		m.NoRegion, m.Idle, m.NoDax, m.Offline = false, false, false, false
	case "disable-memdev":
		if !m.NoRegion {
			return "device is part of a region"
		}

		m.Disabled = true
	case "enable-memdev":
		m.Disabled = false
	default:
		return "unknown command"
	}

	return ""
}
