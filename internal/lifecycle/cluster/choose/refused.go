// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose

import "fmt"

// Refused is a machine without a host.
type Refused struct {
	Machine      string
	Pool         string
	ControlPlane bool
	Reasons      []Reason // of all hosts, by name; alike machines share them, so they are not to be changed
}

// Reason is why a host is none for a machine.
type Reason struct {
	Host, Text string

	kind reason
}

// refused tells of the machines that found no host.
func (s *solver) refused() []Refused {
	var (
		out   []Refused
		names []string
	)

	for m, h := range s.hostOf {
		if h >= 0 {
			continue
		}

		if names == nil {
			names = s.names()
		}

		out = append(out, Refused{
			Machine: s.reqs[m].Machine, Pool: s.reqs[m].Pool, ControlPlane: s.reqs[m].ControlPlane, Reasons: s.why(m, names),
		})
	}

	return out
}

// why collects the reasons for one machine. Machines of a class share them, but for those
// for which a host is held: it may be refused to them for another reason than to the others.
func (s *solver) why(m int, names []string) []Reason {
	c := s.classOf[m]
	w := c.wish
	w.Machine, w.ClaimID = s.reqs[m].Machine, s.reqs[m].ClaimID

	special := s.isOwner(&w)
	if c.reasons != nil && !special {
		return c.reasons
	}

	out := make([]Reason, 0, len(s.views))

	for h := range s.views {
		v := &s.views[h]

		r := w.check(v, s.now)
		text := w.words(r, v)

		if r == fits {
			r, text = gone, s.goneTo(h)
		}

		out = append(out, Reason{names[h], text, r})
	}

	if !special {
		c.reasons = out
	}

	return out
}

// isOwner reports whether a host carries a machine's claim or hold.
func (s *solver) isOwner(w *wish) bool {
	if _, claims := s.claims[w.ClaimID]; claims {
		return true
	}

	return s.holds[[2]string{w.Cluster, w.Machine}]
}

func (s *solver) goneTo(h int) string {
	if m := s.machineOf[h]; m >= 0 {
		return "it becomes machine " + s.reqs[m].Machine
	}

	return "it is another machine's of this cluster"
}

// names are the names of the hosts, made longer where several have the same.
func (s *solver) names() []string {
	short, long := map[string]int{}, map[string]int{}

	for h := range s.views {
		short[s.views[h].name]++
		long[s.views[h].Node.Name]++
	}

	out := make([]string, 0, len(s.views))

	for h := range s.views {
		v := &s.views[h]

		switch {
		case short[v.name] == 1:
			out = append(out, v.name)
		case v.Node.Name != "" && long[v.Node.Name] == 1:
			out = append(out, v.Node.Name)
		default:
			out = append(out, fmt.Sprintf("%s (%s)", v.name, v.Node.UUID))
		}
	}

	return out
}
