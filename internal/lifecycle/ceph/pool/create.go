// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// profileSuffix ends the name of the profile that is made for an erasure coded pool, as Rook has it.
const profileSuffix = "_ecprofile"

// settleTime is how long the placement groups of a new pool get to become active.
const settleTime = 2 * time.Minute

// Create makes a pool that is not there yet. It reports whether the pool stands, also when it
// returns an error; what is seen is then as far as it is known.
func Create(ctx context.Context, c *api.Cluster, w Wanted) (seen Seen, made bool, err error) {
	switch _, err := Look(ctx, c, Which{Name: w.Name}); {
	case err == nil:
		return Seen{}, false, fmt.Errorf("%w: %s", ErrExists, w.Name)
	case !errors.Is(err, ErrNoPool):
		return Seen{}, false, err
	}

	left := leftovers(ctx, c)

	if err := w.make(ctx, c); err != nil {
		return Seen{}, false, err
	}

	warning, err := settle(ctx, c, w.Name)
	if err == nil {
		seen, err = Update(ctx, c, Which{Name: w.Name}, w)
	} else {
		// What stands goes into the state, whatever happened to the verb.
		seen = lookAfter(ctx, c, Which{Name: w.Name})
	}

	if seen.Name == "" {
		seen = Seen{Pool: api.Pool{Name: w.Name}, Type: w.Type}
	}

	if warning != "" {
		seen.Warnings = append(seen.Warnings, warning)
	}

	seen.Warnings = append(seen.Warnings, left...)

	return seen, true, err
}

// make makes the rule or the code, and the pool.
func (w Wanted) make(ctx context.Context, c *api.Cluster) error {
	spec := api.PoolSpec{Name: w.Name, PGNum: w.PGNum, Size: w.Size, Autoscale: w.Autoscale}

	var undo func(ctx context.Context)

	switch {
	case w.Type == Erasure:
		spec.ErasureProfile = w.Name + profileSuffix

		if err := c.ErasureProfileSet(ctx, spec.ErasureProfile, w.profile()); err != nil {
			return fmt.Errorf("make the erasure code profile %s: %w", spec.ErasureProfile, err)
		}

		if err := markErasure(ctx, c, w.Name); err != nil {
			return err
		}

		undo = func(ctx context.Context) {
			dropRule(ctx, c, Rule{Name: w.Name, Own: true})
			dropProfile(ctx, c, spec.ErasureProfile)
		}
	case w.Place != Place{}:
		name, made, err := rule(ctx, c, w.Name, w.Place)
		if err != nil {
			return err
		}

		spec.Rule = name

		if made {
			undo = func(ctx context.Context) { dropRule(ctx, c, Rule{Name: name, Own: true}) }
		}
	}

	create := func(ctx context.Context) error { return c.PoolCreate(ctx, spec) }

	err := create(ctx)
	if w.Size == 1 && w.AllowSizeOne && forbidden(err) {
		err = permitted(ctx, c, allowSizeOne, create)
	}

	if unanswered(err) {
		err = w.stands(ctx, c, err)
	}

	if err == nil {
		return nil
	}

	if undo != nil && !errors.Is(err, ErrUnsure) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
		defer cancel()

		undo(ctx)
	}

	if errors.Is(err, api.ErrExists) {
		return fmt.Errorf("%w: %s (it came just now)", ErrExists, w.Name)
	}

	return fmt.Errorf("create pool %s: %w", w.Name, err)
}

// unanswered reports whether nobody knows if a command was done.
func unanswered(err error) bool {
	for _, silent := range []error{api.ErrLost, api.ErrTimedOut, api.ErrNoQuorum, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, silent) {
			return true
		}
	}

	return false
}

// stands looks once more after a create that was not answered: a pool that was not there before
// and now is was made by it.
func (w Wanted) stands(ctx context.Context, c *api.Cluster, silent error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
	defer cancel()

	switch _, err := Look(ctx, c, Which{Name: w.Name}); {
	case err == nil:
		return nil
	case errors.Is(err, ErrNoPool):
		return silent
	default:
		return fmt.Errorf("%w: %w", ErrUnsure, silent)
	}
}

// profile is the erasure code, and the place of its chunks.
func (w Wanted) profile() map[string]string {
	all := map[string]string{
		"k": strconv.Itoa(w.Code.K), "m": strconv.Itoa(w.Code.M),
		"crush-failure-domain": cmp.Or(w.Place.Domain, DefaultDomain), "crush-root": cmp.Or(w.Place.Root, DefaultRoot),
	}

	for key, v := range map[string]string{"plugin": w.Code.Plugin, "technique": w.Code.Technique, "crush-device-class": w.Place.Class} {
		if v != "" {
			all[key] = v
		}
	}

	return all
}

// settle waits until all placement groups of a new pool were active once: only then it can be used.
func settle(ctx context.Context, c *api.Cluster, name string) (warning string, err error) {
	limited, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()

	err = wait.Until(limited, wait.Quick, func(ctx context.Context) (wait.Verdict, string, error) {
		m, err := c.OSDMap(ctx)
		if err != nil {
			return wait.Again, "", fmt.Errorf("look at the new pool %s: %w", name, err)
		}

		p, err := Which{Name: name}.in(m)
		if err != nil {
			return wait.Again, "", err
		}

		if slices.Contains(p.Flags, "creating") {
			return wait.Again, "placement groups are not active yet", nil
		}

		return wait.Done, "", nil
	})

	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return fmt.Sprintf("not all placement groups of the new pool %s became active within %s: nothing can be written to them. "+
			"Are there enough OSDs for its size and failure domain? (ceph pg ls-by-pool %s)", name, settleTime, name), nil
	}

	return "", err
}

// lookAfter looks once more for a pool after something failed, with time of its own.
func lookAfter(ctx context.Context, c *api.Cluster, which Which) Seen {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
	defer cancel()

	seen, err := Look(ctx, c, which)
	if err != nil {
		return Seen{}
	}

	return seen
}
