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

// Vacates reports whether others may get the host of a machine of a pool while it is made anew.
func (p Pool) Vacates() bool { return p.Rollout.Strategy == Replace && p.Reuse != ReuseRequired }

// Leaves reports whether machines of a pool give their hosts up before they are made anew: others may
// get those, and none is made beside them.
func (p Pool) Leaves() bool {
	surge, _ := p.Bounds()

	return p.Vacates() && surge == 0
}

// succeeded refuses an apply that would take down machines which no host is left for, beside those
// that come. Nothing was touched yet.
func (w *worker) succeeded(assigned map[string]string) error {
	if w.Wanted.Wait.Level == LevelClaimed {
		return nil // nothing is made anew
	}

	var going []*member

	for _, m := range w.wantedMembers() {
		if m.outdated() && m.pool.Leaves() {
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
	going := slices.DeleteFunc(slices.Clone(batch), func(m *member) bool { return !m.pool.Vacates() })

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
	var (
		leave  = make([]Leaver, 0, len(going))
		failed []string
		taken  = w.taken()
	)

	for _, m := range going {
		leave = append(leave, Leaver{m.Slot, m.seen.Node.UUID})
		failed = append(failed, m.avoid...)
	}

	coming := make([]Slot, 0, len(assigned))
	for name := range assigned {
		coming = append(coming, w.members[name].Slot)
	}

	Seat(taken, coming, assigned, all)

	all = slices.DeleteFunc(slices.Clone(all), func(s host.Seen) bool { return slices.Contains(failed, s.Node.UUID) })

	return w.Wanted.CheckSuccessors(leave, all, taken)
}

// Seat adds machines to those that have a host, once one of a list was assigned to them.
func Seat(taken map[string]choose.Placed, coming []Slot, assigned map[string]string, all []host.Seen) {
	domains := make(map[string]string, len(all))
	for _, s := range all {
		domains[s.Node.UUID] = s.Journal.FailureDomain
	}

	for _, s := range coming {
		if id := assigned[s.Name]; id != "" {
			taken[s.Name] = choose.Placed{HostID: id, Domain: domains[id], Pool: s.Pool, ControlPlane: s.Role == ControlPlane}
		}
	}
}

// Leaver is a machine that leaves its host before it is made anew, perhaps on another one.
type Leaver struct {
	Slot

	HostID string
}

// CheckSuccessors refuses to take machines down together that no host of a list would be left for.
func (w *Wanted) CheckSuccessors(going []Leaver, all []host.Seen, taken map[string]choose.Placed) error {
	if len(going) == 0 {
		return nil
	}

	slots := make([]Slot, 0, len(going))
	left := make(map[string]bool, len(going))

	for _, l := range going {
		slots = append(slots, l.Slot)
		left[l.HostID] = true
	}

	hosts := slices.Clone(all)

	for i, s := range hosts {
		if left[s.Node.UUID] {
			hosts[i] = returned(s)
		}
	}

	if _, refused := w.Assign(slots, hosts, taken); len(refused) > 0 {
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
