// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

func TestRun_aConsumerKeepsItsJournal(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		r := b.provisioned()
		before := r.seen().Journal
		r.node.InstanceUUID = "somebody-else"
		before.Consumer = &host.Consumer{Kind: "machine", Name: "c/m", ID: "somebody-else"}
		before.Applied.InstanceUUID = "somebody-else-before"
		r.node.Extra[host.JournalKey] = plain(before.Value())

		w := wanted()
		w.Image, w.Labels, w.Online = nil, map[string]string{"a": "b"}, false

		seen := b.must(w, host.Available)
		j := seen.Journal

		if j.Labels["a"] != "b" || j.Phase != host.PhaseProvisioned || j.Applied.Image == nil || j.Consumer == nil || b.count("Write settings") != 1 {
			t.Errorf("%+v; sent %v", j, b.writes())
		}

		if got := b.writes(); slices.Contains(got, "Power soft power off") || slices.Contains(got, "Start deleted") {
			t.Errorf("sent %v", got)
		}
	})
}

func TestRun_nothingIsUndeployedThatNoPlanSpokeOf(t *testing.T) {
	t.Parallel()

	for _, state := range []ironic.State{ironic.Active, ironic.Rescue, ironic.ServiceFailed} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *far) {
				t.Helper()

				b.provisioned().node.ProvisionState = state

				w := wanted()
				w.Image, w.Reprovision.Consent = nil, false

				if seen := b.must(w, host.Available); seen.Node.ProvisionState != state || b.count("Start deleted") != 0 {
					t.Errorf("in %q; sent %v", seen.Node.ProvisionState, b.writes())
				}
			})
		})
	}
}

// destroyed is a host that is to go, and what may be sent for that.
type destroyed struct {
	change func(*record, *host.Wanted)
	sends  []string
	fails  bool
	verbs  map[string][]ending
}

func TestRun_delete(t *testing.T) {
	t.Parallel()

	gone := []string{"Maintain true", "Remove"}
	never := []ending{{ironic.Error, "no ramdisk"}, {ironic.Error, "no ramdisk"}, {ironic.Error, "no ramdisk"}, {ironic.Error, "no ramdisk"}}

	for name, c := range map[string]destroyed{
		"deprovision undeploys first": {func(*record, *host.Wanted) {}, []string{"Write journal", "Start deleted", "Power power off", "Remove"}, false, nil},
		"power_off leaves the disk": {
			func(_ *record, w *host.Wanted) { w.Deletion.Policy = host.PolicyPowerOff },
			append([]string{"Power power off"}, gone...), false, nil,
		},
		"detach touches nothing": {func(_ *record, w *host.Wanted) { w.Deletion.Policy = host.PolicyDetach }, gone, false, nil},
		"detach in rescue, too": {func(r *record, w *host.Wanted) {
			w.Deletion.Policy, r.node.ProvisionState = host.PolicyDetach, ironic.Rescue
		}, gone, false, nil},
		"our own protection goes first": {func(r *record, w *host.Wanted) {
			w.Deletion.Policy, r.node.Protected, r.node.ProtectedReason = host.PolicyDetach, true, host.ProtectedReason
		}, []string{"Maintain true", "Write journal", "Remove"}, false, nil},
		"somebody else's stays": {func(r *record, _ *host.Wanted) {
			r.node.Protected, r.node.ProtectedReason = true, "database"
		}, nil, true, nil},
		"another owner's host stays":      {func(_ *record, w *host.Wanted) { w.OwnerID = "other" }, nil, true, nil},
		"one without a journal stays":     {func(r *record, _ *host.Wanted) { delete(r.node.Extra, host.JournalKey) }, nil, true, nil},
		"a consumed one stays":            {func(r *record, _ *host.Wanted) { r.node.InstanceUUID = "c1" }, nil, true, nil},
		"one that is never undeployed":    {func(*record, *host.Wanted) {}, nil, true, map[string][]ending{"deleted": never}},
		"force gives up after four times": {func(_ *record, w *host.Wanted) { w.Deletion.Force = true }, nil, false, map[string][]ending{"deleted": never}},
		"force does not wait for a dead BMC": {func(r *record, w *host.Wanted) {
			w.Deletion.Force, r.node.Fault, r.node.Maintenance = true, "power failure", true
		}, nil, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *far) {
				t.Helper()

				r, w := b.provisioned(), wanted()
				c.change(r, &w)
				b.ends = c.verbs

				run, _, err := b.drive(t.Context(), w, host.Deleted)
				if (err != nil) != c.fails || (len(b.records) == 0) == c.fails {
					t.Fatalf("got %v; %d records", err, len(b.records))
				}

				if got := b.writes(); c.sends != nil && !slices.Equal(got, c.sends) {
					t.Errorf("sent %v", got)
				}

				if c.fails && c.verbs == nil && len(b.writes()) > 0 {
					t.Errorf("sent %v", b.writes())
				}

				if gaveUp := w.Deletion.Force && c.verbs != nil; run.GaveUp() != (gaveUp || c.verbs != nil) {
					t.Errorf("gave up: %t", run.GaveUp())
				}
			})
		})
	}
}

func TestRun_anExternalHost(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		w := wanted()
		w.External, w.Image = true, nil

		seen := b.must(w, host.ExternallyProvisioned)
		if seen.Node.ProvisionState != ironic.Active || b.count("Start inspect") != 0 || b.count("Start provide") != 0 || seen.ProvisioningState() != "externally provisioned" {
			t.Errorf("%q; sent %v", seen.ProvisioningState(), b.writes())
		}

		b.log = nil
		b.must(w, host.Deleted)

		if want := []string{"Power power off", "Maintain true", "Remove"}; !slices.Equal(b.writes(), want) {
			t.Errorf("sent %v", b.writes())
		}
	})
}

func TestRun_aLostRecordIsMadeAnewAndAdopted(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		applied := b.provisioned().seen().Journal.Applied
		delete(b.records, id)

		run := &host.Run{Backend: b, Wanted: wanted(), Goal: host.Provisioned}

		seen, err := run.EnrolAgain(t.Context(), applied, "")
		if err != nil {
			t.Fatal(err)
		}

		if seen, err = run.To(t.Context(), seen); err != nil {
			t.Fatal(err)
		}

		for _, never := range []string{"Start inspect", "Start provide", "Start active", "Start deleted", "Power power off"} {
			if b.count(never) > 0 {
				t.Errorf("a machine that runs got %q", never)
			}
		}

		if seen.Node.UUID != id || seen.Journal.Adopt || seen.Journal.Phase != host.PhaseProvisioned || len(b.records[id].ports) != 1 {
			t.Errorf("%+v", seen.Journal)
		}
	})
}

func TestRun_aLostRecordWhoseImageWasTakenOutIsStillWiped(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		applied := b.provisioned().seen().Journal.Applied
		delete(b.records, id)

		w := wanted()
		w.Image = nil
		run := &host.Run{Backend: b, Wanted: w, Goal: host.Available}

		seen, err := run.EnrolAgain(t.Context(), applied, "")
		if err == nil {
			seen, err = run.To(t.Context(), seen)
		}

		if err != nil || b.count("Start adopt") != 1 || b.count("Start deleted") != 1 || seen.Journal.Applied.Image != nil {
			t.Errorf("%v; sent %v", err, b.writes())
		}
	})
}

func TestRun_enrolAgainFails(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		b.fail["Create"] = []error{ironic.ErrConflict}
		run := &host.Run{Backend: b, Wanted: wanted(), Goal: host.Provisioned}

		if _, err := run.EnrolAgain(t.Context(), host.Applied{}, ""); !errors.Is(err, ironic.ErrConflict) {
			t.Errorf("got %v", err)
		}
	})
}
