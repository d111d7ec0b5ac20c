// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

func placeOf(r api.Rule) Place { return Place{Domain: r.Domain, Class: r.Class, Root: r.Root} }

// full is a place with what counts where it says only a part: the failure domain is the one of
// the cluster's first rule.
func (p Place) full(domain string) Place {
	return Place{Domain: cmp.Or(p.Domain, domain), Class: p.Class, Root: cmp.Or(p.Root, DefaultRoot)}
}

// firstDomain is the failure domain of the cluster's first rule for copies.
func firstDomain(rules []api.Rule) string {
	first, domain := math.MaxInt, ""

	for _, r := range rules {
		if !r.Erasure && r.ID < first && r.Domain != "" {
			first, domain = r.ID, r.Domain
		}
	}

	return cmp.Or(domain, DefaultDomain)
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

	domain := firstDomain(rules)
	p = p.full(domain)
	there := map[string]api.Rule{}

	for _, r := range rules {
		there[r.Name] = r
	}

	for _, name := range p.names(pool) {
		switch r, taken := there[name]; {
		case taken && !r.Erasure && placeOf(r).full(domain) == p:
			return name, false, nil
		case taken:
			continue
		}

		if err := mark(ctx, c, name, pool); err != nil {
			return "", false, err
		}

		if err := c.CrushRuleCreateReplicated(ctx, name, p.Root, p.Domain, p.Class); err != nil {
			if !unanswered(err) {
				_ = unmark(ctx, c, name) // there is none to be removed
			}

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

	err := marked(ctx, c, r.Name)
	if errors.Is(err, api.ErrNotFound) {
		return "" // it has the name of the pool, and somebody else made it
	}

	if err == nil {
		err = c.CrushRuleRemove(ctx, r.Name)
	}

	// The monitors know best whether a pool uses it.
	switch {
	case errors.Is(err, api.ErrBusy):
		return ""
	case err == nil:
		return unmark(ctx, c, r.Name)
	default:
		return "the CRUSH rule " + r.Name + ", which no pool of ours uses any more, could not be removed: " + err.Error()
	}
}

// ruleNotes is where the key store of the monitors says which rules were made here: a name alone
// proves nothing.
const ruleNotes = "metal3/rule/"

// mark notes that a rule is made here. It is written first: a rule without it is never removed.
func mark(ctx context.Context, c *api.Cluster, name, pool string) error {
	if err := c.ConfigKeySet(ctx, ruleNotes+name, []byte(pool)); err != nil {
		return fmt.Errorf("note that the CRUSH rule %s is made for pool %s: %w", name, pool, err)
	}

	return nil
}

// marked makes sure that a rule was made here. ErrNotFound says that it was not.
func marked(ctx context.Context, c *api.Cluster, name string) error {
	_, err := c.ConfigKeyGet(ctx, ruleNotes+name)

	return err //nolint:wrapcheck // the caller says what for
}

func unmark(ctx context.Context, c *api.Cluster, name string) (warning string) {
	if err := c.ConfigKeyRemove(ctx, ruleNotes+name); err != nil {
		return "the note " + ruleNotes + name + " in the monitors' key store could not be removed: " + err.Error()
	}

	return ""
}

// markErasure notes the rule that Ceph makes for an erasure coded pool, unless one is there.
func markErasure(ctx context.Context, c *api.Cluster, pool string) error {
	rules, err := c.CrushRules(ctx)
	if err != nil {
		return fmt.Errorf("look for CRUSH rules of pool %s: %w", pool, err)
	}

	if slices.ContainsFunc(rules, func(r api.Rule) bool { return r.Name == pool }) {
		return nil
	}

	return mark(ctx, c, pool, pool)
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
