// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package access turns the address of a BMC into what Ironic must be told of it.
//
// It is pure: an address goes in, a driver, its interfaces and the driver_info come out.
// The schemes are those of the baremetal-operator, so that an address that works there
// works here. [Address] goes the other way, for nodes that are imported.
package access

import "maps"

// Access is what an address says of the way to a BMC.
type Access struct {
	Scheme  string // lower case, with the suffix +http or +https where one was written
	Address string // as written
	Host    string // without brackets
	Port    string // as written, else the scheme's own
	Driver  string // Ironic's driver

	// Interfaces holds Ironic's interfaces by kind (boot, bios, management, power, raid,
	// vendor, firmware). A kind that is missing is left to the driver's default.
	Interfaces map[string]string

	// DriverInfo holds the keys for driver_info, credentials left out.
	DriverInfo map[string]any

	SupportsISO              bool // can boot an ISO image, so live-iso works
	SupportsSecureBoot       bool // Ironic can switch secure boot
	NeedsProvisioningNetwork bool // boots its ramdisk over the network
	NeedsMAC                 bool // a boot MAC address must be given

	Warnings []string // parts of the address that have no effect
}

// Families of driver_info keys.
const (
	keysIPMI    = "ipmi"
	keysRedfish = "redfish"
	keysNone    = ""
)

// family is what one scheme stands for.
type family struct {
	driver     string
	keys       string // prefix of the driver_info keys
	interfaces map[string]string
	iso        bool
	secureBoot bool
	network    bool
	mac        bool
}

// Names of interfaces that occur more than once below.
const (
	ipxe  = "ipxe"
	idrac = "idrac-redfish"
)

// families is the scheme table. NeedsMAC is that of the operator's later versions, which
// learn the MAC of a Redfish machine by inspection; only libvirt still asks for it.
var families = map[string]family{
	"ipmi":    {driver: "ipmi", keys: keysIPMI, interfaces: ipmiInterfaces, network: true},
	"libvirt": {driver: "ipmi", keys: keysIPMI, interfaces: ipmiInterfaces, network: true, mac: true},

	"redfish":              {driver: "redfish", keys: keysRedfish, interfaces: redfishInterfaces(ipxe), secureBoot: true, network: true},
	"ilo5-redfish":         {driver: "redfish", keys: keysRedfish, interfaces: redfishInterfaces(ipxe), secureBoot: true, network: true},
	"redfish-virtualmedia": {driver: "redfish", keys: keysRedfish, interfaces: redfishInterfaces("redfish-virtual-media"), secureBoot: true, iso: true},
	"ilo5-virtualmedia":    {driver: "redfish", keys: keysRedfish, interfaces: redfishInterfaces("redfish-virtual-media"), secureBoot: true, iso: true},
	"redfish-uefihttp":     {driver: "redfish", keys: keysRedfish, interfaces: redfishInterfaces("redfish-https"), secureBoot: true, iso: true},

	"idrac-redfish":      {driver: "idrac", keys: keysRedfish, interfaces: idracInterfaces(ipxe), secureBoot: true, network: true},
	"idrac-virtualmedia": {driver: "idrac", keys: keysRedfish, interfaces: idracInterfaces("idrac-redfish-virtual-media"), secureBoot: true, iso: true},

	// Ironic's own test driver: no BMC behind it, and nothing that it refuses.
	fakeHardware: {driver: fakeHardware, keys: keysNone, interfaces: map[string]string{}, secureBoot: true, iso: true},
}

const fakeHardware = "fake-hardware"

var ipmiInterfaces = map[string]string{"boot": ipxe, "raid": "no-raid"}

func redfishInterfaces(boot string) map[string]string {
	return map[string]string{"boot": boot, "raid": "redfish", "firmware": "redfish"}
}

func idracInterfaces(boot string) map[string]string {
	return map[string]string{
		"boot": boot, "bios": idrac, "management": idrac, "power": idrac, "raid": idrac, "vendor": idrac,
		"firmware": "redfish",
	}
}

// keys returns the prefix of the driver_info keys of the access.
func (a Access) keys() string {
	name, _ := splitScheme(a.Scheme)

	return families[name].keys
}

// Credentials returns the driver_info keys that hold the user name and the password.
func (a Access) Credentials(username, password string) map[string]any {
	prefix := a.keys()
	if prefix == keysNone {
		return map[string]any{}
	}

	return map[string]any{prefix + "_username": username, prefix + "_password": password}
}

// Verify returns the driver_info keys that say how the BMC's certificate is checked:
// not at all, or against a bundle on the conductor's disk. Neither means Ironic's default.
func (a Access) Verify(disable bool, verifyCA string) map[string]any {
	prefix := a.keys()

	switch {
	case prefix == keysNone:
		return map[string]any{}
	case disable:
		return map[string]any{prefix + "_verify_ca": false}
	case verifyCA != "" && prefix == keysRedfish:
		return map[string]any{prefix + "_verify_ca": verifyCA}
	default:
		return map[string]any{}
	}
}

// SystemPath returns the path of the Redfish system that the address names, "" for none.
func (a Access) SystemPath() string {
	path, _ := a.DriverInfo["redfish_system_id"].(string)

	return path
}

// Endpoint returns the base URL of the Redfish service, "" for other protocols.
func (a Access) Endpoint() string {
	endpoint, _ := a.DriverInfo["redfish_address"].(string)

	return endpoint
}

// build fills an Access from its family.
func (f family) build(scheme, address string) Access {
	return Access{
		Scheme:                   scheme,
		Address:                  address,
		Driver:                   f.driver,
		Interfaces:               maps.Clone(f.interfaces),
		DriverInfo:               map[string]any{},
		SupportsISO:              f.iso,
		SupportsSecureBoot:       f.secureBoot,
		NeedsProvisioningNetwork: f.network,
		NeedsMAC:                 f.mac,
	}
}
