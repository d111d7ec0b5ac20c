// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"maps"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
)

// posted is what machines know of each other while many are worked on side by side. Everything else
// of a member belongs to whoever works on it.
type posted struct {
	sight     Sight
	place     choose.Placed
	addresses map[string]addresses.Address
}

// post tells the others how a machine is.
func (w *worker) post(m *member) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.postLocked(m)
}

func (w *worker) postLocked(m *member) {
	w.board[m.Name] = posted{
		sight: m.sight(), addresses: maps.Clone(m.record.Addresses),
		place: choose.Placed{
			HostID: m.seen.Node.UUID, Domain: m.seen.Journal.FailureDomain, Pool: m.Pool, ControlPlane: m.Role == ControlPlane, Outdated: !m.upToDate(),
		},
	}
}

// has reports whether a machine has a host.
func (p posted) has() bool { return p.sight != "" && !p.sight.vacant() }

// taken are the machines that have a host.
func (w *worker) taken() map[string]choose.Placed {
	w.mu.Lock()
	defer w.mu.Unlock()

	out := map[string]choose.Placed{}

	for name, p := range w.board {
		if p.has() {
			out[name] = p.place
		}
	}

	return out
}

// exists reports whether a machine of that name is one of this cluster: Nodes of others are left alone.
func (w *worker) exists(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.board[name].has()
}

// runs reports whether a machine runs what it was made for.
func (w *worker) runs(m *member) bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.board[m.Name].sight == SeenActive
}

// addressesOf are the addresses of a machine.
func (w *worker) addressesOf(m *member) map[string]addresses.Address {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.board[m.Name].addresses
}
