// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package conductor

import (
	"maps"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/version"
)

// Drivers are the hardware types and the interfaces of each kind, the default first, as
// Ironic 29.0.5 offers them with the interfaces that Metal3 enables.
var Drivers = map[string]map[string][]string{
	"fake-hardware": hardware(map[string]string{
		"bios": "fake no-bios", "boot": "fake http http-ipxe ipxe pxe", "console": "fake no-console",
		"deploy": "fake bootc custom-agent direct ramdisk", "firmware": "fake no-firmware", "inspect": "fake agent no-inspect",
		"management": "fake", "power": "fake", "raid": "fake agent no-raid", "rescue": "fake agent no-rescue",
		"storage": "noop fake", "vendor": "fake no-vendor",
	}),
	"manual-management": hardware(map[string]string{
		"firmware": "no-firmware", "management": "noop fake", "power": "fake", "vendor": "no-vendor",
	}),
	"ipmi": hardware(map[string]string{
		"management": "ipmitool noop", "power": "ipmitool", "vendor": "ipmitool no-vendor",
	}),
	"redfish": hardware(map[string]string{
		"bios": "redfish no-bios", "boot": "ipxe http http-ipxe pxe redfish-https redfish-virtual-media",
		"firmware": "redfish no-firmware", "inspect": "redfish agent no-inspect", "management": "redfish noop",
		"power": "redfish", "raid": "redfish agent no-raid", "vendor": "redfish no-vendor",
	}),
	"idrac": hardware(map[string]string{
		"bios":     "idrac-redfish no-bios redfish",
		"boot":     "ipxe http http-ipxe idrac-redfish-virtual-media pxe redfish-https",
		"firmware": "redfish no-firmware", "inspect": "idrac-redfish agent no-inspect", "management": "idrac-redfish",
		"power": "idrac-redfish redfish", "raid": "idrac-redfish agent no-raid", "vendor": "idrac-redfish no-vendor redfish",
	}),
}

// hardware completes a driver's interfaces with those that all agent based drivers share.
func hardware(own map[string]string) map[string][]string {
	all := map[string]string{
		"bios": "no-bios", "boot": "ipxe http http-ipxe pxe", "console": "no-console",
		"deploy": "direct bootc custom-agent ramdisk", "firmware": "no-firmware", "inspect": "agent no-inspect",
		"network": "noop", "raid": "no-raid agent", "rescue": "no-rescue agent", "storage": "noop",
	}
	maps.Copy(all, own)

	out := map[string][]string{}
	for kind, names := range all {
		out[kind] = strings.Fields(names)
	}

	return out
}

// Kinds are the kinds of interface that the server's version knows.
func (c *Conductor) Kinds() []string {
	var all []string

	for _, kind := range record.InterfaceKinds {
		if version.FieldSince[kind+"_interface"] <= c.Newest {
			all = append(all, kind)
		}
	}

	return all
}

// Offered are the interfaces of a kind that the server's version has: "agent" inspection
// came with 1.84, in-band inspection outside the separate inspector service.
func (c *Conductor) Offered(driver, kind string) []string {
	var all []string

	for _, name := range Drivers[driver][kind] {
		switch {
		case kind == "inspect" && name == "agent" && c.Newest < 84,
			kind == "boot" && name == "redfish-https" && c.Newest < 86,
			kind == "deploy" && name == "bootc" && c.Newest < 96:
		default:
			all = append(all, name)
		}
	}

	return all
}

// anywhere are the interfaces of a kind that any driver has.
func (c *Conductor) anywhere(kind string) []string {
	all := map[string]bool{}

	for driver := range Drivers {
		for _, name := range c.Offered(driver, kind) {
			all[name] = true
		}
	}

	return slices.Sorted(maps.Keys(all))
}

// CheckInterfaces fills in what a node leaves to its driver, and refuses what the driver lacks.
func (c *Conductor) CheckInterfaces(n *record.Node) error {
	if Drivers[n.Driver] == nil || c.Down {
		return fault.Invalid("%s Ensure the driver is valid and enabled.", noConductor(n))
	}

	for _, kind := range c.Kinds() {
		offered, name := c.Offered(n.Driver, kind), n.Interfaces[kind]

		switch {
		case name == "":
			n.Interfaces[kind] = offered[0]
		case slices.Contains(offered, name):
		case slices.Contains(c.anywhere(kind), name):
			return fault.Invalid("%s interface implementation '%s' is not supported by hardware type %s.", kind, name, n.Driver)
		default:
			return fault.Invalid("Could not find the following interface in the 'ironic.hardware.interfaces.%s' entrypoint: %s. "+
				"Valid interfaces are ['%s'].", kind, name, strings.Join(c.anywhere(kind), "', '"))
		}
	}

	return nil
}
