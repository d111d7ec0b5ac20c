// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabriccapacity_test

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

// manager knows two fabrics: of f1 the first machine is in trouble, and one is gone.
func manager() *providertest.Fabric {
	return &providertest.Fabric{
		All: []fabric.Machine{
			{ID: "m3", Name: "c", FabricID: "f2", State: fabric.Busy},
			{ID: "m0", Name: "0", FabricID: "f3", State: fabric.Gone},
			{ID: "m1", Name: "a", FabricID: "f1", State: fabric.Failed},
			{ID: "m2", Name: "b", FabricID: "f1"},
		},
		Pool: map[string]fabric.FreeInfo{
			"A100": {Known: true, Count: 3}, "L40S": {}, "H100": {HasLimits: true, Min: 0, Max: 4, Current: 1, FabricID: "pool"},
		},
	}
}

func read(t *testing.T, f *providertest.Fabric, asked block) (summary string, capacities []any, errs string) {
	t.Helper()

	s := providertest.NewServer(t, provider.WithDesk(device.NewDesk(f, nil)))
	if text := providertest.Errors(s.Configure(t, nil)); text != "" {
		t.Fatal(text)
	}

	got, diags := s.Read(t, "metal3_fabric_capacity", asked)
	capacities, _ = got["capacities"].([]any)

	var all []string

	for _, one := range capacities {
		c, _ := one.(block)
		all = append(all, fmt.Sprint(c["fabric_id"], ":", c["machine_id"], ":", c["type"], ":", c["model"], ":", c["free"]))
	}

	return strings.Join(all, " "), capacities, providertest.Errors(diags)
}

func TestCapacity_asksOneMachineOfEachFabric(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		asked block
		want  string
		free  int
	}{
		"all fabrics": {block{"models": []any{"A100"}}, "f1:m2:gpu:A100:3 f2:m3:gpu:A100:3", 2},
		"several models, in their order": {
			block{"models": []any{"L40S", "A100"}}, "f1:m2:gpu:L40S:<nil> f1:m2:gpu:A100:3 f2:m3:gpu:L40S:<nil> f2:m3:gpu:A100:3", 4,
		},
		"one machine":                {block{"machine_id": "m1", "models": []any{"A100"}}, "f1:m1:gpu:A100:3", 1},
		"as the node's provider id":  {block{"machine_id": "fsas-cdi://m1", "models": []any{"A100"}}, "f1:m1:gpu:A100:3", 1},
		"another type":               {block{"machine_id": "m1", "type": "cxlmemory", "models": []any{"A100"}}, "f1:m1:cxlmemory:A100:3", 1},
		"the pool names itself":      {block{"machine_id": "m1", "models": []any{"H100"}}, "pool:m1:gpu:H100:<nil>", 1},
		"a model that nobody has is": {block{"machine_id": "m1", "models": []any{"X"}}, "f1:m1:gpu:X:<nil>", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := manager()

			got, _, errs := read(t, f, c.asked)
			if errs != "" || got != c.want || f.Calls("Free") != c.free {
				t.Errorf("got %q, want %q, after %d requests: %s", got, c.want, f.Calls("Free"), errs)
			}
		})
	}
}

func TestCapacity_countsOfOneMachineAreAskedOfEach(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(*providertest.Fabric)
		models []any
		want   string
		free   int
	}{
		"machines with specifications": {
			func(f *providertest.Fabric) { f.All[3].Specs = []fabric.Spec{{ID: "s"}} },
			[]any{"A100"},
			"f1:m1:gpu:A100:3 f1:m2:gpu:A100:3 f2:m3:gpu:A100:3", 3,
		},
		"limits that only an answer shows": {
			func(*providertest.Fabric) {},
			[]any{"A100", "H100"},
			"f1:m1:gpu:A100:3 pool:m1:gpu:H100:<nil> f1:m2:gpu:A100:3 pool:m2:gpu:H100:<nil> f2:m3:gpu:A100:3 pool:m3:gpu:H100:<nil>", 10,
		},
		"machines of no known fabric": {
			func(f *providertest.Fabric) { f.All[2].FabricID, f.All[3].FabricID = "", "" },
			[]any{"A100"},
			"<nil>:m2:gpu:A100:3 <nil>:m1:gpu:A100:3 f2:m3:gpu:A100:3", 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := manager()
			c.change(f)

			got, _, errs := read(t, f, block{"models": c.models})
			if errs != "" || got != c.want || f.Calls("Free") != c.free {
				t.Errorf("got %q, want %q, after %d requests: %s", got, c.want, f.Calls("Free"), errs)
			}
		})
	}
}

func TestCapacity_facts(t *testing.T) {
	t.Parallel()

	_, got, errs := read(t, manager(), block{"machine_id": "m2", "models": []any{"A100", "H100"}})
	want := []any{
		block{
			"fabric_id": "f1", "machine_id": "m2", "type": "gpu", "model": "A100", "known": true, "free": int64(3), "min": nil, "max": nil, "current": nil,
		},
		block{
			"fabric_id": "pool", "machine_id": "m2", "type": "gpu", "model": "H100", "known": false, "free": nil,
			"min": int64(0), "max": int64(4), "current": int64(1),
		},
	}

	if errs != "" || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v\n%s", got, want, errs)
	}
}

func TestCapacity_refusals(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		asked block
		fail  map[string]error
		says  []string
	}{
		"no model":               {block{"models": []any{}}, nil, []string{`AttributeName("models")`}},
		"a model twice":          {block{"models": []any{"A", "A"}}, nil, []string{`AttributeName("models")`}},
		"an empty model":         {block{"models": []any{""}}, nil, []string{`AttributeName("models")`}},
		"a machine that is none": {block{"machine_id": "m9", "models": []any{"A"}}, nil, []string{"m9", "metal3_fabric_machines"}},
		"a manager that died":    {block{"models": []any{"A"}}, map[string]error{"Machines": errors.New("refused")}, []string{"Capacity of the fabric", "refused"}},
		"a pool that is mute":    {block{"models": []any{"A"}}, map[string]error{"Free": errors.New("timeout")}, []string{"gpu A", "timeout"}},
	} {
		t.Run(name+" is an error in words", func(t *testing.T) {
			t.Parallel()

			f := manager()
			f.Fail = c.fail

			_, _, errs := read(t, f, c.asked)
			for _, want := range c.says {
				if !strings.Contains(errs, want) {
					t.Errorf("no %q in %q", want, errs)
				}
			}
		})
	}
}
