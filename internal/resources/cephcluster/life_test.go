// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster_test

import (
	"strings"
	"testing"
)

func TestCeph_life(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		o := w.apply(three())
		if o.Action != "create" || w.Get("fsid") != theFSID || w.Get("phase") != "Ready" || w.Get("is_ready") != true {
			t.Errorf("%s: %v", o.Action, w.State())
		}

		if id := w.Get("id"); id != theFSID+"@10.0.0.1,10.0.0.2,10.0.0.3/var/lib/ceph" {
			t.Errorf("id: %v", id)
		}

		if k, _ := w.Get("admin_keyring").(string); !strings.Contains(k, "[client.admin]") || !strings.Contains(k, adminKey) {
			t.Errorf("keyring: %v", k)
		}

		if w.Get("osds.0.host") != "h1" || w.Get("mons.a.in_quorum") != true || w.Get("capacity.total") != int64(300) || w.Get("mon.count") != int64(3) {
			t.Errorf("state: %v", w.State())
		}

		if o = w.Apply(w.ctx, nil); o.Errors != "" || w.Exists() || w.farm.how.Confirmation != "" {
			t.Errorf("destroy: %s, %+v", o.Errors, w.farm.how)
		}

		if !strings.Contains(o.Warnings, "Daemons of Ceph cluster prod will be stopped") {
			t.Errorf("the destroy said: %s", o.Warnings)
		}
	})
}
