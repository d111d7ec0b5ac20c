// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// Hosts is a backend that only answers reads, from memory, and counts them. Any other
// method panics: whoever only reads has no business there.
type Hosts struct {
	host.Backend

	Nodes       []ironic.Node
	Ports       map[string][]ironic.Port // by node
	Inventories map[string]string        // by node
	Hidden      string                   // a UUID that the list leaves out
	Fail        map[string]error         // by method

	mu    sync.Mutex
	calls map[string]int
}

// Calls tells how often a method was called.
func (h *Hosts) Calls(method string) int {
	h.mu.Lock()
	defer h.mu.Unlock()

	return h.calls[method]
}

func (h *Hosts) called(method string) error {
	h.mu.Lock()
	defer h.mu.Unlock()

	if h.calls == nil {
		h.calls = map[string]int{}
	}

	h.calls[method]++

	return h.Fail[method]
}

// Endpoint implements [host.Backend].
func (h *Hosts) Endpoint() string { return "http://hosts.test" }

// Refresh implements [host.Backend].
func (h *Hosts) Refresh(_ context.Context, id string) (host.Seen, error) {
	if err := h.called("Refresh"); err != nil {
		return host.Seen{}, err
	}

	seen, err := h.find(func(n ironic.Node) bool { return n.UUID == id })
	seen.Ports = h.Ports[id]

	if seen.Ports == nil {
		seen.Ports = []ironic.Port{}
	}

	return seen, err
}

// Missing implements [host.Backend].
func (h *Hosts) Missing() int { return 0 }

// All implements [host.Backend].
func (h *Hosts) All(context.Context) ([]host.Seen, error) {
	if err := h.called("All"); err != nil {
		return nil, err
	}

	var out []host.Seen

	for _, n := range h.Nodes {
		if n.UUID != h.Hidden {
			out = append(out, host.Seen{Node: n, Journal: host.ReadJournal(n.Extra)})
		}
	}

	return out, nil
}

// Look implements [host.Backend].
func (h *Hosts) Look(_ context.Context, id string) (host.Seen, error) {
	if err := h.called("Look"); err != nil {
		return host.Seen{}, err
	}

	return h.find(func(n ironic.Node) bool { return n.UUID == id || n.Name == id })
}

// ByMAC implements [host.Backend].
func (h *Hosts) ByMAC(_ context.Context, mac string) (host.Seen, error) {
	if err := h.called("ByMAC"); err != nil {
		return host.Seen{}, err
	}

	return h.find(func(n ironic.Node) bool {
		for _, p := range h.Ports[n.UUID] {
			if p.Address == mac {
				return true
			}
		}

		return false
	})
}

// Inventory implements [host.Backend].
func (h *Hosts) Inventory(_ context.Context, id string) (json.RawMessage, error) {
	if err := h.called("Inventory"); err != nil {
		return nil, err
	}

	doc, there := h.Inventories[id]
	if !there {
		return nil, host.ErrGone
	}

	return json.RawMessage(doc), nil
}

func (h *Hosts) find(match func(ironic.Node) bool) (host.Seen, error) {
	for _, n := range h.Nodes {
		if match(n) {
			return host.Seen{Node: n, Journal: host.ReadJournal(n.Extra)}, nil
		}
	}

	return host.Seen{}, fmt.Errorf("%w: 404", host.ErrGone)
}
