// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// Placed is a machine that has its host already.
type Placed struct {
	HostID       string
	Domain       string
	Pool         string
	ControlPlane bool
	Outdated     bool // failure domains are balanced by machines that are up to date first
}

// Assign finds hosts for as many machines as can have one, all at once: a maximum matching
// by augmenting paths, so that nobody takes the one host that only another machine could use
// where there is a choice. The result is the host's id for each machine, and those without.
//
// A host with a machine's own claim is that machine's, whatever its state. Then come bound
// machines, the control plane and the others in the order given; who comes first keeps a
// host where they do not suffice. Among the hosts that a machine may have, one held for it
// comes first, then failure domains, then the selection of its request.
//
// Hosts of machines in taken are nobody else's, also where their claims got lost. rnd
// returns a number from 0 to below n; without it, random is ordered. The same arguments
// give the same result.
func Assign(reqs []Request, hosts []host.Seen, taken map[string]Placed, rnd func(n int) int, now time.Time) (map[string]string, []Refused) {
	s := newSolver(reqs, hosts, taken, rnd, now)
	s.solve()

	out := make(map[string]string, len(reqs))

	for m, h := range s.hostOf {
		if h >= 0 {
			out[reqs[m].Machine] = s.views[h].Node.UUID
		}
	}

	return out, s.refused()
}

// Candidates returns the hosts that one machine may have, best first: what to try next
// where a claim was lost to somebody else. Let taken name the hosts that an assignment
// gave to other machines.
func Candidates(r Request, hosts []host.Seen, taken map[string]Placed, rnd func(n int) int, now time.Time) []host.Seen {
	s := newSolver([]Request{r}, hosts, taken, rnd, now)

	var out []host.Seen

	own, claims := s.own(0)
	if claims {
		out = append(out, s.views[own].Seen)
	}

	for h := range s.options(0) {
		if !claims || h != own {
			out = append(out, s.views[h].Seen)
		}
	}

	return out
}

// What a host's machine may be besides a number.
const (
	nobody   = -1
	somebody = -2 // a machine that was there before
)

// solver is one run of the matching. Machines and hosts are numbers: places in reqs and views.
type solver struct {
	reqs  []Request
	views []view // by name
	now   time.Time
	rnd   func(int) int

	ready    []int              // hosts that are usable at all
	chosen   map[string][]bool  // by selector: which of the ready ones it matches
	suited   map[string][]bool  // by request without selectors: which of them are what it asks for
	columns  map[string][]label // by key
	scratch  []int
	domains  map[string]int     // failure domains, numbered
	claims   map[string]int     // by instance_uuid
	holds    map[[2]string]bool // by cluster and machine
	domainOf []int              // by host
	classes  []*class
	classOf  []*class

	hostOf    []int
	machineOf []int
	tallies   map[place]tally
	imbalance int // sum of the squares of the tallies of those who are balanced
	effort    int // how much [solver.balance] may still look at

	search  int   // the number of the present search
	visited []int // by host: the search that came by; dead ones are never visited again
	trail   []int // hosts of the present search
}

const dead = -1

func newSolver(reqs []Request, hosts []host.Seen, taken map[string]Placed, rnd func(int) int, now time.Time) *solver {
	s := &solver{
		reqs: reqs, now: now, rnd: rnd, claims: map[string]int{}, holds: map[[2]string]bool{}, chosen: map[string][]bool{}, suited: map[string][]bool{}, columns: map[string][]label{}, domains: map[string]int{}, tallies: map[place]tally{},
		hostOf: slices.Repeat([]int{nobody}, len(reqs)), machineOf: slices.Repeat([]int{nobody}, len(hosts)), visited: make([]int, len(hosts)),
	}

	labels := slices.ContainsFunc(reqs, func(r Request) bool { return len(r.Selectors) > 0 })

	s.views = make([]view, 0, len(hosts))
	for _, h := range hosts {
		s.views = append(s.views, look(h, labels))
	}

	slices.SortFunc(s.views, func(a, b view) int { return byName(&a, &b) })
	s.occupy(taken)

	for h := range s.views {
		v := &s.views[h]
		if _, known := s.domains[v.Journal.FailureDomain]; !known {
			s.domains[v.Journal.FailureDomain] = len(s.domains)
		}

		v.domain = s.domains[v.Journal.FailureDomain]
		s.domainOf = append(s.domainOf, v.domain)

		if v.Node.InstanceUUID != "" {
			s.claims[v.Node.InstanceUUID] = h
		}

		if v.held {
			s.holds[[2]string{v.hold.Cluster, v.hold.Machine}] = true
		}

		if usable(v) == fits && s.machineOf[h] == nobody {
			s.ready = append(s.ready, h)
		}
	}

	s.classify()

	return s
}

// occupy marks the hosts of the machines that have one. A machine that asks for a host
// anew occupies none.
func (s *solver) occupy(taken map[string]Placed) {
	asking := make(map[string]bool, len(s.reqs))
	for _, r := range s.reqs {
		asking[r.Machine] = true
	}

	ids := make(map[string]bool, len(taken))

	for machine, p := range taken {
		if asking[machine] {
			continue
		}

		ids[p.HostID] = true

		at := place{teamOf(p.ControlPlane, p.Pool), p.Domain}
		t := s.tallies[at]
		t.all++

		if !p.Outdated {
			t.current++
		}

		s.tallies[at] = t
	}

	for h := range s.views {
		if ids[s.views[h].Node.UUID] {
			s.machineOf[h] = somebody
		}
	}
}

func (s *solver) classify() {
	known := map[string]*class{}

	for _, r := range s.reqs {
		key := classKey(r)

		c := known[key]
		if c == nil {
			c = s.newClass(r)
			known[key] = c
			s.classes = append(s.classes, c)
		}

		s.classOf = append(s.classOf, c)
	}
}
