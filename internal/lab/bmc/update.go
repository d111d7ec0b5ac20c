// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

const (
	simpleUpdatePath = "/UpdateService/Actions/UpdateService.SimpleUpdate"
	inventoryPath    = root + "/UpdateService/FirmwareInventory"
	// updateTakes is how long a firmware update runs.
	updateTakes = 600 * time.Millisecond
)

func updateService(c *call) (answer, error) {
	return c.resource(entity(c.path(), "UpdateService.v1_11_0.UpdateService", "UpdateService", "Update Service", obj{
		"ServiceEnabled": true, "Status": healthy(), "FirmwareInventory": ref(inventoryPath), "HttpPushUri": c.path() + "/push",
		"Actions": obj{"#UpdateService.SimpleUpdate": action(root+simpleUpdatePath,
			obj{"TransferProtocol@Redfish.AllowableValues": list{"HTTP", "HTTPS"}})},
	})), nil
}

// machines are those behind the face.
func (c *call) machines() ([]machine.Machine, error) {
	if c.known {
		return []machine.Machine{c.m}, nil
	}

	return machine.All(c.tx)
}

func firmwareList(c *call) (answer, error) {
	all, err := c.machines()

	paths := []string{}
	for _, m := range all {
		for component := range m.Firmware {
			paths = append(paths, inventoryPath+"/"+m.Name+"-"+component)
		}
	}

	return c.resource(collection(c.path(), "SoftwareInventory", sorted(paths)...)), err
}

func oneFirmware(c *call) (answer, error) {
	id := c.r.PathValue("sw")

	i := strings.LastIndexByte(id, '-')
	if i < 0 {
		return c.missing(), nil
	}

	m, ok, err := machine.Load(c.tx, id[:i])
	if !ok || err != nil || c.known && m.Name != c.m.Name {
		return c.missing(), err
	}

	version, ok := m.Firmware[id[i+1:]]
	if !ok {
		return c.missing(), nil
	}

	return c.resource(entity(c.path(), "SoftwareInventory.v1_8_0.SoftwareInventory", id, id[i+1:], obj{
		"Version": version, "Updateable": true, "Status": healthy(),
		"RelatedItem": refs(c.face.names(m, false).system),
	})), nil
}

// simpleUpdate takes a URI such as .../bios-2.2.0.bin: the component's version becomes what
// follows the dash. Ironic names no target, so without one the first machine is meant, which
// is the only one where the BMC is its own.
func simpleUpdate(c *call) (answer, error) {
	uri := text(c.body, "ImageURI")
	if uri == "" {
		return bad("PropertyMissing", "ImageURI"), nil
	}

	all, err := c.machines()
	if err != nil || len(all) == 0 {
		return c.missing(), err
	}

	targets := fmt.Sprint(c.body["Targets"])
	at := max(0, slices.IndexFunc(all, func(m machine.Machine) bool {
		return strings.Contains(targets, "/"+m.Name+"-") || strings.Contains(targets, m.ID)
	}))
	c.m = all[at]

	var fails string

	if c.m.Faults.FailUpdate {
		fails = "image rejected"
		c.m.Say(c.now, "firmware update %s fails (fault)", path.Base(uri))
	} else {
		c.flash(path.Base(uri))
	}

	t, err := c.begin("Update", updateTakes, fails)
	if err != nil {
		return answer{}, err
	}

	return t.accepted(taskLocation, c.now), c.save()
}

// flash schedules the update that a file name asks for.
func (c *call) flash(file string) {
	component, version, ok := strings.Cut(strings.TrimSuffix(file, path.Ext(file)), "-")
	if !ok {
		return
	}

	for _, known := range slices.Sorted(maps.Keys(c.m.Firmware)) {
		if strings.EqualFold(known, component) {
			c.m.Updates = append(c.m.Updates, machine.Update{Component: known, Version: version, At: c.now.Add(updateTakes)})
		}
	}

	c.m.Say(c.now, "firmware update %s begun", file)
}
