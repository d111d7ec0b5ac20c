// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package access_test

import (
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/access"
)

// table is the scheme table of the documentation: driver, then the interfaces boot, bios,
// management, power, raid, vendor, firmware, then secure boot, ISO, network, MAC.
const table = `
ipmi                 | ipmi    | ipxe                        | -             | -             | -             | no-raid       | -             | -       | no  | no  | yes | no
libvirt              | ipmi    | ipxe                        | -             | -             | -             | no-raid       | -             | -       | no  | no  | yes | yes
redfish              | redfish | ipxe                        | -             | -             | -             | redfish       | -             | redfish | yes | no  | yes | no
ilo5-redfish         | redfish | ipxe                        | -             | -             | -             | redfish       | -             | redfish | yes | no  | yes | no
redfish-virtualmedia | redfish | redfish-virtual-media       | -             | -             | -             | redfish       | -             | redfish | yes | yes | no  | no
ilo5-virtualmedia    | redfish | redfish-virtual-media       | -             | -             | -             | redfish       | -             | redfish | yes | yes | no  | no
redfish-uefihttp     | redfish | redfish-https               | -             | -             | -             | redfish       | -             | redfish | yes | yes | no  | no
idrac-redfish        | idrac   | ipxe                        | idrac-redfish | idrac-redfish | idrac-redfish | idrac-redfish | idrac-redfish | redfish | yes | no  | yes | no
idrac-virtualmedia   | idrac   | idrac-redfish-virtual-media | idrac-redfish | idrac-redfish | idrac-redfish | idrac-redfish | idrac-redfish | redfish | yes | yes | no  | no
fake-hardware        | fake-hardware | -                     | -             | -             | -             | -             | -             | -       | yes | yes | no  | no
`

func TestParse_schemeTable(t *testing.T) {
	t.Parallel()

	kinds := []string{"boot", "bios", "management", "power", "raid", "vendor", "firmware"}

	for line := range strings.SplitSeq(strings.TrimSpace(table), "\n") {
		cells := strings.Split(line, "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}

		want := map[string]string{}

		for i, kind := range kinds {
			if cells[2+i] != "-" {
				want[kind] = cells[2+i]
			}
		}

		suffixes := []string{""}
		if cells[1] == "redfish" || cells[1] == "idrac" {
			suffixes = []string{"", "+http", "+https"}
		}

		for _, suffix := range suffixes {
			t.Run(cells[0]+suffix, func(t *testing.T) {
				t.Parallel()

				a, err := access.Parse(cells[0] + suffix + "://192.0.2.1/redfish/v1/Systems/1")
				if err != nil {
					t.Fatal(err)
				}

				if a.Driver != cells[1] || !maps.Equal(a.Interfaces, want) {
					t.Errorf("driver %s, interfaces %v, want %s, %v", a.Driver, a.Interfaces, cells[1], want)
				}

				got := []bool{a.SupportsSecureBoot, a.SupportsISO, a.NeedsProvisioningNetwork, a.NeedsMAC}
				for i, flag := range got {
					if flag != (cells[9+i] == "yes") {
						t.Errorf("flag %d is %v, want %s", i, flag, cells[9+i])
					}
				}

				stable(t, a)
			})
		}
	}
}

// stable checks that what an address means survives the way to a node and back.
func stable(t *testing.T, first access.Access) {
	t.Helper()

	address, err := access.Address(first.Driver, first.Interfaces["boot"], first.DriverInfo)
	if err != nil {
		t.Fatalf("Address(%s, %v): %v", first.Driver, first.DriverInfo, err)
	}

	second, err := access.Parse(address)
	if err != nil {
		t.Fatalf("Parse(%q): %v", address, err)
	}

	if second.Driver != first.Driver || !maps.Equal(second.Interfaces, first.Interfaces) || !reflect.DeepEqual(second.DriverInfo, first.DriverInfo) {
		t.Errorf("%q became %q: %v, want %v", first.Address, address, second, first)
	}

	if again, err := access.Address(second.Driver, second.Interfaces["boot"], second.DriverInfo); err != nil || again != address {
		t.Errorf("second inverse %q, error %v, want %q", again, err, address)
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		address string
		want    map[string]any
		off, ca map[string]any
	}{
		"IPMI": {
			"ipmi://h",
			map[string]any{"ipmi_username": "u", "ipmi_password": "p"},
			map[string]any{"ipmi_verify_ca": false},
			map[string]any{},
		},
		"Redfish": {
			"redfish-virtualmedia+http://h",
			map[string]any{"redfish_username": "u", "redfish_password": "p"},
			map[string]any{"redfish_verify_ca": false},
			map[string]any{"redfish_verify_ca": "/etc/ca.pem"},
		},
		"iDRAC uses the keys of Redfish": {
			"idrac-redfish://h",
			map[string]any{"redfish_username": "u", "redfish_password": "p"},
			map[string]any{"redfish_verify_ca": false},
			map[string]any{"redfish_verify_ca": "/etc/ca.pem"},
		},
		"the test driver has none": {"fake-hardware://n", map[string]any{}, map[string]any{}, map[string]any{}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			a, err := access.Parse(tc.address)
			if err != nil {
				t.Fatal(err)
			}

			for what, pair := range map[string][2]map[string]any{
				"credentials":      {a.Credentials("u", "p"), tc.want},
				"verification off": {a.Verify(true, ""), tc.off},
				"bundle":           {a.Verify(false, "/etc/ca.pem"), tc.ca},
				"default":          {a.Verify(false, ""), {}},
			} {
				if !reflect.DeepEqual(pair[0], pair[1]) {
					t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
				}
			}
		})
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()

	type info = map[string]any

	cases := map[string]struct {
		driver, boot string
		info         info
		want         string
	}{
		"IPMI with the usual port":   {"ipmi", "ipxe", info{"ipmi_address": "192.0.2.1", "ipmi_port": "623"}, "ipmi://192.0.2.1"},
		"IPMI port as a number":      {"ipmi", "", info{"ipmi_address": "fe80::1", "ipmi_port": 6223.0}, "ipmi://[fe80::1]:6223"},
		"IPMI privilege level":       {"ipmi", "", info{"ipmi_address": "h", "ipmi_priv_level": "OPERATOR"}, "ipmi://h?privilegelevel=OPERATOR"},
		"Redfish over HTTP":          {"redfish", "redfish-virtual-media", info{"redfish_address": "http://h:80", "redfish_system_id": "/redfish/v1/Systems/1"}, "redfish-virtualmedia+http://h:80/redfish/v1/Systems/1"},
		"Redfish without scheme":     {"redfish", "ipxe", info{"redfish_address": "h"}, "redfish://h"},
		"Redfish with a slash":       {"redfish", "", info{"redfish_address": "https://h/"}, "redfish://h"},
		"Redfish with an @ in path":  {"redfish", "", info{"redfish_address": "https://h", "redfish_system_id": "/a@b c"}, "redfish://h/a%40b%20c"},
		"UEFI HTTP":                  {"redfish", "redfish-https", info{"redfish_address": "https://h"}, "redfish-uefihttp://h"},
		"iDRAC":                      {"idrac", "ipxe", info{"redfish_address": "https://h"}, "idrac-redfish://h"},
		"iDRAC with virtual media":   {"idrac", "idrac-redfish-virtual-media", info{"redfish_address": "https://h"}, "idrac-virtualmedia://h"},
		"foreign keys have no say":   {"redfish", "ipxe", info{"redfish_address": "https://h", "deploy_kernel": "x", "redfish_password": "******"}, "redfish://h"},
		"the test driver":            {"fake-hardware", "fake", info{"anything": 1}, "fake-hardware://"},
		"another driver has none":    {"snmp", "", info{}, ""},
		"IPMI without address":       {"ipmi", "", info{}, ""},
		"IPMI with a broken address": {"ipmi", "", info{"ipmi_address": "a b"}, ""},
		"Redfish without address":    {"redfish", "", info{"redfish_system_id": "/x"}, ""},
		"Redfish below a prefix":     {"redfish", "", info{"redfish_address": "https://h/proxy"}, ""},
		"Redfish over FTP":           {"redfish", "", info{"redfish_address": "ftp://h"}, ""},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := access.Address(tc.driver, tc.boot, tc.info)
			if got != tc.want || (err != nil) != (tc.want == "") {
				t.Errorf("Address = %q, %v, want %q", got, err, tc.want)
			}
		})
	}

	_, err := access.Address("redfish", "", info{"redfish_address": "https://u:S3cret@h"})
	if !errors.Is(err, access.ErrUserinfo) || strings.Contains(err.Error(), "S3cret") {
		t.Errorf("Address with a password = %v, want ErrUserinfo", err)
	}
}
