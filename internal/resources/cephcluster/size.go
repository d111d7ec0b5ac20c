// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// sizePattern is a number with a unit of 1024.
var sizePattern = regexp.MustCompile(`(?i)^([0-9]+(?:\.[0-9]+)?)\s*([KMGTP]?)(?:i?B)?$`)

// units are the powers of 1024.
var units = map[string]float64{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}

// parseSize reads a size such as "4G" or "1.5T", in bytes. Units are of 1024.
func parseSize(s string) (int64, error) {
	found := sizePattern.FindStringSubmatch(strings.TrimSpace(s))
	if found == nil {
		return 0, fmt.Errorf("%q is no size; write a number with K, M, G or T, such as 4G", s)
	}

	n, err := strconv.ParseFloat(found[1], 64)
	if bytes := n * units[strings.ToUpper(found[2])]; err == nil && bytes >= 1 && bytes < math.MaxInt64 {
		return int64(bytes), nil
	}

	return 0, fmt.Errorf("%q is no size above zero that a disk could have", s)
}

// sizeOf reads a size that has passed validation; 0 where there is none.
func sizeOf(s string) int64 {
	n, err := parseSize(s)
	if err != nil {
		return 0
	}

	return n
}
