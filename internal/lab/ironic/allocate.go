// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

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
