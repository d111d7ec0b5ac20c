// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

func TestStore_aTransitionOutlivesItsProcess(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "lab.db")
	first := rigOn(t, store.New(path), ironic.Options{})
	first.node("n", family{"redfish", "redfish-virtual-media", redfish(0)})
	first.edit("n", map[string]any{"provision_state": "manageable"})
	first.failNext("n", "inspect", ironic.Failure{LastError: "no luck"})
	first.verb("inspect", "")

	second := rigOn(t, store.New(path), ironic.Options{Pace: time.Hour}) // the pace of a transition is its own
	if n := second.rest("inspect failed"); n["last_error"] != "no luck" {
		t.Errorf("last_error %v", n["last_error"])
	}
}

func TestStore_twoProcessesOneClaim(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "lab.db")
	rigs := []rig{rigOn(t, store.New(path), ironic.Options{}), rigOn(t, store.New(path), ironic.Options{})}
	rigs[0].fake()

	var (
		wg  sync.WaitGroup
		mu  sync.Mutex
		won int
	)

	for i := range 20 {
		wg.Go(func() {
			code, _ := rigs[i%2].do(http.MethodPatch, "/v1/nodes/n", fmt.Sprintf(
				`[{"op":"add","path":"/instance_uuid","value":"11111111-2222-4333-8444-%012d"}]`, i))

			mu.Lock()
			defer mu.Unlock()

			switch code {
			case http.StatusOK:
				won++
			case http.StatusConflict:
			default:
				t.Errorf("status %d", code)
			}
		})
	}

	wg.Wait()

	if won != 1 {
		t.Errorf("%d claims succeeded", won)
	}
}

func TestStore_aThousandNodes(t *testing.T) {
	t.Parallel()

	if testing.Short() || raceDetector {
		t.Skip("measures time")
	}

	const n = 1000

	st := store.New(filepath.Join(t.TempDir(), "lab.db"))
	r := rigOn(t, st, ironic.Options{Machines: machine.Options{Count: n}})
	r.must(http.StatusOK, http.MethodGet, "/v1/drivers", nil)

	for i := range n {
		r.node(fmt.Sprintf("metal3~node-%d", i), family{"redfish", "redfish-virtual-media", redfish(i)})
	}

	for i := range n {
		r.edit(fmt.Sprintf("metal3~node-%d", i), map[string]any{"provision_state": "available"})
	}

	var best time.Duration

	for range 3 { // the machine may be busy with something else
		began := time.Now()
		body := r.must(http.StatusOK, http.MethodGet, "/v1/nodes/detail", nil)

		if took := time.Since(began); best == 0 || took < best {
			best = took
		}

		if got := len(body["nodes"].([]any)); got != n {
			t.Fatalf("%d nodes", got)
		}
	}

	t.Logf("a list of %d nodes in detail: %s", n, best)

	if best > time.Second {
		t.Errorf("a list of %d nodes takes %s", n, best)
	}
}
