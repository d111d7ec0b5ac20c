// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/claim"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// CapacityError says that there are too few hosts. Nothing was claimed.
type CapacityError struct{ Refused []choose.Refused }

func (e *CapacityError) Error() string { return choose.Explain(e.Refused) }

// Request is what a machine asks of its host.
func (w *Wanted) Request(s Slot) choose.Request {
	p, _ := w.pool(s.Pool)
	o := w.Overrides[s.Name]

	r := choose.Request{
		Machine: s.Name, Cluster: w.Namespace + "/" + w.Name, ClaimID: s.ClaimID, Pool: s.Pool, ControlPlane: s.Role == ControlPlane,
		HostIDs: w.HostIDs, HostNames: w.HostNames, Pinned: o.HostID,
		Min: p.Hardware, ResourceClass: p.ResourceClass, Traits: p.Traits,
		Domain: p.Domain, DomainRequired: w.DomainsRequired, Spread: p.Spread, Selection: p.Selection,
	}

	own := p.Selector
	if o.Selector != nil {
		own = *o.Selector // instead of the pool's; what holds for the whole cluster holds for it, too
	}

	for _, each := range []choose.Selector{w.Selector, own} {
		if len(each.MatchLabels) > 0 || len(each.MatchExpressions) > 0 {
			r.Selectors = append(r.Selectors, each)
		}
	}

	if o.Domain != "" {
		r.Domain = o.Domain
	}

	for _, name := range sortedKeys(w.Domains) {
		if s.Role != ControlPlane || w.Domains[name].ControlPlane {
			r.Domains = append(r.Domains, name)
		}
	}

	return r
}

// Assign finds hosts for machines that have none: for all of them at once, from a list.
func (w *Wanted) Assign(slots []Slot, hosts []host.Seen, taken map[string]choose.Placed) (map[string]string, []choose.Refused) {
	reqs := make([]choose.Request, 0, len(slots))
	for _, s := range slots {
		reqs = append(reqs, w.Request(s))
	}

	return choose.Assign(reqs, hosts, taken, rand.IntN, time.Now())
}

// staff gives a host to every machine that has none: chosen for all at once, then claimed, the
// control plane first. Where the hosts do not suffice nothing is claimed, and where a claim fails
// those of this run are given back.
func (w *worker) staff(ctx context.Context) error {
	var missing []*member

	for _, m := range w.wantedMembers() {
		if m.sight().vacant() {
			missing = append(missing, m)
		}
	}

	if len(missing) == 0 {
		return w.succeeded(nil)
	}

	done, err := w.claiming.Enter(ctx)
	if err != nil {
		return err
	}
	defer done()

	slots := make([]Slot, 0, len(missing))
	for _, m := range missing {
		slots = append(slots, m.Slot)
	}

	assigned, refused := w.Wanted.Assign(slots, w.candidates(nil), w.taken())
	if err := w.refuse(refused); err != nil {
		return err
	}

	if err := w.succeeded(assigned); err != nil {
		return err
	}

	w.log(ctx, fmt.Sprintf("claiming hosts for %d machines", len(assigned)))

	err = w.claimAll(ctx, missing, assigned)
	if err == nil {
		return nil
	}

	return w.unclaim(ctx, missing, err)
}

// unclaim gives back what this run took, after a failure and before any deployment. Machines that were
// there before keep their hosts.
func (w *worker) unclaim(ctx context.Context, taken []*member, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()

	for _, m := range taken {
		if m.known || m.sight() != SeenClaimed {
			continue
		}

		if e := claim.Release(ctx, w.Far, m.ClaimID, m.seen); e != nil {
			err = errors.Join(err, e)

			continue
		}

		m.forget()
		w.post(m)
	}

	return err
}

// refuse is the error of machines without a host; with on_insufficient_hosts = "partial" they stay
// planned, and a warning says so.
func (w *worker) refuse(refused []choose.Refused) error {
	if len(refused) == 0 {
		return nil
	}

	if !w.Wanted.Partial {
		return &CapacityError{refused}
	}

	for _, r := range refused {
		w.members[r.Machine].err = &CapacityError{[]choose.Refused{r}}
	}

	w.warn("Too few hosts", choose.Explain(refused))

	return nil
}

// atOnce is how many claims are made side by side.
const atOnce = 10

func (w *worker) claimAll(ctx context.Context, missing []*member, assigned map[string]string) error {
	given := map[string]bool{}
	for _, id := range assigned {
		given[id] = true
	}

	var todo []*member

	for _, m := range missing {
		if assigned[m.Name] != "" {
			todo = append(todo, m)
		}
	}

	for _, m := range todo { // one after the other: the same pools give the same addresses
		if err := w.address(m, host.Seen{}); err != nil {
			return err
		}
	}

	return remote.Each(ctx, atOnce, todo, func(ctx context.Context, m *member) error {
		err := w.claimOne(ctx, m, []host.Seen{w.hostAt(assigned[m.Name])})

		var lost *claim.NoHostError
		if !errors.As(err, &lost) {
			return err
		}

		// Somebody else was faster. What nobody of this run was given may still be had.
		rest := choose.Candidates(w.Wanted.Request(m.Slot), w.candidates(given), w.taken(), rand.IntN, time.Now())
		if len(rest) == 0 {
			return err
		}

		return w.claimOne(ctx, m, rest)
	})
}

// hostAt is a host of the last list.
func (w *worker) hostAt(id string) host.Seen {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.hosts[id]
}

// claimOne claims the first of the candidates that can be had.
func (w *worker) claimOne(ctx context.Context, m *member, candidates []host.Seen) error {
	if err := w.address(m, host.Seen{}); err != nil {
		return err
	}

	w.describe(m)

	wish := w.Wanted.Request(m.Slot)

	r := w.request(m)
	r.Candidates, r.Extra, r.Note = candidates, extraOf(m.note), m.note.Value()
	r.Eligible = func(s host.Seen) string { return choose.Refusal(wish, s, time.Now()) }

	got, refused, err := claim.Acquire(ctx, w.Far, r)

	for name, why := range refused {
		w.log(ctx, fmt.Sprintf("machine %s: host %s could not be had: %s", m.Name, name, why))
	}

	if err != nil {
		return err
	}

	if got.Host.Ports == nil {
		got.Host.Ports = w.hostAt(got.Host.Node.UUID).Ports
	}

	m.kind = got.Kind
	w.take(m, got.Host)
	w.log(ctx, "machine "+m.Name+" has host "+choose.Name(got.Host))

	return nil
}

// request names a machine to package claim.
func (w *worker) request(m *member) claim.Request {
	return claim.Request{ID: m.ClaimID, Namespace: w.Wanted.Namespace, Cluster: w.Wanted.Name, Machine: m.Name}
}

// describe makes the note of a machine that is to be claimed or deployed.
func (w *worker) describe(m *member) {
	m.note.ID, m.note.Kind, m.note.OwnerID = m.ClaimID, host.KindMachine, w.Wanted.OwnerID
	m.note.Namespace, m.note.Cluster, m.note.Machine = w.Wanted.Namespace, w.Wanted.Name, m.Name
	m.note.Role, m.note.Pool, m.note.Index = string(m.Role), m.Pool, m.Index
	m.note.Fingerprint, m.note.Keys = w.Wanted.Fingerprint(), w.Wanted.keysOf()
	m.note.Addresses = map[string]string{}

	for pool, a := range m.record.Addresses {
		m.note.Addresses[pool] = a.Address
	}
}

// extraOf is what an allocation says of its machine.
func extraOf(t host.Tenancy) map[string]string {
	out := map[string]string{
		extraRole: t.Role, extraPool: t.Pool, extraIndex: fmt.Sprint(t.Index), extraOwner: t.OwnerID, extraFingerprint: t.Fingerprint,
	}

	for pool, address := range t.Addresses {
		out[extraAddress+pool] = address
	}

	return out
}

// candidates are all hosts but those that are given to others, in no order.
func (w *worker) candidates(given map[string]bool) []host.Seen {
	w.mu.Lock()
	defer w.mu.Unlock()

	out := make([]host.Seen, 0, len(w.hosts))

	for id, s := range w.hosts {
		if !given[id] {
			out = append(out, s)
		}
	}

	return out
}

// allHosts are all hosts of the last list.
func (w *worker) allHosts() []host.Seen { return slices.Collect(maps.Values(w.hosts)) }

// wantedMembers are the machines that are to be there, the control plane first, each pool by index.
func (w *worker) wantedMembers() []*member {
	var out []*member

	for _, p := range w.Wanted.Pools {
		out = append(out, w.of(p.Name)...)
	}

	return out
}

// of are the machines of a pool that are to be there, by index.
func (w *worker) of(pool string) []*member {
	var out []*member

	for _, m := range w.members {
		if m.Pool == pool && !m.unwanted {
			out = append(out, m)
		}
	}

	slices.SortFunc(out, func(a, b *member) int { return a.Index - b.Index })

	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func joined(names []string) string { return strings.Join(names, ", ") }
