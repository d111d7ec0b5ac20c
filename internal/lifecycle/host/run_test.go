// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/access"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/image"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

const id = "00000000-0000-4000-8000-000000000001"

var sums = strings.Repeat("ab", 32)

// wanted is a host that is to run an image.
func wanted() host.Wanted {
	return host.Wanted{
		ID: id, Namespace: "ns", Name: "n1", OwnerID: "me", BootMAC: "52:54:00:00:00:01",
		BMC: host.BMC{
			Access:   access.Access{Scheme: "ipmi", Driver: "ipmi", DriverInfo: map[string]any{"ipmi_address": "192.0.2.1"}},
			Username: "admin", Password: "one",
		},
		Online: true, InspectionMode: "agent", Image: &image.Image{URL: "http://images.test/a.raw", Checksum: sums, Format: "raw"},
		Config:      host.ConfigData{UserData: "#cloud-config\n"},
		Reprovision: host.Reprovision{On: host.ReprovisionKeys, Consent: true},
		Deletion:    host.Deletion{Policy: host.PolicyDeprovision, PowerOff: true}, ProvisionAttempts: 3,
	}
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, f func(t *testing.T, b *far)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newFar(t)) })
}

// drive brings a host to a goal, from what a look shows.
func (b *far) drive(ctx context.Context, w host.Wanted, g host.Goal) (*host.Run, host.Seen, error) {
	run := &host.Run{Backend: b, Wanted: w, Goal: g}

	seen, err := b.Look(ctx, w.ID)
	if err != nil && !errors.Is(err, host.ErrGone) {
		b.t.Fatal(err)
	}

	after, err := run.To(ctx, seen)

	return run, after, err
}

// must is drive without an error.
func (b *far) must(w host.Wanted, g host.Goal) host.Seen {
	b.t.Helper()

	_, seen, err := b.drive(b.t.Context(), w, g)
	if err != nil {
		b.t.Fatalf("%v\n%s", err, strings.Join(b.log, "\n"))
	}

	return seen
}

// writes is the log without looks.
func (b *far) writes() []string {
	return slices.DeleteFunc(slices.Clone(b.log), func(s string) bool { return s == "Look" || s == "Glance" })
}

func TestRun_fromNothingToActive(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		run := &host.Run{Backend: b, Wanted: wanted(), Goal: host.Provisioned}

		seen, err := run.To(t.Context(), host.Seen{})
		if err != nil {
			t.Fatal(err)
		}

		want := []string{
			"ByMAC", "Create", "EnsurePorts", "Write settings", "Start manage", "Write settings", "Start inspect", "Inventory",
			"Write settings", "Start provide", "Write deployment", "Validate", "Start active", "Write settings", "EnsurePorts",
		}
		if got := b.writes(); !slices.Equal(got, want) {
			t.Errorf("sent %s", strings.Join(got, ", "))
		}

		j := seen.Journal
		if j.Phase != host.PhaseProvisioned || !j.Ours("me") || j.Applied.Image.URL != "http://images.test/a.raw" || j.InventorySHA256 == "" || j.Fingerprint == "" {
			t.Errorf("the journal is %+v", j)
		}

		if run.Inventory == nil || !run.Settled() {
			t.Error("the run does not know what it did")
		}

		b.log = nil
		if b.must(wanted(), host.Provisioned); len(b.writes()) != 0 {
			t.Errorf("a second run sent %v", b.writes())
		}
	})
}

// The journal is written before each verb: Ironic refuses changes during a transition.
func TestRun_theJournalIsAheadOfTheVerb(t *testing.T) {
	t.Parallel()

	for verb, phase := range map[string]host.Phase{
		"inspect": host.PhaseInspecting, "active": host.PhaseProvisioning, "deleted": host.PhaseDeprovisioning,
	} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *far) {
				t.Helper()

				goal := host.Provisioned
				if verb == "deleted" {
					b.must(wanted(), goal)

					goal = host.Deleted
				}

				broken := errors.New("cut")
				b.fail["Start "+verb] = []error{broken}

				_, seen, err := b.drive(t.Context(), wanted(), goal)
				if !errors.Is(err, broken) || b.records[id].seen().Journal.Phase != phase {
					t.Errorf("%v; the journal says %q", err, seen.Journal.Phase)
				}
			})
		})
	}
}

func TestOTF01_killedDuringTheWait(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		ctx, _, cancel := wait.WithBudget(t.Context(), 8*time.Minute)
		defer cancel()

		_, seen, err := b.drive(ctx, wanted(), host.Provisioned)

		var timeout *wait.TimeoutError
		if !errors.As(err, &timeout) || timeout.Waited != 8*time.Minute || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}

		if timeout.Note != `"wait call-back" on the way to "active"` || seen.Node.UUID != id {
			t.Errorf("%q of node %q", timeout.Note, seen.Node.UUID)
		}

		// The state was lost: another Create, with a UUID of its own, goes on in place.
		w := wanted()
		w.ID = "00000000-0000-4000-8000-000000000002"

		if seen = b.must(w, host.Provisioned); seen.Node.UUID != id || len(b.records) != 1 || b.count("Start active") != 1 {
			t.Errorf("%d records, %d deployments", len(b.records), b.count("Start active"))
		}
	})
}

func TestRun_interrupted(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(4*time.Minute, cancel)

		start := time.Now()
		_, seen, err := b.drive(ctx, wanted(), host.Provisioned)

		var timeout *wait.TimeoutError
		if !errors.As(err, &timeout) || !errors.Is(err, context.Canceled) || time.Since(start) != 4*time.Minute {
			t.Fatalf("got %v after %s", err, time.Since(start))
		}

		if seen.Node.ProvisionState != ironic.CleanWait {
			t.Errorf("it was in %q", seen.Node.ProvisionState)
		}
	})
}

func TestRun_anAnswerIsLost(t *testing.T) {
	t.Parallel()

	for _, call := range []string{"Create", "Start manage", "Start inspect", "Start active"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *far) {
				t.Helper()

				b.lost = call
				// The looks that follow fail, too: nothing is sent until one succeeds.
				b.fail["Glance"] = []error{nil, nil, nil}

				if b.must(wanted(), host.Provisioned); b.count(call) != 1 || len(b.records[id].ports) != 1 {
					t.Errorf("%q was sent %d times, %d ports", call, b.count(call), len(b.records[id].ports))
				}
			})
		})
	}
}

func TestOBMH04_refusals(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		call  string
		err   error
		times int
		fails bool
	}{
		"a transition conflict is looked at and decided anew": {"Start inspect", ironic.ErrTransition, 3, false},
		"one of a change, too":                                {"Write deployment", ironic.ErrTransition, 3, false},
		"not for ever":                                        {"Start inspect", ironic.ErrTransition, 99, true},
		"a verb that does not fit the state":                  {"Start provide", ironic.ErrRefused, 3, false},
		"a verb that never fits":                              {"Start provide", ironic.ErrRefused, 99, true},
		"a conflict of names ends it":                         {"Write settings", ironic.ErrConflict, 1, true},
		"a claim that came after the look":                    {"Write deployment", ironic.ErrConflict, 1, false},
		"a claim that stays in the way":                       {"Write deployment", ironic.ErrConflict, 99, true},
		"a missing right ends it":                             {"Start manage", ironic.ErrAuth, 1, true},
		"a deployment that cannot be ends it":                 {"Validate", errors.New("boot: no kernel"), 1, true},
		"an overload passes":                                  {"Start active", wait.Transient(errors.New("503")), 8, false},
		"an overload that does not":                           {"Start active", wait.Transient(errors.New("503")), 9, true},
		"an inventory that cannot be read":                    {"Inventory", errors.New("500"), 1, true},
		"an inventory that is not there":                      {"Inventory", host.ErrGone, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *far) {
				t.Helper()

				b.fail[c.call] = slices.Repeat([]error{c.err}, c.times)

				_, _, err := b.drive(t.Context(), wanted(), host.Provisioned)
				if (err != nil) != c.fails || (c.fails && !errors.Is(err, c.err)) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

func TestOBMH05_destroyDuringInspection(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		ctx, _, cancel := wait.WithBudget(t.Context(), time.Minute)
		defer cancel()

		if _, seen, _ := b.drive(ctx, wanted(), host.Provisioned); seen.Node.ProvisionState != ironic.InspectWait {
			t.Fatalf("it was in %q", seen.Node.ProvisionState)
		}

		b.records[id].node.PowerState, b.log = ironic.PowerOn, nil
		b.must(wanted(), host.Deleted)

		want := []string{"Start abort", "Write journal", "Start manage", "Power power off", "Remove"}
		if got := b.writes(); !slices.Equal(got, want) || len(b.records) != 0 {
			t.Errorf("sent %v", got)
		}
	})
}

func TestOBMH06_deploymentThatFailsForEver(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		b.ends["active"] = []ending{{ironic.DeployFailed, "checksum mismatch"}, {ironic.DeployFailed, ""}, {ironic.DeployFailed, ""}, {ironic.DeployFailed, ""}}

		run, seen, err := b.drive(t.Context(), wanted(), host.Provisioned)

		var failed *host.FailedError
		if !errors.As(err, &failed) || failed.Attempts != 3 || failed.LastError != "checksum mismatch" || !slices.Equal(run.Words, []string{"checksum mismatch"}) {
			t.Fatalf("got %v, %v", err, run.Words)
		}

		if seen.Node.UUID != id || b.count("Start active") != 3 || b.count("Start deleted") != 0 {
			t.Errorf("%d deployments", b.count("Start active"))
		}

		// A second apply begins with what it finds.
		b.log, b.ends = nil, map[string][]ending{}
		if b.must(wanted(), host.Provisioned); b.count("Start manage") != 0 || b.count("Start active") != 1 {
			t.Errorf("sent %v", b.writes())
		}
	})
}

func TestOBMH20_theConfigDriveIsSentWithEachAttempt(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]host.ConfigData{
		"user data only":    {UserData: "#cloud-config\n"},
		"network data only": {NetworkData: map[string]any{"links": []any{}}},
		"nothing":           {},
		"meta data":         {MetaData: map[string]string{"local-hostname": "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *far) {
				t.Helper()

				b.ends["active"] = []ending{{ironic.DeployFailed, "x"}}

				w := wanted()
				w.Config = c

				b.must(w, host.Provisioned)

				if len(b.drives) != 2 || b.drives[0].Empty() != c.Empty() || !host.SameValue(b.drives[0], c) || !host.SameValue(b.drives[1], c) {
					t.Errorf("sent %+v", b.drives)
				}
			})
		})
	}
}
