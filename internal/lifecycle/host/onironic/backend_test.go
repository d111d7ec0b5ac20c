// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onironic_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/onironic"
)

// enrolled makes the record in a lab.
func enrolled(t *testing.T, b *onironic.Backend, w host.Wanted) host.Seen {
	t.Helper()

	s, err := b.Create(t.Context(), w, host.Journal{ManagedBy: host.ManagedBy, Phase: host.PhaseRegistering})
	if err != nil {
		t.Fatal(err)
	}

	return s
}

func TestCreate_leavesNothingToWrite(t *testing.T) {
	t.Parallel()

	no, yes := false, true

	for name, c := range map[string]struct {
		minor  int
		change func(*host.Wanted)
		needs  string // of an Ironic that is too old
	}{
		"current":                       {96, nil, ""},
		"old":                           {82, nil, ""},
		"new":                           {111, nil, ""},
		"with a ramdisk and properties": {96, func(w *host.Wanted) { w.DeployImage.KernelURL, w.Properties = "http://k", map[string]string{"a": "1"} }, ""},
		"with a certificate":            {96, func(w *host.Wanted) { w.BMC.DisableCertificateVerification = true }, ""},
		"never off":                     {96, func(w *host.Wanted) { w.DisablePowerOff = &yes }, ""},
		"may be off":                    {82, func(w *host.Wanted) { w.DisablePowerOff = &no }, ""},
		"never off, on an old Ironic":   {82, func(w *host.Wanted) { w.DisablePowerOff = &yes }, "disable_power_off needs API 1.95 of Ironic, found 1.82"},
		"a firmware interface by name":  {96, func(w *host.Wanted) { w.Interfaces = map[string]string{"firmware": "no-firmware"} }, ""},
		"one that an old Ironic has not": {
			82, func(w *host.Wanted) { w.Interfaces = map[string]string{"firmware": "redfish"} },
			"needs API 1.86",
		},
		"with IPMI": {96, func(w *host.Wanted) { w.BMC.Access = parse(t, "ipmi://192.0.2.1") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s, b := inLab(t, c.minor)
			w := wanted(t)

			if c.change != nil {
				c.change(&w)
			}

			seen, err := b.Create(t.Context(), w, host.Journal{ManagedBy: host.ManagedBy})
			if c.needs != "" {
				if err == nil || !strings.Contains(err.Error(), c.needs) {
					t.Fatalf("got %v", err)
				}

				return
			}

			if err != nil {
				t.Fatal(err)
			}

			if differs := b.Differs(seen, w); len(differs) > 0 {
				t.Errorf("differs in %v", differs)
			}

			s.ResetCounts()

			if _, err := b.Write(t.Context(), seen, w, seen.Journal, host.PartSettings); err != nil || len(s.Counts()) > 0 {
				t.Errorf("%v; sent %v", err, s.Counts())
			}

			if n := seen.Node; n.UUID != id || n.Name != "ns~n1" || n.Properties["capabilities"] != "boot_mode:uefi" {
				t.Errorf("%+v", n)
			}
		})
	}
}

// A change of the BMC's kind is one request that Ironic takes.
func TestWrite_anotherDriverInTheLab(t *testing.T) {
	t.Parallel()

	_, b := inLab(t, 96)
	w := wanted(t)
	w.BMC.Access = parse(t, "ipmi://192.0.2.1")
	s := enrolled(t, b, w)

	w.BMC.Access, w.BMC.Rewrite = parse(t, address), true

	after, err := b.Write(t.Context(), s, w, s.Journal, host.PartSettings)
	if err != nil {
		t.Fatal(err)
	}

	n := after.Node
	if n.Driver != "redfish" || n.Interfaces["management"] != "redfish" || n.DriverInfo["ipmi_address"] != nil || n.DriverInfo["ipmi_password"] != nil {
		t.Errorf("%v, %v, %v", n.Driver, n.Interfaces, n.DriverInfo)
	}

	w.BMC.Rewrite = false
	if differs := b.Differs(after, w); len(differs) > 0 {
		t.Errorf("differs in %v", differs)
	}
}

func TestEnsurePorts(t *testing.T) {
	t.Parallel()

	const one, two = "52:54:00:00:00:01", "52:54:00:00:00:02"

	s, b := inLab(t, 96)
	w := wanted(t)
	w.BootMAC = one
	seen := enrolled(t, b, w)

	ensure := func(what string, w host.Wanted, want ...string) {
		t.Helper()

		ports, err := b.EnsurePorts(t.Context(), seen, w)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}

		var got []string
		for _, p := range ports {
			got = append(got, p.Address+map[bool]string{true: " pxe", false: ""}[p.PXEEnabled]+p.PhysicalNetwork)
		}

		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: %v", what, got)
		}

		seen.Ports = ports
		if differs := b.Differs(seen, w); len(differs) > 0 {
			t.Errorf("%s: differs in %v", what, differs)
		}
	}

	ensure("the boot port is made", w, one+" pxe")
	s.ResetCounts()
	ensure("and made once", w, one+" pxe")

	for call := range s.Counts() {
		if !strings.HasPrefix(call, "GET ") {
			t.Errorf("sent %s", call)
		}
	}

	w.Ports = []ironic.Port{{Address: one}, {Address: two, PXEEnabled: true, PhysicalNetwork: "p1"}}

	if differs := b.Differs(seen, w); !slices.Equal(differs, []string{"ports"}) {
		t.Errorf("differs in %v", differs)
	}

	ensure("listed ports are made and mended", w, one, two+" pxep1")

	w.Ports = w.Ports[1:]
	ensure("one that is not listed goes", w, two+" pxep1")

	w.Ports = []ironic.Port{}
	ensure("an empty list is no ports", w)
}

func TestEnsurePorts_aConflictNamesTheOwner(t *testing.T) {
	t.Parallel()

	_, b := inLab(t, 96)
	w := wanted(t)
	w.BootMAC = "52:54:00:00:00:01"

	if _, err := b.EnsurePorts(t.Context(), enrolled(t, b, w), w); err != nil {
		t.Fatal(err)
	}

	w.ID, w.Name = "00000000-0000-4000-8000-000000000002", "n2"

	_, err := b.EnsurePorts(t.Context(), enrolled(t, b, w), w)

	var exists *host.ExistsError
	if !errors.As(err, &exists) || exists.Name != "ns~n1" || exists.ID != id || exists.MAC != w.BootMAC {
		t.Errorf("got %v", err)
	}

	if s, err := b.ByMAC(t.Context(), w.BootMAC); err != nil || s.Node.UUID != id {
		t.Errorf("it is of %q, %v", s.Node.UUID, err)
	}

	if _, err := b.ByMAC(t.Context(), "52:54:00:00:00:09"); !errors.Is(err, host.ErrGone) {
		t.Errorf("nobody's is %v", err)
	}
}

// Only Ironic's own word that the node itself is not there is "gone".
func TestOBMH22_goneOrOnlyUnreachable(t *testing.T) {
	t.Parallel()

	html := func(status int) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(status)
			_, _ = w.Write([]byte("<html><title>proxy</title></html>"))
		}
	}

	for name, c := range map[string]struct {
		set  func(*recorder)
		gone bool
	}{
		"no such node":            {func(r *recorder) { r.refuse("GET /nodes/"+id, 404, "Node "+id+" could not be found.") }, true},
		"not found, says a proxy": {func(r *recorder) { r.answer["GET /nodes/"+id] = html(404) }, false},
		"a page instead":          {func(r *recorder) { r.answer["GET /nodes/"+id] = html(200) }, false},
		"not allowed":             {func(r *recorder) { r.refuse("GET /nodes/"+id, 403, "no") }, false},
		"not logged in":           {func(r *recorder) { r.refuse("GET /nodes/"+id, 401, "no") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r, b := record(t, 96)
			c.set(r)

			for call, f := range map[string]func(context.Context) error{
				"look":   func(ctx context.Context) error { _, err := b.Look(ctx, id); return err },
				"glance": func(ctx context.Context) error { _, err := b.Glance(ctx, id, 0); return err },
			} {
				if err := f(t.Context()); err == nil || errors.Is(err, host.ErrGone) != c.gone {
					t.Errorf("%s: %v", call, err)
				}
			}
		})
	}
}

func TestOBMH22_aPartThatIsMissingIsNotTheNode(t *testing.T) {
	t.Parallel()

	r, b := record(t, 96)
	r.refuse("PUT /nodes/"+id+"/traits", 404, "Trait could not be found.")
	r.refuse("GET /nodes/"+id+"/inventory", 404, "Node inventory record for node 3 could not be found.")
	r.refuse("PATCH /nodes/"+id, 404, "Conductor group could not be found.")

	w := wanted(t)
	w.Traits, w.Description = []string{"CUSTOM_A"}, "x"

	if err := b.EnsureTraits(t.Context(), host.Seen{Node: settled()}, w); err == nil || errors.Is(err, host.ErrGone) {
		t.Errorf("traits: %v", err)
	}

	if _, err := b.Write(t.Context(), host.Seen{Node: settled()}, w, host.Journal{}, host.PartSettings); err == nil || errors.Is(err, host.ErrGone) {
		t.Errorf("patch: %v", err)
	}

	// For an inventory "gone" is what the interface promises.
	if _, err := b.Inventory(t.Context(), id); !errors.Is(err, host.ErrGone) {
		t.Errorf("inventory: %v", err)
	}
}

func TestPower_softFallsBackToHard(t *testing.T) {
	t.Parallel()

	for words, hard := range map[string]bool{
		"": false, "The driver ipmi does not support the power state, soft power off": true,
		`The requested action "soft power off" can not be performed on node "n1"`: true,
	} {
		r, b := record(t, 96)
		r.answer["PUT /nodes/"+id+"/states/power"] = func(w http.ResponseWriter) {
			if words != "" && len(r.bodies) == 1 {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write(fault(words))
			}
		}

		want := []string{`{"target":"soft power off","timeout":180}`}
		if hard {
			want = append(want, `{"target":"power off"}`)
		}

		if err := b.Power(t.Context(), id, ironic.SoftPowerOff); err != nil || !slices.Equal(r.bodies, want) {
			t.Errorf("%q: %v, %v", words, err, r.bodies)
		}
	}
}

func TestBusy(t *testing.T) {
	t.Parallel()

	r, b := record(t, 96)
	r.answer["GET /nodes"] = func(w http.ResponseWriter) {
		_, _ = w.Write([]byte(`{"nodes":[
			{"uuid":"` + id + `","provision_state":"cleaning","boot_interface":"ipxe"},
			{"uuid":"a","provision_state":"deploying","boot_interface":"ipxe"},
			{"uuid":"b","provision_state":"inspect wait","boot_interface":null},
			{"uuid":"c","provision_state":"deploying","boot_interface":"redfish-virtual-media"},
			{"uuid":"d","provision_state":"active","boot_interface":"ipxe"}]}`))
	}

	if ids, err := b.Busy(t.Context(), 0); !slices.Equal(ids, []string{id, "a", "b"}) || err != nil {
		t.Errorf("%v, %v", ids, err)
	}
}
