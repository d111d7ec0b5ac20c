// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

const (
	// tick is the rhythm of all who wait for Nodes.
	tick = 5 * time.Second

	// breath is the least time between the beginnings of two lists of Nodes.
	breath = 500 * time.Millisecond
)

// Hub is a [Workload] whose lists of Nodes are shared by all who wait: two hundred machines
// cost one list a tick. It never overlaps lists, and rests when nobody waits.
type Hub struct {
	Workload

	rounds wait.Rounds[view]
}

// view is one list of Nodes.
type view struct {
	index *Index
	err   error
}

// everybody is what all wait for: the one list.
const everybody = ""

// NewHub makes a Hub on a workload cluster.
func NewHub(api Workload) *Hub {
	if h, ok := api.(*Hub); ok {
		return h
	}

	h := &Hub{Workload: api}
	h.rounds.Look = h.list

	return h
}

// Nodes returns a list that is begun after this call: at once, but for a breath after the
// last one. It is shared, and must not be changed.
func (h *Hub) Nodes(ctx context.Context) ([]kube.Node, error) {
	x, err := h.look(ctx, 0)
	if err != nil {
		return nil, err
	}

	return x.nodes, nil
}

// look is [Hub.Nodes], looked through once for all, after d at the latest. It comes earlier
// where somebody else's look is due earlier.
func (h *Hub) look(ctx context.Context, d time.Duration) (*Index, error) {
	v, err := h.rounds.Next(ctx, everybody, d)
	if err != nil {
		return nil, fmt.Errorf("list the Nodes: %w", err)
	}

	return v.index, v.err
}

// list answers all who wait.
func (h *Hub) list(ctx context.Context, present map[string][]chan<- view) time.Time {
	start := time.Now()

	var v view

	all, err := h.Workload.Nodes(ctx)
	if v.err = err; err == nil {
		v.index = NewIndex(all)
	}

	for _, got := range present[everybody] {
		got <- v
	}

	return start.Add(breath)
}
