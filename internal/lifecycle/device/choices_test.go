// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
)

// TestRun_severalMachinesChoose: a manager that wants the device to be named shows one as free
// until it has come. Resources that are created at the same time must not name the same one.
func TestRun_severalMachinesChoose(t *testing.T) {
	t.Parallel()

	const machines, each = 4, 3

	synctest.Test(t, func(t *testing.T) {
		p := newPool(machines, machines*each)
		p.caps.PicksDevice, p.late = true, true
		p.onAttach = func(_ string, n int) fate { return fate{after: time.Duration(n%3+1) * time.Second} }

		desk := device.NewDesk(p, nil)

		var runs sync.WaitGroup

		results := make([]device.Result, machines)

		for i := range machines {
			w := wants(each, fmt.Sprintf("m%d", i))
			w.ID = fmt.Sprintf("r%d", i)

			runs.Go(func() { results[i] = (&device.Run{Desk: desk, Wanted: w}).Create(t.Context()) })
		}

		runs.Wait()

		for i, res := range results {
			if err := res.Err(); err != nil || len(res.Devices) != each || len(p.on(fmt.Sprintf("m%d", i))) != each {
				t.Errorf("machine %d: %d devices, %v", i, len(res.Devices), err)
			}
		}

		if p.attaches != machines*each {
			t.Errorf("%d orders for %d devices", p.attaches, machines*each)
		}
	})
}
