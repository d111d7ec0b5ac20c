// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// drivers are the hardware types and the interfaces of each kind, the default first, as
// Ironic 29.0.5 offers them with the interfaces that Metal3 enables.
var drivers = map[string]map[string][]string{
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

// kinds are the kinds of interface that the server's version knows.
func (s *Service) kinds() []string {
	var all []string

	for _, kind := range slices.Sorted(maps.Keys(drivers["redfish"])) {
		if fieldSince[kind+"_interface"] <= s.minor {
			all = append(all, kind)
		}
	}

	return all
}

// offered are the interfaces of a kind that the server's version has: "agent" inspection
// came with 1.84, in-band inspection outside the separate inspector service.
func (s *Service) offered(driver, kind string) []string {
	var all []string

	for _, name := range drivers[driver][kind] {
		switch {
		case kind == "inspect" && name == "agent" && s.minor < 84,
			kind == "boot" && name == "redfish-https" && s.minor < 86,
			kind == "deploy" && name == "bootc" && s.minor < 96:
		default:
			all = append(all, name)
		}
	}

	return all
}

// anywhere are the interfaces of a kind that any driver has.
func (s *Service) anywhere(kind string) []string {
	all := map[string]bool{}

	for driver := range drivers {
		for _, name := range s.offered(driver, kind) {
			all[name] = true
		}
	}

	return slices.Sorted(maps.Keys(all))
}

// checkInterfaces fills in what a node leaves to its driver, and refuses what the driver lacks.
func (c *call) checkInterfaces(n *node) error {
	if drivers[n.Driver] == nil || c.down {
		return invalid(`No valid host was found. Reason: No conductor service registered which supports driver %s `+
			`for conductor group "%s". Ensure the driver is valid and enabled.`, n.Driver, n.ConductorGroup)
	}

	if n.Interfaces == nil {
		n.Interfaces = map[string]string{}
	}

	for _, kind := range c.kinds() {
		offered, name := c.offered(n.Driver, kind), n.Interfaces[kind]

		switch {
		case name == "":
			n.Interfaces[kind] = offered[0]
		case slices.Contains(offered, name):
		case slices.Contains(c.anywhere(kind), name):
			return invalid("%s interface implementation '%s' is not supported by hardware type %s.", kind, name, n.Driver)
		default:
			return invalid("Could not find the following interface in the 'ironic.hardware.interfaces.%s' entrypoint: %s. "+
				"Valid interfaces are ['%s'].", kind, name, strings.Join(c.anywhere(kind), "', '"))
		}
	}

	return nil
}

func (c *call) listDrivers() (answer, error) {
	list := []any{}

	if !c.down && c.r.URL.Query().Get("type") != "classic" {
		for _, name := range slices.Sorted(maps.Keys(drivers)) {
			list = append(list, c.driverDocument(name, c.r.URL.Query().Get("detail") == "true"))
		}
	}

	return answer{status: http.StatusOK, body: map[string]any{"drivers": list}}, nil
}

func (c *call) showDriver() (answer, error) {
	name := c.r.PathValue("driver")
	if drivers[name] == nil || c.down {
		return answer{}, refuse(http.StatusNotFound, "Could not find the following driver(s) or hardware type(s): %s.", name)
	}

	return answer{status: http.StatusOK, body: c.driverDocument(name, true)}, nil
}

func (c *call) driverDocument(name string, detail bool) map[string]any {
	doc := map[string]any{
		"name": name, "hosts": []any{c.Conductor}, "links": links(c.base(), "drivers/"+name),
	}

	if c.minor >= 14 {
		doc["properties"] = links(c.base(), "drivers/"+name+"/properties")
	}

	if c.minor >= 30 {
		doc["type"] = "dynamic"
	}

	if detail && c.minor >= 30 {
		for _, kind := range c.kinds() {
			offered := c.offered(name, kind)
			doc["default_"+kind+"_interface"], doc["enabled_"+kind+"_interfaces"] = offered[0], offered
		}
	}

	return doc
}

// conductorOf is the conductor that takes care of a node: nobody, while it is stopped.
func (c *call) conductorOf(n *node) string {
	if c.down || drivers[n.Driver] == nil {
		return ""
	}

	return c.Conductor
}

func (c *call) listConductors() (answer, error) {
	if c.minor < 49 {
		return answer{}, refuse(http.StatusNotFound, "Not Found")
	}

	return answer{status: http.StatusOK, body: map[string]any{"conductors": []any{c.conductorDocument(false)}}}, nil
}

func (c *call) showConductor() (answer, error) {
	if host := c.r.PathValue("host"); host != c.Conductor {
		return answer{}, refuse(http.StatusNotFound, "Conductor %s cannot be found.", host)
	}

	return answer{status: http.StatusOK, body: c.conductorDocument(true)}, nil
}

func (c *call) conductorDocument(detail bool) map[string]any {
	doc := map[string]any{
		"hostname": c.Conductor, "conductor_group": "", "alive": !c.down,
		"links": links(c.base(), "conductors/"+c.Conductor),
	}

	if detail {
		doc["drivers"] = slices.Sorted(maps.Keys(drivers))
		doc["created_at"] = stamp(c.now.Add(-time.Hour))
		doc["updated_at"] = stamp(c.now)
	}

	return doc
}

// health is what Redfish says of a machine from API 1.109 on; other drivers say nothing.
func (c *call) health(n *node) any {
	if n.Interfaces["management"] == "redfish" || n.Interfaces["management"] == "idrac-redfish" {
		if m, err := c.machine(n); err == nil && m != nil {
			return "OK"
		}
	}

	return nil
}
