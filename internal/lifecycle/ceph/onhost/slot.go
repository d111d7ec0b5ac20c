// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import "github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"

// scriptSlots is the section of the look that prints the slots of OSDs. It is run in a subshell
// of its own with the variables dir (Layout.Dir) and fsid.
const scriptSlots = ``

func parseSlots([]byte) []ceph.Slot { return nil }
