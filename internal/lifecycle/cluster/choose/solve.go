// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"cmp"
	"iter"
	"slices"
)

// solve gives hosts to machines one after the other. Once a machine has a host it keeps one:
// a later one may only push it to another.
func (s *solver) solve() {
	order := make([]int, 0, len(s.reqs))

	for m := range s.reqs {
		if h, ok := s.own(m); ok {
			s.put(m, h)
		} else {
			order = append(order, m)
		}
	}

	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(urgency(s.reqs[a]), urgency(s.reqs[b])) })

	for _, m := range order {
		s.search++
		s.trail = s.trail[:0]

		if s.find(m) {
			continue
		}

		// No path begins here, so none of what was visited will ever be part of one.
		for _, h := range s.trail {
			s.visited[h] = dead
		}
	}

	s.balance()
}

func urgency(r Request) int {
	switch {
	case r.Pinned != "":
		return 0
	case r.ControlPlane:
		return 1
	default:
		return 2
	}
}

// own returns the host that carries a machine's claim.
func (s *solver) own(m int) (int, bool) {
	if s.reqs[m].ClaimID == "" {
		return 0, false
	}

	h, ok := s.claims[s.reqs[m].ClaimID]

	return h, ok && s.machineOf[h] == nobody
}

// find gives a machine the best free host, else one whose machine can go elsewhere.
func (s *solver) find(m int) bool {
	c := s.classOf[m]
	options := s.options(m)

	if c.explored == s.search {
		options = s.ownOptions(m) // an alike machine is on the path: a way from here on would be one from there
	}

	c.explored = s.search

	for h := range options {
		if s.machineOf[h] == nobody {
			s.put(m, h)

			return true
		}
	}

	for h := range options {
		if s.push(m, h) {
			return true
		}
	}

	return false
}

// push gives a machine the host of another, where that one can go elsewhere.
func (s *solver) push(m, h int) bool {
	k := s.machineOf[h]
	if k < 0 || s.visited[h] == s.search || s.visited[h] == dead {
		return false
	}

	s.visited[h] = s.search
	s.trail = append(s.trail, h)
	s.leave(k)

	if !s.find(k) {
		s.put(k, h)

		return false
	}

	s.put(m, h)

	return true
}

// options are the hosts that a machine may have, taken or not, best first.
func (s *solver) options(m int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for h := range s.ownOptions(m) {
			if !yield(h) {
				return
			}
		}

		for _, b := range s.preferred(s.classOf[m]) {
			for _, h := range b.hosts {
				if !yield(h) {
					return
				}
			}
		}
	}
}

// ownOptions are the options that carry this machine's claim or hold, and so are nobody else's.
func (s *solver) ownOptions(m int) iter.Seq[int] {
	return func(yield func(int) bool) {
		c := s.classOf[m]
		w := wish{Request: s.reqs[m]}

		for _, h := range c.theirs {
			if w.owned(&s.views[h], s.now) == fits && !yield(h) {
				return
			}
		}
	}
}

func (s *solver) put(m, h int) {
	s.hostOf[m], s.machineOf[h] = h, m
	s.count(m, h, 1)
}

func (s *solver) leave(m int) {
	h := s.hostOf[m]
	s.hostOf[m] = nobody
	s.count(m, h, -1) // the host stays marked: who pushed the machine away takes it
}

func (s *solver) count(m, h, by int) {
	c := s.classOf[m]
	at := place{c.team, s.views[h].Journal.FailureDomain}
	t := s.tallies[at]
	s.tallies[at] = tally{t.current + by, t.all + by}

	if c.balanced {
		s.imbalance += (t.current+by)*(t.current+by) - t.current*t.current
	}
}
