// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
)

// killed makes the n-th order the last thing that the process does.
func killed(n int, f fate) func(string, int) fate {
	return func(_ string, i int) fate {
		if i == n {
			f.kill = true

			return f
		}

		return fate{}
	}
}

func TestRun_afterACrash(t *testing.T) {
	t.Parallel()

	for name, play := range map[string]func(t *testing.T, b *bench){
		"killed after the second order: the next create goes on with both": func(t *testing.T, b *bench) {
			t.Helper()
			b.onAttach = killed(2, fate{after: 10 * time.Second})
			b.create(t.Context()) // whatever it returned is lost
			b.dead = false
			res := fine(t, b.create(t.Context()))
			b.holds(t, res, 2)

			if b.attaches != 2 || !strings.Contains(strings.Join(res.Warnings, " "), "earlier run") {
				t.Errorf("%d orders, %v", b.attaches, res.Warnings)
			}
		},
		"killed before the order was carried out: nothing comes twice": func(t *testing.T, b *bench) {
			t.Helper()
			b.onAttach = killed(1, fate{never: true})
			b.create(t.Context())
			b.dead = false
			b.holds(t, fine(t, b.create(t.Context())), 2)
		},
		"killed when all was done, before Terraform could write": func(t *testing.T, b *bench) {
			t.Helper()
			fine(t, b.create(t.Context()))
			b.holds(t, fine(t, b.create(t.Context())), 2)

			if b.attaches != 2 {
				t.Errorf("%d orders", b.attaches)
			}
		},
		"what is in a state is not taken for a leftover": func(t *testing.T, b *bench) {
			t.Helper()
			res := fine(t, b.create(t.Context()))

			if _, err := b.desk().Refresh(t.Context(), device.Reading{Type: "gpu", Model: "A100", Machines: []string{"m0"}, Devices: res.Devices}); err != nil {
				t.Fatal(err)
			}

			b.want.ID = "another"
			wrong(t, b.create(t.Context()), device.ErrExisting, "u00, u01", `"m0/u00,u01"`, "adopt", "ignore")
		},
		"another configuration does not take what a finished run left": func(t *testing.T, b *bench) {
			t.Helper()
			fine(t, b.create(t.Context()))
			b.want.ID, b.want.Hosts = "another", b.want.Hosts[:1]
			wrong(t, b.create(t.Context()), device.ErrExisting)
		},
		"without a journal devices that nobody knows stop the next create": func(t *testing.T, b *bench) {
			t.Helper()
			fine(t, (&device.Run{Desk: device.NewDesk(b.pool, nil), Wanted: b.want}).Create(t.Context()))
			wrong(t, (&device.Run{Desk: device.NewDesk(b.pool, nil), Wanted: b.want}).Create(t.Context()), device.ErrExisting)

			b.want.Existing = device.ExistingAdopt
			b.holds(t, fine(t, (&device.Run{Desk: device.NewDesk(b.pool, nil), Wanted: b.want}).Create(t.Context())), 2)

			b.want.Existing = device.ExistingIgnore
			res := fine(t, (&device.Run{Desk: device.NewDesk(b.pool, nil), Wanted: b.want}).Create(t.Context()))

			if len(res.Devices) != 2 || len(b.on("m0")) != 4 || !slices.Equal(res.Unmanaged, []string{"u00", "u01"}) {
				t.Errorf("%v, on the machine %v, unmanaged %v", res.Devices, b.on("m0"), res.Unmanaged)
			}
		},
		"an interrupt during an order keeps its device": func(t *testing.T, b *bench) {
			t.Helper()
			ctx, stop := context.WithCancel(t.Context())
			b.onAttach = func(string, int) fate {
				stop()

				return fate{err: lost(), after: 30 * time.Second, quietly: true}
			}
			res := b.create(ctx)
			b.holds(t, res, 1)

			if res.Err() == nil || b.attaches != 1 {
				t.Errorf("%v after %d orders", res.Err(), b.attaches)
			}
		},
		"an interrupt ends a wait for a busy machine at once": func(t *testing.T, b *bench) {
			t.Helper()
			ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
			defer stop()

			b.state = 1 // Busy
			start := time.Now()
			wrong(t, b.create(ctx), context.DeadlineExceeded)

			if b.attaches != 0 || time.Since(start) > 4*time.Second {
				t.Errorf("%d orders, %s", b.attaches, time.Since(start))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { play(t, newBench()) })
		})
	}
}
