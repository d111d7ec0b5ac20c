// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package allocations

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/state"
)

var allocationFields = []string{"name", "uuid", "resource_class", "candidate_nodes", "traits", "extra", "node", "owner"}

func createAllocation(c *api.Call) (api.Answer, error) {
	body, err := c.Decode("allocation")
	if err != nil {
		return api.Answer{}, err
	}

	for field := range body {
		if !slices.Contains(allocationFields, field) {
			return api.Answer{}, fault.Invalid("Schema error for allocation: Additional properties are not allowed ('%s' was unexpected)", field)
		}
	}

	a := &record.Allocation{
		UUID: record.Text(body, "uuid"), Name: record.Text(body, "name"), ResourceClass: record.Text(body, "resource_class"),
		Owner: record.Text(body, "owner"), State: "allocating", CreatedAt: c.Now, Traits: stringsOf(body["traits"]),
	}
	a.Extra, _ = body["extra"].(map[string]any)

	if a.UUID == "" {
		a.UUID = record.NewUUID()
	}

	if err := checkAllocation(c, a, record.Text(body, "node")); err != nil {
		return api.Answer{}, err
	}

	if err := resolveCandidates(c, a, stringsOf(body["candidate_nodes"])); err != nil {
		return api.Answer{}, err
	}

	if a.Seq, err = c.Next(); err != nil {
		return api.Answer{}, err
	}

	shown := *a // what the caller sees is the allocation before anything was done

	if err := allocate(c, a, record.Text(body, "node")); err != nil {
		return api.Answer{}, err
	}

	if record.Text(body, "node") != "" {
		shown = *a // a backfill is done at once
	}

	return api.Answer{
		Status: http.StatusCreated, Body: allocationDocument(c, &shown, nil), Location: "allocations/" + a.UUID,
	}, c.SaveAllocation(a)
}

func checkAllocation(c *api.Call, a *record.Allocation, backfill string) error {
	switch {
	case !record.IsUUID(a.UUID):
		return fault.Invalid("Expected UUID for uuid: %s", a.UUID)
	case a.ResourceClass == "" && backfill == "":
		return fault.Invalid("The resource_class field is mandatory when not backfilling")
	}

	for _, ident := range []string{a.Name, a.UUID} {
		if ident == "" {
			continue
		}

		if _, err := c.Allocation(ident); err == nil {
			what := "name"
			if ident == a.UUID {
				what = "UUID"
			}

			return fault.Conflict("An allocation with %s %s already exists.", what, ident)
		}
	}

	return nil
}

func resolveCandidates(c *api.Call, a *record.Allocation, idents []string) error {
	var missing []string

	for _, ident := range idents {
		n, err := c.Node(ident)
		if err != nil {
			missing = append(missing, ident)

			continue
		}

		a.Candidates = append(a.Candidates, n.UUID)
	}

	if missing != nil {
		return fault.Invalid("Nodes cannot be found: %s", strings.Join(missing, ", "))
	}

	return nil
}

// allocate chooses a node. The result, good or bad, is in the allocation; real Ironic takes
// some milliseconds in the background for it.
func allocate(c *api.Call, a *record.Allocation, backfill string) error {
	a.UpdatedAt = c.Now

	fit, err := suitable(c, a, backfill)
	if err != nil {
		return err
	}

	if len(fit) == 0 {
		a.State = "error"
		who := "no available nodes match"

		if a.Candidates != nil {
			who = "none of the requested nodes are available and match"
		}

		a.LastError = fmt.Sprintf("Failed to process allocation %s: %s the resource class %s.", a.UUID, who, a.ResourceClass)

		return nil
	}

	n := fit[0]
	if i := slices.IndexFunc(fit, func(n *record.Node) bool { return n.Name == a.Name }); i >= 0 && c.Minor >= 79 {
		n = fit[i]
	}

	a.State, a.NodeUUID = "active", n.UUID
	n.InstanceUUID, n.AllocationUUID, n.UpdatedAt = a.UUID, a.UUID, c.Now
	n.InstanceInfo["traits"] = api.NonNil(a.Traits)

	return c.SaveNode(n)
}

// suitable are the nodes that an allocation can have; the mark "retired" is not looked at. Ironic also wants the power state to be
// known, which it is not on fake hardware before the first power action.
func suitable(c *api.Call, a *record.Allocation, backfill string) ([]*record.Node, error) {
	if backfill != "" {
		n, err := c.Node(backfill)
		if err != nil {
			return nil, fault.Invalid("%s", err)
		}

		if n.ProvisionState != state.Active || n.InstanceUUID != "" {
			return nil, fault.Refuse(http.StatusInternalServerError, "Failed to process allocation %s: Cannot backfill an allocation for node %s: "+
				`Node must be in the "active" state, but the current state is "%s".`, a.UUID, n.UUID, n.ProvisionState)
		}

		a.ResourceClass = n.ResourceClass

		return []*record.Node{n}, nil
	}

	all, err := c.Nodes()
	if err != nil {
		return nil, err
	}

	var fit []*record.Node

	for _, n := range all {
		power, err := c.SyncPower(n)
		if err != nil {
			return nil, err
		}

		lacks := slices.ContainsFunc(a.Traits, func(t string) bool { return !slices.Contains(n.Traits, t) })
		if n.ProvisionState == state.Available && !n.Maintenance && power != "" && n.InstanceUUID == "" && !lacks &&
			n.ResourceClass == a.ResourceClass && n.ReservedBy(c.Host) == "" &&
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
