// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clusterfigures_test

import (
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
)

// slack is how much longer than promised a create may take: the race detector makes all of it slower.
var slack = 1

// made is a cluster of so many machines on a lab whose Ironic takes no time, and how long its create took.
func made(t *testing.T, machines int) (l acctest.Lab, core *acctest.Core, took time.Duration) {
	t.Helper()

	l = acctest.NewLab(t, lab.Options{Machines: machines, Pace: time.Millisecond})
	register(t, l.Transport(), machines, virtualMedia)

	core = l.Core(t, "metal3_cluster")

	start := time.Now()
	if o := core.Apply(t.Context(), config(machines)); o.Errors != "" || core.Get("ready") != true {
		t.Fatal(o.Errors, o.Warnings)
	}

	took = time.Since(start)
	t.Logf("%d machines in %s", machines, took)

	return l, core, took
}

// TestFigures_createOfAHundred takes the time. On two cores that others use heavily it is a fifth of the
// limit, so a slow machine does not miss it. What a create waits for is measured in virtual time.
func TestFigures_createOfAHundred(t *testing.T) { //nolint:paralleltest // what is measured shares the machine with nothing
	if testing.Short() {
		t.Skip("not in the short run: its create takes seconds")
	}

	limit := time.Duration(slack) * 20 * time.Second

	if _, _, took := made(t, 100); took > limit {
		t.Errorf("a create of a hundred machines took %s, the limit is %s", took, limit)
	}
}

// TestFigures_planOfFiveHundred counts the requests of a plan: pages of nodes, of ports and of allocations,
// and one for the version.
func TestFigures_planOfFiveHundred(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("not in the short run: its create takes seconds")
	}

	const machines = 500

	l, core, _ := made(t, machines)

	ports, err := client(t, l.Transport()).Ports(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	limit := pages(machines) + pages(len(ports)) + pages(machines) + 1

	l.Mark()

	start := time.Now()
	if o := core.Plan(t.Context(), config(machines)); o.Errors != "" || o.Action != "" {
		t.Errorf("the plan changes %v: %s", o.Changed, o.Errors)
	}

	t.Logf("planned in %s, %d requests for %d machines with %d ports", time.Since(start), l.Asked(), machines, len(ports))

	if got := l.Paths(); len(got) > limit {
		t.Errorf("a plan costs %d requests, the limit is %d: %s", len(got), limit, strings.Join(got[:min(len(got), 8)], "\n"))
	}
}

// pages is how many pages of Ironic so many records take: after one that is full it may not know that it
// was the last.
func pages(records int) int {
	const size = 1000

	return records/size + 1
}
