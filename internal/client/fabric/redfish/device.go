// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"cmp"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/document"
)

// deviceOf turns a resource that describes hardware (a Processor, Memory, …) into a device
// that the fabric knows by another path; false where it is none of our types.
func deviceOf(id string, o document.Object) (fabric.Device, bool) {
	d := fabric.Device{FabricID: id, Model: o.Text("Model"), Serial: o.Text("SerialNumber"), DeviceID: o.Text("UUID")}
	d.Health, d.HealthRaw = healthOf(o)

	switch class := classOf(o); {
	case class == "Processor" && strings.EqualFold(o.Text("ProcessorType"), "GPU"):
		d.Type = typeGPU

		// Some services give the id of the driver's tools as the serial number.
		if d.DeviceID == "" && strings.HasPrefix(strings.ToUpper(d.Serial), "GPU-") {
			d.DeviceID = d.Serial
		}
	case class == "Memory", class == "MemoryChunks", class == "CXLLogicalDevice":
		d.Type = typeCXLMemory
		d.Model = cmp.Or(d.Model, o.Text("PartNumber"))
		d.DeviceID = cmp.Or(d.DeviceID, d.Serial, o.Object("Identifiers").Text("DurableName"))
	default:
		return fabric.Device{}, false
	}

	return d, true
}

// unnamed reports whether a resource does not say what it is, so that it may be a device all
// the same. An empty socket need not say it.
func unnamed(o document.Object) bool {
	switch classOf(o) {
	case "":
		return true
	case "Processor":
		return o.Text("ProcessorType") == "" && o.Object("Status").Text("State") != "Absent"
	default:
		return false
	}
}

// classOf is what kind of resource it is: "Processor" of "#Processor.v1_20_0.Processor".
// Services without types show it by the properties that only one kind has.
func classOf(o document.Object) string {
	typ := strings.TrimPrefix(o.Text("@odata.type"), "#")

	switch name, _, _ := strings.Cut(typ, "."); {
	case name != "":
		return name
	case o.Has("ProcessorType"):
		return "Processor"
	case o.Has("MemoryType"), o.Has("MemoryDeviceType"):
		return "Memory"
	default:
		return ""
	}
}

// healthOf reads Status.Health. Absent means that nobody says.
func healthOf(o document.Object) (fabric.Health, string) {
	raw := o.Object("Status").Text("Health")

	switch strings.ToLower(raw) {
	case "ok":
		return fabric.HealthOK, raw
	case "warning":
		return fabric.HealthWarning, raw
	case "critical":
		return fabric.HealthCritical, raw
	default:
		return fabric.HealthUnknown, raw
	}
}

// usable reports whether a resource's status lets it be handed out.
func usable(o document.Object) bool {
	h, _ := healthOf(o)

	switch o.Object("Status").Text("State") {
	case "Disabled", "Absent", "UnavailableOffline", "Updating", "InTest", "Degraded":
		return false
	default:
		return h != fabric.HealthCritical
	}
}
