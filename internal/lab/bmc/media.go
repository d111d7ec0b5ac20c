// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"net/http"
	"path"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

func mediaList(c *call) (answer, error) {
	paths := []string{}
	for _, slot := range c.m.Slots() {
		paths = append(paths, c.path()+"/"+slot)
	}

	return c.resource(collection(c.path(), "VirtualMedia", paths...)), nil
}

// medium is the slot that the path names; false: none of this name.
func (c *call) medium() (slot string, m machine.Medium, ok bool) {
	slot = c.r.PathValue("slot")
	m, ok = c.m.Media[slot]

	return slot, m, ok
}

func oneMedium(c *call) (answer, error) {
	slot, medium, ok := c.medium()
	if !ok {
		return c.missing(), nil
	}

	image, ghost := medium.Image, medium.GhostReads > 0 && medium.Image == ""
	if ghost {
		image = medium.Ghost
		medium.GhostReads--
		c.m.Media[slot] = medium
	}

	types := list{"CD", "DVD"}
	if slot == "USBStick" {
		types = list{"USBStick", "Floppy"}
	}

	name, connected := "", "NotConnected"
	if image != "" {
		name, connected = path.Base(image), "URI"
	}

	doc := entity(c.path(), "VirtualMedia.v1_6_0.VirtualMedia", slot, "Virtual "+slot, obj{
		"MediaTypes": types, "Image": image, "ImageName": name, "Inserted": image != "", "WriteProtected": true,
		"ConnectedVia": connected, "TransferMethod": "Stream", "VerifyCertificate": false,
		"Certificates": ref(c.path() + "/Certificates"),
	})

	if !c.actionless(slot) {
		const insert, eject = "VirtualMedia.InsertMedia", "VirtualMedia.EjectMedia"

		doc["Actions"] = obj{
			"#" + insert: action(c.path()+"/Actions/"+insert, nil), "#" + eject: action(c.path()+"/Actions/"+eject, nil),
		}
	}

	if ghost {
		return c.resource(doc), c.save()
	}

	return c.resource(doc), nil
}

// actionless tells whether a slot is one of those that some boards show and that can do nothing.
func (c *call) actionless(slot string) bool {
	return c.m.Faults.NoInsertAction && slot == c.m.Slots()[0]
}

func insertMedium(c *call) (answer, error) {
	slot, medium, ok := c.medium()
	if !ok || c.actionless(slot) {
		return c.missing(), nil
	}

	image, f := text(c.body, "Image"), &c.m.Faults

	switch {
	case f.FailInserts > 0:
		f.FailInserts--

		return failure(http.StatusInternalServerError, "InternalError", "the medium is in use"), c.save()
	case f.FailMedia || image == "":
		return bad("PropertyValueError", "cannot insert "+image), nil
	case !strings.Contains(image, "://"):
		return bad("PropertyValueFormatError", "Image is no URI"), nil
	case medium.Image != "" && medium.Image != image:
		return bad("ResourceInUse", "a medium is inserted already"), nil
	}

	c.m.Media[slot] = machine.Medium{Image: image}
	c.m.Say(c.now, "medium %s: %s", slot, image)

	return noContent(), c.save()
}

func ejectMedium(c *call) (answer, error) {
	slot, medium, ok := c.medium()
	if !ok || c.actionless(slot) {
		return c.missing(), nil
	}

	if medium.Image == "" && c.m.Faults.RefuseEmpty {
		return bad("ResourceNotFound", "no medium is inserted"), nil
	}

	c.m.Media[slot] = machine.Medium{Ghost: medium.Image, GhostReads: c.m.Faults.EjectLag}
	c.m.Say(c.now, "medium %s ejected", slot)

	return noContent(), c.save()
}
