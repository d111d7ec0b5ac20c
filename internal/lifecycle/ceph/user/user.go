// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package user is the life of a user of a Ceph cluster: a name, what it may do, and a key.
package user

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// The kinds of failure that a caller can tell apart with errors.Is.
var (
	// ErrNoUser says that the cluster answered, and has no such user.
	ErrNoUser = errors.New("the cluster has no such user")
	// ErrOtherCaps says that a user of the name is there, and may do something else.
	ErrOtherCaps = errors.New("the cluster has a user of this name with other caps")
)

// reserved are users that Ceph, its services or this provider make and need themselves.
var reserved = regexp.MustCompile(`^client\.(admin|crash|rgw.*|rbd-mirror.*|bootstrap-.*)$`)

// named is a user of a client. Others are daemons.
var named = regexp.MustCompile(`^client\.[A-Za-z0-9_.@-]+$`)

// CheckEntity refuses what is no user of a client, and users that are not for clients.
func CheckEntity(entity string) error {
	switch {
	case !named.MatchString(entity):
		return fmt.Errorf("%q is no user of a client: write client. and a name of letters, digits and any of _ . @ -", entity)
	case reserved.MatchString(entity):
		return fmt.Errorf("%s is reserved: Ceph or one of its services makes it and needs it as it is", entity)
	default:
		return nil
	}
}

// Look finds a user. ErrNoUser is a definite no.
func Look(ctx context.Context, c *api.Cluster, entity string) (api.User, error) {
	u, err := c.AuthGet(ctx, entity)

	switch {
	case errors.Is(err, api.ErrNotFound):
		return api.User{}, fmt.Errorf("%w: %s", ErrNoUser, entity)
	case err != nil:
		return api.User{}, fmt.Errorf("look for user %s: %w", entity, err)
	default:
		return u, nil
	}
}

// Create makes a user. One that is there and may do the same is the one; that is reported, too.
func Create(ctx context.Context, c *api.Cluster, entity string, caps map[string]string) (u api.User, adopted bool, err error) {
	u, err = Look(ctx, c, entity)
	adopted = err == nil

	if errors.Is(err, ErrNoUser) {
		if _, err := c.AuthGetOrCreate(ctx, entity, caps); err != nil {
			return api.User{}, false, fmt.Errorf("create user %s: %w", entity, err)
		}

		u, err = Look(ctx, c, entity)
	}

	if err == nil && !maps.Equal(u.Caps, caps) {
		return api.User{}, false, fmt.Errorf("%w: %s has %s", ErrOtherCaps, entity, Caps(u.Caps))
	}

	return u, adopted, err
}

// Update gives a user its caps, and another key where that is wanted.
func Update(ctx context.Context, c *api.Cluster, entity string, caps map[string]string, rekey bool) (api.User, error) {
	u, err := Look(ctx, c, entity)
	if err != nil {
		return api.User{}, err
	}

	switch {
	case rekey:
		// An import puts key and caps in place of the old ones in one step.
		ring := ceph.Keyring(ceph.Entry{Entity: entity, Key: ceph.NewKey(time.Now()), Caps: caps})
		if err := c.AuthImport(ctx, ring); err != nil {
			return u, fmt.Errorf("give user %s another key: %w", entity, err)
		}
	case !maps.Equal(u.Caps, caps):
		if err := c.AuthCaps(ctx, entity, caps); err != nil {
			return u, fmt.Errorf("change the caps of user %s: %w", entity, err)
		}
	}

	return Look(ctx, c, entity)
}

// Delete removes a user. One that is gone already is no error.
func Delete(ctx context.Context, c *api.Cluster, entity string) error {
	if err := c.AuthRemove(ctx, entity); err != nil {
		return fmt.Errorf("remove user %s: %w", entity, err)
	}

	return nil
}

// List returns the users of clients that this package would make, without their keys.
func List(ctx context.Context, c *api.Cluster) ([]api.User, error) {
	all, err := c.AuthList(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the users: %w", err)
	}

	all = slices.DeleteFunc(all, func(u api.User) bool { return CheckEntity(u.Entity) != nil })
	slices.SortFunc(all, func(a, b api.User) int { return strings.Compare(a.Entity, b.Entity) })

	return all, nil
}

// Caps are caps in words.
func Caps(caps map[string]string) string {
	parts := make([]string, 0, len(caps))
	for _, daemon := range slices.Sorted(maps.Keys(caps)) {
		parts = append(parts, daemon+" = "+caps[daemon])
	}

	if len(parts) == 0 {
		return "none"
	}

	return strings.Join(parts, ", ")
}

// CheckCaps refuses what no keyring can hold.
func CheckCaps(caps string) error {
	if strings.ContainsAny(caps, "\"\r\n") {
		return errors.New("caps are one line, without double quotation marks")
	}

	return nil
}
