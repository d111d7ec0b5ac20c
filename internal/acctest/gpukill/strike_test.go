// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpukill_test

import (
	"fmt"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/tfrun"
)

// moment is when to strike: so long after the fabric has begun so many changes.
type moment struct {
	changes int
	later   time.Duration
}

func (m moment) String() string { return fmt.Sprintf("%s after change %d", m.later, m.changes) }

// look is how often the fabric is asked whether the moment has come.
const look = 20 * time.Millisecond

// strikes are the ways in which runs are cut short.
var strikes = tfrun.Strikes()
