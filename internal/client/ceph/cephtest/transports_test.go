// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephtest_test

import (
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// TestTransports_onOneCluster runs all that needs a cluster on one: making it takes longer than
// most of the parts. The last ones take its daemons away and give them back.
func TestTransports_onOneCluster(t *testing.T) {
	t.Parallel()

	one := acctest.CephOne(t, 2)

	for _, part := range []struct {
		name string
		test func(t *testing.T, one *acctest.One)
	}{
		{"the same command has the same answer", sameAnswers},
		{"a batch has the answers of its commands", sameBatches},
		{"many commands", manyCommands},
		{"a key that is not taken", wrongKeys},
		{"hosts that lack something", poorHosts},
		{"O-CEPH-03: a program that hangs", stuck},
		{"no manager", noManager},
		{"no monitor", noMonitor},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, one) })
	}
}
