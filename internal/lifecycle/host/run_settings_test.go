// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/image"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// provisioned is a host that runs as wanted, with an empty log.
func (b *far) provisioned() *record {
	b.t.Helper()
	b.must(wanted(), host.Provisioned)
	b.log = nil

	return b.records[id]
}

func TestRun_changedCredentialsAreWrittenOnceAndTried(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		r := b.provisioned()

		w := wanted()
		w.BMC.Password, w.BMC.Rewrite = "two", true
		b.must(w, host.Provisioned)

		if !slices.Equal(r.sent, []string{"one", "two"}) || b.count("Power power on") != 1 || b.count("Write settings") != 1 {
			t.Errorf("%v; sent %v", r.sent, b.writes())
		}
	})
}

func TestRun_changedCredentialsThatAreWrong(t *testing.T) {
	t.Parallel()

	for name, before := range map[string]string{"after peace": "", "after the same error": "code 401"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *far) {
				t.Helper()

				r := b.provisioned()
				r.node.LastError, b.noPower = before, "code 401"

				w := wanted()
				w.BMC.Password, w.BMC.Rewrite = "wrong", true

				_, _, err := b.drive(t.Context(), w, host.Provisioned)

				var refused *host.CredentialsError
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), "code 401") || strings.Contains(err.Error(), "wrong") {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

func TestRun_anOldErrorDoesNotBlameGoodCredentials(t *testing.T) {
	t.Parallel()
	bubble(t, func(_ *testing.T, b *far) {
		b.provisioned().node.LastError = "something of last week"
		b.begins = 4 * time.Second // a busy conductor

		w := wanted()
		w.BMC.Rewrite = true
		b.must(w, host.Provisioned)
	})
}

func TestRun_registrationHasTriedTheCredentials(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		b.ends["manage"] = []ending{{ironic.Enroll, "code 401"}}

		_, _, err := b.drive(t.Context(), wanted(), host.Provisioned)

		var failed *host.FailedError
		if !errors.As(err, &failed) || failed.Step != host.Manage || b.count("Start manage") != 1 {
			t.Fatalf("got %v after %d tries", err, b.count("Start manage"))
		}

		w := wanted()
		w.BMC.Password, w.BMC.Rewrite = "two", true
		b.must(w, host.Provisioned)

		if r := b.records[id]; !slices.Equal(r.sent, []string{"one", "two"}) || b.count("Power power off") != 0 {
			t.Errorf("%v, %v", r.sent, b.writes())
		}
	})
}

func TestRun_settings(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(*host.Wanted)
		sends  []string
	}{
		"nothing":             {func(*host.Wanted) {}, nil},
		"labels":              {func(w *host.Wanted) { w.Labels = map[string]string{"a": "b"} }, []string{"Write settings", "EnsurePorts"}},
		"description":         {func(w *host.Wanted) { w.Description = "x" }, []string{"Write settings", "EnsurePorts"}},
		"traits":              {func(w *host.Wanted) { w.Traits = []string{"CUSTOM_A"} }, []string{"Write settings", "EnsurePorts", "EnsureTraits"}},
		"off":                 {func(w *host.Wanted) { w.Online = false }, []string{"Power soft power off"}},
		"a reboot":            {func(w *host.Wanted) { w.RebootTrigger = "1" }, []string{"Power soft rebooting", "Write settings", "EnsurePorts"}},
		"a hard reboot":       {func(w *host.Wanted) { w.RebootTrigger, w.RebootMode = "1", "hard" }, []string{"Power rebooting", "Write settings", "EnsurePorts"}},
		"no reboot when off":  {func(w *host.Wanted) { w.RebootTrigger, w.Online = "1", false }, []string{"Write settings", "EnsurePorts", "Power soft power off"}},
		"a consumer's power":  {func(w *host.Wanted) { w.Online, w.OnlineIgnored = false, true }, nil},
		"data without a word": {func(w *host.Wanted) { w.Config.VendorData = map[string]any{"a": 1} }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *far) {
				t.Helper()

				b.provisioned()

				w := wanted()
				w.Reprovision.Consent = false
				c.change(&w)
				b.must(w, host.Provisioned)

				if got := b.writes(); !slices.Equal(got, c.sends) {
					t.Errorf("sent %v", got)
				}

				b.log = nil
				if b.must(w, host.Provisioned); len(b.writes()) > 0 {
					t.Errorf("the second run sent %v", b.writes())
				}
			})
		})
	}
}

func TestRun_aRebootThatFailsIsNotNoted(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		b.provisioned()
		b.noPower = "no relay"

		w := wanted()
		w.RebootTrigger = "1"

		_, seen, err := b.drive(t.Context(), w, host.Provisioned)

		var failed *host.FailedError
		if !errors.As(err, &failed) || failed.Step != host.Reboot || seen.Journal.RebootTrigger != "" {
			t.Fatalf("got %v; noted %q", err, seen.Journal.RebootTrigger)
		}

		b.noPower = ""
		if b.must(w, host.Provisioned); b.count("Power soft rebooting") != 2 {
			t.Error("the next run does not reboot")
		}
	})
}

func TestOBMH11_powerIsPressedOnce(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		r := b.provisioned()
		r.node.PowerState = ironic.PowerOff
		b.odd = []ironic.Power{"", "PoweringOn", "Unknown", ""}
		b.begins = 5 * time.Second

		seen := b.must(wanted(), host.Provisioned)
		if on := seen.PoweredOn(); on == nil || !*on || b.count("Power power on") != 1 {
			t.Errorf("%v after %d requests", on, b.count("Power power on"))
		}
	})
}

func TestOBMH11_aSoftPowerOffIsNotMadeHard(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		b.provisioned()
		b.odd = []ironic.Power{"", "PoweringOff", ""}

		w := wanted()
		w.Online = false

		if b.must(w, host.Provisioned); !slices.Equal(b.writes(), []string{"Power soft power off"}) {
			t.Errorf("sent %v", b.writes())
		}
	})
}

func TestRun_powerThatFailsIsTriedAFewTimes(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		b.provisioned().node.PowerState = ironic.PowerOff
		b.noPower = "no relay"

		_, _, err := b.drive(t.Context(), wanted(), host.Provisioned)

		var failed *host.FailedError
		if !errors.As(err, &failed) || failed.LastError != "no relay" || b.count("Power power on") != 3 {
			t.Errorf("got %v after %d tries", err, b.count("Power power on"))
		}
	})
}

func TestOBMH19_whichChangeRebuildsTheHost(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(*host.Wanted)
		deploy bool
	}{
		"user data":       {func(w *host.Wanted) { w.Config.UserData = "#cloud-config\n{}\n" }, true},
		"network data":    {func(w *host.Wanted) { w.Config.NetworkData = map[string]any{"links": []any{}} }, true},
		"another image":   {func(w *host.Wanted) { w.Image.URL = "http://images.test/b.raw" }, true},
		"a checksum only": {func(w *host.Wanted) { w.Image.Checksum = strings.Repeat("cd", 32) }, true},
		"a key that is not in reprovision_on": {func(w *host.Wanted) {
			w.Config.UserData, w.Reprovision.On = "#cloud-config\n{}\n", []string{host.OnImageURL}
		}, false},
		"triggers":       {func(w *host.Wanted) { w.Reprovision.TriggersSHA256 = host.TriggersHash(map[string]string{"a": "b"}) }, true},
		"a custom image": {func(w *host.Wanted) { w.Image, w.CustomDeploy = nil, &host.CustomDeploy{Method: "install"} }, true},
		"labels":         {func(w *host.Wanted) { w.Labels = map[string]string{"a": "b"} }, false},
		"online":         {func(w *host.Wanted) { w.Online = false }, false},
	} {
		for consent, words := range map[bool]string{true: "with", false: "without"} {
			t.Run(name+" "+words+" the plan's word", func(t *testing.T) {
				t.Parallel()
				bubble(t, func(t *testing.T, b *far) {
					t.Helper()

					b.provisioned()

					w := wanted()
					img := *w.Image
					w.Image, w.Reprovision.Consent = &img, consent
					c.change(&w)

					_, _, err := b.drive(t.Context(), w, host.Provisioned)
					if stuck := c.deploy && !consent; (err != nil) != stuck {
						t.Fatalf("got %v", err)
					}

					n := 0
					if c.deploy && consent {
						n = 1
					}

					if b.count("Start deleted") != n || b.count("Start active") != n {
						t.Errorf("sent %v", b.writes())
					}
				})
			})
		}
	}
}

func TestRun_rebuildsInPlace(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		b.provisioned()

		w := wanted()
		w.Image, w.Reprovision.Method = &image.Image{URL: "http://images.test/b.raw", Checksum: sums}, "rebuild"

		seen := b.must(w, host.Provisioned)
		if b.count("Start rebuild") != 1 || b.count("Start deleted") != 0 || seen.Journal.Applied.Image.URL != w.Image.URL {
			t.Errorf("sent %v", b.writes())
		}
	})
}

func TestRun_phaseTimeouts(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		phase host.Phase
		key   string
		state ironic.State
	}{
		"inspection": {host.PhaseInspecting, "inspect", ironic.InspectWait},
		"deployment": {host.PhaseProvisioning, "provision", ironic.CleanWait},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *far) {
				t.Helper()

				b.pace = map[string]time.Duration{string(c.state): time.Hour}

				w := wanted()
				w.PhaseTimeouts = map[host.Phase]time.Duration{c.phase: time.Minute}

				for _, run := range []string{"the first", "a second one that finds it under way"} {
					start := time.Now()

					_, seen, err := b.drive(t.Context(), w, host.Provisioned)

					var timeout *wait.TimeoutError
					if !errors.As(err, &timeout) || !strings.Contains(timeout.Note, "phase_timeouts."+c.key+" = 1m0s") || seen.Node.ProvisionState != c.state {
						t.Fatalf("%s: got %v in %q", run, err, seen.Node.ProvisionState)
					}

					if spent := time.Since(start); run != "the first" && spent > 70*time.Second {
						t.Errorf("%s took %s", run, spent)
					}
				}
			})
		})
	}
}

func TestRun_aPowerFailureThatDoesNotHeal(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		r := b.provisioned()
		r.node.Fault, r.node.Maintenance, r.node.MaintenanceReason = "power failure", true, "BMC does not answer"

		start := time.Now()
		_, _, err := b.drive(t.Context(), wanted(), host.Provisioned)

		// A host that rests as wanted but for its power still waits for it.
		var stuck *host.StuckError
		if !errors.As(err, &stuck) || !strings.Contains(err.Error(), "BMC does not answer") || time.Since(start) < 12*time.Minute {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

func TestRun_aFailedCleaningLeavesMaintenanceWithAWarning(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		b.ends["provide"] = []ending{{ironic.CleanFailed, "agent"}}

		run, _, err := b.drive(t.Context(), wanted(), host.Provisioned)
		if err != nil || len(run.Warnings) != 1 || b.count("Maintain false") != 1 || b.count("Start provide") != 2 {
			t.Errorf("%v, %v, %v", err, run.Warnings, b.writes())
		}
	})
}
