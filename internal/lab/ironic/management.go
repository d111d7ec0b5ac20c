// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// bootDevices are Ironic's boot devices and what they are at the BMC.
var bootDevices = map[string]string{"pxe": "Pxe", "disk": "Hdd", "cdrom": "Cd", "bios": "BiosSetup", "uefihttp": "UefiHttp"}

func (c *call) showBootDevice() (answer, error) {
	n, err := c.target()
	if err != nil {
		return answer{}, err
	}

	device, persistent := n.BootDevice, n.BootPersistent
	if device == "" && n.simulated() {
		device = "pxe"
	}

	m, err := c.usable(n)
	if err != nil {
		return answer{}, err
	}

	if m != nil {
		device, persistent = "", m.Boot.Enabled == "Continuous"

		for name, target := range bootDevices {
			if target == m.Boot.Target {
				device = name
			}
		}
	}

	return answer{status: http.StatusOK, body: map[string]any{"boot_device": orNull(device), "persistent": persistent}}, nil
}

func (c *call) supportedBootDevices() (answer, error) {
	n, err := c.target()
	if err != nil {
		return answer{}, err
	}

	devices := slices.Sorted(maps.Keys(bootDevices))
	if n.simulated() {
		devices = []string{"pxe"}
	}

	return answer{status: http.StatusOK, body: map[string]any{"supported_boot_devices": devices}}, nil
}

func (c *call) setBootDevice() (answer, error) {
	var body struct {
		BootDevice string `json:"boot_device"`
		Persistent bool   `json:"persistent"`
	}

	if err := json.Unmarshal(c.body, &body); err != nil {
		return answer{}, invalid("%s", err)
	}

	n, err := c.target()
	if err != nil {
		return answer{}, err
	}

	if err := c.lock(n); err != nil {
		return answer{}, err
	}

	if bootDevices[body.BootDevice] == "" || n.simulated() && body.BootDevice != "pxe" {
		return answer{}, invalid("Invalid boot device %s specified.", body.BootDevice)
	}

	n.BootDevice, n.BootPersistent = body.BootDevice, body.Persistent

	m, err := c.usable(n)
	if err != nil {
		return answer{}, err
	}

	if m != nil {
		m.Boot.Target, m.Boot.Enabled = bootDevices[body.BootDevice], "Once"
		if body.Persistent {
			m.Boot.Enabled = "Continuous"
		}

		if err := machine.Save(c.tx, *m); err != nil {
			return answer{}, err
		}
	}

	return answer{status: http.StatusNoContent}, c.save(n)
}

// usable is the node's machine for a request that is answered at once: a silent BMC is a
// server error.
func (c *call) usable(n *node) (*machine.Machine, error) {
	m, err := c.machine(n)

	var silent *broken
	if asBroken(err, &silent) {
		return nil, refuse(http.StatusInternalServerError, "%s", silent.text)
	}

	return m, err
}

// mediaMachine is the machine of a node whose driver can attach virtual media.
func (c *call) mediaMachine(what string, since int) (*node, *machine.Machine, error) {
	n, err := c.target()
	if err != nil {
		return nil, nil, err
	}

	if c.minor < since {
		return nil, nil, refuse(http.StatusNotFound, "Not Found")
	}

	if m := n.Interfaces["management"]; m != "redfish" && m != "idrac-redfish" {
		return nil, nil, invalid("%s", unsupported(n.Driver, what))
	}

	m, err := c.usable(n)

	return n, m, err
}

var mediaTypes = map[string][]string{"Cd": {"CD", "DVD"}, "USBStick": {"USBStick", "Floppy"}}

func (c *call) listMedia() (answer, error) {
	_, m, err := c.mediaMachine("get_virtual_media", 93)
	if err != nil {
		return answer{}, err
	}

	list := []any{}
	for _, slot := range m.Slots() {
		image := m.Media[slot].Image
		list = append(list, map[string]any{"media_types": mediaTypes[slot], "inserted": image != "", "image": image})
	}

	return answer{status: http.StatusOK, body: list}, nil
}

func (c *call) attachMedia() (answer, error) {
	n, m, err := c.mediaMachine("attach_virtual_media", 89)
	if err != nil {
		return answer{}, err
	}

	var body struct {
		DeviceType string `json:"device_type"`
		ImageURL   string `json:"image_url"`
	}

	if err := json.Unmarshal(c.body, &body); err != nil {
		return answer{}, invalid("%s", err)
	}

	switch {
	case !slices.Contains([]string{"disk", "cdrom", "floppy"}, body.DeviceType):
		return answer{}, invalid("Schema error for vmedia: '%s' is not one of ['disk', 'cdrom', 'floppy']", body.DeviceType)
	case body.ImageURL == "":
		return answer{}, invalid("Schema error for vmedia: 'image_url' is a required property")
	}

	if err := c.lock(n); err != nil {
		return answer{}, err
	}

	if m.Faults.FailMedia {
		n.LastError = "Failed to attach virtual media: HTTP POST returned code 400"

		return answer{status: http.StatusNoContent}, c.save(n)
	}

	// The BMC gets an address of Ironic's own, so what was asked for cannot be read back.
	m.Media[slotOf(body.DeviceType)] = machine.Medium{
		Image: "http://" + c.Conductor + "/redfish/" + body.DeviceType + "-" + n.UUID + ".iso",
	}

	return answer{status: http.StatusNoContent}, machine.Save(c.tx, *m)
}

func slotOf(device string) string {
	if device == "cdrom" {
		return "Cd"
	}

	return "USBStick"
}

func (c *call) detachMedia() (answer, error) {
	n, m, err := c.mediaMachine("detach_virtual_media", 89)
	if err != nil {
		return answer{}, err
	}

	if err := c.lock(n); err != nil {
		return answer{}, err
	}

	devices := c.r.URL.Query().Get("device_types")
	for _, slot := range m.Slots() {
		if devices == "" || slices.ContainsFunc(strings.Split(devices, ","), func(d string) bool { return slotOf(d) == slot }) {
			m.Media[slot] = machine.Medium{}
		}
	}

	return answer{status: http.StatusNoContent}, machine.Save(c.tx, *m)
}

// VIFs need a network service, which a stand-alone Ironic has not: the noop interface.

func (c *call) listVIFs() (answer, error) {
	_, err := c.target()

	return answer{status: http.StatusOK, body: map[string]any{"vifs": []any{}}}, err
}

func (c *call) attachVIF() (answer, error) { return c.noVIFs() }
func (c *call) detachVIF() (answer, error) { return c.noVIFs() }

func (c *call) noVIFs() (answer, error) {
	n, err := c.target()
	if err != nil {
		return answer{}, err
	}

	return answer{status: http.StatusNoContent}, c.lock(n)
}
