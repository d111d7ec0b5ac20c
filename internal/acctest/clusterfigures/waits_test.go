// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clusterfigures_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
)

// sent is a request and when it was sent.
type sent struct {
	at   time.Time
	what string
}

// watched is a transport that notes what is sent.
type watched struct {
	http.RoundTripper

	mu   sync.Mutex
	sent []sent
}

func (w *watched) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.sent = append(w.sent, sent{time.Now(), r.Method + " " + r.URL.RequestURI()})
	w.mu.Unlock()

	return w.RoundTripper.RoundTrip(r) //nolint:wrapcheck // for the client
}

// create makes a cluster of so many machines in virtual time, and returns what was sent for it and how
// long it took: only waits count there.
func create(t *testing.T, machines int, scheme string, pace time.Duration) ([]sent, time.Duration) {
	t.Helper()

	l := acctest.NewLab(t, lab.Options{Machines: machines, Pace: pace})
	register(t, l.Transport(), machines, scheme)

	w := &watched{RoundTripper: l.Transport()}
	core := l.Core(t, "metal3_cluster")
	core.Options = append(core.Options, provider.WithTransport(w))

	start := time.Now()
	if o := core.Apply(t.Context(), config(machines)); o.Errors != "" || core.Get("ready") != true {
		t.Fatal(o.Errors, o.Warnings)
	}

	return w.sent, time.Since(start)
}

// looks are what Ironic was asked those who wait: the lists, from when the second machine of a cluster
// begins, and the looks at one node from then on.
func looks(all []sent) (lists []time.Time, single int) {
	begun := map[string]bool{}

	for _, s := range all {
		if node, ok := strings.CutSuffix(s.what, "/states/provision"); ok {
			begun[node] = true
		}

		switch {
		case len(begun) < 2 || !strings.Contains(s.what, "target_provision_state"):
		case strings.HasPrefix(s.what, "GET /v1/nodes?"):
			lists = append(lists, s.at)
		default:
			single++
		}
	}

	return lists, single
}

// count makes a cluster of machines whose phases last minutes, and returns how many lists Ironic was
// asked for, after it has looked at how they lie in time.
func count(t *testing.T, machines int, scheme string) (n int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		all, took := create(t, machines, scheme, time.Minute)
		lists, single := looks(all)
		n = len(lists)

		t.Logf("%d machines, %s: %d lists, %d looks at one node, %d requests in all", machines, took, n, single, len(all))

		if n < 50 || single > 0 {
			t.Fatalf("%d lists and %d looks at one node", n, single)
		}

		for i := range lists[1:] {
			if gap := lists[i+1].Sub(lists[i]); gap < 500*time.Millisecond {
				t.Errorf("two lists within %s", gap)
			}
		}

		// Phases of one and two minutes begin with eight quicker looks each.
		if mean := lists[n-1].Sub(lists[0]) / time.Duration(n); mean < 3*time.Second {
			t.Errorf("a list each %s", mean)
		}
	})

	return n
}

// TestFigures_oneListATick counts what Ironic sees while machines wait: a list a tick, however many they
// are. A tick is half a second after a change, and grows up to five seconds while nothing moves.
func TestFigures_oneListATick(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("not in the short run: lists of a hundred nodes take seconds")
	}

	few := count(t, 10, virtualMedia)

	for _, machines := range []int{30, 100} {
		if n := count(t, machines, virtualMedia); n > few+few/20 {
			t.Errorf("%d machines see %d lists, ten see %d", machines, n, few)
		}
	}
}

// TestFigures_oneListATickAtTheGate is about machines of which twenty may be busy at once: those who wait
// for a place see the list of those who wait for their deployment.
func TestFigures_oneListATickAtTheGate(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("not in the short run: lists of nodes take seconds")
	}

	count(t, 30, network)
}

// TestFigures_waitsOfACreate makes a hundred machines on a lab whose Ironic takes no time. In virtual time
// only the provider's own waits are left; where the capacity gate lets twenty in at once they come in
// five turns.
func TestFigures_waitsOfACreate(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("not in the short run: its creates take seconds")
	}

	for name, c := range map[string]struct {
		scheme string
		limit  time.Duration
	}{
		"virtual media": {virtualMedia, 4 * time.Second},
		"network":       {network, 12 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const machines, each = 100, 14

				all, took := create(t, machines, c.scheme, time.Millisecond)
				t.Logf("%d machines wait for %s, %d requests", machines, took, len(all))

				if took > c.limit || len(all) > machines*each {
					t.Errorf("%s and %d requests, the limits are %s and %d", took, len(all), c.limit, machines*each)
				}
			})
		})
	}
}
