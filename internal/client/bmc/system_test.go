// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/bmc"
)

// twoSystems are the two of a GPU server, in an order that changes with every read.
func twoSystems() *fake {
	f := newFake()
	delete(f.docs, systemOne)
	f.docs[systems] = nil
	f.addSystem("HGX_Baseboard_0", "On")
	f.addSystem("System_0", nil, "02-00-5E-10-00-02", "02:00:5e:10:00:01")

	f.script("GET "+systems, func(n int, _ call) *reply {
		members := slices.Clone(f.docs[systems]["Members"].([]any))
		if n%2 == 0 {
			slices.Reverse(members)
		}

		return &reply{200, nil, doc{"Members": members, "Members@odata.count": 2}}
	})

	return f
}

func TestOBMH14_moreThanOneSystem(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		path, mac string
		want      string // path
		err       error
	}{
		"a path is used exactly":            {systems + "/System_0", "", systems + "/System_0", nil},
		"a path wins over the MAC":          {systems + "/HGX_Baseboard_0", "02:00:5e:10:00:01", systems + "/HGX_Baseboard_0", nil},
		"a path that is not there":          {systems + "/1", "02:00:5e:10:00:01", "", bmc.ErrNotFound},
		"the MAC chooses":                   {"", "02:00:5e:10:00:01", systems + "/System_0", nil},
		"the MAC in another spelling":       {"", "02-00-5E-10-00-01", systems + "/System_0", nil},
		"a MAC that nobody has":             {"", "02:00:5e:10:00:99", "", bmc.ErrAmbiguous},
		"neither path nor MAC is ambiguous": {"", "", "", bmc.ErrAmbiguous},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			client := twoSystems().client(t, func(c *bmc.Config) { c.SystemPath = tc.path })

			for range 3 { // whatever the order is
				got, err := client.System(t.Context(), tc.mac)
				if got.Path != tc.want || !errors.Is(err, tc.err) {
					t.Fatalf("system %q, error %v, want %q, %v", got.Path, err, tc.want, tc.err)
				}

				if errors.Is(err, bmc.ErrAmbiguous) && !strings.Contains(err.Error(), systems+"/HGX_Baseboard_0, "+systems+"/System_0") {
					t.Errorf("the error does not list the members: %v", err)
				}
			}
		})
	}
}

func TestOBMH14_powerOfTheChosenOne(t *testing.T) {
	t.Parallel()

	f := twoSystems()
	f.docs[systems+"/System_0"]["PowerState"] = "Off"
	client := f.client(t, withoutSystem)

	if err := client.SetPower(t.Context(), bmc.TurnOn); !errors.Is(err, bmc.ErrAmbiguous) {
		t.Errorf("error %v, want that nothing is powered without a choice", err)
	}

	if _, err := client.System(t.Context(), "02:00:5e:10:00:02"); err != nil {
		t.Fatal(err)
	}

	if err := client.SetPower(t.Context(), bmc.TurnOn); err != nil {
		t.Fatal(err)
	}

	if n := f.count("POST " + systems + "/System_0/Actions/ComputerSystem.Reset"); n != 1 {
		t.Errorf("the chosen system was pressed %d times, want once", n)
	}
}

func TestClient_System(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		fault func(f *fake)
		mac   string
		want  bmc.System
		err   error
	}{
		"the only one, whatever its MAC": {
			nil, "02:00:5e:10:00:99",
			bmc.System{Path: systemOne, UUID: "abcdef00-0000-4000-8000-000000000001", Power: bmc.PowerOff, MACs: []string{"02:00:5e:10:00:01"}},
			nil,
		},
		"no system at all": {func(f *fake) { f.docs[systems] = doc{} }, "", bmc.System{}, bmc.ErrNotFound},
		"a list that goes on": {
			func(f *fake) {
				f.docs[systems] = doc{"Members": []any{}, "Members@odata.nextLink": systems + "/next"}
				f.docs[systems+"/next"] = doc{"Members": []any{ref(systemOne), ref(systemOne), nil, 5}}
			}, "",
			bmc.System{Path: systemOne, UUID: "abcdef00-0000-4000-8000-000000000001", Power: bmc.PowerOff, MACs: []string{"02:00:5e:10:00:01"}},
			nil,
		},
		"interfaces that cannot be read": {
			func(f *fake) { delete(f.docs, systemOne+"/EthernetInterfaces") }, "",
			bmc.System{Path: systemOne, UUID: "abcdef00-0000-4000-8000-000000000001", Power: bmc.PowerOff},
			nil,
		},
		"members of the list with a host": {
			func(f *fake) { f.docs[systems] = doc{"Members": []any{ref("https://10.0.0.1" + systemOne)}} }, "",
			bmc.System{Path: systemOne, UUID: "abcdef00-0000-4000-8000-000000000001", Power: bmc.PowerOff, MACs: []string{"02:00:5e:10:00:01"}},
			nil,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFake()
			if tc.fault != nil {
				tc.fault(f)
			}

			got, err := f.client(t, withoutSystem).System(t.Context(), tc.mac)
			if !errors.Is(err, tc.err) {
				t.Fatalf("error %v, want %v", err, tc.err)
			}

			if got.Path != tc.want.Path || got.UUID != tc.want.UUID || got.Power != tc.want.Power || !slices.Equal(got.MACs, tc.want.MACs) {
				t.Errorf("system %+v, want %+v", got, tc.want)
			}

			for _, c := range f.calls {
				if c.host != "bmc.example" {
					t.Errorf("a request went to %s", c.host)
				}
			}
		})
	}
}

func TestClient_Power_oneRequest(t *testing.T) {
	t.Parallel()

	f := newFake()
	client := f.client(t)

	for range 3 {
		if _, err := client.Power(t.Context()); err != nil {
			t.Fatal(err)
		}
	}

	// The service root, one login, and one read each.
	if len(f.calls) != 5 || f.count("GET "+systemOne) != 3 || f.calls[0].method != http.MethodGet {
		t.Errorf("%d requests, want 5: %v", len(f.calls), f.calls)
	}
}
