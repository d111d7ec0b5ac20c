// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package hardware_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/hardware"
)

// odd is an inventory with everything that real machines leave out or get wrong.
const odd = `{"inventory":{
 "hostname":null,
 "bmc_address":"192.0.2.10","bmc_v6address":"::/0",
 "cpu":{"architecture":"x86_64","count":64,"frequency":null,"model_name":"Example CPU","flags":null},
 "memory":{"total":null,"physical_mb":262144},
 "system_vendor":{"manufacturer":"Example","product_name":"Server (SKU=0000)","serial_number":"","firmware":{"vendor":"","version":"","build_date":""}},
 "boot":{"current_boot_mode":"uefi","pxe_interface":"01-02-00-5e-10-00-01"},
 "disks":[{"name":"/dev/nvme0n1","model":"Example NVMe","size":960197124096,"rotational":false,"wwn":"eui.0025385b71b00001","serial":"S1","vendor":null,"wwn_with_extension":null,"wwn_vendor_extension":null,"hctl":null,"by_path":"/dev/disk/by-path/pci-0000:41:00.0-nvme-1"}],
 "interfaces":[
  {"name":"eno1","mac_address":"02:00:5e:10:00:01","ipv4_address":"192.0.2.21","ipv6_address":"2001:db8::21","has_carrier":true,"lldp":null,"vendor":"0x8086","product":"0x1572","client_id":null,"biosdevname":null,"speed_mbps":10000},
  {"name":"eno2","mac_address":"02:00:5e:10:00:02","ipv4_address":null,"ipv6_address":"fe80::5eff:fe10:2","has_carrier":true,"lldp":[],"vendor":null,"product":null,"client_id":null,"speed_mbps":-1},
  {"name":"usb0","mac_address":null,"ipv4_address":null,"ipv6_address":null,"has_carrier":false,"lldp":null,"speed_mbps":null},
  {"name":"bond0","mac_address":"02:00:5e:10:00:01","ipv4_address":null,"ipv6_address":null,"has_carrier":true},
  {"name":"ib0","mac_address":"80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:0f:1d","client_id":"ff:00:00:00:00:00:02:00:00:02:c9:00:00:02:c9:03:00:00:0f:1d","ipv4_address":null,"ipv6_address":null,"has_carrier":false}
 ]},
 "plugin_data":{
  "parsed_lldp":{"eno1":{"switch_chassis_id":"02:00:5e:20:00:01","switch_port_id":"Ethernet1/1","switch_port_untagged_vlan_id":100,"switch_port_vlans":[{"id":101,"name":"prod"},{"id":"102","name":null},null]}},
  "lldp_raw":{"eno1":[[1,"0402005e200001"],[2,"0545746865726e6574312f31"]]}
 }}`

// nic returns the interface of a name.
func nic(t *testing.T, h hardware.Hardware, name string) hardware.NIC {
	t.Helper()

	for _, n := range h.NICs {
		if n.Name == name {
			return n
		}
	}

	t.Fatalf("no NIC %s in %+v", name, h.NICs)

	return hardware.NIC{}
}

func TestOBMH09_vlansFromLLDP(t *testing.T) {
	t.Parallel()

	h, warnings := hardware.Decode([]byte(odd))
	got := nic(t, h, "eno1")

	if want := []hardware.VLAN{{ID: 101, Name: "prod"}, {ID: 102}}; !reflect.DeepEqual(got.VLANs, want) {
		t.Errorf("VLANs %v, want %v", got.VLANs, want)
	}

	if got.VLANID != 100 {
		t.Errorf("native VLAN %d, want 100", got.VLANID)
	}

	if want := (hardware.LLDP{SwitchID: "02:00:5e:20:00:01", PortID: "Ethernet1/1"}); got.LLDP != want {
		t.Errorf("LLDP %v, want %v", got.LLDP, want)
	}

	if len(warnings) != 1 || !strings.Contains(warnings[0], "plugin_data.parsed_lldp.eno1.switch_port_vlans[2]") {
		t.Errorf("warnings %q, want one for the entry that is null", warnings)
	}
}

func TestOBMH10_oddNICs(t *testing.T) {
	t.Parallel()

	h, _ := hardware.Decode([]byte(odd))

	var names []string
	for _, n := range h.NICs {
		names = append(names, n.Name)

		if n.SpeedGbps < 0 {
			t.Errorf("speed of %s is negative", n.Name)
		}
	}

	if want := []string{"bond0", "eno1", "eno2", "ib0", "usb0"}; !slices.Equal(names, want) {
		t.Errorf("NICs %v, want each once, by name: %v", names, want)
	}

	if got := nic(t, h, "eno1"); got.SpeedGbps != 10 || !slices.Equal(got.IPs, []string{"192.0.2.21", "2001:db8::21"}) || got.Model != "0x8086 0x1572" {
		t.Errorf("dual-stack NIC %+v, want both addresses and 10 Gbps", got)
	}

	if got := nic(t, h, "eno2"); !slices.Equal(got.IPs, []string{"fe80::5eff:fe10:2"}) {
		t.Errorf("link-local NIC has %v", got.IPs)
	}

	if want := []string{"02:00:5e:10:00:01", "02:00:5e:10:00:02"}; !slices.Equal(h.MACs(), want) {
		t.Errorf("MACs for ports %v, want %v", h.MACs(), want)
	}

	if got := h.BootMAC(); got != "02:00:5e:10:00:01" {
		t.Errorf("boot MAC %q, want that of the PXE interface", got)
	}
}

func TestDecode_wholeMachine(t *testing.T) {
	t.Parallel()

	h, _ := hardware.Decode([]byte(odd))

	want := hardware.Storage{
		Name:           "/dev/disk/by-path/pci-0000:41:00.0-nvme-1",
		AlternateNames: []string{"/dev/nvme0n1", "/dev/disk/by-path/pci-0000:41:00.0-nvme-1"},
		Type:           hardware.NVME, SizeBytes: 960197124096, Model: "Example NVMe", SerialNumber: "S1", WWN: "eui.0025385b71b00001",
	}
	if len(h.Storage) != 1 || !reflect.DeepEqual(h.Storage[0], want) {
		t.Errorf("storage %+v, want %+v", h.Storage, want)
	}

	if want := (hardware.CPU{Arch: "x86_64", Model: "Example CPU", Count: 64}); !reflect.DeepEqual(h.CPU, want) {
		t.Errorf("CPU %+v, want %+v", h.CPU, want)
	}

	if h.RAMMebibytes != 262144 || h.BootMode != "uefi" || h.BMCAddress != "192.0.2.10" || h.BMCv6Address != "" || !h.Known() {
		t.Errorf("machine %+v", h)
	}

	if want := (hardware.SystemVendor{Manufacturer: "Example", ProductName: "Server (SKU=0000)"}); h.SystemVendor != want {
		t.Errorf("vendor %+v, want %+v", h.SystemVendor, want)
	}
}

func TestDecode_lenient(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		raw      string
		check    func(h hardware.Hardware) bool
		warnings int
	}{
		"nothing":                    {"", func(h hardware.Hardware) bool { return !h.Known() && h.BootMAC() == "" }, 1},
		"HTML":                       {"<html>", func(h hardware.Hardware) bool { return !h.Known() }, 1},
		"a list":                     {"[]", func(h hardware.Hardware) bool { return !h.Known() }, 1},
		"null":                       {"null", func(h hardware.Hardware) bool { return !h.Known() }, 0},
		"an inventory that is text":  {`{"inventory":"x"}`, func(h hardware.Hardware) bool { return !h.Known() }, 1},
		"a clock as text is rounded": {`{"inventory":{"cpu":{"frequency":"2399.6"}}}`, func(h hardware.Hardware) bool { return h.CPU.ClockMegahertz == 2400 }, 0},
		"a clock that is a word":     {`{"inventory":{"cpu":{"frequency":"fast","count":4}}}`, func(h hardware.Hardware) bool { return h.CPU.Count == 4 }, 1},
		"a size that is a list":      {`{"inventory":{"disks":[{"name":"/dev/sda","size":[],"rotational":true}]}}`, func(h hardware.Hardware) bool { return h.Storage[0].Type == hardware.HDD }, 1},
		"a disk without a name": {`{"inventory":{"disks":[{"model":"M","size":1}]}}`, func(h hardware.Hardware) bool {
			return h.Storage[0].AlternateNames == nil && h.Storage[0].Type == hardware.SSD
		}, 0},
		"a disk that is null":              {`{"inventory":{"disks":[null,{"name":"/dev/sda"}]}}`, func(h hardware.Hardware) bool { return len(h.Storage) == 1 }, 1},
		"flags are sorted":                 {`{"inventory":{"cpu":{"flags":["b","a",1]}}}`, func(h hardware.Hardware) bool { return slices.Equal(h.CPU.Flags, []string{"a", "b"}) }, 1},
		"only the total of memory":         {`{"inventory":{"memory":{"total":8589934592}}}`, func(h hardware.Hardware) bool { return h.RAMMebibytes == 8192 }, 0},
		"a MAC in another spelling":        {`{"inventory":{"interfaces":[{"name":"a","mac_address":"02-00-5E-10-00-01"}]}}`, func(h hardware.Hardware) bool { return h.BootMAC() == "02:00:5e:10:00:01" }, 0},
		"a MAC that is none":               {`{"inventory":{"interfaces":[{"name":"a","mac_address":"none"}]}}`, func(h hardware.Hardware) bool { return h.BootMAC() == "" && len(h.NICs) == 1 }, 1},
		"a UUID of zeros is none":          {`{"inventory":{"system_vendor":{"system_uuid":"00000000-0000-0000-0000-000000000000"}}}`, func(h hardware.Hardware) bool { return h.SystemUUID == "" }, 0},
		"a UUID from the collector":        {`{"inventory":{"hostname":"h"},"plugin_data":{"extra":{"system":{"product":{"uuid":"4C4C4544-0044-4810-8031-B4C04F4E3132"}}}}}`, func(h hardware.Hardware) bool { return h.SystemUUID == "4c4c4544-0044-4810-8031-b4c04f4e3132" }, 0},
		"one interface for each family":    {`{"inventory":{"interfaces":[{"name":"a","mac_address":"02:00:5e:10:00:01","ipv4_address":"192.0.2.1"},{"name":"a","mac_address":"02:00:5e:10:00:01","ipv6_address":"2001:db8::1"}]}}`, func(h hardware.Hardware) bool { return len(h.NICs) == 1 && len(h.NICs[0].IPs) == 2 }, 0},
		"the hook's mark wins":             {`{"inventory":{"boot":{"pxe_interface":"02:00:5e:10:00:01"},"interfaces":[{"name":"a","mac_address":"02:00:5e:10:00:01"},{"name":"b","mac_address":"02:00:5e:10:00:02"}]},"plugin_data":{"all_interfaces":{"b":{"pxe_enabled":true}}}}`, func(h hardware.Hardware) bool { return h.BootMAC() == "02:00:5e:10:00:02" }, 0},
		"a VLAN id out of range":           {`{"inventory":{"interfaces":[{"name":"a"}]},"plugin_data":{"parsed_lldp":{"a":{"switch_port_vlans":[{"id":5000},{"id":7.0}]}}}}`, func(h hardware.Hardware) bool { return len(h.NICs[0].VLANs) == 1 && h.NICs[0].VLANs[0].ID == 7 }, 1},
		"a number too large for an int":    {`{"inventory":{"cpu":{"count":1e300}}}`, func(h hardware.Hardware) bool { return h.CPU.Count == 0 }, 1},
		"plugin data without an inventory": {`{"plugin_data":{"parsed_lldp":[]}}`, func(h hardware.Hardware) bool { return !h.Known() }, 1},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h, warnings := hardware.Decode([]byte(tc.raw))
			if !tc.check(h) {
				t.Errorf("hardware %+v", h)
			}

			if len(warnings) != tc.warnings {
				t.Errorf("warnings %q, want %d", warnings, tc.warnings)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(odd))
	f.Add([]byte(`{"inventory":{"interfaces":[{"name":5,"speed_mbps":"x"}],"disks":{}}}`))

	f.Fuzz(func(t *testing.T, raw []byte) {
		h, _ := hardware.Decode(raw)
		again, _ := hardware.Decode(raw)

		if !reflect.DeepEqual(h, again) {
			t.Errorf("two readings differ: %+v and %+v", h, again)
		}

		if mac := h.BootMAC(); mac != "" && !slices.Contains(h.MACs(), mac) {
			t.Errorf("boot MAC %q is not one of %v", mac, h.MACs())
		}
	})
}
