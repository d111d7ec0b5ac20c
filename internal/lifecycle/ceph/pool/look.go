// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// Look finds a pool and all that is known of it. ErrNoPool is a definite no.
func Look(ctx context.Context, c *api.Cluster, which Which) (Seen, error) {
	m, err := c.OSDMap(ctx)
	if err != nil {
		return Seen{}, fmt.Errorf("look for pool %s: %w", which.Name, err)
	}

	p, err := which.in(m)
	if err != nil {
		return Seen{}, confirm(ctx, c, which, m, err)
	}

	s, err := describe(ctx, c, p)
	s.shared = slices.ContainsFunc(m.Pools, func(o api.Pool) bool { return o.ID != p.ID && o.CrushRule == p.CrushRule })

	return s, err
}

// confirm asks for a pool that the map does not have by its name: what is not there goes out of
// the state, or is made, and one answer that was misread must not do that.
func confirm(ctx context.Context, c *api.Cluster, which Which, m api.OSDMap, missing error) error {
	if slices.ContainsFunc(m.Pools, func(p api.Pool) bool { return p.Name == which.Name }) {
		return missing // the name is another pool's, by its number
	}

	switch _, err := c.PoolGet(ctx, which.Name); {
	case errors.Is(err, api.ErrNotFound):
		return missing
	case err != nil:
		return fmt.Errorf("make sure that pool %s is not there: %w", which.Name, err)
	default:
		return fmt.Errorf("%w: the map of the cluster has no pool %s, and the monitors know it", api.ErrAnswer, which.Name)
	}
}

// List finds all pools, without their parameters.
func List(ctx context.Context, c *api.Cluster) ([]Seen, error) {
	m, err := c.OSDMap(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the pools: %w", err)
	}

	rules, err := c.CrushRules(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the pools: %w", err)
	}

	use, err := c.PoolStats(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the pools: %w", err)
	}

	all := make([]Seen, 0, len(m.Pools))
	for _, p := range m.Pools {
		s := see(p, rules, use)
		if err := s.decode(ctx, c); err != nil {
			return nil, err
		}

		all = append(all, s)
	}

	return all, nil
}

// in finds the pool in the map.
func (w Which) in(m api.OSDMap) (api.Pool, error) {
	other := 0

	for _, p := range m.Pools {
		switch {
		case w.ID != 0 && p.ID == w.ID, w.ID == 0 && p.Name == w.Name:
			return p, nil
		case p.Name == w.Name:
			other = p.ID
		}
	}

	switch {
	case other != 0:
		return api.Pool{}, fmt.Errorf("%w: the pool %s with the number %d is gone, and the one that has its name now, with the number %d, is another one", ErrNoPool, w.Name, w.ID, other)
	case w.ID != 0:
		return api.Pool{}, fmt.Errorf("%w: %s, with the number %d", ErrNoPool, w.Name, w.ID)
	default:
		return api.Pool{}, fmt.Errorf("%w: %s", ErrNoPool, w.Name)
	}
}

// describe asks for what the map does not tell.
func describe(ctx context.Context, c *api.Cluster, p api.Pool) (Seen, error) {
	rules, err := c.CrushRules(ctx)
	if err != nil {
		return Seen{}, fmt.Errorf("look at the rule of pool %s: %w", p.Name, err)
	}

	use, err := c.PoolStats(ctx)
	if err != nil {
		return Seen{}, fmt.Errorf("look at the use of pool %s: %w", p.Name, err)
	}

	s := see(p, rules, use)

	if s.Parameters, err = c.PoolGet(ctx, p.Name); err != nil {
		return Seen{}, fmt.Errorf("look at the parameters of pool %s: %w", p.Name, err)
	}

	return s, s.decode(ctx, c)
}

// decode asks for the code of an erasure coded pool.
func (s *Seen) decode(ctx context.Context, c *api.Cluster) error {
	if s.Type != Erasure {
		return nil
	}

	profile, err := c.ErasureProfileGet(ctx, s.ErasureProfile)
	if err != nil && !errors.Is(err, api.ErrNotFound) {
		return fmt.Errorf("look at the code of pool %s: %w", s.Name, err)
	}

	s.Code = Code{K: atoi(profile["k"]), M: atoi(profile["m"]), Plugin: profile["plugin"], Technique: profile["technique"]}

	return nil
}

func see(p api.Pool, rules []api.Rule, use map[string]api.PoolUse) Seen {
	s := Seen{Pool: p, Type: Replicated, UsedBytes: use[p.Name].Used, Objects: use[p.Name].Objects, firstDomain: firstDomain(rules)}

	if p.ErasureProfile != "" {
		s.Type = Erasure
	}

	for _, r := range rules {
		if r.ID == p.CrushRule {
			s.Rule = Rule{Name: r.Name, Place: placeOf(r), Own: own(r, p.Name)}
		}
	}

	return s
}

// atoi reads a number that Ceph tells as text; 0 where it is none.
func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}

	return n
}
