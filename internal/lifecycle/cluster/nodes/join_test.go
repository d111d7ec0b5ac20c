// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

func TestHub_twoHundredMachinesShareOneListATick(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		hub := nodes.NewHub(f)
		start := time.Now()

		var all sync.WaitGroup

		for i := range 200 {
			all.Go(func() {
				m := fmt.Sprintf("edge-w-%d", i)

				joined, err := nodes.Join(t.Context(), hub, want(m, "h-"+m), nil, time.Hour)
				if err != nil || joined.Node != m {
					t.Errorf("%s: got %+v, %v", m, joined, err)
				}
			})

			if i == 0 {
				synctest.Wait() // who comes first has the first list alone
			}
		}

		time.Sleep(59 * time.Second)

		if n := f.count("nodes"); n != 13 { // the first for whoever came first
			t.Errorf("%d lists in a minute", n)
		}

		for i := range 200 {
			f.add(node(fmt.Sprintf("edge-w-%d", i), ""))
		}

		all.Wait()

		if n, took := f.count("nodes"), time.Since(start); n != 14 || took.Round(time.Second) > 61*time.Second {
			t.Errorf("%d lists in %s", n, took)
		}
	})
}

func TestHub_aLookIsBegunAfterTheCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.slow = func(ctx context.Context) { _ = wait.Sleep(ctx, 8*time.Second) }
		hub := nodes.NewHub(f)

		var all sync.WaitGroup

		all.Go(func() { _, _ = hub.Nodes(t.Context()) })
		all.Go(func() {
			time.Sleep(time.Second) // in the middle of the list of the other one

			start := time.Now()
			if _, err := hub.Nodes(t.Context()); err != nil || time.Since(start) != 15*time.Second {
				t.Errorf("%v after %s", err, time.Since(start))
			}
		})
		all.Wait()

		if n := f.count("nodes"); n != 2 {
			t.Errorf("%d lists", n)
		}
	})
}

// TestHub_restsWhenNobodyWaits would hang in its bubble if a goroutine were left.
func TestHub_restsWhenNobodyWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		hub := nodes.NewHub(f)

		if _, err := hub.Nodes(t.Context()); err != nil {
			t.Fatal(err)
		}

		ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errBroken)
		defer cancel()

		if _, err := hub.Nodes(ctx); !errors.Is(err, errBroken) {
			t.Errorf("got %v", err)
		}

		start := time.Now()
		synctest.Wait()

		if f.count("nodes") != 1 || time.Since(start) != 0 {
			t.Errorf("did %v in %s", f.calls(), time.Since(start))
		}

		if _, err := hub.Nodes(ctx); !errors.Is(err, errBroken) {
			t.Errorf("a context that has ended: got %v", err)
		}
	})
}

func TestHub_aFailedListIsForAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.fails["nodes"] = []error{nil, transient()}
		hub := nodes.NewHub(f)

		if _, err := hub.Nodes(t.Context()); err != nil {
			t.Fatal(err)
		}

		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if _, err := hub.Nodes(t.Context()); !wait.IsTransient(err) {
					t.Errorf("got %v", err)
				}

				if _, err := hub.Nodes(t.Context()); err != nil {
					t.Errorf("got %v", err)
				}
			})
		}
		all.Wait()

		if n := f.count("nodes"); n > 3 {
			t.Errorf("%d lists", n)
		}
	})
}

func TestHub_isMadeOnce(t *testing.T) {
	t.Parallel()

	hub := nodes.NewHub(newFake())
	if nodes.NewHub(hub) != hub {
		t.Error("a hub of a hub is another one")
	}
}

func TestJoin_waits(t *testing.T) {
	t.Parallel()

	ready := func(w nodes.Want) nodes.Want {
		w.Ready = true

		return w
	}
	unready := func(n kube.Node) kube.Node {
		n.Ready = "False"

		return n
	}

	settled := func(w nodes.Want) nodes.Want {
		w.Ready, w.Settle = true, 2*time.Minute

		return w
	}
	since := func(d time.Duration) kube.Node {
		n := node("edge-w-0", mine)
		n.ReadySince = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(d) // when a bubble begins

		return n
	}

	for name, c := range map[string]struct {
		want  nodes.Want
		after map[time.Duration]kube.Node // what its kubelet registers, when
		fails []error                     // of the first lists
		took  time.Duration
		ready bool
		err   string // part of it
	}{
		"it is there":                            {want: want("edge-w-0", "h0"), after: map[time.Duration]kube.Node{0: node("edge-w-0", "")}, ready: true},
		"it comes later":                         {want: want("edge-w-0", "h0"), after: map[time.Duration]kube.Node{7 * time.Second: node("edge-w-0", "")}, took: 10 * time.Second, ready: true},
		"registered is enough":                   {want: want("edge-w-0", "h0"), after: map[time.Duration]kube.Node{0: unready(node("edge-w-0", ""))}},
		"until it is Ready":                      {want: ready(want("edge-w-0", "h0")), after: map[time.Duration]kube.Node{0: unready(node("edge-w-0", "")), time.Minute - 1: node("edge-w-0", mine)}, took: time.Minute, ready: true},
		"the API server is away":                 {want: want("edge-w-0", "h0"), after: map[time.Duration]kube.Node{0: node("edge-w-0", "")}, fails: []error{transient(), transient(), transient(), transient(), transient(), transient(), transient()}, took: 35 * time.Second, ready: true},
		"the API server refuses":                 {want: want("edge-w-0", "h0"), fails: []error{kube.ErrAuth}, err: "not authorised"},
		"nobody comes":                           {want: want("edge-w-0", "h0", "192.0.2.1"), after: map[time.Duration]kube.Node{0: node("other", "k3s://x")}, took: 10 * time.Minute, err: `looked for provider ID "metal3://default/h0/edge-w-0", else name "edge-w-0", else address 192.0.2.1): not reached after 10m0s; last seen: the cluster has 1 Nodes: other (k3s://x, Ready: True)`},
		"there are no Nodes":                     {want: want("edge-w-0", "h0"), took: 10 * time.Minute, err: "the cluster has no Nodes"},
		"it never gets Ready":                    {want: ready(want("edge-w-0", "h0")), after: map[time.Duration]kube.Node{0: unready(node("edge-w-0", ""))}, took: 10 * time.Minute, err: "lacks its network"},
		"the Nodes contradict it":                {want: want("edge-w-0", "h0"), after: map[time.Duration]kube.Node{7 * time.Second: node("edge-w-0", "k3s://x")}, took: 10 * time.Second, err: "cloud_provider_enabled"},
		"what it wants is no good":               {want: nodes.Want{Machine: "edge-w-0", Labels: map[string]string{"a b": ""}}, err: "is no label"},
		"a cloud provider sets its provider ID":  {want: ready(clouded(want("edge-w-0", "h0"))), after: map[time.Duration]kube.Node{0: node("edge-w-0", ""), time.Minute - 1: node("edge-w-0", "k3s://x")}, took: time.Minute, ready: true},
		"until it has been Ready for a while":    {want: settled(want("edge-w-0", "h0")), after: map[time.Duration]kube.Node{7 * time.Second: since(7 * time.Second)}, took: 130 * time.Second, ready: true},
		"it has been Ready for long":             {want: settled(want("edge-w-0", "h0")), after: map[time.Duration]kube.Node{0: since(-time.Hour)}, ready: true},
		"its clock is ahead":                     {want: settled(want("edge-w-0", "h0")), after: map[time.Duration]kube.Node{0: since(time.Hour)}, took: 2 * time.Minute, ready: true},
		"it does not say since when":             {want: settled(want("edge-w-0", "h0")), after: map[time.Duration]kube.Node{0: node("edge-w-0", mine), 58 * time.Second: unready(node("edge-w-0", mine)), 68 * time.Second: node("edge-w-0", mine)}, took: 190 * time.Second, ready: true},
		"a break that nobody has seen":           {want: settled(want("edge-w-0", "h0")), after: map[time.Duration]kube.Node{0: since(-time.Minute), 31 * time.Second: unready(since(31 * time.Second)), 32 * time.Second: since(32 * time.Second)}, took: 155 * time.Second, ready: true},
		"a cloud provider that is not there yet": {want: clouded(want("edge-w-0", "h0")), after: map[time.Duration]kube.Node{0: node("edge-w-0", "")}, ready: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.fails["nodes"] = c.fails

				for d, n := range c.after {
					if d == 0 {
						f.add(n)
					} else {
						time.AfterFunc(d, func() { f.add(n) })
					}
				}

				start := time.Now()
				joined, err := nodes.Join(t.Context(), f, c.want, machines("edge-w-0"), 10*time.Minute)

				if took := time.Since(start); took.Round(time.Second) != c.took {
					t.Errorf("took %s", took)
				}

				if c.err != "" {
					if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), "edge-w-0") {
						t.Errorf("got %v", err)
					}

					return
				}

				if err != nil || joined.Node != "edge-w-0" || joined.Ready != c.ready {
					t.Errorf("got %+v, %v", joined, err)
				}
			})
		})
	}
}

func TestJoin_endsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 12*time.Second, errBroken)
		defer cancel()

		var timeout *wait.TimeoutError

		_, err := nodes.Join(ctx, newFake(), want("edge-w-0", "h0"), nil, 0)
		if !errors.As(err, &timeout) || !errors.Is(err, errBroken) {
			t.Errorf("got %v", err)
		}
	})
}

func TestJoin_whatWasReachedIsReturnedWithTheError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := node("edge-w-0", "")
		n.Ready = "False"

		w := want("edge-w-0", "h0")
		w.Ready = true

		joined, err := nodes.Join(t.Context(), newFake(n), w, nil, time.Minute)
		if err == nil || joined.Node != "edge-w-0" || joined.ProviderID != mine || joined.Ready {
			t.Errorf("got %+v, %v", joined, err)
		}
	})
}

func TestJoin_aNodeOfAnEarlierMachineGoesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(node("edge-w-0", "metal3://default/h9/edge-w-0"), node("edge-w-1", "metal3://default/h1/edge-w-1"))
		f.fails["delete edge-w-0"] = []error{transient()}

		time.AfterFunc(time.Minute-1, func() { f.add(node("edge-w-0", "")) })

		joined, err := nodes.Join(t.Context(), f, want("edge-w-0", "h0"), machines("edge-w-0", "edge-w-1"), time.Hour)
		if err != nil || joined.Node != "edge-w-0" || joined.ProviderID != mine || len(joined.Removed) != 1 {
			t.Errorf("got %+v, %v", joined, err)
		}

		if f.node("edge-w-1").Name == "" {
			t.Error("the Node of another machine is gone")
		}
	})
}

func TestJoin_aNodeThatGoesInBetween(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(node("edge-w-0", ""))
		f.fails["provider ID edge-w-0"] = []error{kube.ErrNotFound}

		start := time.Now()

		joined, err := nodes.Join(t.Context(), f, want("edge-w-0", "h0"), nil, time.Hour)
		if err != nil || joined.Node != "edge-w-0" || time.Since(start).Round(time.Second) != 5*time.Second {
			t.Errorf("got %+v, %v after %s", joined, err, time.Since(start))
		}
	})
}

func TestClear(t *testing.T) {
	t.Parallel()

	f := newFake(
		node("edge-w-0", "metal3://default/h9/edge-w-0"), node("old", "metal3://default/h1/gone"),
		node("edge-w-2", "metal3://default/h2/edge-w-2"), node("x", "metal3://default/h3/edge-w-2"),
	)
	wants := []nodes.Want{want("edge-w-0", "h0"), want("edge-w-1", "h1"), want("edge-w-2", "h2"), want("edge-w-3", "h3")}

	done, err := nodes.Clear(t.Context(), f, wants, machines("edge-w-0", "edge-w-1", "edge-w-2", "edge-w-3"))
	if err != nil || strings.Join(done, " ") != "edge-w-0 old" {
		t.Errorf("deleted %v, %v", done, err)
	}

	if f.count("nodes") != 1 || f.node("edge-w-2").Name == "" || f.node("x").Name == "" {
		t.Errorf("did %v", f.calls())
	}
}
