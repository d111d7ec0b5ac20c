// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephpool_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/resources/cephpool"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// TestOtherPlace is what replaces an erasure coded pool.
func TestOtherPlace(t *testing.T) {
	t.Parallel()

	is, none := types.StringValue, types.StringNull()

	for name, c := range map[string]struct {
		was, now  types.String
		otherwise string
		want      bool
	}{
		"nothing is asked for":              {is("osd"), none, "host", false},
		"what is there is asked for":        {is("osd"), is("osd"), "host", false},
		"something else is asked for":       {is("osd"), is("rack"), "host", true},
		"what Ceph takes anyway":            {none, is("host"), "host", false},
		"something else than Ceph takes":    {none, is("osd"), "host", true},
		"a class where there was none":      {none, is("ssd"), "", true},
		"what is not known may be another":  {is("osd"), types.StringUnknown(), "host", true},
		"neither the one nor the other has": {none, none, "host", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := cephpool.OtherPlace(c.was, c.now, c.otherwise); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

// TestParameters_spellings has Ceph tell values in its own way.
func TestParameters_spellings(t *testing.T) {
	t.Parallel()

	got := value.GoMap(cephpool.Parameters(
		map[string]string{"target_size_bytes": "1G", "compression_min_blob_size": "64K", "target_size_ratio": "0", "recovery_priority": "3", "csum_type": "crc32c"},
		map[string]string{"target_size_bytes": "1073741824", "compression_min_blob_size": "65536", "recovery_priority": "5"},
	))

	for name, want := range map[string]string{
		"target_size_bytes": "1G", "compression_min_blob_size": "64K", "target_size_ratio": "0", "recovery_priority": "5", "csum_type": "",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}
