// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

func placeOf(r api.Rule) Place { return Place{Domain: r.Domain, Class: r.Class, Root: r.Root} }

// full is a place with what counts where it says only a part.
func (p Place) full() Place {
	return Place{Domain: cmp.Or(p.Domain, DefaultDomain), Class: p.Class, Root: cmp.Or(p.Root, DefaultRoot)}
}

// names are the names that a rule of a pool's own may have: POOL at first, and after a change
// POOL_DOMAIN or POOL_DOMAIN_CLASS, as Rook has it.
func (p Place) names(pool string) []string {
	parts := []string{pool, p.Domain}
	if p.Class != "" {
		parts = append(parts, p.Class)
	}

	return []string{pool, strings.Join(parts, "_")}
}

// own reports whether a rule is there for this pool, as its name says.
func own(r api.Rule, pool string) bool {
	for _, name := range placeOf(r).names(pool) {
		if r.Name == name {
			return true
		}
	}

	return false
}

// rule returns the name of a rule of the pool's own for a place, and makes it where it is
// missing. Ceph takes a rule of the same name for the same rule, whatever it says: so what it
// says is compared here. (OSDMonitor.cc, "osd crush rule create-replicated".)
func rule(ctx context.Context, c *api.Cluster, pool string, p Place) (name string, made bool, err error) {
	rules, err := c.CrushRules(ctx)
	if err != nil {
		return "", false, fmt.Errorf("look for CRUSH rules of pool %s: %w", pool, err)
	}

	p = p.full()
	there := map[string]api.Rule{}

	for _, r := range rules {
		there[r.Name] = r
	}

	for _, name := range p.names(pool) {
		switch r, taken := there[name]; {
		case taken && !r.Erasure && placeOf(r).full() == p:
			return name, false, nil
		case taken:
			continue
		}

		if err := c.CrushRuleCreateReplicated(ctx, name, p.Root, p.Domain, p.Class); err != nil {
			return "", false, fmt.Errorf("make the CRUSH rule %s (failure domain %s, below %s): %w", name, p.Domain, p.Root, err)
		}

		return name, true, nil
	}

	return "", false, fmt.Errorf("make a CRUSH rule for pool %s: the rules %s are there and say something else; remove or rename them", pool, strings.Join(p.names(pool), " and "))
}

// dropRule removes a rule of a pool's own that no pool uses any more.
func dropRule(ctx context.Context, c *api.Cluster, r Rule) (warning string) {
	if !r.Own || r.Name == "" {
		return ""
	}

	// The monitors know best whether a pool uses it.
	switch err := c.CrushRuleRemove(ctx, r.Name); {
	case err == nil, errors.Is(err, api.ErrBusy):
		return ""
	default:
		return "the CRUSH rule " + r.Name + ", which no pool of ours uses any more, could not be removed: " + err.Error()
	}
}

// dropProfile removes an erasure code profile that was made for a pool, unless it is in use.
func dropProfile(ctx context.Context, c *api.Cluster, name string) (warning string) {
	if !strings.HasSuffix(name, profileSuffix) {
		return ""
	}

	switch err := c.ErasureProfileRemove(ctx, name); {
	case err == nil, errors.Is(err, api.ErrBusy):
		return ""
	default:
		return "the erasure code profile " + name + " could not be removed: " + err.Error()
	}
}
