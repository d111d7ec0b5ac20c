// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"strconv"
	"strings"
)

// SameValue reports whether two texts are one value of a parameter: Ceph tells 0.2 as
// 0.20000000298023224, true as 1, 64K as 65536, and takes 0 for unset.
func SameValue(a, b string) bool {
	if a == b {
		return true
	}

	x, okX := number(a)
	y, okY := number(b)

	const precision = 1e-6

	return okX && okY && math.Abs(x-y) <= precision*math.Max(math.Abs(x), math.Abs(y))
}

// Unset reports whether a text says that a parameter is not set.
func Unset(s string) bool {
	n, ok := number(s)

	return ok && n == 0
}

// number reads a text as Ceph does: as a truth, a number, or a size with K, M, G, T, P or E, each
// 1024 times the one before. (common/strtol.cc, strict_iec_cast.)
func number(s string) (float64, bool) {
	switch s {
	case "true":
		return 1, true
	case "false", "unset":
		return 0, true
	case "":
		return 0, false
	}

	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return n, !math.IsNaN(n) && !math.IsInf(n, 0)
	}

	digits := strings.TrimSuffix(strings.TrimSuffix(s, "B"), "i")
	if digits == "" {
		return 0, false
	}

	power := strings.IndexByte("BKMGTPE", digits[len(digits)-1])

	n, err := strconv.ParseUint(digits[:len(digits)-1], 10, 64)
	if err != nil || power < 1 {
		return 0, false
	}

	return float64(n) * math.Pow(1<<10, float64(power)), true
}
