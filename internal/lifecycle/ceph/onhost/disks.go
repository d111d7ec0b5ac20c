// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import "github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"

// scriptDisks is the section of the look that prints block devices. It is run in a subshell of
// its own with the variables dir (Layout.Dir), devices (1: all of them) and the positional
// parameters Ask.Paths.
const scriptDisks = ``

func parseDisks([]byte) []ceph.Disk { return nil }
