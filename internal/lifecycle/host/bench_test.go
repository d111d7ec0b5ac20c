// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// BenchmarkNext decides once in each state for each goal.
func BenchmarkNext(b *testing.B) {
	b.ReportAllocs()

	facts := make([]host.Facts, 0, len(steps))
	for s := range steps {
		facts = append(facts, calm(s))
	}

	for b.Loop() {
		for _, f := range facts {
			for _, g := range goals {
				if step, err := host.Next(f, g); step == "" && err == nil && f.State != ironic.State("") {
					b.Fatal("neither a step nor an error")
				}
			}
		}
	}
}
