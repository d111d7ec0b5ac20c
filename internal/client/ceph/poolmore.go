// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import "context"

// PoolApplicationDisable takes back what a pool is for. One that it does not have is no error.
func (c *Cluster) PoolApplicationDisable(ctx context.Context, name, app string) error {
	return except(c.tell(ctx, command{
		"prefix": "osd pool application disable", "pool": name, "app": app, "yes_i_really_mean_it": true,
	}), ErrNotFound)
}

// CrushRuleRename renames a CRUSH rule.
func (c *Cluster) CrushRuleRename(ctx context.Context, from, to string) error {
	return c.tell(ctx, command{"prefix": "osd crush rule rename", "srcname": from, "dstname": to})
}

// FSRemoveDataPool takes a pool for data from a file system. The first one stays for ever.
func (c *Cluster) FSRemoveDataPool(ctx context.Context, name, pool string) error {
	return except(c.tell(ctx, command{"prefix": "fs rm_data_pool", "fs_name": name, "pool": pool}), ErrNotFound)
}
