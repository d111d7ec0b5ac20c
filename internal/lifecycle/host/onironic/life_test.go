// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onironic_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/image"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/onironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"

	lab "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
)

// bubble runs a test against a lab in virtual time; transitions take seconds.
func bubble(t *testing.T, f func(t *testing.T, s *lab.Service, b *onironic.Backend)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := lab.New(store.New(""), lab.Options{Pace: time.Second})
		s.KeepRequests()
		f(t, s, on(t, direct{s}))
	})
}

// host0 is a host on a machine of the lab.
func host0(t *testing.T) host.Wanted {
	t.Helper()

	w := wanted(t)
	w.BMC.Password = "password"
	w.Online, w.ProvisionAttempts = true, 3
	w.Image = &image.Image{URL: "http://images.lab/debian-12.qcow2", Checksum: "http://images.lab/SHA256SUMS"}
	w.Reprovision = host.Reprovision{On: host.ReprovisionKeys, Consent: true}
	w.Deletion = host.Deletion{Policy: host.PolicyDeprovision, PowerOff: true}

	return w
}

func to(ctx context.Context, b *onironic.Backend, w host.Wanted, g host.Goal, seen host.Seen) (host.Seen, error) {
	run := &host.Run{Backend: b, Wanted: w, Goal: g, Direct: host.Direct{Access: host.AccessIronic}}

	return run.To(ctx, seen)
}

func TestLife_fromNothingToActiveAndBack(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, s *lab.Service, b *onironic.Backend) {
		t.Helper()

		w := host0(t)

		seen, err := to(t.Context(), b, w, host.Provisioned, host.Seen{})
		if err != nil || seen.ProvisioningState() != "provisioned" || seen.Node.InstanceUUID != claim {
			t.Fatalf("%v; %q", err, seen.ProvisioningState())
		}

		s.ResetCounts()

		if seen, err = to(t.Context(), b, w, host.Provisioned, seen); err != nil || len(s.Counts()) != 0 {
			t.Fatalf("%v; a second run sent %v", err, s.Counts())
		}

		w.Image = &image.Image{URL: "http://images.lab/debian-12.raw", Checksum: "http://images.lab/SHA256SUMS"}
		if differs := host.Differences(seen.Applied(), "", w); len(differs) == 0 {
			t.Error("another image is none")
		}

		w = host0(t)

		if seen, err = to(t.Context(), b, w, host.Deleted, seen); err != nil || seen.Node.UUID != "" {
			t.Fatalf("%v; %+v", err, seen.Node)
		}

		if _, err := b.Look(t.Context(), id); !errors.Is(err, host.ErrGone) {
			t.Errorf("it is still there: %v", err)
		}
	})
}

func TestOBMH04_nodeLocked(t *testing.T) {
	t.Parallel()

	for _, call := range []string{"PUT /v1/nodes/*/states/provision", "PATCH /v1/nodes/*", "PUT /v1/nodes/*/states/power"} {
		t.Run("three times "+call, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, s *lab.Service, b *onironic.Backend) {
				t.Helper()

				s.Inject(lab.Trouble{Match: call, Times: 3, Locked: true})

				seen, err := to(t.Context(), b, host0(t), host.Provisioned, host.Seen{})
				if err == nil {
					_, err = to(t.Context(), b, host0(t), host.Deleted, seen)
				}

				if err != nil {
					t.Error(err)
				}
			})
		})
	}

	t.Run("for ever", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T, s *lab.Service, b *onironic.Backend) {
			t.Helper()

			s.Inject(lab.Trouble{Match: "PUT /v1/nodes/*/states/provision", Times: -1, Locked: true})

			ctx, _, cancel := wait.WithBudget(t.Context(), 10*time.Minute)
			defer cancel()

			_, err := to(ctx, b, host0(t), host.Provisioned, host.Seen{})

			var timeout *wait.TimeoutError
			if !errors.As(err, &timeout) || timeout.Waited != 10*time.Minute || !strings.Contains(err.Error(), "locked by host") || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
		})
	})

	t.Run("in the middle of a transition", func(t *testing.T) {
		t.Parallel()
		bubble(t, func(t *testing.T, s *lab.Service, b *onironic.Backend) {
			t.Helper()

			s.Inject(lab.Trouble{
				Match: "PUT /v1/nodes/*/states/provision", Skip: 1, Status: http.StatusConflict,
				Text: "Node " + id + " can not be updated while a state transition is in progress.",
			})

			if _, err := to(t.Context(), b, host0(t), host.Provisioned, host.Seen{}); err != nil {
				t.Error(err)
			}
		})
	})
}

// Whatever a request's fate is, the work is done once.
func TestLife_answersThatAreLost(t *testing.T) {
	t.Parallel()

	for _, call := range []string{"POST /v1/nodes", "POST /v1/ports", "PATCH /v1/nodes/*", "PUT /v1/nodes/*/states/provision", "GET /v1/nodes/*"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, s *lab.Service, b *onironic.Backend) {
				t.Helper()

				s.Inject(lab.Trouble{Match: call, Status: http.StatusServiceUnavailable, Text: "busy", Times: 2})

				w := host0(t)
				w.BootMAC = "52:54:00:00:00:aa"

				seen, err := to(t.Context(), b, w, host.Provisioned, host.Seen{})
				if err != nil || seen.ProvisioningState() != "provisioned" {
					t.Fatalf("%v; %q", err, seen.ProvisioningState())
				}

				deployed := 0

				for _, r := range s.Requests() {
					if r.Method == http.MethodPut && strings.Contains(r.Body, `"target":"active"`) && r.Status < 300 {
						deployed++
					}
				}

				if all, _ := b.All(t.Context()); len(all) != 1 || deployed != 1 {
					t.Errorf("%d nodes, %d deployments", len(all), deployed)
				}
			})
		})
	}
}

func TestLife_failures(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		verb string
		ends lab.Failure
		n    int
		step host.Step // of the error; empty: it goes on
		says string
	}{
		"an inspection that fails once":  {"inspect", lab.Failure{LastError: "timeout"}, 1, "", ""},
		"an inspection that fails twice": {"inspect", lab.Failure{LastError: "timeout"}, 2, host.Inspect, "timeout"},
		"a cleaning that fails twice":    {"provide", lab.Failure{LastError: "agent"}, 2, "", ""},
		"a cleaning that always fails":   {"provide", lab.Failure{LastError: "agent"}, 3, host.Provide, "agent"},
		"a deployment that fails once":   {"active", lab.Failure{LastError: "checksum mismatch"}, 1, "", ""},
		"a deployment that always fails": {"active", lab.Failure{LastError: "checksum mismatch"}, 3, host.Deploy, "checksum mismatch"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, s *lab.Service, b *onironic.Backend) {
				t.Helper()

				for range c.n {
					if err := s.FailNext("", c.verb, c.ends); err != nil {
						t.Fatal(err)
					}
				}

				seen, err := to(t.Context(), b, host0(t), host.Provisioned, host.Seen{})

				var failed *host.FailedError

				switch errors.As(err, &failed); {
				case c.step == "" && err == nil:
				case failed == nil || failed.Step != c.step || !strings.Contains(err.Error(), c.says) || seen.Node.UUID != id:
					t.Fatalf("got %v", err)
				}

				if _, err = to(t.Context(), b, host0(t), host.Deleted, seen); err != nil {
					t.Errorf("afterwards it is not deleted: %v", err)
				}
			})
		})
	}
}

func TestLife_wrongPassword(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, _ *lab.Service, b *onironic.Backend) {
		t.Helper()

		w := host0(t)
		w.BMC.Password = "S3cret&+%"

		seen, err := to(t.Context(), b, w, host.Provisioned, host.Seen{})

		var failed *host.FailedError
		if !errors.As(err, &failed) || failed.Step != host.Manage || strings.Contains(err.Error(), "S3cret") || seen.Node.ProvisionState != ironic.Enroll {
			t.Fatalf("got %v in %q", err, seen.Node.ProvisionState)
		}

		// The right one, as an update in place gives it.
		w.BMC.Password, w.BMC.Rewrite = "password", true
		if seen, err = to(t.Context(), b, w, host.Provisioned, seen); err != nil || seen.ProvisioningState() != "provisioned" {
			t.Fatalf("then %v", err)
		}

		w.BMC.Password = "wrong"

		var refused *host.CredentialsError
		if _, err = to(t.Context(), b, w, host.Provisioned, seen); !errors.As(err, &refused) {
			t.Errorf("a wrong one later: %v", err)
		}
	})
}
