// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// Update brings a pool in line with what is wanted, and changes nothing that is so already.
// After a failure it tells how far it came; without a name nobody could look.
func Update(ctx context.Context, c *api.Cluster, which Which, w Wanted) (Seen, error) {
	seen, err := Look(ctx, c, which)
	if err != nil {
		return Seen{}, err
	}

	u := update{c: c, w: w, seen: seen}

	for _, step := range []func(context.Context) error{u.rename, u.place, u.copies, u.groups, u.application, u.limits, u.parameters} {
		if err := step(ctx); err != nil {
			after := lookAfter(ctx, c, Which{ID: seen.ID, Name: seen.Name})
			after.Warnings = u.warnings

			return after, err
		}
	}

	after, err := Look(ctx, c, Which{ID: seen.ID, Name: w.Name})
	after.Warnings = u.warnings

	return after, err
}

type update struct {
	c        *api.Cluster
	w        Wanted
	seen     Seen
	warnings []string
}

func (u *update) set(ctx context.Context, key, value string) error {
	if err := u.c.PoolSet(ctx, u.w.Name, key, value); err != nil {
		return fmt.Errorf("set %s of pool %s to %s: %w", key, u.w.Name, value, err)
	}

	return nil
}

// rename gives the pool its name, and its own rule with it.
func (u *update) rename(ctx context.Context) error {
	if u.seen.Name == u.w.Name {
		return nil
	}

	if err := u.c.PoolRename(ctx, u.seen.Name, u.w.Name); err != nil {
		return fmt.Errorf("rename pool %s to %s: %w", u.seen.Name, u.w.Name, err)
	}

	u.renameRule(ctx)

	return nil
}

// renameRule gives the rule of the pool's own the name of the pool, if it was made here and no
// other pool has it.
func (u *update) renameRule(ctx context.Context) {
	was := u.seen.Rule.Name
	if !u.seen.Rule.Own {
		return
	}

	u.seen.Rule.Own = false

	err := marked(ctx, u.c, was)
	if u.seen.shared || errors.Is(err, api.ErrNotFound) {
		return
	}

	to := u.w.Name + was[len(u.seen.Name):]

	if err == nil {
		err = mark(ctx, u.c, to, u.w.Name)
	}

	if err == nil {
		err = u.c.CrushRuleRename(ctx, was, to)
	}

	if err != nil {
		u.warnings = append(u.warnings, "the CRUSH rule keeps its name "+was+": "+err.Error())

		return
	}

	u.seen.Rule.Name, u.seen.Rule.Own = to, true

	if warning := unmark(ctx, u.c, was); warning != "" {
		u.warnings = append(u.warnings, warning)
	}
}

// place gives a replicated pool another rule where its own does not say what is wanted.
func (u *update) place(ctx context.Context) error {
	if u.w.Place == (Place{}) || u.seen.Type == Erasure || u.seen.Rule.Place.full(u.seen.firstDomain) == u.w.Place.full(u.seen.firstDomain) {
		return nil
	}

	name, _, err := rule(ctx, u.c, u.w.Name, u.w.Place)
	if err != nil {
		return err
	}

	if err := u.set(ctx, "crush_rule", name); err != nil {
		return err
	}

	if warning := dropRule(ctx, u.c, u.seen.Rule); warning != "" {
		u.warnings = append(u.warnings, warning)
	}

	return nil
}

// copies sets size and min_size. Ceph moves min_size with size, so that comes first.
func (u *update) copies(ctx context.Context) error {
	minSize := u.seen.MinSize

	if w := u.w.Size; w > 0 && w != u.seen.Size && u.seen.Type == Replicated {
		resize := func(ctx context.Context) error { return u.set(ctx, "size", strconv.Itoa(w)) }

		err := resize(ctx)
		if w == 1 && u.w.AllowSizeOne && forbidden(err) {
			err = permitted(ctx, u.c, allowSizeOne, resize)
		}

		if err != nil {
			return err
		}

		minSize = 0 // whatever it is by now
	}

	if w := u.w.MinSize; w > 0 && w != minSize {
		return u.set(ctx, "min_size", strconv.Itoa(w))
	}

	return nil
}

// groups sets how many placement groups there are, and who decides that.
func (u *update) groups(ctx context.Context) error {
	mode := u.seen.PGAutoscaleMode

	if w := u.w.Autoscale; w != "" && w != mode {
		if err := u.set(ctx, "pg_autoscale_mode", w); err != nil {
			return err
		}

		mode = w
	}

	// The autoscaler would take it back.
	if w := u.w.PGNum; w > 0 && w != u.seen.PGNum && mode != "on" {
		return u.set(ctx, "pg_num", strconv.Itoa(w))
	}

	return nil
}

// application says what the pool is for, in place of what it was for.
func (u *update) application(ctx context.Context) error {
	w := u.w.Application
	if w == "" || slices.Contains(u.seen.Applications, w) {
		return nil
	}

	for _, was := range u.seen.Applications {
		if err := u.c.PoolApplicationDisable(ctx, u.w.Name, was); err != nil {
			return fmt.Errorf("take the application %s from pool %s: %w", was, u.w.Name, err)
		}
	}

	if err := u.c.PoolApplication(ctx, u.w.Name, w); err != nil {
		return fmt.Errorf("give pool %s the application %s: %w", u.w.Name, w, err)
	}

	return nil
}

// limits sets the quotas.
func (u *update) limits(ctx context.Context) error {
	if u.w.QuotaBytes == u.seen.QuotaBytes && u.w.QuotaObjects == u.seen.QuotaObjects {
		return nil
	}

	if err := u.c.PoolQuota(ctx, u.w.Name, u.w.QuotaBytes, u.w.QuotaObjects); err != nil {
		return fmt.Errorf("set the quota of pool %s: %w", u.w.Name, err)
	}

	return nil
}

// parameters sets those that differ, and takes back those that are no longer configured.
func (u *update) parameters(ctx context.Context) error {
	if u.w.Type == Erasure && !SameValue(u.seen.Parameters["allow_ec_overwrites"], "true") {
		// Without it neither RBD nor CephFS can use the pool.
		if err := u.set(ctx, "allow_ec_overwrites", "true"); err != nil {
			return err
		}
	}

	switch w := u.w.Compression; w {
	case u.seen.Compression:
	case "":
		if err := u.unset(ctx, "compression_mode"); err != nil {
			return err
		}
	default:
		if err := u.set(ctx, "compression_mode", w); err != nil {
			return err
		}
	}

	for _, key := range slices.Sorted(maps.Keys(u.w.Parameters)) {
		now, there := u.seen.Parameters[key]
		if there && SameValue(now, u.w.Parameters[key]) || !there && Unset(u.w.Parameters[key]) {
			continue
		}

		if err := u.set(ctx, key, u.w.Parameters[key]); err != nil {
			return err
		}
	}

	for _, key := range u.w.Unset {
		if err := u.unset(ctx, key); err != nil {
			return err
		}
	}

	return nil
}

// unset takes a parameter back. Texts take the word unset, and numbers 0.
func (u *update) unset(ctx context.Context, key string) error {
	if _, there := u.seen.Parameters[key]; !there {
		return nil
	}

	err := u.c.PoolSet(ctx, u.w.Name, key, "unset")
	if errors.Is(err, api.ErrInvalid) {
		err = u.c.PoolSet(ctx, u.w.Name, key, "0")
	}

	if err != nil {
		return fmt.Errorf("unset %s of pool %s: %w", key, u.w.Name, err)
	}

	return nil
}
