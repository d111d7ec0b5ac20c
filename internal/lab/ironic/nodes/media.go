// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"net/http"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// mediaMachine is the machine of a node whose driver can attach virtual media.
func mediaMachine(c *api.Call, what string, since int) (*record.Node, *machine.Machine, error) {
	n, err := c.Target(since)
	if err != nil {
		return nil, nil, err
	}

	if m := n.Interfaces["management"]; m != "redfish" && m != "idrac-redfish" {
		return nil, nil, fault.Invalid("%s", fault.Unsupported(n.Driver, what))
	}

	m, err := usable(c, n)

	return n, m, err
}

var mediaTypes = map[string][]string{"Cd": {"CD", "DVD"}, "USBStick": {"USBStick", "Floppy"}}

func listMedia(c *api.Call) (api.Answer, error) {
	_, m, err := mediaMachine(c, "get_virtual_media", 93)
	if err != nil {
		return api.Answer{}, err
	}

	list := []any{}
	for _, slot := range m.Slots() {
		image := m.Media[slot].Image
		list = append(list, map[string]any{"media_types": mediaTypes[slot], "inserted": image != "", "image": image})
	}

	return api.OK(list), nil
}

func attachMedia(c *api.Call) (api.Answer, error) {
	n, m, err := mediaMachine(c, "attach_virtual_media", 89)
	if err != nil {
		return api.Answer{}, err
	}

	var body struct {
		DeviceType string `json:"device_type"`
		ImageURL   string `json:"image_url"`
	}

	if err := c.Read(&body); err != nil {
		return api.Answer{}, err
	}

	switch {
	case !slices.Contains([]string{"disk", "cdrom", "floppy"}, body.DeviceType):
		return api.Answer{}, fault.Invalid("Schema error for vmedia: '%s' is not one of ['disk', 'cdrom', 'floppy']", body.DeviceType)
	case body.ImageURL == "":
		return api.Answer{}, fault.Invalid("Schema error for vmedia: 'image_url' is a required property")
	}

	if err := c.Lock(n); err != nil {
		return api.Answer{}, err
	}

	if m.Faults.FailMedia {
		n.LastError = "Failed to attach virtual media: HTTP POST returned code 400"

		return api.Answer{Status: http.StatusNoContent}, c.SaveNode(n)
	}

	// The BMC gets an address of Ironic's own, so what was asked for cannot be read back.
	m.Media[slotOf(body.DeviceType)] = machine.Medium{
		Image: "http://" + c.Host + "/redfish/" + body.DeviceType + "-" + n.UUID + ".iso",
	}

	return api.Answer{Status: http.StatusNoContent}, machine.Save(c.Tx, *m)
}

func slotOf(device string) string {
	if device == "cdrom" {
		return "Cd"
	}

	return "USBStick"
}

func detachMedia(c *api.Call) (api.Answer, error) {
	n, m, err := mediaMachine(c, "detach_virtual_media", 89)
	if err != nil {
		return api.Answer{}, err
	}

	if err := c.Lock(n); err != nil {
		return api.Answer{}, err
	}

	devices := c.R.URL.Query().Get("device_types")
	for _, slot := range m.Slots() {
		if devices == "" || slices.ContainsFunc(strings.Split(devices, ","), func(d string) bool { return slotOf(d) == slot }) {
			m.Media[slot] = machine.Medium{}
		}
	}

	return api.Answer{Status: http.StatusNoContent}, machine.Save(c.Tx, *m)
}
