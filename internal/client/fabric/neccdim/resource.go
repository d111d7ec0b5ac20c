// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package neccdim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/document"
)

// The types of resources that matter here, in lower case: releases differ in it.
const (
	typeCPU         = "cpu"
	typeGPU         = "gpu"
	typeCXLMemory   = "cxlmemory"
	typeSource      = "sourcefabricadapter"      // of a node
	typeDestination = "destinationfabricadapter" // of the fabric, towards devices
)

// The roles of fabric adapters, in attribute.deviceSpecificInformation.status.
const (
	roleHost   = "eesv"
	roleDevice = "eeio"
)

// resource is a device as the configuration manager shows it.
type resource struct {
	id, typ, model string
	serial, uuid   string
	state, health  string
	power          string
	role           string // of a fabric adapter
	detected       bool
	available      bool // not taken out of service by a person
	nodes          []string
	links          []link
}

// link says what a device is connected to.
type link struct{ typ, id string }

// node is a machine: what is connected with one another.
type node struct {
	id, name  string
	resources []resource
}

// parseResources reads the answer to GET /resources?detail=true.
func parseResources(raw []byte) ([]resource, error) {
	doc, ok := document.Parse(raw)
	if !ok || (!doc.Has("resources") && !doc.Has("count")) {
		return nil, errors.New("no list of resources")
	}

	entries, err := doc.Counted("resources", "count")
	if err != nil {
		return nil, err
	}

	return resourcesOf(entries)
}

func resourcesOf(entries []document.Object) ([]resource, error) {
	out := make([]resource, 0, len(entries))

	for i, e := range entries {
		r, err := resourceOf(e)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}

		out = append(out, r)
	}

	return out, nil
}

// parseResource reads the answer to GET /resources/{id}: the entry, or one wrapped in "resource".
func parseResource(raw []byte) (resource, error) {
	doc, ok := document.Parse(raw)
	if !ok {
		return resource{}, errors.New("no resource")
	}

	if !doc.Has("device") && doc.Has("resource") {
		doc = doc.Object("resource")
	}

	return resourceOf(doc)
}

// parseNodes reads the answer to GET /nodes?detail=true.
func parseNodes(raw []byte) ([]node, error) {
	doc, ok := document.Parse(raw)
	if !ok || (!doc.Has("nodes") && !doc.Has("count")) {
		return nil, errors.New("no list of nodes")
	}

	entries, err := doc.Counted("nodes", "count")
	if err != nil {
		return nil, err
	}

	out := make([]node, 0, len(entries))

	for i, e := range entries {
		n, err := nodeOf(e)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}

		out = append(out, n)
	}

	return out, nil
}

// parseNode reads the answer to GET /nodes/{id}.
func parseNode(raw []byte) (node, error) {
	doc, ok := document.Parse(raw)
	if !ok {
		return node{}, errors.New("no node")
	}

	if !doc.Has("id") && doc.Has("node") {
		doc = doc.Object("node")
	}

	return nodeOf(doc)
}

func nodeOf(doc document.Object) (node, error) {
	n := node{id: doc.Text("id"), name: doc.Text("name")}
	if n.id == "" {
		return node{}, errors.New("a node without an id")
	}

	// A node is made of resources: without a list of them its devices are not known.
	if !doc.Has("resources") {
		return node{}, fmt.Errorf("node %s has no list of resources", n.id)
	}

	entries, err := doc.Objects("resources")
	if err != nil {
		return node{}, fmt.Errorf("node %s: %w", n.id, err)
	}

	n.resources, err = resourcesOf(entries)
	if err != nil {
		return node{}, fmt.Errorf("node %s: %w", n.id, err)
	}

	return n, nil
}

// resourceOf reads one resource. Only the id is needed; a resource without links is one
// that nothing is connected to, so links that cannot be read are an error.
func resourceOf(doc document.Object) (resource, error) {
	device := doc.Object("device")
	status := device.Object("status")
	special := device.Object("attribute", "deviceSpecificInformation")

	r := resource{
		id:    device.Text("deviceID"),
		typ:   strings.ToLower(device.Text("type")),
		model: device.Text("model"),
		state: status.Text("state"), health: status.Text("health"),
		power:     device.Text("powerState"),
		role:      strings.ToLower(special.Text("status")),
		detected:  doc.Bool("detected", false),
		available: doc.Object("annotation").Bool("available", true),
		nodes:     doc.Texts("nodeIDs"),
	}

	if r.id == "" {
		return resource{}, errors.New("a device without a deviceID")
	}

	if one := doc.Text("nodeIDs"); one != "" { // no list: whose it is matters more than the form
		r.nodes = []string{one}
	}

	r.serial = cmp.Or(device.Text("serialNumber"), device.Object("attribute").Text("serialNumber"))
	r.uuid = identity(device.Object("attribute"), special)

	links, err := device.Objects("links")
	if err != nil {
		return resource{}, fmt.Errorf("device %s: %w", r.id, err)
	}

	for _, l := range links {
		r.links = append(r.links, link{typ: strings.ToLower(l.Text("type")), id: l.Text("deviceID")})
	}

	return r, nil
}

// identity finds the id that the operating system shows, where the hardware told it. The
// API has no field for it: what a plugin adds is an attribute.
func identity(attributes ...document.Object) string {
	for _, o := range attributes {
		for _, key := range []string{"gpuUUID", "uuid", "UUID"} {
			if id := o.Text(key); id != "" {
				return id
			}
		}
	}

	return ""
}

// deviceType is the type in our words; empty for what is not handed out one by one.
func (r resource) deviceType() string {
	switch strings.NewReplacer("-", "", "_", "", " ", "").Replace(r.typ) {
	case typeGPU:
		return typeGPU
	case typeCXLMemory:
		return typeCXLMemory
	default:
		return ""
	}
}

// linked returns the first thing of a type that the device is connected to.
func (r resource) linked(typ string) string {
	for _, l := range r.links {
		if l.typ == typ {
			return l.id
		}
	}

	return ""
}

// free reports whether an order may name the device.
func (r resource) free() bool {
	return r.detected && r.available && len(r.nodes) == 0 && len(r.links) == 0 &&
		strings.EqualFold(r.state, "enabled") && strings.EqualFold(r.health, "ok")
}

func (r resource) device(machine string) fabric.Device {
	d := fabric.Device{
		FabricID: r.id, DeviceID: r.uuid, Type: r.deviceType(), Model: r.model, Serial: r.serial,
		HealthRaw: r.health, MachineID: machine,
	}

	switch strings.ToLower(r.health) {
	case "ok":
		d.Health = fabric.HealthOK
	case "warning":
		d.Health = fabric.HealthWarning
	case "critical":
		d.Health = fabric.HealthCritical
	}

	if !r.detected { // what was said of it is old
		d.Health, d.HealthRaw = fabric.HealthUnknown, "not detected"
	}

	return d
}

// cpu is the processor that stands for the node: the one whose id the node has, else the first.
func (n node) cpu() (resource, bool) {
	i := slices.IndexFunc(n.resources, func(r resource) bool { return r.typ == typeCPU && strings.EqualFold(r.id, n.id) })
	if i < 0 {
		i = slices.IndexFunc(n.resources, func(r resource) bool { return r.typ == typeCPU })
	}

	if i < 0 {
		return resource{}, false
	}

	return n.resources[i], true
}

// machine is the node in our words. Devices that are not detected any more stay: the
// manager keeps their place, and only a disconnect ends it.
func (n node) machine(pool string) fabric.Machine {
	m := fabric.Machine{ID: n.id, Name: n.name, FabricID: pool}

	if cpu, ok := n.cpu(); ok {
		m.Status = strings.TrimSpace(cpu.state + " " + cpu.health)

		switch strings.ToLower(cpu.power) {
		case "on":
			m.Power = fabric.PowerOn
		case "off":
			m.Power = fabric.PowerOff
		}

		if !cpu.detected {
			m.Status, m.State = "not detected", fabric.Failed
		}
	}

	for _, r := range n.resources {
		if r.deviceType() != "" {
			m.Devices = append(m.Devices, r.device(n.id))
		}
	}

	return m
}
