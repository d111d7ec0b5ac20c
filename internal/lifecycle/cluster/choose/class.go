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
	reasons  []Reason
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

	selections := append(make([][]bool, 0, 1+len(r.Selectors)), s.suitable(&c.wish))
	for _, one := range r.Selectors {
		selections = append(selections, s.selection(one))
	}

	s.scratch = s.scratch[:0]

	for i, h := range s.ready {
		switch {
		case slices.ContainsFunc(selections, func(chosen []bool) bool { return !chosen[i] }):
		case s.fixed(h):
			c.theirs = append(c.theirs, h)
		default:
			s.scratch = append(s.scratch, h)
		}
	}

	c.wish.arrange(s.views, s.scratch, s.rnd)
	s.fill(c, s.scratch)

	return c
}

// suitable finds the ready hosts that are what a request asks for, whatever their labels; classes that
// differ in their selectors alone share it.
func (s *solver) suitable(w *wish) []bool {
	r := w.Request
	r.Selectors = nil

	key := classKey(r)
	if known, ok := s.suited[key]; ok {
		return known
	}

	out := make([]bool, len(s.ready))
	for i, h := range s.ready {
		v := &s.views[h]
		out[i] = w.named(v) == fits && w.suits(v) == fits
	}

	s.suited[key] = out

	return out
}

// selection finds the ready hosts that a selector matches; many classes share a selector.
func (s *solver) selection(one Selector) []bool {
	key := keyOf(one)
	if known, ok := s.chosen[key]; ok {
		return known
	}

	out := slices.Repeat([]bool{true}, len(s.ready))

	for _, t := range one.terms() {
		for i, l := range s.column(t.key) {
			out[i] = out[i] && t.holds(l.value, l.there)
		}
	}

	s.chosen[key] = out

	return out
}

// label is what a host has under one key.
type label struct {
	value string
	there bool
}

// column is what the ready hosts have under one key; many selectors ask for the same ones.
func (s *solver) column(key string) []label {
	if known, ok := s.columns[key]; ok {
		return known
	}

	out := make([]label, len(s.ready))
	for i, h := range s.ready {
		out[i].value, out[i].there = s.views[h].labels[key]
	}

	s.columns[key] = out

	return out
}

// fill puts hosts, which come in their order of choice, into buckets.
func (s *solver) fill(c *class, hosts []int) {
	var size []int

	at := make([]int, len(s.domains)) // the bucket by domain, from 1; 0: not known yet

	for _, h := range hosts {
		d := s.domainOf[h]

		if at[d] == 0 {
			at[d] = 1 + c.bucket(&s.views[h])
			size = append(size, make([]int, len(c.buckets)-len(size))...)
		}

		size[at[d]-1]++
	}

	room := make([]int, 0, len(hosts))

	for i, n := range size {
		c.buckets[i].hosts = room[len(room) : len(room) : len(room)+n]
		room = room[:len(room)+n]
	}

	for _, h := range hosts {
		own := &c.buckets[at[s.domainOf[h]]-1].hosts
		*own = append(*own, h)
	}

	slices.SortFunc(c.buckets, func(a, b bucket) int { return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.domain, b.domain)) })
}

// bucket is the place of the bucket that a host belongs to.
func (c *class) bucket(v *view) int {
	b := c.bucketOf(v)

	at := slices.IndexFunc(c.buckets, func(o bucket) bool { return o.rank == b.rank && o.domain == b.domain })
	if at < 0 {
		at = len(c.buckets)
		c.buckets = append(c.buckets, b)
	}

	return at
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
