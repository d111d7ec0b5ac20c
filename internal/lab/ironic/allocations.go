// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
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

var allocationFields = []string{"name", "uuid", "resource_class", "candidate_nodes", "traits", "extra", "node", "owner"}

func (c *call) createAllocation() (answer, error) {
	body, err := c.decode("allocation")
	if err != nil {
		return answer{}, err
	}

	for field := range body {
		if !slices.Contains(allocationFields, field) {
			return answer{}, invalid("Schema error for allocation: Additional properties are not allowed ('%s' was unexpected)", field)
		}
	}

	a := &allocation{
		UUID: text(body, "uuid"), Name: text(body, "name"), ResourceClass: text(body, "resource_class"), Owner: text(body, "owner"),
		State: "allocating", CreatedAt: c.now, Traits: stringsOf(body["traits"]),
	}
	a.Extra, _ = body["extra"].(map[string]any)

	if a.UUID == "" {
		a.UUID = newUUID()
	}

	if err := c.checkAllocation(a, text(body, "node")); err != nil {
		return answer{}, err
	}

	if err := c.resolveCandidates(a, stringsOf(body["candidate_nodes"])); err != nil {
		return answer{}, err
	}

	if a.Seq, err = c.next(); err != nil {
		return answer{}, err
	}

	shown := *a // what the caller sees is the allocation before anything was done

	if err := c.allocate(a, text(body, "node")); err != nil {
		return answer{}, err
	}

	return answer{
		status: http.StatusCreated, body: c.allocationDocument(&shown, nil), location: "allocations/" + a.UUID,
	}, c.tx.Put(allocationsBucket, a.UUID, a)
}

func (c *call) checkAllocation(a *allocation, backfill string) error {
	switch {
	case !isUUID(a.UUID):
		return invalid("Expected UUID for uuid: %s", a.UUID)
	case a.ResourceClass == "" && backfill == "":
		return invalid("The resource_class field is mandatory when not backfilling")
	}

	for _, ident := range []string{a.Name, a.UUID} {
		if ident == "" {
			continue
		}

		if _, err := c.allocation(ident); err == nil {
			what := "name"
			if ident == a.UUID {
				what = "UUID"
			}

			return conflict("An allocation with %s %s already exists.", what, ident)
		}
	}

	return nil
}

func (c *call) resolveCandidates(a *allocation, idents []string) error {
	var missing []string

	for _, ident := range idents {
		n, err := c.node(ident)
		if err != nil {
			missing = append(missing, ident)

			continue
		}

		a.Candidates = append(a.Candidates, n.UUID)
	}

	if missing != nil {
		return invalid("Nodes cannot be found: %s", strings.Join(missing, ", "))
	}

	return nil
}

// allocate chooses a node. The result, good or bad, is in the allocation; real Ironic takes
// some milliseconds in the background for it.
func (c *call) allocate(a *allocation, backfill string) error {
	a.UpdatedAt = c.now

	fit, err := c.suitable(a, backfill)
	if err != nil {
		return err
	}

	if len(fit) == 0 {
		a.State = "error"
		a.LastError = fmt.Sprintf("Failed to process allocation %s: no available nodes match the resource class %s.", a.UUID, a.ResourceClass)

		return nil
	}

	n := fit[0]
	if i := slices.IndexFunc(fit, func(n *node) bool { return n.Name == a.Name }); i >= 0 && c.minor >= 79 {
		n = fit[i]
	}

	a.State, a.NodeUUID = "active", n.UUID
	n.InstanceUUID, n.AllocationUUID, n.UpdatedAt = a.UUID, a.UUID, c.now
	n.InstanceInfo["traits"] = nonNil(a.Traits)

	return c.save(n)
}

// suitable are the nodes that an allocation can have. Ironic also wants the power state to be
// known, which it is not on fake hardware before the first power action.
func (c *call) suitable(a *allocation, backfill string) ([]*node, error) {
	if backfill != "" {
		n, err := c.node(backfill)
		if err != nil {
			return nil, invalid("%s", err)
		}

		if n.ProvisionState != active || n.InstanceUUID != "" {
			return nil, conflict("Cannot use node %s for backfilling: its state is %s", n.UUID, n.ProvisionState)
		}

		a.ResourceClass = n.ResourceClass

		return []*node{n}, nil
	}

	all, err := c.nodes()
	if err != nil {
		return nil, err
	}

	var fit []*node

	for _, n := range all {
		power, err := c.syncPower(n)
		if err != nil {
			return nil, err
		}

		lacks := slices.ContainsFunc(a.Traits, func(t string) bool { return !slices.Contains(n.Traits, t) })
		if n.ProvisionState == available && !n.Maintenance && power != "" && n.InstanceUUID == "" && !n.Retired && !lacks &&
			n.ResourceClass == a.ResourceClass && n.reservedBy("x") == "" &&
			(a.Candidates == nil || slices.Contains(a.Candidates, n.UUID)) {
			fit = append(fit, n)
		}
	}

	return fit, nil
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

func stringsOf(v any) []string {
	var out []string

	list, _ := v.([]any)
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}

	return out
}
