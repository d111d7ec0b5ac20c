// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"hash/fnv"
	"strings"
	"testing"
)

// OneIn skips, in a short run, all cases of a table but one in n, always the same: the short
// run is to take seconds. A test that is no case of a table runs.
func OneIn(t *testing.T, n uint32) {
	t.Helper()

	if !testing.Short() || !strings.Contains(t.Name(), "/") {
		return
	}

	sum := fnv.New32a()
	_, _ = sum.Write([]byte(t.Name()))

	if sum.Sum32()%n != 0 {
		t.Skipf("the short run takes one case in %d of a table", n)
	}
}
