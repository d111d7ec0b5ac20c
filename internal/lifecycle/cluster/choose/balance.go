// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose

// effort is how many hosts the search for a better balance looks at: some milliseconds. What
// it would find beyond is rare, and nobody is without a host for it.
const effort = 200_000

// balance moves machines to where their failure domains are fuller than others of which they
// could have a host. The paths of the matching do not see that: they give way, one after
// the other, to whoever needs a host more.
func (s *solver) balance() {
	s.effort = effort

	for moved := true; moved && s.effort > 0; {
		moved = false
		tried := map[standing]bool{} // machines that are alike fail alike

		for m, h := range s.hostOf {
			if h < 0 || !s.classOf[m].balanced || s.fixed(h) || tried[s.standing(m)] {
				continue
			}

			if s.spread(m) {
				moved = true
			} else {
				tried[s.standing(m)] = true
			}
		}
	}
}

// standing is what machines that may be exchanged for each other have in common.
type standing struct {
	class  *class
	domain int
}

func (s *solver) standing(m int) standing {
	return standing{s.classOf[m], s.views[s.hostOf[m]].domain}
}

// fixed reports whether a host is one machine's by claim or hold.
func (s *solver) fixed(h int) bool {
	v := &s.views[h]

	return v.Node.InstanceUUID != "" || (v.held && !v.hold.Expired(s.now))
}

// spread moves a machine to a host of an emptier failure domain, and that host's machine, if
// there is one, elsewhere, where that makes the whole more balanced.
func (s *solver) spread(m int) bool {
	c, from := s.classOf[m], s.hostOf[m]
	rank, full := c.bucketOf(&s.views[from]).rank, s.tallyAt(c, from).current
	tried := map[standing]bool{}

	for _, b := range s.preferred(c) {
		if b.rank > rank || s.tallies[place{c.team, b.domain}].current+1 >= full {
			continue
		}

		for _, h := range b.hosts {
			s.effort--

			if k := s.machineOf[h]; k == nobody {
				s.move(m, h)

				return true
			} else if k >= 0 && !s.fixed(h) && !tried[s.standing(k)] {
				if s.exchange(m, k) {
					return true
				}

				tried[s.standing(k)] = true
			}
		}
	}

	return false
}

// exchange gives m the host of k, and k the best other one that leaves all more balanced.
func (s *solver) exchange(m, k int) bool {
	from, to, before := s.hostOf[m], s.hostOf[k], s.imbalance
	rank := s.classOf[k].bucketOf(&s.views[to]).rank

	s.move(k, nobody)
	s.move(m, to)

	for _, b := range s.preferred(s.classOf[k]) {
		if b.rank > rank {
			break
		}

		for _, h := range b.hosts {
			if s.effort--; s.machineOf[h] != nobody {
				continue
			}

			if s.move(k, h); s.imbalance < before {
				return true
			}

			break // the other hosts of this bucket are no better
		}
	}

	s.move(k, nobody)
	s.move(m, from)
	s.move(k, to)

	return false
}

// move takes a machine from where it is to a free host, or to none.
func (s *solver) move(m, h int) {
	if old := s.hostOf[m]; old >= 0 {
		s.leave(m)
		s.machineOf[old] = nobody
	}

	if h >= 0 {
		s.put(m, h)
	}
}

func (s *solver) tallyAt(c *class, h int) tally {
	return s.tallies[place{c.team, s.views[h].Journal.FailureDomain}]
}
