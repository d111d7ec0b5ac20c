// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"cmp"
	"slices"
	"strings"
)

// byName orders hosts as people count: node-2 before node-10.
func byName(a, b *view) int {
	return cmp.Or(natural(a.name, b.name), strings.Compare(a.Node.Name, b.Node.Name), strings.Compare(a.Node.UUID, b.Node.UUID))
}

// natural compares names in which runs of digits count as numbers.
func natural(a, b string) int {
	for a != "" && b != "" {
		da, db := digits(a), digits(b)
		if da == 0 || db == 0 {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}

			a, b = a[1:], b[1:]

			continue
		}

		// Without leading zeros, the longer number is the greater one, whatever its size.
		na, nb := strings.TrimLeft(a[:da], "0"), strings.TrimLeft(b[:db], "0")
		if c := cmp.Or(cmp.Compare(len(na), len(nb)), strings.Compare(na, nb), cmp.Compare(da, db)); c != 0 {
			return c
		}

		a, b = a[da:], b[db:]
	}

	return cmp.Compare(len(a), len(b))
}

// digits returns how many digits a text begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}

	return n
}

// arrange brings the hosts that a request may have, which come by name, into its order of choice.
func (w *wish) arrange(views []view, hosts []int, rnd func(int) int) {
	switch w.Selection {
	case BestFit:
		slices.SortStableFunc(hosts, func(a, b int) int { return cmp.Compare(uint(views[a].memoryMiB), uint(views[b].memoryMiB)) }) // not known, -1, comes last
	case Random:
		if rnd == nil {
			return
		}

		for i := len(hosts) - 1; i > 0; i-- {
			if j := rnd(i + 1); j >= 0 && j <= i {
				hosts[i], hosts[j] = hosts[j], hosts[i]
			}
		}
	}
}
