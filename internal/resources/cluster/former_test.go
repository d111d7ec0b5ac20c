// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"slices"
	"strings"
	"testing"
)

// TestCluster_poolThatIsGone takes a pool out whose hook cannot be run: its machines do not leave without
// it, neither in this apply nor in the next one; and they do once the pool has said otherwise.
func TestCluster_poolThatIsGone(t *testing.T) {
	t.Parallel()

	inLab(t, 3, func(w world) {
		hooks := Map{"pre_deprovision": []any{"true"}, "connection": Map{"host": "127.0.0.1", "port": 1, "user": "root", "private_key_file": "/no/such/key", "insecure_host_key": true, "timeout": "1s"}}
		w.apply(workersOf(Map{"hooks": hooks}))

		gone := lived(0, Map{"workers": Map{}})

		for range 2 {
			if o := w.Apply(w.ctx, gone); !strings.Contains(o.Errors, `hook "true"`) {
				t.Errorf("errors: %q", o.Errors)
			}

			if got := w.machines(); !slices.Contains(got, "edge-w-0") || w.Get("workers.w.hooks.pre_deprovision") == nil {
				t.Errorf("machines %v, pools %v", got, w.Get("workers"))
			}
		}

		w.apply(lived(2))
		w.apply(gone)

		if got := w.machines(); !slices.Equal(got, []string{"edge-cp-0"}) || w.Get("workers.w") != nil {
			t.Errorf("machines %v, pools %v", got, w.Get("workers"))
		}
	})
}
