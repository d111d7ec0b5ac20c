// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// This file makes sure that a machine which leaves its host to be made anew finds one again: its own
// counts where it would be eligible as it comes back. A host that another machine leaves later does not.

// leaves reports whether a machine gives its host up before it is made anew from another template.
func (m *member) leaves() bool {
	surge, _ := m.pool.Bounds()

	return m.outdated() && m.vacates() && surge == 0
}

// vacates reports whether others may get the host of a machine while it is made anew.
func (m *member) vacates() bool {
	return m.pool.Rollout.Strategy == Replace && m.pool.Reuse != ReuseRequired
}

// succeeded refuses an apply that would take down machines which no host is left for, beside those
// that come. Nothing was touched yet.
func (w *worker) succeeded(assigned map[string]string) error {
	if w.Wanted.Wait.Level == LevelClaimed {
		return nil // nothing is made anew
	}

	var going []*member

	for _, m := range w.wantedMembers() {
		if m.leaves() {
			going = append(going, m)
		}
	}

	if err := w.successors(going, w.candidates(nil), assigned); err != nil {
		return fmt.Errorf("nothing was touched: %w", err)
	}

	return nil
}

// replaced refuses to take machines down that no host is left for now.
func (w *worker) replaced(ctx context.Context, batch []*member) error {
	going := slices.DeleteFunc(slices.Clone(batch), func(m *member) bool { return !m.vacates() })

	if len(going) == 0 {
		return nil
	}

	all, err := w.relist(ctx)
	if err != nil {
		return err
	}

	return w.successors(going, all, nil)
}

// successors matches machines that leave with hosts, as if they had left all at once, beside what
// others are assigned to.
func (w *worker) successors(going []*member, all []host.Seen, assigned map[string]string) error {
	if len(going) == 0 {
		return nil
	}

	var (
		slots  = make([]Slot, 0, len(going))
		leaves = make(map[string]bool, len(going))
		failed = map[string]bool{}
		taken  = w.taken()
	)

	for _, m := range going {
		slots = append(slots, m.Slot)
		leaves[m.seen.Node.UUID] = true

		for _, id := range m.avoid {
			failed[id] = true
		}
	}

	for name, id := range assigned {
		m := w.members[name]
		taken[name] = choose.Placed{HostID: id, Domain: w.hostAt(id).Journal.FailureDomain, Pool: m.Pool, ControlPlane: m.Role == ControlPlane}
	}

	hosts := make([]host.Seen, 0, len(all))

	for _, s := range all {
		switch id := s.Node.UUID; {
		case failed[id]:
		case leaves[id]:
			hosts = append(hosts, returned(s))
		default:
			hosts = append(hosts, s)
		}
	}

	if _, refused := w.Wanted.Assign(slots, hosts, taken); len(refused) > 0 {
		return fmt.Errorf("machines are not taken down for their new template, as no host would be left for them: %w\n\n"+
			"See to one of the hosts or enrol another one; rollout.strategy = \"rebuild\" makes machines anew where they are", &CapacityError{refused})
	}

	return nil
}

// returned is a host as it is once its machine has left it: in the pool again, but for what keeps it
// from that (a mark, a maintenance, its retirement).
func returned(s host.Seen) host.Seen {
	s.Node.ProvisionState, s.Node.TargetProvisionState, s.Node.LastError = ironic.Available, "", ""
	s.Node.InstanceUUID = ""
	s.Node.InstanceInfo = maps.Clone(s.Node.InstanceInfo)
	delete(s.Node.InstanceInfo, host.TenancyKey)

	return s
}
