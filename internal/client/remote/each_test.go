// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

func TestEach_boundsAndJoins(t *testing.T) {
	t.Parallel()

	odd := errors.New("odd")

	cases := map[string]struct {
		limit int
		items []int // how many seconds each takes; an odd one fails
		took  time.Duration
		most  int32 // at once
		want  string
	}{
		"nothing":                      {3, nil, 0, 0, "<nil>"},
		"all well":                     {3, []int{2, 4, 2, 4, 2}, 6 * time.Second, 3, "<nil>"},
		"one after the other":          {1, []int{2, 4, 2}, 8 * time.Second, 1, "<nil>"},
		"without a bound":              {0, []int{2, 4, 2, 6}, 6 * time.Second, 4, "<nil>"},
		"more places than items":       {9, []int{2, 4}, 4 * time.Second, 2, "<nil>"},
		"errors in the order of items": {2, []int{5, 3, 2, 1}, 6 * time.Second, 2, "5: odd\n3: odd\n1: odd"},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				var now, most atomic.Int32

				began := time.Now()
				err := remote.Each(t.Context(), c.limit, c.items, func(_ context.Context, n int) error {
					most.Store(max(most.Load(), now.Add(1)))
					defer now.Add(-1)

					time.Sleep(time.Duration(n) * time.Second)

					if n%2 == 1 {
						return fmt.Errorf("%d: %w", n, odd)
					}

					return nil
				})

				if took := time.Since(began); took != c.took || most.Load() != c.most || fmt.Sprint(err) != c.want {
					t.Errorf("after %s, %d at once: %v", took, most.Load(), err)
				}

				if c.want != "<nil>" && !errors.Is(err, odd) {
					t.Errorf("the errors lost their kind: %v", err)
				}
			})
		})
	}
}

func TestEach_beginsNoneOnceTheContextHasEnded(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("enough")

		time.AfterFunc(3*time.Second, func() { cancel(why) })

		var begun atomic.Int32

		err := remote.Each(ctx, 2, make([]int, 10), func(context.Context, int) error {
			begun.Add(1)
			time.Sleep(2 * time.Second)

			return nil
		})
		if !errors.Is(err, why) || err.Error() != "6 of 10 not begun: enough" || begun.Load() != 4 {
			t.Errorf("%d begun, %v", begun.Load(), err)
		}
	})
}
