// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// sections is what the look's script printed, by the name in the line "== name" above it.
type sections map[string][]byte

func (s sections) disks(f *ceph.Facts) {
	f.Slots = parseSlots(s["slots"])
	f.Disks = parseDisks(s["disks"])
}
