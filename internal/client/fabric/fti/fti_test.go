// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fti_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/fti"
)

func TestReadAll_aFewAtATimeAndInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var (
			mu        sync.Mutex
			now, most int
		)

		count := func(by int) {
			mu.Lock()
			defer mu.Unlock()

			now += by
			most = max(most, now)
		}

		ids := make([]string, 40)
		for i := range ids {
			ids[i] = fmt.Sprint(i)
		}

		start := time.Now()

		all, err := fti.ReadAll(t.Context(), ids, func(_ context.Context, id string) (fabric.Machine, error) {
			count(1)
			time.Sleep(time.Second)
			count(-1)

			return fabric.Machine{ID: id}, nil
		})
		if err != nil || len(all) != len(ids) || most != 8 || time.Since(start) != 5*time.Second {
			t.Errorf("%d machines, %d at a time, in %s: %v", len(all), most, time.Since(start), err)
		}

		for i, m := range all {
			if m.ID != ids[i] {
				t.Errorf("%s is at %d", m.ID, i)
			}
		}
	})
}

func TestReadAll_oneFailureEndsAll(t *testing.T) {
	t.Parallel()

	broken := errors.New("broken")

	all, err := fti.ReadAll(t.Context(), []string{"a", "b", "c"}, func(ctx context.Context, id string) (fabric.Machine, error) {
		if id == "b" {
			return fabric.Machine{}, broken
		}

		<-ctx.Done()

		return fabric.Machine{}, context.Cause(ctx)
	})
	if !errors.Is(err, broken) || all != nil {
		t.Errorf("got %v, %v", all, err)
	}
}
