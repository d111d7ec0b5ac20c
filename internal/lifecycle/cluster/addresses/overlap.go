// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package addresses

import (
	"fmt"
	"maps"
	"slices"
)

// CheckOverlap refuses pools of one cluster that share addresses: two machines would get the same one.
func CheckOverlap(pools map[string]Compiled) []error {
	var (
		all   []span
		errs  []error
		owner = map[string]string{}
	)

	for _, name := range slices.Sorted(maps.Keys(pools)) {
		for _, s := range pools[name].spans {
			s.at = label(name, s.at)
			owner[s.at] = name
			all = append(all, s)
		}
	}

	for _, both := range overlaps(all) {
		if a, b := both[0], both[1]; owner[a.at] != owner[b.at] {
			errs = append(errs, fmt.Errorf("%s (%s) and %s (%s) share addresses: write pools that do not overlap", a.at, a, b.at, b))
		}
	}

	return errs
}
