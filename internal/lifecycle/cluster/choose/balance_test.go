// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// imbalance is the sum of the squares of how many machines of each pool are in each domain.
func imbalance(reqs requests, hosts []host.Seen, got map[string]string) int {
	domains, counts, sum := map[string]string{}, map[[2]string]int{}, 0
	for _, h := range hosts {
		domains[h.Node.UUID] = h.Journal.FailureDomain
	}

	for _, r := range reqs {
		if id, ok := got[r.Machine]; ok {
			counts[[2]string{r.Pool, domains[id]}]++
		}
	}

	for _, n := range counts {
		sum += n * n
	}

	return sum
}

// leastImbalance tries all assignments of the machines that have a host.
func leastImbalance(reqs requests, hosts []host.Seen, placed requests, tried map[string]string, used map[string]bool) int {
	if len(placed) == 0 {
		return imbalance(reqs, hosts, tried)
	}

	least := 1 << 30

	for _, h := range hosts {
		if id := h.Node.UUID; !used[id] && choose.Refusal(placed[0], h, now) == "" {
			used[id], tried[placed[0].Machine] = true, id
			least = min(least, leastImbalance(reqs, hosts, placed[1:], tried, used))
			delete(used, id)
			delete(tried, placed[0].Machine)
		}
	}

	return least
}

func balanced(reqs requests, hosts []host.Seen) bool {
	got, _ := choose.Assign(reqs, hosts, nil, nil, now)

	var placed requests

	for _, r := range reqs {
		if got[r.Machine] != "" {
			placed = append(placed, r)
		}
	}

	return imbalance(reqs, hosts, got) == leastImbalance(reqs, hosts, placed, map[string]string{}, map[string]bool{})
}

// TestAssign_isBalanced compares with all assignments of the same machines. Hardly any is
// more balanced: a machine is moved together with one other, not with a chain of them.
func TestAssign_isBalanced(t *testing.T) {
	t.Parallel()

	for name, pool := range map[string]func(*rand.Rand) (requests, []host.Seen){
		"a selector a machine": func(rnd *rand.Rand) (requests, []host.Seen) { return graph(rnd, choose.Ordered) },
		"a selector a pool":    twoPools,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			missed := 0

			for seed := range uint64(1000) {
				if reqs, hosts := pool(rand.New(rand.NewPCG(seed, 4))); !balanced(reqs, hosts) {
					missed++
				}
			}

			if missed > 10 {
				t.Errorf("%d of 1000 are not balanced", missed)
			}
		})
	}
}

func twoPools(rnd *rand.Rand) (requests, []host.Seen) {
	_, hosts := graph(rnd, choose.Ordered)

	var reqs requests

	theirs := []func(*choose.Request){where(string("abcd"[rnd.IntN(4)]), "1"), where(string("abcd"[rnd.IntN(4)]), "1")}
	for i := range rnd.IntN(7) {
		if rnd.IntN(2) == 0 {
			reqs = append(reqs, cp(i, theirs[0]))
		} else {
			reqs = append(reqs, worker(i, theirs[1], spread))
		}
	}

	return reqs, hosts
}

// TestAssign_balanceInRacks places many machines over racks of very different size.
func TestAssign_balanceInRacks(t *testing.T) {
	t.Parallel()

	var hosts []host.Seen

	for rack, size := range []int{400, 10, 60} {
		for i := range size {
			hosts = append(hosts, free(fmt.Sprintf("r%d-%d", rack, i), in(fmt.Sprint("rack-", rack))))
		}
	}

	var reqs requests
	for i := range 150 {
		reqs = append(reqs, worker(i, spread))
	}

	counts := map[byte]int{}

	got, _ := choose.Assign(reqs, hosts, nil, nil, now)
	for _, id := range got {
		counts[id[len("id-r")]]++
	}

	if counts['0'] != 80 || counts['1'] != 10 || counts['2'] != 60 {
		t.Errorf("racks have %v", counts)
	}
}
