// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabricdevices_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

type block = providertest.Map

func manager() *providertest.Fabric {
	return &providertest.Fabric{All: []fabric.Machine{
		{ID: "m2", Devices: []fabric.Device{
			{FabricID: "d4", Type: "cxlmemory", Model: "CXL-64G", Phase: fabric.AddFailed, Reason: "no lane"},
			{
				FabricID: "d3", DeviceID: "GPU-3", Type: "gpu", Model: "A100", Serial: "s3", Health: fabric.HealthWarning, HealthRaw: "1", MachineID: "m2",
			},
		}},
		{ID: "m1", Devices: []fabric.Device{{FabricID: "d1", Type: "GPU", Model: "L40S"}, {FabricID: "d2", Type: "gpu", Model: "A100 "}}},
	}}
}

func read(t *testing.T, f *providertest.Fabric, filter block) (ids string, devices []any, errs string) {
	t.Helper()

	s := providertest.NewServer(t, provider.WithDesk(device.NewDesk(f, nil)))
	if text := providertest.Errors(s.Configure(t, nil)); text != "" {
		t.Fatal(text)
	}

	got, diags := s.Read(t, "metal3_fabric_devices", filter)
	devices, _ = got["devices"].([]any)

	var all []string

	for _, one := range devices {
		d, _ := one.(block)
		all = append(all, fmt.Sprint(d["fabric_device_id"]))
	}

	return strings.Join(all, " "), devices, providertest.Errors(diags)
}

func TestDevices_filters(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		filter block
		want   string
		reads  string
	}{
		"nothing lets all through, by machine":         {nil, "d1 d2 d3 d4", "Machines"},
		"a machine costs one read":                     {block{"machine_id": "m2"}, "d3 d4", "Machine"},
		"a machine as the node's provider id names it": {block{"machine_id": "fsas-cdi://m1"}, "d1 d2", "Machine"},
		"a type":                            {block{"type": "gpu"}, "d1 d2 d3", "Machines"},
		"a model":                           {block{"model": "A100"}, "d2 d3", "Machines"},
		"models are spelled as the manager": {block{"model": "a100"}, "", "Machines"},
		"all of them":                       {block{"machine_id": "m2", "type": "gpu", "model": "L40S"}, "", "Machine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := manager()

			ids, _, errs := read(t, f, c.filter)
			if errs != "" || ids != c.want || f.Calls(c.reads) != 1 || f.Calls("Machine")+f.Calls("Machines") != 1 {
				t.Errorf("got %q, want %q, after %d lists and %d reads: %s", ids, c.want, f.Calls("Machines"), f.Calls("Machine"), errs)
			}
		})
	}
}

func TestDevices_facts(t *testing.T) {
	t.Parallel()

	_, devices, errs := read(t, manager(), block{"machine_id": "m2"})
	want := []any{
		block{
			"device_id": "GPU-3", "fabric_device_id": "d3", "type": "gpu", "model": "A100", "machine_id": "m2", "serial": "s3", "health": "warning",
			"health_raw": "1", "status": "attached", "reason": nil,
		},
		block{
			"device_id": nil, "fabric_device_id": "d4", "type": "cxlmemory", "model": "CXL-64G", "machine_id": "m2", "serial": nil, "health": "unknown",
			"health_raw": nil, "status": "add_failed", "reason": "no lane",
		},
	}

	if errs != "" || !reflect.DeepEqual(devices, want) {
		t.Errorf("got  %v\nwant %v\n%s", devices, want, errs)
	}
}

func TestDevices_refusals(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		filter block
		fail   map[string]error
		says   []string
	}{
		"an empty machine":        {block{"machine_id": ""}, nil, []string{`AttributeName("machine_id")`}},
		"a machine that is none":  {block{"machine_id": "m9"}, nil, []string{"m9", "metal3_fabric_machines"}},
		"a manager that died":     {nil, map[string]error{"Machines": errors.New("refused")}, []string{"Devices of the fabric could not be read", "refused"}},
		"a machine that is mute":  {block{"machine_id": "m1"}, map[string]error{"Machine": errors.New("timeout")}, []string{"machine m1", "timeout"}},
		"an empty model":          {block{"model": ""}, nil, []string{`AttributeName("model")`}},
		"an empty type of device": {block{"type": ""}, nil, []string{`AttributeName("type")`}},
	} {
		t.Run(name+" is an error in words", func(t *testing.T) {
			t.Parallel()

			f := manager()
			f.Fail = c.fail

			_, _, errs := read(t, f, c.filter)
			for _, want := range c.says {
				if !strings.Contains(errs, want) {
					t.Errorf("no %q in %q", want, errs)
				}
			}
		})
	}
}
