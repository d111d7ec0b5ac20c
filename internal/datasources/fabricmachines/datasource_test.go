// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabricmachines_test

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

// manager knows three machines and one that was taken apart.
func manager() *providertest.Fabric {
	return &providertest.Fabric{All: []fabric.Machine{
		{
			ID: "m2", Name: "b", FabricID: "f1", Status: "13 ACTIVE_PON", OpStatus: "00", Power: fabric.PowerOn, Owner: "lab",
			MACs:    []string{"02-00-00-00-00-0B", "of no kind"},
			Devices: []fabric.Device{{FabricID: "d1", Type: "gpu"}, {FabricID: "d2", Type: "GPU"}, {FabricID: "d3", Type: "cxlmemory"}},
		},
		{ID: "m1", Name: "a", MACs: []string{"02:00:00:00:00:0a"}},
		{ID: "m0", Name: "", State: fabric.Gone},
		{ID: "m3", State: fabric.Failed},
	}}
}

func read(t *testing.T, f *providertest.Fabric, filter block) (ids string, machines []any, errs string) {
	t.Helper()

	s := providertest.NewServer(t, provider.WithDesk(device.NewDesk(f, nil)))
	if text := providertest.Errors(s.Configure(t, nil)); text != "" {
		t.Fatal(text)
	}

	got, diags := s.Read(t, "metal3_fabric_machines", filter)
	machines, _ = got["machines"].([]any)

	var all []string

	for _, one := range machines {
		m, _ := one.(block)
		all = append(all, fmt.Sprint(m["id"]))
	}

	return strings.Join(all, " "), machines, providertest.Errors(diags)
}

func TestMachines_filters(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		filter block
		want   string
	}{
		"nothing lets all through that are there, by name": {nil, "m3 m1 m2"},
		"a name":                           {block{"name": "b"}, "m2"},
		"another name":                     {block{"name": "B"}, ""},
		"an address":                       {block{"mac": "02:00:00:00:00:0a"}, "m1"},
		"an address in another spelling":   {block{"mac": "0200.0000.000b"}, "m2"},
		"an address that nobody has":       {block{"mac": "02:00:00:00:00:0c"}, ""},
		"an address and a name must match": {block{"mac": "02:00:00:00:00:0a", "name": "b"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := manager()

			ids, _, errs := read(t, f, c.filter)
			if errs != "" || ids != c.want || f.Calls("Machines") != 1 {
				t.Errorf("got %q, want %q, after %d lists: %s", ids, c.want, f.Calls("Machines"), errs)
			}
		})
	}
}

func TestMachines_facts(t *testing.T) {
	t.Parallel()

	_, machines, errs := read(t, manager(), block{"name": "b"})
	if errs != "" || len(machines) != 1 {
		t.Fatalf("%v: %s", machines, errs)
	}

	want := block{
		"id": "m2", "name": "b", "fabric_id": "f1", "status": "13 ACTIVE_PON", "op_status": "00", "power": "on", "owner": "lab",
		"macs": []any{"02:00:00:00:00:0b", "of no kind"}, "device_counts": block{"gpu": int64(2), "cxlmemory": int64(1)},
	}
	if !reflect.DeepEqual(machines[0], want) {
		t.Errorf("got  %v\nwant %v", machines[0], want)
	}

	_, machines, _ = read(t, manager(), nil)
	if bare, _ := machines[0].(block); bare["name"] != nil || bare["power"] != nil || bare["fabric_id"] != nil || len(bare["macs"].([]any)) != 0 {
		t.Errorf("what the manager does not tell is %v", bare)
	}
}

func TestMachines_refusals(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		filter block
		fail   error
		says   []string
	}{
		"an empty name":       {block{"name": ""}, nil, []string{`AttributeName("name")`}},
		"no address":          {block{"mac": "02:00"}, nil, []string{`AttributeName("mac")`}},
		"a manager that died": {nil, errors.New("connection refused"), []string{"Machines of the fabric could not be read", "https://fabric.test", "refused"}},
	} {
		t.Run(name+" is an error in words", func(t *testing.T) {
			t.Parallel()

			f := manager()
			f.Fail = map[string]error{"Machines": c.fail}

			_, _, errs := read(t, f, c.filter)
			for _, want := range c.says {
				if !strings.Contains(errs, want) {
					t.Errorf("no %q in %q", want, errs)
				}
			}
		})
	}
}

func TestMachines_withoutFarSide(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		provider block
		says     []string
	}{
		"nothing is configured": {nil, []string{"fabric.endpoint", "METAL3_FABRIC_ENDPOINT", "lab"}},
		"only an Ironic is":     {block{"ironic": block{"endpoint": "http://i.test"}}, []string{"fabric.endpoint"}},
		"the address is not known yet": {
			block{"fabric": block{"endpoint": providertest.Unknown{}}}, []string{"cannot be read yet", "fabric.endpoint", "depends_on"},
		},
		"there is no home": {
			block{"fabric": block{"endpoint": "f.test", "tenant_id": "t", "auth": block{"username": "u", "password": "p"}}}, []string{"journal_dir", "off"},
		},
		"there is no password": {
			block{"fabric": block{"endpoint": "f.test", "tenant_id": "t", "journal_dir": "off"}}, []string{"fabric.auth"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := providertest.NewServer(t)
			if text := providertest.Errors(s.Configure(t, c.provider)); text != "" {
				t.Fatal(text)
			}

			_, diags := s.Read(t, "metal3_fabric_machines", nil)
			for _, want := range c.says {
				if text := providertest.Errors(diags); !strings.Contains(text, want) {
					t.Errorf("no %q in %q", want, text)
				}
			}
		})
	}
}
