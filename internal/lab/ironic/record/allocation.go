// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
)

// Allocation is a claim of a node: bucket "ironic.allocations", key UUID.
type Allocation struct {
	UUID          string         `json:"uuid"`
	Seq           int            `json:"seq"`
	Name          string         `json:"name,omitempty"`
	State         string         `json:"state"`
	LastError     string         `json:"last_error,omitempty"`
	NodeUUID      string         `json:"node_uuid,omitempty"`
	ResourceClass string         `json:"resource_class,omitempty"`
	Owner         string         `json:"owner,omitempty"`
	Candidates    []string       `json:"candidate_nodes,omitempty"`
	Traits        []string       `json:"traits,omitempty"`
	Extra         map[string]any `json:"extra,omitempty"`
	CreatedAt     time.Time      `json:"created_at"`
	UpdatedAt     time.Time      `json:"updated_at,omitzero"`
}

// Allocations are all allocations in the order of their creation.
func (r Repo) Allocations() ([]*Allocation, error) {
	list, err := all[Allocation](r, allocationsBucket)
	slices.SortFunc(list, func(a, b *Allocation) int { return a.Seq - b.Seq })

	return list, err
}

// Allocation finds an allocation by UUID or name.
func (r Repo) Allocation(ident string) (*Allocation, error) {
	all, err := r.Allocations()
	if err != nil {
		return nil, err
	}

	for _, a := range all {
		if a.UUID == ident || a.Name == ident {
			return a, nil
		}
	}

	return nil, fault.NotFound("Allocation", ident)
}

// SaveAllocation remembers an allocation.
func (r Repo) SaveAllocation(a *Allocation) error { return r.Tx.Put(allocationsBucket, a.UUID, a) }

// DropAllocation forgets an allocation; the caller sets its node free.
func (r Repo) DropAllocation(id string) error { return r.Tx.Delete(allocationsBucket, id) }
