// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nec

import (
	"net/http"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
)

// The types of resources, as the managers spell them.
const (
	typeCPU         = "CPU"
	typeGPU         = "GPU"
	typeMemory      = "memory"
	typeCXL         = "CXLMemory"
	typeSource      = "sourceFabricAdapter"
	typeDestination = "destinationFabricAdapter"
)

// The roles of fabric adapters: towards the host, and towards devices.
const (
	roleHost   = "eesv"
	roleDevice = "eeio"
)

// defaultGroup is the resource group of everything.
const defaultGroup = "00000000-0000-7000-8000-000000000000"

func equalFold(a, b string) bool { return strings.EqualFold(a, b) }

// entry is a resource.
type entry struct {
	id, typ       string
	state, health string
	node          string // empty: in the pool
	device        obj    // what is shown in detail
	links         list
}

// adapters are the ids of a machine's fabric adapter, and of the fabric's behind it.
func adapters(machineID string) (source, destination string) {
	return hardware.UUID("source adapter " + machineID), hardware.UUID("destination adapter " + machineID)
}

// entries are all resources there are, by id.
func (c *call) entries() ([]entry, error) {
	machines, err := hardware.Machines(c.tx, c.now)
	if err != nil {
		return nil, err
	}

	devices, err := hardware.All(c.tx, c.now)
	if err != nil {
		return nil, err
	}

	var all []entry

	for _, m := range machines {
		if !m.Deleted {
			all = append(all, c.parts(m)...)
		}
	}

	for _, d := range devices {
		all = append(all, c.composed(d, machines))
	}

	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.id, b.id) })

	return all, nil
}

// parts are what a machine consists of, without composed devices.
func (c *call) parts(m hardware.Machine) []entry {
	power := "Off"
	if m.Up() {
		power = "On"
	}

	cpu := entry{
		id: m.ID, typ: typeCPU, state: "Enabled", health: "OK", node: m.ID,
		device: obj{"model": "Lab CPU", "powerState": power, "powerCapability": true, "attribute": obj{}},
	}
	if m.Code() == hardware.Broken {
		cpu.health = "Critical"
	}

	parts := []entry{}

	if !c.o.Bare {
		memory := hardware.UUID("memory of " + m.ID)
		cpu.links = append(cpu.links, link(typeMemory, memory))
		parts = append(parts, entry{
			id: memory, typ: typeMemory, state: "Enabled", health: "OK", node: m.ID, links: list{link(typeCPU, m.ID)},
			device: obj{"model": "DDR4", "powerState": power, "powerCapability": false, "capacityMiB": 65536, "attribute": obj{}},
		})
	}

	if c.o.Product {
		source, destination := adapters(m.ID)
		cpu.links = append(cpu.links, link(typeSource, source))
		parts = append(parts,
			adapter(source, typeSource, roleHost, m.ID, link(typeCPU, m.ID), link(typeDestination, destination)),
			adapter(destination, typeDestination, roleDevice, "", link(typeSource, source)))
	}

	for _, d := range m.Devices {
		if d.Phase != hardware.Adding && !c.o.Product {
			cpu.links = append(cpu.links, link(kind(d), d.ID))
		}
	}

	if len(cpu.links) == 0 {
		cpu.node = "" // a node is made of connections
	}

	return append(parts, cpu)
}

func adapter(id, typ, role, node string, links ...any) entry {
	return entry{
		id: id, typ: typ, state: "Enabled", health: "OK", node: node, links: links,
		device: obj{"model": "Lab fabric", "attribute": obj{"deviceSpecificInformation": obj{"status": role}}},
	}
}

func link(typ, id string) obj { return obj{"type": typ, "deviceID": id} }

func kind(d hardware.Device) string {
	if d.Type == hardware.CXL {
		return typeCXL
	}

	return typeGPU
}

// composed is a device of the pool. While it is being connected, nothing shows it: what is
// connected is found out by looking at the hardware afterwards.
func (c *call) composed(d hardware.Device, machines []hardware.Machine) entry {
	attribute := obj{}
	if !c.o.NoUUID && d.Serial != "" && d.Type == hardware.GPU {
		attribute["uuid"] = d.Serial
	}

	e := entry{
		id: d.ID, typ: kind(d), state: "Enabled", health: health(d),
		device: obj{
			"model": d.Model, "manufacturer": "Lab", "powerState": "On", "powerCapability": false, "attribute": attribute,
			"serialNumber": "B" + d.ID[len(d.ID)-8:], "deviceSwitchInfo": hardware.FabricID(d.Fabric),
		},
	}

	if d.Phase == hardware.AddFailed {
		e.state = "Disabled"
	}

	i := slices.IndexFunc(machines, func(m hardware.Machine) bool { return m.Name == d.Machine })
	if i < 0 || d.Phase == hardware.Adding || machines[i].Deleted {
		return e
	}

	e.node, e.links = machines[i].ID, list{link(typeCPU, machines[i].ID)}

	if c.o.Product {
		_, destination := adapters(machines[i].ID)
		e.links = list{link(typeDestination, destination)}
	}

	return e
}

func health(d hardware.Device) string {
	switch d.OpStatus {
	case "0":
		return "OK"
	case "1":
		return "Warning"
	case "2":
		return "Critical"
	default:
		return d.OpStatus
	}
}

// doc is the resource as it is shown; inNode leaves out what a node says already.
func (e entry) doc(detail, inNode bool) obj {
	device := obj{"deviceID": e.id, "type": e.typ, "status": obj{"state": e.state, "health": e.health}}

	if detail {
		for k, v := range e.device {
			device[k] = v
		}

		device["links"] = append(list{}, e.links...)
	}

	o := obj{
		"device": device, "resourceGroupIDs": list{defaultGroup}, "annotation": obj{"available": true}, "detected": true,
	}

	if !inNode {
		o["nodeIDs"] = list{}
		if e.node != "" {
			o["nodeIDs"] = list{e.node}
		}
	}

	return o
}

func (e entry) usable() bool { return e.state == "Enabled" && e.health == "OK" }

func (c *call) resources() (answer, error) {
	detail, valid := c.flag("detail")
	if !valid {
		return failure(http.StatusBadRequest, codeInvalid, "detail is neither true nor false")
	}

	return c.listed(func(entry) bool { return true }, func(e entry) obj { return e.doc(detail, false) }, nil)
}

func (c *call) available() (answer, error) {
	return c.listed(entry.usable, func(e entry) obj { return e.doc(true, false) }, byType)
}

// unused are free devices; their entries say neither "detected" nor "nodeIDs".
func (c *call) unused() (answer, error) {
	return c.listed(
		func(e entry) bool { return e.usable() && len(e.links) == 0 },
		func(e entry) obj {
			o := e.doc(true, true)
			delete(o, "detected")

			return o
		}, byType)
}

func byType(a, b entry) int {
	return 2*strings.Compare(strings.ToLower(a.typ), strings.ToLower(b.typ)) + strings.Compare(a.id, b.id)
}

func (c *call) listed(want func(entry) bool, show func(entry) obj, order func(a, b entry) int) (answer, error) {
	all, err := c.entries()
	if err != nil {
		return answer{}, err
	}

	if order != nil {
		slices.SortFunc(all, order)
	}

	shown := list{}

	for _, e := range all {
		if want(e) {
			shown = append(shown, show(e))
		}
	}

	return ok(obj{"count": len(shown), "resources": shown})
}

func (c *call) resource() (answer, error) {
	all, err := c.entries()
	if err != nil {
		return answer{}, err
	}

	for _, e := range all {
		if e.id == strings.ToLower(c.r.PathValue("id")) {
			return ok(e.doc(true, false))
		}
	}

	return failure(http.StatusNotFound, codeNoResource, "the resource does not exist: "+c.r.PathValue("id"))
}
