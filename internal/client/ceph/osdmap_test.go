// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"errors"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// TestOSDMap_withoutPools must not read as a cluster that has none.
func TestOSDMap_withoutPools(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		dump string
		want error
	}{
		"no pool":              {`{"epoch":1,"osds":[],"pools":[]}`, nil},
		"no list":              {`{"epoch":1,"osds":[]}`, ceph.ErrAnswer},
		"null":                 {`{"epoch":1,"osds":[],"pools":null}`, ceph.ErrAnswer},
		"something of a list":  {`{"epoch":1,"osds":[],"pools":"many"}`, ceph.ErrAnswer},
		"a list that ends off": {`{"epoch":1,"osds":[],"pools":[{"pool":1,"pool_na`, ceph.ErrAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			all := cluster(map[string]says{"osd dump": {out: c.dump}, "osd tree": {out: `{"nodes":[]}`}})

			if _, err := all.OSDMap(t.Context()); !errors.Is(err, c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
