// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
)

// Share is a number of machines, or a percentage of those of a pool.
type Share struct {
	Number  int
	Percent bool
}

// whole is all of something in percent.
const whole = 100

// ParseShare reads 3 or 25%.
func ParseShare(s string) (Share, error) {
	digits, percent := strings.CutSuffix(s, "%")

	n, err := strconv.ParseUint(digits, 10, 31)

	switch {
	case err != nil:
		return Share{}, fmt.Errorf("%q is neither a number nor a percentage; write 1 or 25%%", s)
	case percent && n > whole:
		return Share{}, fmt.Errorf("%q is more than everything", s)
	}

	return Share{Number: int(n), Percent: percent}, nil
}

// Of is the share of n machines; up rounds up, else down.
func (s Share) Of(n int, up bool) int {
	switch {
	case !s.Percent:
		return s.Number
	case up:
		return (s.Number*n + whole - 1) / whole
	default:
		return s.Number * n / whole
	}
}

// String is the share as users write it.
func (s Share) String() string {
	if s.Percent {
		return strconv.Itoa(s.Number) + "%"
	}

	return strconv.Itoa(s.Number)
}

// Tolerates says whether so many machines of a pool may be ill for one of them to be remediated: many
// that look ill at once are a sign that the eyes are ill. It rounds down, as Cluster API's
// MachineHealthCheck does. The error is [nodes.ErrNotAllowed].
func (s Share) Tolerates(pool string, size, ill int) error {
	if most := s.Of(size, false); ill > most {
		return fmt.Errorf("%w: %d of the %d machines of pool %q are unhealthy and max_unhealthy = %q allows %d; "+
			"look for a common cause (network, API server, power), or raise max_unhealthy",
			nodes.ErrNotAllowed, ill, size, pool, s, most)
	}

	return nil
}
