// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/claim"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// ErrOtherIronic means that the service which is asked shows nothing of what the cluster had.
var ErrOtherIronic = errors.New("this looks like another Ironic")

// look takes one list of hosts and one of claims, and finds the cluster's machines among them.
func (w *worker) look(ctx context.Context) error {
	found, err := claim.Leftover(ctx, w.Far, w.Wanted.Namespace, w.Wanted.Name)
	if err != nil {
		return fmt.Errorf("looking for machines of cluster %s/%s: %w", w.Wanted.Namespace, w.Wanted.Name, err)
	}

	all, err := w.Far.All(ctx) // the same list again
	if err != nil {
		return fmt.Errorf("listing hosts: %w", err)
	}

	w.mu.Lock()
	defer w.mu.Unlock()

	clear(w.hosts)

	for _, s := range all {
		w.hosts[s.Node.UUID] = s
	}

	w.noteForeign(all)

	for _, m := range w.members {
		m.forget()
	}

	for _, f := range found {
		w.place(f)
	}

	for _, m := range w.members {
		w.postLocked(m)
	}

	return w.sameIronic(all)
}

// forget drops what an earlier look showed.
func (m *member) forget() { m.seen, m.note, m.kind = host.Seen{}, host.Tenancy{}, "" }

// place puts what was found at its machine; one that the state does not know yet is a member from now on.
func (w *worker) place(f claim.Found) {
	note := host.ReadTenancy(f.Host.Node.InstanceInfo)
	if a := f.Allocation; note.Machine == "" && a != nil {
		note = fromExtra(a.Extra)
	}

	m := w.members[f.Machine]
	if m == nil {
		m = &member{Slot: Slot{Name: f.Machine, Pool: note.Pool, Role: Role(note.Role), Index: note.Index}}
		m.record = Machine{Name: f.Machine, Pool: note.Pool, Role: Role(note.Role), Index: note.Index}
		w.members[f.Machine] = m
	}

	if f.HostID == "" && m.seen.Node.UUID != "" {
		return // a failed allocation beside the claim that counts
	}

	m.known, m.seen, m.note, m.kind, m.ClaimID = true, f.Host, note, f.Kind, f.ID
}

// noteForeign notes the addresses that machines of other clusters have in pools of the same name: a
// pool without an index is shared by who asks first.
func (w *worker) noteForeign(all []host.Seen) {
	clear(w.foreign)

	for _, s := range all {
		t, ok := s.Tenancy()
		if !ok || t.Namespace == w.Wanted.Namespace && t.Cluster == w.Wanted.Name {
			continue
		}

		for pool, address := range t.Addresses {
			if w.foreign[pool] == nil {
				w.foreign[pool] = map[string]string{}
			}

			w.foreign[pool][address] = t.ID
		}
	}
}

// sameIronic refuses a list that shows none of the hosts that the cluster's machines are on.
func (w *worker) sameIronic(all []host.Seen) error {
	known := 0

	for _, m := range w.members {
		if m.record.HostID == "" {
			continue
		}

		if known++; slices.ContainsFunc(all, func(s host.Seen) bool { return s.Node.UUID == m.record.HostID }) {
			return nil
		}
	}

	if known == 0 || w.anyFound() {
		return nil
	}

	return fmt.Errorf("%w: none of the %d hosts of cluster %s/%s is known at %s, which has %d nodes; check the provider's ironic settings",
		ErrOtherIronic, known, w.Wanted.Namespace, w.Wanted.Name, w.Far.Endpoint(), len(all))
}

func (w *worker) anyFound() bool {
	for _, m := range w.members {
		if m.seen.Node.UUID != "" {
			return true
		}
	}

	return false
}

// lookAt looks at one machine's host as it is now.
func (w *worker) lookAt(ctx context.Context, m *member) error {
	id := m.seen.Node.UUID
	if id == "" {
		return nil
	}

	s, err := w.Far.Look(ctx, id)
	if errors.Is(err, host.ErrGone) {
		m.forget()
		w.post(m)

		return nil
	}

	if err != nil {
		return err
	}

	s.Ports = m.seen.Ports
	w.take(m, s)

	return nil
}

// take makes a look at a host the machine's.
func (w *worker) take(m *member, s host.Seen) {
	if s.Ports == nil {
		s.Ports = m.seen.Ports
	}

	m.seen = s
	if t, ok := s.Tenancy(); ok {
		m.note = t
	}

	w.mu.Lock()
	w.hosts[s.Node.UUID] = s
	w.postLocked(m)
	w.mu.Unlock()
}

// sight is what the last look at a machine's host means for the machine.
func (m *member) sight() Sight {
	n := m.seen.Node

	switch {
	case n.UUID == "":
		return SeenNothing
	case n.InstanceUUID != m.ClaimID && m.kind != claim.KindNote:
		return SeenReturned
	case n.ProvisionState == ironic.Active:
		if m.note.Deployed != "" && m.note.Deploying != "" && m.note.Deploying != m.note.Deployed {
			return SeenHalf
		}

		return SeenActive
	case n.ProvisionState == ironic.DeployFailed, n.ProvisionState == ironic.Error:
		return SeenFailed
	case m.seen.Offered(), slices.Contains(idle, n.ProvisionState):
		return SeenClaimed
	default:
		return SeenBusy
	}
}

// idle are the states of a host that has nothing of a machine on it.
var idle = []ironic.State{ironic.Available, ironic.Manageable, ironic.Enroll, ironic.InspectFailed, ironic.CleanFailed}

// fromExtra reads who a claim belongs to from its allocation, where the note on the node is missing.
func fromExtra(extra map[string]string) host.Tenancy {
	t := host.Tenancy{
		Namespace: extra[claim.ExtraNamespace], Cluster: extra[claim.ExtraCluster], Machine: extra[claim.ExtraMachine],
		Role: extra[extraRole], Pool: extra[extraPool], OwnerID: extra[extraOwner], Deploying: extra[extraTemplate], Fingerprint: extra[extraFingerprint],
	}

	_, _ = fmt.Sscanf(extra[extraIndex], "%d", &t.Index)

	for key, value := range extra {
		if pool, ok := strings.CutPrefix(key, extraAddress); ok {
			if t.Addresses == nil {
				t.Addresses = map[string]string{}
			}

			t.Addresses[pool] = value
		}
	}

	return t
}

// The keys of an allocation's extra beside those of package claim.
const (
	extraRole        = "role"
	extraPool        = "pool"
	extraIndex       = "index"
	extraOwner       = "owner_id"
	extraTemplate    = "template_hash"
	extraFingerprint = "fingerprint"
	extraAddress     = "ip."
)
