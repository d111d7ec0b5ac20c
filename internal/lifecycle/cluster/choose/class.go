// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"cmp"
	"encoding/json"
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

	doc, err := json.Marshal(r)
	if err != nil {
		return r.Pool // cannot happen: only texts, numbers and collections of them
	}

	// In JSON, a list that is nil and one that is empty differ, as they do here.
	return string(doc)
}

// newClass finds the hosts of a class.
func (s *solver) newClass(r Request) *class {
	c := &class{wish: newWish(r), balanced: (r.ControlPlane || r.Spread) && r.Domain == "", team: teamOf(r.ControlPlane, r.Pool)}

	var all []int

	for _, h := range s.ready {
		v := &s.views[h]

		switch {
		case c.wish.named(v) != fits || c.wish.suits(v) != fits:
		case v.Node.InstanceUUID != "" || (v.held && !v.hold.Expired(s.now)):
			c.theirs = append(c.theirs, h)
		default:
			all = append(all, h)
		}
	}

	c.wish.arrange(s.views, all, s.rnd)

	at := map[bucket0]int{}

	for _, h := range all {
		key := c.bucketOf(&s.views[h])

		i, there := at[key]
		if !there {
			i = len(c.buckets)
			at[key] = i
			c.buckets = append(c.buckets, bucket{rank: key.rank, domain: key.domain})
		}

		c.buckets[i].hosts = append(c.buckets[i].hosts, h)
	}

	slices.SortFunc(c.buckets, func(a, b bucket) int { return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.domain, b.domain)) })

	return c
}

type bucket0 struct {
	rank   int
	domain string
}

func (c *class) bucketOf(v *view) bucket0 {
	var b bucket0

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
