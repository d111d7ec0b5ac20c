// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

const (
	compositionPath = root + "/CompositionService"
	blocksPath      = compositionPath + "/ResourceBlocks"
	resourceZones   = compositionPath + "/ResourceZones"
	reservedBucket  = "fabric_redfish_reserved"
	computePrefix   = "compute-" // of the block that is the machine itself
)

func blockPath(id string) string { return blocksPath + "/" + id }

func zonePath(fabric int) string { return fmt.Sprintf("%s/%d", resourceZones, fabric+1) }

// reservations are the devices that a client reserved.
func reservations(tx store.Tx) (map[string]bool, error) {
	all := map[string]bool{}
	err := tx.Each(reservedBucket, func(id string, _ json.RawMessage) error {
		all[id] = true

		return nil
	})

	return all, err
}

// composition finds documents below the composition service.
func (c *call) composition(rest []string) obj {
	switch {
	case len(rest) == 0:
		return entity(compositionPath, "CompositionService.v1_2_1.CompositionService", "CompositionService", "Composition", obj{
			"ServiceEnabled": true, "AllowOverprovisioning": false, "AllowZoneAffinity": false,
			"Status": obj{"State": "Enabled", "Health": "OK"}, "ResourceBlocks": ref(blocksPath), "ResourceZones": ref(resourceZones),
		})
	case rest[0] == "ResourceBlocks":
		return c.blocks(rest[1:])
	case rest[0] == "ResourceZones":
		return c.zones(rest[1:])
	default:
		return nil
	}
}

// blocks finds the list of blocks, a block, or the device in one.
func (c *call) blocks(rest []string) obj {
	if len(rest) == 0 {
		return collection(blocksPath, "ResourceBlockCollection", c.blockPaths(func(hardware.Device) bool { return true }, -1))
	}

	if id, ok := strings.CutPrefix(rest[0], computePrefix); ok && len(rest) == 1 {
		if m, ok := c.machineOf(id); ok {
			return c.computeBlock(m)
		}

		return nil
	}

	d, ok := c.device(rest[0])

	switch {
	case !ok:
		return nil
	case len(rest) == 1:
		return c.block(d)
	case len(rest) == 3 && rest[1] == room(d) && rest[2] == "1":
		return part(blockPath(d.ID)+"/"+room(d)+"/1", "1", d)
	default:
		return nil
	}
}

// blockPaths are the paths of blocks, those of machines first. A negative fabric means all.
func (c *call) blockPaths(want func(hardware.Device) bool, fabric int) []string {
	var paths []string

	for _, m := range c.machines {
		if !m.Deleted && (fabric < 0 || m.Fabric == fabric) {
			paths = append(paths, blockPath(computePrefix+m.ID))
		}
	}

	for _, d := range c.devices {
		if want(d) && (fabric < 0 || d.Fabric == fabric) {
			paths = append(paths, blockPath(d.ID))
		}
	}

	return paths
}

func (c *call) device(id string) (hardware.Device, bool) {
	for _, d := range c.devices {
		if strings.EqualFold(d.ID, id) {
			return d, true
		}
	}

	return hardware.Device{}, false
}

// blocksOf are the blocks that a machine is linked to, in whatever state they are.
func (c *call) blocksOf(m hardware.Machine) []string {
	paths := []string{blockPath(computePrefix + m.ID)}
	for _, d := range m.Devices {
		paths = append(paths, blockPath(d.ID))
	}

	return paths
}

func (c *call) computeBlock(m hardware.Machine) obj {
	return entity(blockPath(computePrefix+m.ID), "ResourceBlock.v1_4_2.ResourceBlock", computePrefix+m.ID, "Compute of "+m.Name, obj{
		"ResourceBlockType": list{"Compute"}, "Pool": "Active", "Status": obj{"State": "Enabled", "Health": "OK"},
		"CompositionStatus": obj{"CompositionState": "Composed", "Reserved": false, "MaxCompositions": 1, "NumberOfCompositions": 1},
		"Processors":        list{}, "Memory": list{},
		"Links": obj{"ComputerSystems": list{ref(systemPath(m))}, "Zones": list{ref(zonePath(m.Fabric))}},
	})
}

// block is a device of the pool.
func (c *call) block(d hardware.Device) obj {
	path := blockPath(d.ID)
	state, pool, systems := "Unused", "Free", list{}

	if m, ok := c.named(d.Machine); ok {
		state, pool, systems = "Composed", "Active", list{ref(systemPath(m))}
	}

	switch d.Phase {
	case hardware.Adding:
		state = "Composing"
	case hardware.AddFailed:
		state = "Failed"
	}

	doc := entity(path, "ResourceBlock.v1_4_2.ResourceBlock", d.ID, d.Model, obj{
		"ResourceBlockType": list{map[bool]string{true: "Memory", false: "Processor"}[d.Type == hardware.CXL]},
		"Pool":              pool, "Status": deviceStatus(d),
		"CompositionStatus": obj{
			"CompositionState": state, "Reserved": c.reserved[d.ID], "MaxCompositions": 1, "NumberOfCompositions": len(systems),
			"SharingCapable": false,
		},
		"Processors": list{}, "Memory": list{},
		"Links": obj{"ComputerSystems": systems, "Zones": list{ref(zonePath(d.Fabric))}},
	})
	doc[room(d)] = list{ref(path + "/" + room(d) + "/1")}

	return doc
}

// zones finds the list of resource zones, or one: what hangs on one switch can be composed.
func (c *call) zones(rest []string) obj {
	var paths []string

	for i := range c.fabricCount() {
		path := zonePath(i)
		paths = append(paths, path)

		if len(rest) == 1 && path == resourceZones+"/"+rest[0] {
			blocks := c.blockPaths(func(hardware.Device) bool { return true }, i)

			return entity(path, "Zone.v1_6_3.Zone", rest[0], "Switch "+rest[0], obj{
				"ZoneType": "ZoneOfResourceBlocks", "Status": obj{"State": "Enabled", "Health": "OK"},
				"Links": obj{"ResourceBlocks": refs(blocks), "ResourceBlocks@odata.count": len(blocks)},
			})
		}
	}

	if len(rest) > 0 {
		return nil
	}

	return collection(resourceZones, "ZoneCollection", paths)
}

func (c *call) fabricCount() int {
	n := 1
	for _, d := range c.devices {
		n = max(n, d.Fabric+1)
	}

	return n
}
