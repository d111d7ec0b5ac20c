// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"maps"
	"slices"
)

// ErasureProfileSet makes an erasure-code profile. One of that name that says something else is
// refused: pools that use it cannot change.
func (c *Cluster) ErasureProfileSet(ctx context.Context, name string, profile map[string]string) error {
	list := make([]string, 0, len(profile))
	for _, key := range slices.Sorted(maps.Keys(profile)) {
		list = append(list, key+"="+profile[key])
	}

	return c.tell(ctx, command{"prefix": "osd erasure-code-profile set", "name": name, "profile": list})
}

// ErasureProfileGet returns a profile, with all that Ceph added to it, or ErrNotFound.
func (c *Cluster) ErasureProfileGet(ctx context.Context, name string) (map[string]string, error) {
	doc, err := query[propertiesDoc](ctx, c, command{"prefix": "osd erasure-code-profile get", "name": name})
	if err != nil {
		return nil, err
	}

	profile := make(map[string]string, len(doc))
	for k, v := range doc {
		profile[k] = v.text()
	}

	return profile, nil
}

// ErasureProfileRemove removes a profile. One that is not there is no error; one in use is ErrBusy.
func (c *Cluster) ErasureProfileRemove(ctx context.Context, name string) error {
	return except(c.tell(ctx, command{"prefix": "osd erasure-code-profile rm", "name": name}), ErrNotFound)
}
