// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// Slot is a machine that there is to be.
type Slot struct {
	Name, Pool string
	Role       Role
	Index      int
	ClaimID    string
}

// Lineup says which machines a cluster is to have.
type Lineup struct {
	Keep  []Slot    // there are
	Add   []Slot    // are missing
	Leave []Machine // are too many, the first to go first
}

// Slots are all machines that are to be there, the control plane first, each pool by index.
func (l Lineup) Slots() []Slot { return slices.Concat(l.Keep, l.Add) }

// MachineName is the name of the machine with an index in a pool.
func (w *Wanted) MachineName(pool string, index int) string {
	format := w.NameFormat
	if format == "" {
		format = DefaultNameFormat
	}

	return strings.NewReplacer("{cluster}", w.Name, "{pool}", pool, "{index}", strconv.Itoa(index)).Replace(format)
}

// DefaultNameFormat is how machines are called.
const DefaultNameFormat = "{cluster}-{pool}-{index}"

// slot is the machine with an index in a pool.
func (w *Wanted) slot(p Pool, index int) Slot {
	name := w.MachineName(p.Name, index)

	return Slot{Name: name, Pool: p.Name, Role: p.Role, Index: index, ClaimID: host.MachineClaim(w.Namespace, w.Name, name)}
}

// Lineup decides from what there is which machines stay, come and go. It is pure and gives the
// same answer at plan and at apply: a free index is reused, the lowest first, and no machine that
// stays ever changes its index.
func (w *Wanted) Lineup(have map[string]Machine) Lineup {
	var l Lineup

	for _, p := range w.Pools {
		mine := inPool(have, p.Name)
		victims := w.victims(p, mine)
		used := map[int]bool{}

		for _, m := range mine {
			used[m.Index] = true

			if !slices.ContainsFunc(victims, func(v Machine) bool { return v.Name == m.Name }) {
				l.Keep = append(l.Keep, Slot{Name: m.Name, Pool: p.Name, Role: p.Role, Index: m.Index, ClaimID: m.ClaimID})
			}
		}

		for index, missing := 0, p.Replicas-len(mine); missing > 0; index++ {
			if !used[index] {
				l.Add = append(l.Add, w.slot(p, index))
				missing--
			}
		}

		l.Leave = append(l.Leave, victims...)
	}

	// Machines of pools that are no longer configured.
	for _, name := range sortedKeys(have) {
		if _, ok := w.pool(have[name].Pool); !ok {
			l.Leave = append(l.Leave, have[name])
		}
	}

	return l
}

// inPool are the machines of a pool by index.
func inPool(have map[string]Machine, pool string) []Machine {
	var out []Machine

	for _, m := range have {
		if m.Pool == pool {
			out = append(out, m)
		}
	}

	slices.SortFunc(out, func(a, b Machine) int { return cmp.Or(cmp.Compare(a.Index, b.Index), strings.Compare(a.Name, b.Name)) })

	return out
}

// victims are the machines that a pool has too many, the first to go first: those that the user
// named, then those that have no host, then those that are ill, then, in the middle of a rollout, those that are outdated, then
// as the pool's policy says.
func (w *Wanted) victims(p Pool, mine []Machine) []Machine {
	surplus := len(mine) - p.Replicas
	if surplus <= 0 {
		return nil
	}

	rank := func(m Machine) int {
		switch {
		case slices.Contains(w.DeleteMachines, m.Name):
			return 0
		case m.HostID == "":
			return 1
		case m.State == StateError || m.State == StateUnhealthy || m.State == StateDeprovisioning:
			return 2
		case !m.UpToDate && p.Rollout.Strategy != OnDelete && p.Rollout.MaxSurge.Number > 0:
			return 3
		default:
			return 4
		}
	}

	order := slices.Clone(mine)
	slices.SortStableFunc(order, func(a, b Machine) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), byPolicy(p.ScaleIn, a, b))
	})

	return order[:surplus]
}

// byPolicy compares two machines by who goes first. Machines whose age is not known count as new.
func byPolicy(policy string, a, b Machine) int {
	index := cmp.Compare(b.Index, a.Index)

	switch policy {
	case "newest":
		return cmp.Or(strings.Compare(age(b), age(a)), index)
	case "oldest":
		return cmp.Or(strings.Compare(age(a), age(b)), index)
	default:
		return index
	}
}

func age(m Machine) string {
	if m.Provisioned == "" {
		return "9" // after every date
	}

	return m.Provisioned
}

// CheckDeprovision refuses an apply that takes down more machines than it may.
func (w *Wanted) CheckDeprovision(names []string) error {
	if w.MaxDeprovision == nil || len(names) <= *w.MaxDeprovision {
		return nil
	}

	return fmt.Errorf("the apply would take down %d machines (%s), and max_deprovision_per_apply is %d: raise it, or change less at a time",
		len(names), strings.Join(names, ", "), *w.MaxDeprovision)
}

// CheckQuorum refuses a rollout that would end the etcd of the control plane: with fewer than three
// members, of which one goes before another one comes, there is no majority.
func (w *Wanted) CheckQuorum(remade []string) error {
	p, ok := w.pool(ControlPlanePool)
	if !ok || len(remade) == 0 || !p.Interrupts() || w.Bootstrap == nil || w.ExternalEtcd || w.AllowDisruption {
		return nil
	}

	return fmt.Errorf("the control plane would not survive its rollout (%s): with %d replicas, which hold the cluster's etcd, and none made beside them (max_surge = 0), the first one that goes takes the majority with it. "+
		"Set rollout.max_surge = 1, or rollout.allow_disruption = true where the cluster may be lost", strings.Join(remade, ", "), p.Replicas)
}

// Interrupts reports whether a rollout of a control plane interrupts it.
func (p Pool) Interrupts() bool {
	const majority = 3

	surge, _ := p.Bounds()

	return p.Role == ControlPlane && surge == 0 && p.Replicas < majority
}
