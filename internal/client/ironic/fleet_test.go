// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
)

func TestFleet_oneListAnswersARefresh(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		ids := f.fleet(500)
		fleet := ironic.NewFleet(f.client(t), 0)

		var all sync.WaitGroup
		for _, id := range ids {
			all.Go(func() {
				n, ports, err := fleet.Node(t.Context(), id)
				if err != nil || n.UUID != id || len(ports) != 1 || ports[0].NodeUUID != id {
					t.Errorf("got %v, %v, %v", n, ports, err)
				}
			})
		}
		all.Wait()

		if f.count("GET /v1/nodes/detail") != 1 || f.count("GET /v1/ports") != 1 || f.count("") != 3 {
			t.Errorf("%d requests:\n%s", f.count(""), f.log())
		}
	})
}

// TestFleet_tenAtATime reads as Terraform does: ten readers, one after the other each.
func TestFleet_tenAtATime(t *testing.T) {
	t.Parallel()

	for name, readers := range map[string]int{"ten readers": 10, "one reader": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				ids := f.fleet(300)
				fleet := ironic.NewFleet(f.client(t), 0)

				queue := make(chan string, len(ids))
				for _, id := range ids {
					queue <- id
				}
				close(queue)

				var all sync.WaitGroup
				for range readers {
					all.Go(func() {
						for id := range queue {
							if n, _, err := fleet.Node(t.Context(), id); err != nil || n.UUID != id {
								t.Errorf("got %v, %v", n, err)
							}
						}
					})
				}
				all.Wait()

				most := map[int]int{10: 3, 1: 3 + 3*2}[readers]
				if n := f.count(""); n > most {
					t.Errorf("%d requests:\n%s", n, f.log())
				}
			})
		})
	}
}

func TestFleet_aloneItAsksForOneNode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		ids := f.fleet(5)
		fleet := ironic.NewFleet(f.client(t), 0)
		start := time.Now()

		n, ports, err := fleet.Node(t.Context(), ids[2])
		if err != nil || n.UUID != ids[2] || len(ports) != 1 || time.Since(start) > 250*time.Millisecond {
			t.Errorf("got %v, %v, %v after %s", n, ports, err, time.Since(start))
		}

		if f.count("GET /v1/nodes/"+ids[2]) != 1 || f.count("GET /v1/ports?") != 1 || f.count("GET /v1/nodes/detail") != 0 {
			t.Error(f.log())
		}
	})
}

func TestFleet_anAnswerIsNeverOlderThanItsAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.fleet(5)
		fleet := ironic.NewFleet(f.client(t), 10*time.Second)

		for range 3 {
			if all, _, err := fleet.All(t.Context()); err != nil || len(all) != 5 {
				t.Fatalf("got %v, %v", all, err)
			}

			time.Sleep(6 * time.Second)
		}

		if n := f.count("GET /v1/nodes/detail"); n != 2 {
			t.Errorf("%d lists", n)
		}

		fleet.Forget()

		if _, _, err := fleet.All(t.Context()); err != nil || f.count("GET /v1/nodes/detail") != 3 {
			t.Errorf("got %v: a list survived a write", err)
		}
	})
}

func TestFleet_aWriteMakesAListUnderWayOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.fleet(2)
		f.answers = []rule{{method: "GET", part: "/v1/nodes/detail", times: 1, status: 503}}
		fleet := ironic.NewFleet(f.client(t), time.Minute)

		early := make(chan error)

		go func() {
			_, _, err := fleet.All(t.Context())
			early <- err
		}()
		synctest.Wait()
		fleet.Forget() // while the list is tried for the second time

		if err := <-early; err != nil {
			t.Error(err)
		}

		before := f.count("GET /v1/nodes/detail")
		if _, _, err := fleet.All(t.Context()); err != nil || f.count("GET /v1/nodes/detail") != before+1 {
			t.Errorf("%v\n%s", err, f.log())
		}
	})
}

func TestOBMH22_absenceFromTheListIsNoProof(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		ids := f.fleet(4)
		f.forget(ids[1])
		f.answer("GET", "/v1/nodes/detail", 1, 200, `{"nodes":[{"uuid":"`+ids[0]+`"}]}`) // hides two that are there
		fleet := ironic.NewFleet(f.client(t), 0)

		if _, _, err := fleet.All(t.Context()); err != nil {
			t.Fatal(err)
		}

		for i, id := range ids {
			n, _, err := fleet.Node(t.Context(), id)
			if gone := errors.Is(err, ironic.ErrNotFound); gone != (i == 1) || (!gone && n.UUID != id) {
				t.Errorf("%d: got %v, %v", i, n, err)
			}
		}

		if n := fleet.Missing(); n != 1 {
			t.Errorf("%d are missing", n)
		}

		f.add(ids[1], nil)

		if _, _, err := fleet.Node(t.Context(), ids[1]); err != nil || fleet.Missing() != 0 {
			t.Errorf("got %v, %d missing", err, fleet.Missing())
		}
	})
}

func TestFleet_eachReaderWatchesItsOwnContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		ids := f.fleet(3)
		f.answer("GET", "/v1/nodes/detail", 3, 503, "")
		fleet := ironic.NewFleet(f.client(t), 0)

		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()

		var all sync.WaitGroup

		all.Go(func() {
			if _, _, err := fleet.Node(short, ids[0]); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the short one got %v", err)
			}
		})
		all.Go(func() {
			if _, _, err := fleet.Node(t.Context(), ids[1]); err != nil {
				t.Errorf("the long one got %v", err)
			}
		})
		all.Wait()
	})
}

func TestFleet_aDeadIronicIsNotAskedByEachReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.answer("GET", "/v1/", -1, http.StatusServiceUnavailable, "")
		fleet := ironic.NewFleet(f.client(t), 0)
		start := time.Now()

		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				for range 20 {
					if _, _, err := fleet.All(t.Context()); err == nil || errors.Is(err, ironic.ErrNotFound) || !strings.Contains(err.Error(), "503") {
						t.Errorf("got %v", err)
					}
				}
			})
		}
		all.Wait()

		if time.Since(start) > time.Minute {
			t.Errorf("200 readers needed %s", time.Since(start))
		}
	})
}

// TestFleet_isLean holds 1,000 nodes of the size that Ironic 29 sends.
func TestFleet_isLean(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	f := newFake()
	ids := f.fleet(1000)

	for i := range f.nodes {
		for _, kind := range strings.Fields("bios boot console deploy firmware inspect management network power raid rescue storage vendor") {
			f.nodes[i][kind+"_interface"] = "redfish-virtual-media"
		}

		f.nodes[i]["driver_info"] = map[string]any{"redfish_address": "https://192.0.2.10", "redfish_system_id": "/redfish/v1/Systems/1", "redfish_username": "root", "redfish_password": "******"}
		f.nodes[i]["instance_info"] = map[string]any{"image_source": "http://images.example/debian-12.qcow2", "image_os_hash_algo": "sha512", "image_os_hash_value": strings.Repeat("0a", 64)}
		f.nodes[i]["extra"] = map[string]any{"metal3": map[string]any{"v": 1, "phase": "provisioned", "labels": map[string]any{"rack": "7", "role": "worker"}}}
		f.nodes[i]["driver_internal_info"] = map[string]any{"agent_cached_deploy_steps": strings.Repeat("x", 4000)}
	}

	c := f.client(t)

	var before, after runtime.MemStats

	runtime.GC()
	runtime.ReadMemStats(&before)

	fleet := ironic.NewFleet(c, time.Hour)
	if n, _, err := fleet.Node(t.Context(), ids[7]); err != nil || n.UUID != ids[7] {
		t.Fatal(err)
	}

	if _, _, err := fleet.All(t.Context()); err != nil {
		t.Fatal(err)
	}

	runtime.GC()
	runtime.ReadMemStats(&after)

	grown := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) >> 10
	t.Logf("1,000 nodes hold %d KiB", grown)

	if grown > 12<<10 {
		t.Errorf("%d KiB", grown)
	}

	runtime.KeepAlive(fleet)
}

// A refresh that takes long is still one look; after a write it is not.
func TestFleet_calmUntilAWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		ids := f.fleet(10)
		fleet := ironic.NewFleet(f.client(t), 0)
		fleet.Calm(time.Minute)

		read := func(want int) {
			t.Helper()

			var all sync.WaitGroup
			for _, id := range ids {
				all.Go(func() {
					if _, _, err := fleet.Node(t.Context(), id); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()

			if got := f.count("GET /v1/nodes/detail"); got != want {
				t.Errorf("%d lists, want %d", got, want)
			}
		}

		read(1)
		time.Sleep(50 * time.Second)
		read(1)

		if _, _, err := fleet.All(t.Context()); err != nil || f.count("GET /v1/nodes/detail") != 2 {
			t.Errorf("%v; all nodes are those of now: %d lists", err, f.count("GET /v1/nodes/detail"))
		}

		fleet.Forget()
		read(3)
		time.Sleep(50 * time.Second)
		read(4)
	})
}
