// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"reflect"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/image"
)

func TestOBMH08_rootDeviceHints(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		hints image.RootHints
		want  map[string]any
	}{
		"the client adds operators": {
			image.RootHints{DeviceName: "/dev/sda", Model: "PERC", MinSizeGigabytes: new(int64(100)), Rotational: new(false)},
			map[string]any{"name": "s== /dev/sda", "model": "<in> PERC", "size": ">= 100", "rotational": "false"},
		},
		"operators of the user pass": {
			image.RootHints{Model: "s== PERC H730", DeviceName: "s== /dev/sda", Vendor: "<or> A <or> B", SerialNumber: "s!= X"},
			map[string]any{"name": "s== /dev/sda", "model": "s== PERC H730", "vendor": "<or> A <or> B", "serial": "s!= X"},
		},
		"by path": {
			image.RootHints{DeviceName: "/dev/disk/by-path/pci-0000:41:00.0-nvme-1", Rotational: new(true)},
			map[string]any{"by_path": "s== /dev/disk/by-path/pci-0000:41:00.0-nvme-1", "rotational": "true"},
		},
		"every text": {
			image.RootHints{HCTL: "0:0:0:0", Vendor: "V", SerialNumber: "S", WWN: "W", WWNWithExtension: "WE", WWNVendorExtension: "VE"},
			map[string]any{
				"hctl": "s== 0:0:0:0", "vendor": "<in> V", "serial": "s== S", "wwn": "s== W",
				"wwn_with_extension": "s== WE", "wwn_vendor_extension": "s== VE",
			},
		},
		"what looks like an operator but is none": {
			image.RootHints{Model: "<inside>", SerialNumber: "=1"},
			map[string]any{"model": "<in> <inside>", "serial": "s== =1"},
		},
		"empty text is left out":     {image.RootHints{SerialNumber: "", Model: " ", WWN: "W"}, map[string]any{"wwn": "s== W"}},
		"size 0 is unset":            {image.RootHints{MinSizeGigabytes: new(int64(0)), WWN: "W"}, map[string]any{"wwn": "s== W"}},
		"no hint at all is no value": {image.RootHints{}, nil},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := tc.hints.Ironic()
			if !reflect.DeepEqual(got, tc.want) {
				t.Errorf("%v, want %v", got, tc.want)
			}

			if problems := tc.hints.Validate(); len(problems) > 0 {
				t.Errorf("problems %v", problems)
			}

			back, rest := image.HintsFromIronic(got)
			if again := back.Ironic(); !reflect.DeepEqual(again, tc.want) || len(rest) > 0 {
				t.Errorf("came back as %v, left over %v, want %v", again, rest, tc.want)
			}
		})
	}
}

func TestRootHints_Validate(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		hints   image.RootHints
		problem string
	}{
		"directly below /dev":      {image.RootHints{DeviceName: "/dev/sda"}, ""},
		"with an operator":         {image.RootHints{DeviceName: "s==/dev/sda"}, ""},
		"another operator passes":  {image.RootHints{DeviceName: "<or> /dev/sda <or> /dev/sdb"}, ""},
		"deeper below /dev":        {image.RootHints{DeviceName: "/dev/disk/by-id/x"}, "device_name"},
		"deeper below by-path":     {image.RootHints{DeviceName: "/dev/disk/by-path/x/y"}, "device_name"},
		"the directory itself":     {image.RootHints{DeviceName: "/dev/"}, "device_name"},
		"a name alone":             {image.RootHints{DeviceName: "sda"}, "device_name"},
		"a negative smallest size": {image.RootHints{MinSizeGigabytes: new(int64(-1))}, "min_size_gigabytes"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkProblem(t, tc.hints.Validate(), tc.problem)
		})
	}
}

func TestHintsFromIronic_foreignValues(t *testing.T) {
	t.Parallel()

	got, rest := image.HintsFromIronic(map[string]any{
		"serial":     "X1",       // no operator: Ironic compares the whole
		"model":      "PERC H7",  // likewise, and ours would be a part
		"rotational": true,       // a JSON boolean
		"size":       100.0,      // exactly 100
		"by_path":    "<in> pci", // not the whole path
		"odd":        nil,
	})

	want := image.RootHints{SerialNumber: "X1", Model: "s== PERC H7", Rotational: new(true)}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("hints %+v, want %+v", got, want)
	}

	if !reflect.DeepEqual(rest, []string{"by_path", "odd", "size"}) {
		t.Errorf("left over %v, want by_path, odd and size", rest)
	}
}
