// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"time"
)

// State is what the Nodes say of one machine.
type State struct {
	Node       string // empty where it has none
	ProviderID string
	BootID     string
	Ready      string    // "True", "False" or "Unknown"; empty where nothing is said
	Since      time.Time // since when Ready is what it is
	Differs    []string  // what an apply would set or take away, for people
	Problem    string    // why its Node cannot be told; empty where it can
}

// Status says how the Nodes of machines are, from one list. A machine without a Node is in
// the answer, too.
func Status(ctx context.Context, api Workload, wants []Want) (map[string]State, error) {
	all, err := api.Nodes(ctx)
	if err != nil {
		return nil, fmt.Errorf("look at the Nodes: %w", err)
	}

	index := NewIndex(all)
	states := make(map[string]State, len(wants))

	for _, w := range wants {
		states[w.Machine] = index.state(w)
	}

	return states, nil
}

func (x *Index) state(w Want) State {
	found, err := x.Find(w, nil)
	if err != nil {
		return State{Problem: err.Error()}
	}

	if found.Node == nil {
		return State{}
	}

	n := found.Node

	return State{
		Node: n.Name, ProviderID: n.ProviderID, BootID: n.BootID, Ready: n.Ready, Since: n.ReadySince,
		Differs: changeFor(w, *n).differs,
	}
}
