// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// allocation is a claim of a node: bucket "ironic.allocations", key UUID.
type allocation struct {
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

func (c *call) allocationDocument(a *allocation, fields []string) map[string]any {
	extra := a.Extra
	if extra == nil {
		extra = map[string]any{}
	}

	doc := map[string]any{"links": links(c.base(), "allocations/"+a.UUID)}

	for field, v := range map[string]any{
		"uuid": a.UUID, "created_at": stamp(a.CreatedAt), "updated_at": stamp(a.UpdatedAt), "candidate_nodes": nonNil(a.Candidates),
		"extra": extra, "last_error": orNull(a.LastError), "name": orNull(a.Name), "owner": orNull(a.Owner),
		"resource_class": orNull(a.ResourceClass), "state": a.State, "traits": nonNil(a.Traits), "node_uuid": orNull(a.NodeUUID),
	} {
		if (field != "owner" || c.minor >= 60) && (fields == nil || slices.Contains(fields, field)) {
			doc[field] = v
		}
	}

	return doc
}

func (c *call) allocations() ([]*allocation, error) {
	var list []*allocation

	err := c.tx.Each(allocationsBucket, func(key string, raw json.RawMessage) error {
		a := &allocation{}
		if err := json.Unmarshal(raw, a); err != nil {
			return fmt.Errorf("lab ironic: allocation %s: %w", key, err)
		}

		list = append(list, a)

		return nil
	})

	slices.SortFunc(list, func(a, b *allocation) int { return a.Seq - b.Seq })

	return list, err
}

// allocation finds an allocation by UUID or name.
func (c *call) allocation(ident string) (*allocation, error) {
	all, err := c.allocations()
	if err != nil {
		return nil, err
	}

	for _, a := range all {
		if a.UUID == ident || a.Name == ident {
			return a, nil
		}
	}

	return nil, notFound("Allocation", ident)
}

func (c *call) listAllocations() (answer, error) {
	if c.minor < 52 {
		return answer{}, refuse(http.StatusNotFound, "Not Found")
	}

	q, err := c.listQuery("node", "resource_class", "state", "owner")
	if err != nil {
		return answer{}, err
	}

	all, err := c.allocations()
	if err != nil {
		return answer{}, err
	}

	owner := q.Get("node")
	if owner != "" {
		n, err := c.node(owner)
		if err != nil {
			return answer{}, err
		}

		owner = n.UUID
	}

	all = slices.DeleteFunc(all, func(a *allocation) bool {
		return owner != "" && a.NodeUUID != owner || q.Get("state") != "" && a.State != q.Get("state") ||
			q.Get("resource_class") != "" && a.ResourceClass != q.Get("resource_class")
	})

	all, next := page(c, q, all, func(a *allocation) string { return a.UUID }, nil, "allocations")
	docs := make([]any, 0, len(all))

	for _, a := range all {
		docs = append(docs, c.allocationDocument(a, q.fields))
	}

	body := map[string]any{"allocations": docs}
	if next != "" {
		body["next"] = next
	}

	return answer{status: http.StatusOK, body: body}, nil
}

func (c *call) showAllocation() (answer, error) {
	a, err := c.allocation(c.r.PathValue("a"))
	if err != nil {
		return answer{}, err
	}

	return answer{status: http.StatusOK, body: c.allocationDocument(a, nil)}, nil
}

// nodeAllocation is the allocation of the node in the path.
func (c *call) nodeAllocation() (*allocation, error) {
	n, err := c.target()
	if err != nil {
		return nil, err
	}

	if n.AllocationUUID == "" {
		return nil, refuse(http.StatusNotFound, "Allocation for node %s could not be found.", n.UUID)
	}

	return c.allocation(n.AllocationUUID)
}

func (c *call) showNodeAllocation() (answer, error) {
	a, err := c.nodeAllocation()
	if err != nil {
		return answer{}, err
	}

	return answer{status: http.StatusOK, body: c.allocationDocument(a, nil)}, nil
}

func (c *call) deleteNodeAllocation() (answer, error) {
	a, err := c.nodeAllocation()
	if err != nil {
		return answer{}, err
	}

	return c.dropAllocation(a)
}

func (c *call) deleteAllocation() (answer, error) {
	a, err := c.allocation(c.r.PathValue("a"))
	if err != nil {
		return answer{}, err
	}

	return c.dropAllocation(a)
}

func (c *call) dropAllocation(a *allocation) (answer, error) {
	if a.NodeUUID != "" {
		n, err := c.node(a.NodeUUID)
		if err != nil {
			return answer{}, err
		}

		if !n.Maintenance && !slices.Contains(configurable, n.ProvisionState) {
			return answer{}, conflict("Cannot remove allocation %s for node %s, because the node is in state %s where updates are not "+
				"allowed, and maintenance mode is off", a.UUID, n.UUID, n.ProvisionState)
		}

		if err := c.lock(n); err != nil {
			return answer{}, err
		}

		n.InstanceUUID, n.AllocationUUID, n.UpdatedAt = "", "", c.now
		delete(n.InstanceInfo, "traits")

		if err := c.save(n); err != nil {
			return answer{}, err
		}
	}

	return answer{status: http.StatusNoContent}, c.tx.Delete(allocationsBucket, a.UUID)
}

func (c *call) patchAllocation() (answer, error) {
	ops, err := c.operations([]string{"name", "extra"})
	if err != nil {
		return answer{}, err
	}

	a, err := c.allocation(c.r.PathValue("a"))
	if err != nil {
		return answer{}, err
	}

	doc := c.allocationDocument(a, nil)
	for _, op := range ops {
		if err := op.apply(doc); err != nil {
			return answer{}, err
		}
	}

	a.Name, a.UpdatedAt = text(doc, "name"), c.now
	a.Extra, _ = doc["extra"].(map[string]any)

	return answer{status: http.StatusOK, body: c.allocationDocument(a, nil)}, c.tx.Put(allocationsBucket, a.UUID, a)
}
