// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"fmt"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
)

func fabricPath(i int) string { return fmt.Sprintf("%s/Fabrics/%s", root, fabricID(i)) }

func fabricID(i int) string { return fmt.Sprintf("PCIe-%d", i+1) }

func endpointPath(fabric int, id string) string { return fabricPath(fabric) + "/Endpoints/" + id }

func chassisPath(i int) string { return fmt.Sprintf("%s/Chassis/pool-%d", root, i+1) }

// chassis finds documents of the chassis that the devices are in.
func (c *call) chassis(rest []string) obj {
	var paths []string

	for i := range c.fabricCount() {
		path := chassisPath(i)
		paths = append(paths, path)

		if len(rest) == 0 || path != root+"/Chassis/"+rest[0] {
			continue
		}

		switch {
		case len(rest) == 1:
			return entity(path, "Chassis.v1_25_1.Chassis", rest[0], "Pool", obj{
				"ChassisType": "Shelf", "Status": obj{"State": "Enabled", "Health": "OK"},
				"Processors": ref(path + "/Processors"), "Memory": ref(path + "/Memory"),
			})
		case len(rest) == 2 || len(rest) == 3:
			return c.pooled(path, i, rest[1:])
		}
	}

	if len(rest) > 0 {
		return nil
	}

	return collection(root+"/Chassis", "ChassisCollection", paths)
}

// pooled finds the devices of a chassis, or one of them.
func (c *call) pooled(chassis string, fabric int, rest []string) obj {
	var paths []string

	path := chassis + "/" + rest[0]

	for _, d := range c.devices {
		if d.Fabric != fabric || room(d) != rest[0] {
			continue
		}

		if len(rest) == 2 && rest[1] == d.ID {
			return part(path+"/"+d.ID, d.ID, d)
		}

		paths = append(paths, path+"/"+d.ID)
	}

	switch {
	case len(rest) == 2:
		return nil
	case rest[0] == "Processors":
		return collection(path, "ProcessorCollection", paths)
	case rest[0] == "Memory":
		return collection(path, "MemoryCollection", paths)
	default:
		return nil
	}
}

// fabrics finds documents of the fabrics.
func (c *call) fabrics(rest []string) obj {
	var paths []string

	for i := range c.fabricCount() {
		path := fabricPath(i)
		paths = append(paths, path)

		if len(rest) == 0 || rest[0] != fabricID(i) {
			continue
		}

		switch {
		case len(rest) == 1:
			return entity(path, "Fabric.v1_3_2.Fabric", rest[0], "Switch", obj{
				"FabricType": "PCIe", "UUID": hardware.FabricID(i), "Status": obj{"State": "Enabled", "Health": "OK"},
				"Endpoints": ref(path + "/Endpoints"), "Zones": ref(path + "/Zones"),
			})
		case rest[1] == "Endpoints" && len(rest) <= 3:
			return c.endpoints(i, rest[2:])
		case rest[1] == "Zones" && len(rest) <= 3:
			return c.machineZones(i, rest[2:])
		default:
			return nil
		}
	}

	if len(rest) > 0 {
		return nil
	}

	return collection(root+"/Fabrics", "FabricCollection", paths)
}

// endpoints finds the endpoints of a fabric: one for each machine, and one for each device.
func (c *call) endpoints(fabric int, rest []string) obj {
	var paths []string

	for _, m := range c.machines {
		if m.Fabric != fabric || m.Deleted {
			continue
		}

		path := endpointPath(fabric, m.ID)
		paths = append(paths, path)

		if len(rest) == 1 && strings.EqualFold(rest[0], m.ID) {
			return endpoint(path, m.ID, m.Name, "ComputerSystem", "Initiator", systemPath(m), status(m), machineZone(m))
		}
	}

	for _, d := range c.devices {
		if d.Fabric != fabric {
			continue
		}

		path := endpointPath(fabric, d.ID)
		paths = append(paths, path)

		if len(rest) == 1 && strings.EqualFold(rest[0], d.ID) {
			zone := ""
			if m, ok := c.named(d.Machine); ok && d.Present() {
				zone = machineZone(m)
			}

			typ := map[bool]string{true: "Memory", false: "Processor"}[d.Type == hardware.CXL]

			return endpoint(path, d.ID, d.Model, typ, "Target", chassisPath(fabric)+"/"+room(d)+"/"+d.ID, deviceStatus(d), zone)
		}
	}

	if len(rest) > 0 {
		return nil
	}

	return collection(fabricPath(fabric)+"/Endpoints", "EndpointCollection", paths)
}

func endpoint(path, id, name, typ, role, entityPath string, status obj, zone string) obj {
	zones := list{}
	if zone != "" {
		zones = list{ref(zone)}
	}

	return entity(path, "Endpoint.v1_8_1.Endpoint", id, name, obj{
		"EndpointProtocol": "PCIe", "Status": status, "Links": obj{"Zones": zones},
		"ConnectedEntities": list{obj{"EntityType": typ, "EntityRole": role, "EntityLink": ref(entityPath)}},
	})
}

func machineZone(m hardware.Machine) string { return fabricPath(m.Fabric) + "/Zones/" + m.Name }

// machineZones finds the zones of a fabric: one for each machine.
func (c *call) machineZones(fabric int, rest []string) obj {
	var paths []string

	for _, m := range c.machines {
		if m.Fabric != fabric || m.Deleted {
			continue
		}

		paths = append(paths, machineZone(m))

		if len(rest) == 1 && rest[0] == m.Name {
			members := c.zoneMembers(m)

			return entity(machineZone(m), "Zone.v1_6_3.Zone", m.Name, "Zone of "+m.Name, obj{
				"ZoneType": "ZoneOfEndpoints", "Status": status(m),
				"Links": obj{"Endpoints": refs(members), "Endpoints@odata.count": len(members)},
			})
		}
	}

	if len(rest) > 0 {
		return nil
	}

	return collection(fabricPath(fabric)+"/Zones", "ZoneCollection", paths)
}

// zoneMembers are the endpoints in the zone of a machine: its own, and those of the devices
// that are there.
func (c *call) zoneMembers(m hardware.Machine) []string {
	members := []string{endpointPath(m.Fabric, m.ID)}

	for _, d := range m.Devices {
		if d.Present() {
			members = append(members, endpointPath(d.Fabric, d.ID))
		}
	}

	return members
}
