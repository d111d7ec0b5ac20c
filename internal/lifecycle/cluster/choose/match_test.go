// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

type requests = []choose.Request

// cp and worker are machines that ask for nothing in particular.
func cp(n int, changes ...func(*choose.Request)) choose.Request {
	return ask(choose.Request{Machine: fmt.Sprintf("edge-cp-%d", n), ClaimID: fmt.Sprintf("claim-cp-%d", n), ControlPlane: true}, changes)
}

func worker(n int, changes ...func(*choose.Request)) choose.Request {
	return ask(choose.Request{Machine: fmt.Sprintf("edge-w-%d", n), ClaimID: fmt.Sprintf("claim-w-%d", n), Pool: "w"}, changes)
}

func ask(r choose.Request, changes []func(*choose.Request)) choose.Request {
	r.Cluster = "default/edge"
	for _, change := range changes {
		change(&r)
	}

	return r
}

func where(key, v string) func(*choose.Request) {
	return func(r *choose.Request) {
		r.Selectors = append(r.Selectors, choose.Selector{MatchLabels: labels{key: v}})
	}
}

func bestFit(r *choose.Request) { r.Selection = choose.BestFit }
func spread(r *choose.Request)  { r.Spread = true }

func pinned(id string) func(*choose.Request) { return func(r *choose.Request) { r.Pinned = id } }

func memory(mib int) func(*host.Seen) {
	return func(s *host.Seen) { s.Node.Properties = map[string]any{"memory_mb": mib} }
}

func TestAssign(t *testing.T) {
	t.Parallel()

	const gpu = "gpu"

	active := func(s *host.Seen) { s.Node.ProvisionState = ironic.Active }
	required := func(domain string) func(*choose.Request) {
		return func(r *choose.Request) { r.Domain, r.DomainRequired = domain, true }
	}
	preferred := func(domains ...string) func(*choose.Request) {
		return func(r *choose.Request) { r.Domains = domains }
	}

	for name, c := range map[string]struct {
		reqs  requests
		hosts []host.Seen
		taken map[string]choose.Placed
		want  string // hosts of the requests, in their order
	}{
		"names are ordered as people count": {requests{cp(0), cp(1), cp(2)}, []host.Seen{free("node-10"), free("node-2"), free("node-1")}, nil, "node-1 node-2 node-10"},
		"the control plane leaves the only GPU host to the worker that needs it": {
			requests{cp(0), worker(0, where(gpu, "yes"))}, []host.Seen{free("a", labelled(gpu, "yes")), free("b")}, nil, "b a",
		},
		"a chain of three is pushed along": {
			requests{cp(0, where("x", "1")), worker(0), worker(1, where("y", "1"))},
			[]host.Seen{free("a", func(s *host.Seen) { s.Journal.Labels = labels{"x": "1", "y": "1"} }), free("b", labelled("x", "1")), free("c")},
			nil, "b c a",
		},
		"where hosts do not suffice, the control plane has them": {requests{worker(0), cp(0)}, []host.Seen{free("a")}, nil, "- a"},
		"a bound machine comes before all others":                {requests{cp(0), worker(0, pinned("id-a"))}, []host.Seen{free("a")}, nil, "- a"},
		"a host with the own claim is taken at once, whatever its state": {
			requests{cp(0), worker(0)}, []host.Seen{free("a"), free("b", claimedBy("claim-w-0"), active), free("c", claimedBy("else"))}, nil, "a b",
		},
		"a host that is held for a machine is its first choice": {
			requests{worker(0), worker(1)}, []host.Seen{free("a"), free("b"), free("c", heldFor("default/edge", "edge-w-1", time.Time{}))}, nil, "a c",
		},
		"a hold that is over means nothing": {requests{worker(0)}, []host.Seen{free("a", heldFor("other", "m", now.Add(-1))), free("b")}, nil, "a"},
		"hosts of machines that are there are nobody else's": {
			requests{worker(1)}, []host.Seen{free("a"), free("b")}, map[string]choose.Placed{"edge-w-0": {HostID: "id-a"}}, "b",
		},
		"a machine that asks anew may have the host that it had": {
			requests{worker(0)}, []host.Seen{free("a")}, map[string]choose.Placed{"edge-w-0": {HostID: "id-a"}}, "a",
		},
		"the control plane is balanced over failure domains": {
			requests{cp(0), cp(1), cp(2)}, []host.Seen{free("a", in("z")), free("b", in("z")), free("c", in("x")), free("d", in("y"))}, nil, "c d a",
		},
		"balance counts the machines that are there": {
			requests{cp(1), cp(2)},
			[]host.Seen{free("a", in("x")), free("b", in("y")), free("c", in("z"))},
			map[string]choose.Placed{"edge-cp-0": {HostID: "0", Domain: "x", ControlPlane: true}, "edge-w-0": {HostID: "1", Domain: "y", Pool: "w"}},
			"b c",
		},
		"balance counts machines that are up to date first": {
			requests{cp(2)},
			[]host.Seen{free("a", in("x")), free("b", in("y"))},
			map[string]choose.Placed{"0": {HostID: "0", Domain: "x", ControlPlane: true, Outdated: true}, "1": {HostID: "1", Domain: "y", ControlPlane: true}},
			"a",
		},
		"hosts without a failure domain come last": {requests{cp(0), cp(1), cp(2)}, []host.Seen{free("a", in("")), free("b", in("x")), free("c", in("x"))}, nil, "b c a"},
		"workers are not balanced unless they spread": {
			requests{worker(0), worker(1)}, []host.Seen{free("a", in("x")), free("b", in("x")), free("c", in("y"))}, nil, "a b",
		},
		"workers that spread are":             {requests{worker(0, spread), worker(1, spread)}, []host.Seen{free("a", in("x")), free("b", in("x")), free("c", in("y"))}, nil, "a c"},
		"a domain that is required":           {requests{worker(0, required("y")), worker(1, required("y"))}, []host.Seen{free("a", in("x")), free("b", in("y"))}, nil, "b -"},
		"a domain that is preferred":          {requests{worker(0, preferred("y")), worker(1, preferred("y"))}, []host.Seen{free("a", in("x")), free("b", in("y"))}, nil, "b a"},
		"balance stays in preferred domains":  {requests{cp(0, preferred("y")), cp(1, preferred("y"))}, []host.Seen{free("a", in("x")), free("b", in("y")), free("c", in("y"))}, nil, "b c"},
		"the least memory that suffices":      {requests{worker(0, bestFit, func(r *choose.Request) { r.Min.MemoryMiB = 10 })}, []host.Seen{free("a", memory(64)), free("b", memory(8)), free("c", memory(16))}, nil, "c"},
		"memory that nobody knows comes last": {requests{worker(0, bestFit)}, []host.Seen{free("a", func(s *host.Seen) { s.Node.Properties = nil }), free("b", memory(8))}, nil, "b"},
		"no hosts":                            {requests{cp(0)}, nil, nil, "-"},
		"no machines":                         {nil, []host.Seen{free("a")}, nil, ""},
	} {
		t.Run("11.2 "+name, func(t *testing.T) {
			t.Parallel()

			got, refused := choose.Assign(c.reqs, c.hosts, c.taken, nil, now)
			if text := spelled(c.reqs, got); text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}

			if len(got)+len(refused) != len(c.reqs) {
				t.Errorf("%d assigned and %d refused of %d", len(got), len(refused), len(c.reqs))
			}
		})
	}
}

func spelled(reqs requests, got map[string]string) string {
	out := make([]string, 0, len(reqs))

	for _, r := range reqs {
		name := "-"
		if id, ok := got[r.Machine]; ok {
			name = strings.TrimPrefix(id, "id-")
		}

		out = append(out, name)
	}

	return strings.Join(out, " ")
}

func TestCandidates(t *testing.T) {
	t.Parallel()

	hosts := []host.Seen{
		free("a", in("x")), free("b", in("y")), free("c", in("y"), claimedBy("claim-cp-0")), free("d", heldFor("default/edge", "edge-cp-0", time.Time{})), free("e", claimedBy("else")),
		free("f", in("y")),
	}
	taken := map[string]choose.Placed{"edge-cp-1": {HostID: "id-b", Domain: "x", ControlPlane: true}}

	var got []string
	for _, s := range choose.Candidates(cp(0), hosts, taken, nil, now) {
		got = append(got, s.Journal.Name)
	}

	if strings.Join(got, " ") != "c d f a" {
		t.Errorf("got %v: own claim, own hold, the emptier domain, the others", got)
	}

	if got := choose.Candidates(choose.Request{Machine: "m"}, hosts[:2], nil, nil, now); len(got) != 2 {
		t.Errorf("without a claim: %d candidates", len(got))
	}
}

// graph makes a small pool of random labels and machines that ask for them.
func graph(rnd *rand.Rand, selection string) (requests, []host.Seen) {
	var (
		reqs  requests
		hosts []host.Seen
	)

	for i := range rnd.IntN(7) {
		all := labels{}
		for _, l := range "abcd" {
			if rnd.IntN(3) > 0 {
				all[string(l)] = "1"
			}
		}

		hosts = append(hosts, free(fmt.Sprint("h", i), in(fmt.Sprint(rnd.IntN(3))), func(s *host.Seen) { s.Journal.Labels = all }))
	}

	for i := range rnd.IntN(7) {
		wants := []func(*choose.Request){func(r *choose.Request) { r.Selection = selection }}
		for range rnd.IntN(4) {
			wants = append(wants, where(string("abcd"[rnd.IntN(4)]), "1"))
		}

		if rnd.IntN(2) == 0 {
			reqs = append(reqs, cp(i, wants...))
		} else {
			reqs = append(reqs, worker(i, append(wants, spread)...))
		}
	}

	return reqs, hosts
}

// most returns how many of the machines from i on can have a host that is not used.
func most(reqs requests, hosts []host.Seen, i int, used map[string]bool) int {
	if i == len(reqs) {
		return 0
	}

	best := most(reqs, hosts, i+1, used)

	for _, h := range hosts {
		if id := h.Node.UUID; !used[id] && choose.Refusal(reqs[i], h, now) == "" {
			used[id] = true
			best = max(best, 1+most(reqs, hosts, i+1, used))
			delete(used, id)
		}
	}

	return best
}

// Test11_2_assignIsMaximal compares with all possible assignments of small pools: none is
// larger, no host is given twice, and all are eligible.
func Test11_2_assignIsMaximal(t *testing.T) {
	t.Parallel()

	for seed := range uint64(1500) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		reqs, hosts := graph(rnd, []string{choose.Ordered, choose.Random, choose.BestFit}[seed%3])

		got, refused := choose.Assign(reqs, hosts, nil, rnd.IntN, now)
		if want := most(reqs, hosts, 0, map[string]bool{}); len(got) != want || len(refused) != len(reqs)-want {
			t.Fatalf("seed %d: %d assigned, %d refused, possible are %d", seed, len(got), len(refused), want)
		}

		used := map[string]bool{}

		for _, r := range reqs {
			id, ok := got[r.Machine]
			if !ok {
				continue
			}

			i := slices.IndexFunc(hosts, func(s host.Seen) bool { return s.Node.UUID == id })
			if i < 0 || used[id] || choose.Refusal(r, hosts[i], now) != "" {
				t.Fatalf("seed %d: machine %s has host %s", seed, r.Machine, id)
			}

			used[id] = true
		}

		for _, r := range refused {
			if len(r.Reasons) != len(hosts) || slices.ContainsFunc(r.Reasons, func(why choose.Reason) bool { return why.Text == "" }) {
				t.Fatalf("seed %d: machine %s has reasons %v", seed, r.Machine, r.Reasons)
			}
		}
	}
}

// Test11_2_assignIsDeterministic gives the same arguments in other orders of hosts.
func Test11_2_assignIsDeterministic(t *testing.T) {
	t.Parallel()

	for seed := range uint64(200) {
		reqs, hosts := graph(rand.New(rand.NewPCG(seed, 2)), choose.Random)

		run := func() (map[string]string, []choose.Refused) {
			return choose.Assign(reqs, hosts, nil, rand.New(rand.NewPCG(seed, 3)).IntN, now)
		}

		first, refused := run()

		slices.Reverse(hosts)

		again, refusedAgain := run()
		if !reflect.DeepEqual(first, again) || choose.Explain(refused) != choose.Explain(refusedAgain) {
			t.Fatalf("seed %d: %v and %v", seed, first, again)
		}
	}
}

// TestAssign_randomIsFair draws one of three hosts 3,000 times.
func TestAssign_randomIsFair(t *testing.T) {
	t.Parallel()

	rnd, drawn := rand.New(rand.NewPCG(7, 7)), map[string]int{}

	for range 3000 {
		got, _ := choose.Assign(requests{worker(0, func(r *choose.Request) { r.Selection = choose.Random })}, []host.Seen{free("a"), free("b"), free("c")}, nil, rnd.IntN, now)
		drawn[got["edge-w-0"]]++
	}

	for id, n := range drawn {
		if n < 850 || n > 1150 {
			t.Errorf("host %s was drawn %d times of 3000", id, n)
		}
	}
}
