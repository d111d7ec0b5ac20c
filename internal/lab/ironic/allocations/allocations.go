// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package allocations is the endpoints of the lab's Ironic that are about allocations, a
// node's own among them.
package allocations

import (
	"net/http"
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
)

// Routes are the paths of allocations.
var Routes = map[string]api.Endpoint{
	"GET /v1/allocations":                listAllocations,
	"POST /v1/allocations":               createAllocation,
	"GET /v1/allocations/{a}":            showAllocation,
	"PATCH /v1/allocations/{a}":          patchAllocation,
	"DELETE /v1/allocations/{a}":         deleteAllocation,
	"GET /v1/nodes/{node}/allocation":    showNodeAllocation,
	"DELETE /v1/nodes/{node}/allocation": deleteNodeAllocation,
}

func allocationDocument(c *api.Call, a *record.Allocation, fields []string) map[string]any {
	return c.Shape("allocations/"+a.UUID, map[string]any{
		"uuid": a.UUID, "created_at": record.Stamp(a.CreatedAt), "updated_at": record.Stamp(a.UpdatedAt),
		"candidate_nodes": api.NonNil(a.Candidates), "extra": api.NonNilMap(a.Extra), "last_error": record.OrNull(a.LastError),
		"name": record.OrNull(a.Name), "owner": record.OrNull(a.Owner),
		"resource_class": record.OrNull(a.ResourceClass), "state": a.State, "traits": api.NonNil(a.Traits), "node_uuid": record.OrNull(a.NodeUUID),
	}, map[string]int{"owner": 60}, fields)
}

func listAllocations(c *api.Call) (api.Answer, error) {
	if err := c.Since(52); err != nil {
		return api.Answer{}, err
	}

	q, err := c.Query("node", "resource_class", "state", "owner")
	if err != nil {
		return api.Answer{}, err
	}

	all, err := c.Allocations()
	if err != nil {
		return api.Answer{}, err
	}

	owner := q.Get("node")
	if owner != "" {
		n, err := c.Node(owner)
		if err != nil {
			return api.Answer{}, err
		}

		owner = n.UUID
	}

	all = slices.DeleteFunc(all, func(a *record.Allocation) bool {
		return owner != "" && a.NodeUUID != owner || q.Get("state") != "" && a.State != q.Get("state") ||
			q.Get("resource_class") != "" && a.ResourceClass != q.Get("resource_class")
	})

	return api.Page(c, q, all, api.Listing[*record.Allocation]{
		Name: "allocations", Path: "allocations",
		ID: func(a *record.Allocation) string { return a.UUID },
		Document: func(a *record.Allocation, fields []string) (map[string]any, error) {
			return allocationDocument(c, a, fields), nil
		},
	})
}

func showAllocation(c *api.Call) (api.Answer, error) {
	a, err := c.Allocation(c.R.PathValue("a"))
	if err != nil {
		return api.Answer{}, err
	}

	return api.OK(allocationDocument(c, a, nil)), nil
}

// nodeAllocation is the allocation of the node in the path.
func nodeAllocation(c *api.Call) (*record.Allocation, error) {
	n, err := c.Target(0)
	if err != nil {
		return nil, err
	}

	if n.AllocationUUID == "" {
		return nil, fault.Refuse(http.StatusNotFound, "Allocation for node %s could not be found.", n.UUID)
	}

	return c.Allocation(n.AllocationUUID)
}

func showNodeAllocation(c *api.Call) (api.Answer, error) {
	a, err := nodeAllocation(c)
	if err != nil {
		return api.Answer{}, err
	}

	return api.OK(allocationDocument(c, a, nil)), nil
}

func deleteNodeAllocation(c *api.Call) (api.Answer, error) {
	a, err := nodeAllocation(c)
	if err != nil {
		return api.Answer{}, err
	}

	return release(c, a)
}

func deleteAllocation(c *api.Call) (api.Answer, error) {
	a, err := c.Allocation(c.R.PathValue("a"))
	if err != nil {
		return api.Answer{}, err
	}

	return release(c, a)
}

// release ends an allocation and sets its node free.
func release(c *api.Call, a *record.Allocation) (api.Answer, error) {
	if a.NodeUUID != "" {
		n, err := c.Node(a.NodeUUID)
		if err != nil {
			return api.Answer{}, err
		}

		if !n.Free() {
			return api.Answer{}, fault.Conflict("Cannot remove allocation %s for node %s, because the node is in state %s where updates are not "+
				"allowed, and maintenance mode is off", a.UUID, n.UUID, n.ProvisionState)
		}

		if err := c.Lock(n); err != nil {
			return api.Answer{}, err
		}

		n.InstanceUUID, n.AllocationUUID, n.UpdatedAt = "", "", c.Now
		delete(n.InstanceInfo, "traits")

		if err := c.SaveNode(n); err != nil {
			return api.Answer{}, err
		}
	}

	return api.Answer{Status: http.StatusNoContent}, c.DropAllocation(a.UUID)
}

func patchAllocation(c *api.Call) (api.Answer, error) {
	ops, err := c.Operations([]string{"name", "extra"})
	if err != nil {
		return api.Answer{}, err
	}

	a, err := c.Allocation(c.R.PathValue("a"))
	if err != nil {
		return api.Answer{}, err
	}

	doc := allocationDocument(c, a, nil)
	for _, op := range ops {
		if err := op.Apply(doc); err != nil {
			return api.Answer{}, err
		}
	}

	a.Name, a.UpdatedAt = record.Text(doc, "name"), c.Now
	a.Extra, _ = doc["extra"].(map[string]any)

	return api.Answer{Status: http.StatusOK, Body: allocationDocument(c, a, nil)}, c.SaveAllocation(a)
}
