// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import "context"

// OSDSetGroup sets flags, separated by commas, for OSDs, CRUSH nodes or device classes.
func (c *Cluster) OSDSetGroup(ctx context.Context, flags string, who ...string) error {
	return c.tell(ctx, command{"prefix": "osd set-group", "flags": flags, "who": who})
}

// OSDUnsetGroup takes back what OSDSetGroup set.
func (c *Cluster) OSDUnsetGroup(ctx context.Context, flags string, who ...string) error {
	return c.tell(ctx, command{"prefix": "osd unset-group", "flags": flags, "who": who})
}

// OSDRequireRelease says that no OSD is older than a release. It cannot be taken back.
func (c *Cluster) OSDRequireRelease(ctx context.Context, release string) error {
	return c.tell(ctx, command{"prefix": "osd require-osd-release", "release": release})
}

// OSDMinCompat says that no client is older than a release.
func (c *Cluster) OSDMinCompat(ctx context.Context, release string) error {
	return c.tell(ctx, command{"prefix": "osd set-require-min-compat-client", "version": release})
}

// OSDRatios says how full OSDs may get, as parts of 1. A ratio of 0 is left alone. Another that
// is no part of 1 is ErrInvalid here: monitors take it (16.2.15), and then no disk is ever full.
func (c *Cluster) OSDRatios(ctx context.Context, full, backfill, near float64) error {
	ratios := []struct {
		prefix string
		ratio  float64
	}{
		{"osd set-full-ratio", full},
		{"osd set-backfillfull-ratio", backfill},
		{"osd set-nearfull-ratio", near},
	}

	for _, one := range ratios {
		if !(one.ratio >= 0 && one.ratio <= 1) {
			return &Error{Code: ErrInvalid.Code, Command: one.prefix, Status: "a ratio is between 0 and 1"}
		}
	}

	for _, one := range ratios {
		if one.ratio == 0 {
			continue
		}

		if err := c.tell(ctx, command{"prefix": one.prefix, "ratio": decimal(one.ratio)}); err != nil {
			return err
		}
	}

	return nil
}
