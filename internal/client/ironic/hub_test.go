// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

func TestHub_twoHundredWaitersShareOneListATick(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		ids := f.fleet(200)
		hub := ironic.NewHub(f.client(t))
		start := time.Now()

		var all sync.WaitGroup
		for _, id := range ids {
			all.Go(func() {
				for time.Since(start) < time.Minute {
					if g, err := hub.Next(t.Context(), id, 5*time.Second); err != nil || g.UUID != id {
						t.Errorf("got %v, %v", g, err)
					}
				}
			})
		}
		all.Wait()

		if lists, singles := f.count("GET /v1/nodes?"), f.count("GET /v1/nodes/"); lists != 12 || singles != 0 {
			t.Errorf("%d lists, %d single looks in a minute", lists, singles)
		}
	})
}

func TestHub_whoWantsAllSharesTheListOfThoseWhoWaitForOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		ids := f.fleet(30)
		hub := ironic.NewHub(f.client(t))

		var all sync.WaitGroup

		for _, id := range ids[:3] {
			all.Go(func() {
				if g, err := hub.Next(t.Context(), id, 3*time.Second); err != nil || g.UUID != id {
					t.Errorf("got %v, %v", g, err)
				}
			})
		}

		for i := range 20 {
			all.Go(func() {
				if l, err := hub.Everyone(t.Context(), time.Duration(i+1)*time.Second); err != nil || len(l) != len(ids) {
					t.Errorf("%d nodes, %v", len(l), err)
				}
			})
		}
		all.Wait()

		if lists, singles := f.count("GET /v1/nodes?"), f.count("GET /v1/nodes/"); lists != 1 || singles != 0 {
			t.Errorf("%d lists, %d single looks", lists, singles)
		}

		// One alone needs a list, too, and one that fails is told.
		if l, err := hub.Everyone(t.Context(), 0); err != nil || len(l) != len(ids) {
			t.Errorf("%d nodes, %v", len(l), err)
		}

		f.drop = func(*http.Request) error { return errors.New("lost") }

		if l, err := hub.Everyone(t.Context(), 0); err == nil || l != nil {
			t.Errorf("%d nodes, %v", len(l), err)
		}
	})
}

func TestHub_listsAreSpacedHoweverEagerTheWaiters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		ids := f.fleet(50)
		hub := ironic.NewHub(f.client(t))
		start := time.Now()

		var all sync.WaitGroup
		for i, id := range ids {
			all.Go(func() {
				for time.Since(start) < 10*time.Second {
					if _, err := hub.Next(t.Context(), id, time.Duration(i)*10*time.Millisecond); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()

		if n := f.count("GET /v1/nodes?"); n > 22 {
			t.Errorf("%d lists in ten seconds", n)
		}
	})
}

func TestHub_fewWaitersAskForTheirNodes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		ids := f.fleet(2)
		hub := ironic.NewHub(f.client(t))
		start := time.Now()

		var all sync.WaitGroup
		for i, id := range ids {
			all.Go(func() {
				g, err := hub.Next(t.Context(), id, time.Duration(i+3)*time.Second)
				if err != nil || g.UUID != id || time.Since(start) != 3*time.Second {
					t.Errorf("got %v, %v after %s", g, err, time.Since(start))
				}
			})
		}
		all.Wait()

		if f.count("GET /v1/nodes/") != 2 || f.count("GET /v1/nodes?") != 0 {
			t.Error(f.log())
		}
	})
}

func TestHub_aLookIsBegunAfterTheCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		ids := f.fleet(1)
		f.drop = func(r *http.Request) error {
			f.mu.Unlock()
			defer f.mu.Lock()

			return wait.Sleep(r.Context(), 2*time.Second) // a slow Ironic
		}
		hub := ironic.NewHub(f.client(t))

		if _, err := hub.Next(t.Context(), ids[0], 0); err != nil { // the version, too: 4 s
			t.Fatal(err)
		}

		start := time.Now()

		var all sync.WaitGroup

		all.Go(func() { _, _ = hub.Next(t.Context(), ids[0], 0) })
		all.Go(func() {
			time.Sleep(time.Second) // in the middle of the look of the other one

			if _, err := hub.Next(t.Context(), ids[0], 0); err != nil || time.Since(start) != 4*time.Second {
				t.Errorf("%v after %s", err, time.Since(start))
			}
		})
		all.Wait()

		if n := f.count("GET /v1/nodes/"); n != 3 {
			t.Errorf("%d looks", n)
		}
	})
}

func TestHub_anEarlierWaiterWakesIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		ids := f.fleet(2)
		hub := ironic.NewHub(f.client(t))
		start := time.Now()

		var all sync.WaitGroup

		for _, tc := range []struct{ begin, d time.Duration }{{0, time.Hour}, {time.Minute, time.Second}} {
			all.Go(func() {
				time.Sleep(tc.begin)

				if _, err := hub.Next(t.Context(), ids[0], tc.d); err != nil || time.Since(start) != 61*time.Second {
					t.Errorf("%v after %s", err, time.Since(start))
				}
			})
		}
		all.Wait()
	})
}

func TestHub_absenceFromTheListIsNoProof(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		ids := f.fleet(5)
		f.forget(ids[4])
		f.answer("GET", "/v1/nodes?", 1, 200, `{"nodes":[{"uuid":"`+ids[0]+`"}]}`)
		hub := ironic.NewHub(f.client(t))

		var all sync.WaitGroup
		for i, id := range ids {
			all.Go(func() {
				g, err := hub.Next(t.Context(), id, time.Second)
				if gone := ironic.IsGone(err); gone != (i == 4) || (!gone && g.UUID != id) {
					t.Errorf("%d: %v, %v", i, g, err)
				}
			})
		}
		all.Wait()
	})
}

func TestHub_aFailedTickIsForAllAndStaysTransient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		ids := f.fleet(5)
		f.answer("GET", "/v1/nodes?", 6, 503, "")
		hub := ironic.NewHub(f.client(t))

		var all sync.WaitGroup
		for _, id := range ids {
			all.Go(func() {
				if _, err := hub.Next(t.Context(), id, time.Second); !wait.IsTransient(err) {
					t.Errorf("got %v", err)
				}

				if g, err := hub.Next(t.Context(), id, time.Second); err != nil || g.UUID != id {
					t.Errorf("got %v, %v", g, err)
				}
			})
		}
		all.Wait()
	})
}

// TestHub_restsWhenNobodyWaits would hang in its bubble if a goroutine were left.
func TestHub_restsWhenNobodyWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		ids := f.fleet(3)
		hub := ironic.NewHub(f.client(t))

		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, fmt.Errorf("asked to stop: %w", context.Canceled))
		defer cancel()

		var all sync.WaitGroup
		for _, id := range ids {
			all.Go(func() {
				if _, err := hub.Next(ctx, id, time.Hour); !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
			})
		}
		all.Wait()

		start := time.Now()
		synctest.Wait()

		if f.count("") != 0 || time.Since(start) != 0 {
			t.Errorf("%s", f.log())
		}
	})
}
