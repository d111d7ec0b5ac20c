// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package wait_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// In virtual time a mutex would stand still for ever: whoever waits for one keeps the clock from moving.
func TestPlaces_whoWaitsLetsTimePass(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()

		one := make(wait.Places, 1)
		began := time.Now()

		for range 3 {
			go func() {
				leave, err := one.Enter(t.Context())
				if err != nil {
					t.Error(err)

					return
				}
				defer leave()

				time.Sleep(time.Minute)
			}()
		}

		synctest.Wait()

		hurried, cancel := context.WithTimeoutCause(t.Context(), time.Second, errHurry)
		defer cancel()

		if _, err := one.Enter(hurried); !errors.Is(err, errHurry) || time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}

		leave, err := one.Enter(t.Context())
		if err != nil || time.Since(began) < time.Minute {
			t.Fatalf("%v after %s: two were in at once", err, time.Since(began))
		}

		leave()
	})
}

var errHurry = errors.New("no time")
