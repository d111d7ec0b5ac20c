// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
)

const systemsPath = root + "/Systems"

// document is the resource at a path; nil: there is none.
func (c *call) document(path string) (obj, error) {
	room, ok := strings.CutPrefix(path, root)
	if !ok {
		return nil, nil
	}

	parts := strings.Split(strings.Trim(room, "/"), "/")
	rest := parts[1:]

	switch name := parts[0]; {
	case name == "":
		return c.root(), nil
	case name == "Systems":
		return c.systems(rest), nil
	case name == "SessionService" && !c.o.Zones:
		return c.sessionDoc(rest)
	case name == "TaskService" && !c.o.Zones:
		return c.taskDoc(rest)
	case name == "CompositionService" && !c.o.Zones:
		return c.composition(rest), nil
	case name == "Chassis" && c.o.Zones:
		return c.chassis(rest), nil
	case name == "Fabrics" && c.o.Zones:
		return c.fabrics(rest), nil
	default:
		return nil, nil
	}
}

func (c *call) root() obj {
	doc := entity(root, "ServiceRoot.v1_16_0.ServiceRoot", "RootService", "Lab fabric", obj{
		"RedfishVersion": "1.20.0", "UUID": hardware.UUID("redfish service"), "Product": "metal3-lab", "Vendor": "Simulated",
		"Systems": ref(systemsPath),
		"ProtocolFeaturesSupported": obj{
			"ExpandQuery": obj{
				"ExpandAll": !c.o.NoExpand, "Levels": !c.o.NoExpand, "Links": !c.o.NoExpand, "NoLinks": !c.o.NoExpand, "MaxLevels": maxLevels,
			},
		},
	})

	if c.o.Zones {
		doc["Fabrics"], doc["Chassis"], doc["Links"] = ref(root+"/Fabrics"), ref(root+"/Chassis"), obj{}

		return doc
	}

	doc["CompositionService"], doc["ResourceBlocks"] = ref(compositionPath), ref(blocksPath)
	doc["SessionService"], doc["Tasks"] = ref(root+"/SessionService"), ref(root+"/TaskService")
	doc["Links"] = obj{"Sessions": ref(sessionsPath)}

	return doc
}

func systemPath(m hardware.Machine) string { return systemsPath + "/" + m.ID }

// machineOf is the machine that a segment of a path names.
func (c *call) machineOf(id string) (hardware.Machine, bool) {
	i := slices.IndexFunc(c.machines, func(m hardware.Machine) bool { return strings.EqualFold(m.ID, id) && !m.Deleted })
	if i < 0 {
		return hardware.Machine{}, false
	}

	return c.machines[i], true
}

// named is the machine of a name in the lab.
func (c *call) named(name string) (hardware.Machine, bool) {
	i := slices.IndexFunc(c.machines, func(m hardware.Machine) bool { return m.Name == name && !m.Deleted })
	if i < 0 {
		return hardware.Machine{}, false
	}

	return c.machines[i], true
}

func (c *call) systems(rest []string) obj {
	if len(rest) == 0 {
		var paths []string

		for _, m := range c.machines {
			if !m.Deleted {
				paths = append(paths, systemPath(m))
			}
		}

		return collection(systemsPath, "ComputerSystemCollection", paths)
	}

	m, ok := c.machineOf(rest[0])
	if !ok || len(rest) > 1 {
		return nil
	}

	return c.system(m)
}

func (c *call) system(m hardware.Machine) obj {
	path := systemPath(m)
	power := "Off"

	if m.Up() {
		power = "On"
	}

	doc := entity(path, "ComputerSystem.v1_22_0.ComputerSystem", m.ID, m.Label, obj{
		"UUID": m.ID, "SystemType": "Composed", "PowerState": power, "Status": status(m), "HostName": m.Name,
		"Manufacturer": "Simulated", "SerialNumber": m.Serial(),
		"Composition": obj{"UseCases": list{"ResourceBlockCapable", "ExpandableSystem"}},
	})

	if c.o.Zones {
		doc["Links"] = obj{"Endpoints": list{ref(endpointPath(m.Fabric, m.ID))}}

		return doc
	}

	links := refs(c.blocksOf(m))
	doc["Links"] = obj{"ResourceBlocks": links, "ResourceBlocks@odata.count": len(links)}

	if !c.o.NoActions {
		doc["Actions"] = obj{
			"#ComputerSystem.AddResourceBlock":    action(path + "/Actions/ComputerSystem.AddResourceBlock"),
			"#ComputerSystem.RemoveResourceBlock": action(path + "/Actions/ComputerSystem.RemoveResourceBlock"),
		}
	}

	return doc
}

// status of a machine: while a device comes or goes it is updating.
func status(m hardware.Machine) obj {
	state, health := "Enabled", "OK"

	switch m.Code() {
	case hardware.ActiveOn, hardware.ActiveOff:
	case hardware.AddingDevice, hardware.DeletingDevice:
		state = "Updating"
	case hardware.Broken:
		health = "Critical"
	default:
		state = "Starting"
	}

	return obj{"State": state, "Health": health, "HealthRollup": health}
}

// deviceStatus is null in health where the hardware says nothing that Redfish has a word for.
func deviceStatus(d hardware.Device) obj {
	s := obj{"State": "Enabled", "Health": nil}

	if word, ok := map[string]string{"0": "OK", "1": "Warning", "2": "Critical"}[d.OpStatus]; ok {
		s["Health"] = word
	}

	return s
}

// processor is a GPU, as a resource at a path.
func processor(path, id string, d hardware.Device) obj {
	doc := entity(path, "Processor.v1_20_0.Processor", id, d.Model, obj{
		"ProcessorType": "GPU", "Manufacturer": "Simulated", "Model": d.Model, "UUID": nil,
		"SerialNumber": board(d), "Status": deviceStatus(d), "SystemInterface": obj{"InterfaceType": "PCIe"},
	})

	if d.Serial != "" { // a UUID has no "GPU-" in front
		doc["UUID"] = strings.TrimPrefix(d.Serial, "GPU-")
	}

	return doc
}

// memory is a CXL memory device, as a resource at a path.
func memory(path, id string, d hardware.Device) obj {
	doc := entity(path, "Memory.v1_19_0.Memory", id, d.Model, obj{
		"MemoryType": "DRAM", "Manufacturer": "Simulated", "Model": d.Model, "CapacityMiB": 65536,
		"SerialNumber": nil, "Status": deviceStatus(d),
	})

	if d.Serial != "" {
		doc["SerialNumber"] = d.Serial
	}

	return doc
}

// board is the number on the board of a device: not what the operating system shows.
func board(d hardware.Device) string { return "B" + d.ID[len(d.ID)-8:] }

// part is the resource that a device is, at a path.
func part(path, id string, d hardware.Device) obj {
	if d.Type == hardware.CXL {
		return memory(path, id, d)
	}

	return processor(path, id, d)
}

// room is the collection that a device is in.
func room(d hardware.Device) string {
	if d.Type == hardware.CXL {
		return "Memory"
	}

	return "Processors"
}
