// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// limited is host number i of a fleet that may not be busy all at once.
func limited(i, limit int) host.Wanted {
	w := wanted()
	w.ID, w.Name = fmt.Sprintf("00000000-0000-4000-8000-%012d", i), fmt.Sprintf("n%d", i)
	w.BootMAC, w.ProvisioningLimit = fmt.Sprintf("52:54:00:00:00:%02x", i), limit

	return w
}

func TestGate_fiveHostsOneAtATime(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		var (
			group sync.WaitGroup
			mu    sync.Mutex
			most  int
		)

		places := map[int]bool{}
		log := func(_ context.Context, msg string, fields map[string]any) {
			mu.Lock()
			defer mu.Unlock()

			if place, ok := fields["place"].(int); ok && msg == "delayed" {
				places[place] = true
			}

			b.mu.Lock()
			defer b.mu.Unlock()

			n := 0

			for id := range b.records {
				if r, err := b.find(id); err == nil && !host.Resting(r.node.ProvisionState) && r.node.ProvisionState != ironic.Verifying {
					n++
				}
			}

			most = max(most, n)
		}

		for i := range 5 {
			group.Go(func() {
				// A verb's deadline is far shorter than the queue.
				ctx, budget, cancel := wait.WithBudget(t.Context(), 15*time.Minute)
				defer cancel()

				run := &host.Run{Backend: b, Wanted: limited(i, 1), Goal: host.Provisioned, Budget: budget, Log: log}
				if _, err := run.To(ctx, host.Seen{}); err != nil {
					t.Errorf("host %d: %v", i, err)
				}
			})
		}

		start := time.Now()

		group.Wait()

		if most > 1 {
			t.Errorf("%d hosts were busy at once", most)
		}

		if spent := time.Since(start); spent < 5*9*time.Minute || spent > 60*time.Minute {
			t.Errorf("five took %s", spent)
		}

		if !places[4] || places[6] {
			t.Errorf("the queue had the places %v", places)
		}
	})
}

func TestGate_aFreePlaceIsTakenAtOnce(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		var (
			group       sync.WaitGroup
			mu          sync.Mutex
			free, begun []time.Time
		)

		for i := range 4 {
			first := true
			log := func(_ context.Context, msg string, fields map[string]any) {
				mu.Lock()
				defer mu.Unlock()

				if step := fields["step"]; msg == "step" && first && step == string(host.Inspect) {
					begun, first = append(begun, time.Now()), false
				}
			}

			group.Go(func() {
				run := &host.Run{Backend: b, Wanted: limited(i, 1), Goal: host.Provisioned, Log: log}
				if _, err := run.To(t.Context(), host.Seen{}); err != nil {
					t.Errorf("host %d: %v", i, err)
				}

				mu.Lock()
				defer mu.Unlock()

				free = append(free, time.Now())
			})
		}

		group.Wait()

		for i := range 3 {
			if pause := begun[i+1].Sub(free[i]); pause < 0 || pause > 200*time.Millisecond {
				t.Errorf("the place of host %d is free for %s", i, pause)
			}
		}
	})
}

func TestGate_othersCountWhereverTheyCameFrom(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		const limit = 6

		b.others = 2

		var (
			group        sync.WaitGroup
			mu           sync.Mutex
			inside, most int
		)

		for i := range 20 {
			in := false
			log := func(_ context.Context, msg string, fields map[string]any) {
				mu.Lock()
				defer mu.Unlock()

				if step := fields["step"]; msg == "step" && !in && step == string(host.Inspect) {
					inside, in = inside+1, true
					most = max(most, inside)
				}
			}

			group.Go(func() {
				run := &host.Run{Backend: b, Wanted: limited(i, limit), Goal: host.Provisioned, Log: log}
				if _, err := run.To(t.Context(), host.Seen{}); err != nil {
					t.Errorf("host %d: %v", i, err)
				}

				mu.Lock()
				defer mu.Unlock()

				inside--
			})
		}

		group.Wait()

		if most != limit-b.others {
			t.Errorf("%d were busy at once beside %d others, the limit is %d", most, b.others, limit)
		}
	})
}

func TestGate_queueTimeout(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		b.others = 3

		w := limited(1, 3)
		w.QueueTimeout = 10 * time.Minute
		start := time.Now()

		_, seen, err := b.drive(t.Context(), w, host.Provisioned)

		var queue *host.QueueError
		if !errors.As(err, &queue) || queue.Limit != 3 || time.Since(start).Round(time.Minute) != 10*time.Minute || seen.Node.UUID == "" {
			t.Fatalf("got %v", err)
		}

		b.others = 2 // the place was not kept
		b.must(w, host.Provisioned)
	})
}

func TestGate_waitingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		b.others = 1

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Hour, cancel)

		_, _, err := b.drive(ctx, limited(1, 1), host.Provisioned)

		var timeout *wait.TimeoutError
		if !errors.As(err, &timeout) || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestGate_whoWaits(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(*host.Wanted, *far)
		counts int
		fails  bool
	}{
		"a host that loads the network counts once": {func(*host.Wanted, *far) {}, 1, false},
		"one that boots an ISO does not":            {func(w *host.Wanted, _ *far) { w.BMC.Access.SupportsISO = true }, 0, false},
		"nor does one whose node says that it does": {func(_ *host.Wanted, b *far) { b.boot = "redfish-virtual-media" }, 0, false},
		"no limit, no question":                     {func(w *host.Wanted, _ *far) { w.ProvisioningLimit = 0 }, 0, false},
		"an overload is asked again":                {func(_ *host.Wanted, b *far) { b.fail["Busy"] = []error{wait.Transient(errors.New("503"))} }, 2, false},
		"a missing right ends it":                   {func(_ *host.Wanted, b *far) { b.fail["Busy"] = []error{ironic.ErrAuth} }, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *far) {
				t.Helper()

				w := limited(1, 2)
				c.change(&w, b)

				_, _, err := b.drive(t.Context(), w, host.Provisioned)
				if (err != nil) != c.fails || b.count("Busy") != c.counts {
					t.Errorf("%v after %d counts", err, b.count("Busy"))
				}
			})
		})
	}
}
