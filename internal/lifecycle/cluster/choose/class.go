// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// class is what machines that ask for the same have in common.
type class struct {
	wish wish

	balanced bool
	team     team
	buckets  []bucket // eligible hosts that nobody claims or holds
	theirs   []int    // those that are eligible but for a claim or a hold: for one machine each

	explored int // the search that has been through the buckets
	reasons  *reasons
}

// bucket is hosts among which only the order of choice decides.
type bucket struct {
	rank   int // 0: where the request wants to be
	domain string
	hosts  []int
}

// team is the machines that are balanced over failure domains together.
type team struct {
	controlPlane bool
	pool         string
}

func teamOf(controlPlane bool, pool string) team {
	if controlPlane {
		return team{controlPlane: true}
	}

	return team{pool: pool}
}

// place is a failure domain as a team sees it.
type place struct {
	team   team
	domain string
}

// tally counts machines: those that are up to date, and all.
type tally struct{ current, all int }

// classKey tells requests apart that may not have the same hosts.
func classKey(r Request) string {
	r.Machine, r.ClaimID = "", ""

	return keyOf(r)
}

// keyOf spells a value out; a list that is nil and one that is empty differ, as they do for requests.
func keyOf(v any) string {
	doc, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%#v", v) // cannot happen: only texts, numbers and collections of them
	}

	return string(doc)
}

// newClass finds the hosts of a class.
func (s *solver) newClass(r Request) *class {
	c := &class{wish: newWish(r), balanced: (r.ControlPlane || r.Spread) && r.Domain == "", team: teamOf(r.ControlPlane, r.Pool)}

	all := make([]int, 0, len(s.ready))

	selections := make([][]bool, 0, len(r.Selectors))
	for _, one := range r.Selectors {
		selections = append(selections, s.selection(one))
	}

	for i, h := range s.ready {
		v := &s.views[h]

		switch {
		case slices.ContainsFunc(selections, func(chosen []bool) bool { return !chosen[i] }):
		case c.wish.named(v) != fits || c.wish.suits(v) != fits:
		case v.Node.InstanceUUID != "" || (v.held && !v.hold.Expired(s.now)):
			c.theirs = append(c.theirs, h)
		default:
			all = append(all, h)
		}
	}

	c.wish.arrange(s.views, all, s.rnd)
	s.fill(c, all)

	return c
}

// selection finds the ready hosts that a selector matches; many classes share a selector.
func (s *solver) selection(one Selector) []bool {
	key := keyOf(one)
	if known, ok := s.chosen[key]; ok {
		return known
	}

	terms, out := one.terms(), make([]bool, len(s.ready))
	for i, h := range s.ready {
		out[i] = all(terms, s.views[h].labels)
	}

	s.chosen[key] = out

	return out
}

// fill puts hosts, which come in their order of choice, into buckets.
func (s *solver) fill(c *class, hosts []int) {
	at := make([]int, 2*len(s.domains)) // by rank and domain; 0: there is no such bucket yet

	for _, h := range hosts {
		v := &s.views[h]
		b := c.bucketOf(v)

		slot := b.rank * len(s.domains)
		if c.balanced {
			slot += v.domain
		}

		if at[slot] == 0 {
			c.buckets = append(c.buckets, b)
			at[slot] = len(c.buckets)
		}

		own := &c.buckets[at[slot]-1].hosts
		*own = append(*own, h)
	}

	slices.SortFunc(c.buckets, func(a, b bucket) int { return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.domain, b.domain)) })
}

func (c *class) bucketOf(v *view) bucket {
	var b bucket

	d := v.Journal.FailureDomain
	if !c.wish.inDomain(v) || (c.balanced && d == "") {
		b.rank = 1
	}

	if c.balanced {
		b.domain = d
	}

	return b
}

// preferred returns the order of the buckets for one more machine: the failure domain with
// the fewest machines first, ties by name.
func (s *solver) preferred(c *class) []*bucket {
	out := make([]*bucket, 0, len(c.buckets))
	for i := range c.buckets {
		out = append(out, &c.buckets[i])
	}

	if !c.balanced {
		return out
	}

	slices.SortStableFunc(out, func(a, b *bucket) int {
		x, y := s.tallies[place{c.team, a.domain}], s.tallies[place{c.team, b.domain}]

		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(x.current, y.current), cmp.Compare(x.all, y.all))
	})

	return out
}
