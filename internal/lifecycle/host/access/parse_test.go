// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package access_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/access"
)

func TestParse_addresses(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		address string
		scheme  string
		info    map[string]any
		warns   int
	}{
		"an IP address alone is IPMI":       {"192.168.1.1", "ipmi", ipmi("192.168.1.1", "623"), 0},
		"a name alone is IPMI":              {"host.example", "ipmi", ipmi("host.example", "623"), 0},
		"an IP address may have a port":     {"192.168.1.1:6223", "ipmi", ipmi("192.168.1.1", "6223"), 0},
		"the opaque form is accepted":       {"ipmi:192.168.1.1", "ipmi", ipmi("192.168.1.1", "623"), 0},
		"the opaque form may have a port":   {"ipmi:192.168.1.1:6223", "ipmi", ipmi("192.168.1.1", "6223"), 0},
		"a name with a port is no scheme":   {"host.example:623", "ipmi", ipmi("host.example", "623"), 0},
		"nor is one with a slash behind it": {"host.example:623/", "ipmi", ipmi("host.example", "623"), 0},
		"IPv6 in brackets with a port":      {"[fe80::1]:623", "ipmi", ipmi("fe80::1", "623"), 0},
		"IPv6 with a scheme":                {"ipmi://[fe80::1]", "ipmi", ipmi("fe80::1", "623"), 0},
		"libvirt speaks IPMI":               {"libvirt://192.168.122.1:6233/", "libvirt", ipmi("192.168.122.1", "6233"), 0},
		"an IPMI path has no effect":        {"ipmi://192.168.1.1/x", "ipmi", ipmi("192.168.1.1", "623"), 1},
		"an unknown query has no effect":    {"ipmi://192.168.1.1?a=b", "ipmi", ipmi("192.168.1.1", "623"), 1},
		"the privilege level is a query": {
			"ipmi://host?privilegelevel=OPERATOR", "ipmi",
			map[string]any{"ipmi_address": "host", "ipmi_port": "623", "ipmi_priv_level": "OPERATOR"},
			0,
		},
		"Redfish in the opaque form": {"redfish:h/x", "redfish", redfish("https://h", "/x"), 0},
		"Redfish at IPv6 with a port": {
			"redfish://[fe80::1]:8443/redfish/v1/Systems/1", "redfish", redfish("https://[fe80::1]:8443", "/redfish/v1/Systems/1"), 0,
		},
		"an upper-case scheme": {"REDFISH://h/redfish/v1/Systems/1", "redfish", redfish("https://h", "/redfish/v1/Systems/1"), 0},
		"plain HTTP":           {"redfish+http://h/redfish/v1/Systems/1", "redfish+http", redfish("http://h", "/redfish/v1/Systems/1"), 0},
		"HTTPS said aloud":     {"idrac-redfish+https://h/redfish/v1/Systems/1", "idrac-redfish+https", redfish("https://h", "/redfish/v1/Systems/1"), 0},
		"query and fragment warn": {
			"redfish://h/redfish/v1/Systems/1?x=y#z", "redfish", redfish("https://h", "/redfish/v1/Systems/1"), 2,
		},
		"UEFI HTTP leaves an empty system out": {"redfish-uefihttp://h", "redfish-uefihttp", redfish("https://h", ""), 0},
		"a quoted path is given unquoted":      {"redfish://h/redfish/v1/Systems/a%40b", "redfish", redfish("https://h", "/redfish/v1/Systems/a@b"), 0},
		"the test driver, opaque":              {"fake-hardware:", "fake-hardware", map[string]any{}, 0},
		"the test driver, as a word":           {"fake-hardware", "fake-hardware", map[string]any{}, 0},
		"the test driver with a name":          {"fake-hardware://one_1", "fake-hardware", map[string]any{}, 0},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := access.Parse(tc.address)
			if err != nil {
				t.Fatalf("Parse(%q): %v", tc.address, err)
			}

			if got.Scheme != tc.scheme || got.Address != tc.address {
				t.Errorf("scheme %q, address %q, want %q, %q", got.Scheme, got.Address, tc.scheme, tc.address)
			}

			if !reflect.DeepEqual(got.DriverInfo, tc.info) {
				t.Errorf("driver_info %v, want %v", got.DriverInfo, tc.info)
			}

			if len(got.Warnings) != tc.warns {
				t.Errorf("warnings %q, want %d", got.Warnings, tc.warns)
			}
		})
	}
}

func ipmi(host, port string) map[string]any {
	return map[string]any{"ipmi_address": host, "ipmi_port": port, "ipmi_priv_level": "ADMINISTRATOR"}
}

func redfish(address, system string) map[string]any {
	info := map[string]any{"redfish_address": address}
	if system != "" {
		info["redfish_system_id"] = system
	}

	return info
}

func TestOBMH01_addressWithoutSystem(t *testing.T) {
	t.Parallel()

	for _, path := range []string{"", "/", "//", "/redfish/v1", "/redfish/v1/", "/redfish/v1/Systems", "/redfish/v1/Systems/"} {
		t.Run("no system in "+path, func(t *testing.T) {
			t.Parallel()

			a, err := access.Parse("redfish://192.0.2.10" + path)
			if err != nil {
				t.Fatal(err)
			}

			if id, there := a.DriverInfo["redfish_system_id"]; there {
				t.Errorf("redfish_system_id = %q, want it left out", id)
			}
		})
	}

	a, err := access.Parse("redfish://192.0.2.10/redfish/v1/Systems/1/")
	if err != nil || a.SystemPath() != "/redfish/v1/Systems/1" {
		t.Errorf("system path %q, error %v, want it without the trailing slash", a.SystemPath(), err)
	}
}

func TestParse_refusals(t *testing.T) {
	t.Parallel()

	cases := map[string]struct{ address, want string }{
		"nothing":                       {"", "missing BMC address"},
		"blanks":                        {"  ", "missing BMC address"},
		"blank inside":                  {"redfish://h /x", "white space"},
		"IPv6 in brackets, no scheme":   {"[fe80::1]", "not a URL"},
		"IPv6 alone":                    {"fe80::1", "unknown BMC type 'fe80'"},
		"underscore":                    {"redfish://my_host/redfish/v1/Systems/1", "BMC address hostname/IP : [my_host] is invalid"},
		"long label":                    {"redfish://" + strings.Repeat("a", 64) + ".example/", "is invalid"},
		"IPv4 that is none":             {"redfish://300.1.1.1/", "is invalid"},
		"IPv6 with zone":                {"redfish://[fe80::1%25eth0]/", "is invalid"},
		"removed ilo4":                  {"ilo4://h", "unknown BMC type 'ilo4'"},
		"removed irmc":                  {"irmc://h", "unknown BMC type 'irmc'"},
		"removed idrac":                 {"idrac://h", "unknown BMC type 'idrac'"},
		"never known ilo5":              {"ilo5://h", "unknown BMC type 'ilo5'"},
		"IPMI over HTTP":                {"ipmi+http://h", "unknown BMC type 'ipmi+http'"},
		"unknown transport":             {"redfish+ftp://h", "unknown BMC type 'redfish+ftp'"},
		"no host":                       {"redfish:///redfish/v1/Systems/1", "names no host"},
		"port 0":                        {"ipmi://h:0", "between 1 and 65535"},
		"port too large":                {"redfish://h:70000/", "between 1 and 65535"},
		"port that is a word":           {"redfish://h:https/", "not a URL"},
		"unknown privilege level":       {"ipmi://h?privilegelevel=KING", "privilege level"},
		"no scheme but slashes":         {"//h/x", "unknown BMC type ''"},
		"a port of a scheme is no host": {"redfish:8443", "is invalid"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := access.Parse(tc.address)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Parse(%q) = %v, want an error with %q", tc.address, err, tc.want)
			}
		})
	}
}

func TestOBMH18_addressWithPassword(t *testing.T) {
	t.Parallel()

	for _, address := range []string{
		"redfish://user:S3cret@h/redfish/v1/Systems/1",
		"redfish://user:S3c%ret%zz@h/redfish/v1/Systems/1",
		"redfish://user:S3c/ret@h/",
		"redfish:user:S3cret@h/x",
		"user:S3cret@192.168.1.1",
		"ipmi://S3cret@h?privilegelevel=S3cret",
	} {
		_, err := access.Parse(address)
		if err == nil || strings.Contains(err.Error(), "S3c") {
			t.Errorf("Parse of an address with a password = %v, want an error without it", err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"192.168.1.1", "host.example:623", "[fe80::1]:623", "ipmi://h?privilegelevel=OPERATOR", "redfish:h/x",
		"redfish-virtualmedia+http://h:8000/redfish/v1/Systems/1", "idrac-virtualmedia://[::1]/a%2Fb%00", "fake-hardware:x", "a@b",
		"libvirt://h:1/", "redfish-uefihttp://h//x//",
	} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, address string) {
		first, err := access.Parse(address)
		if err != nil {
			return
		}

		stable(t, first)
	})
}
