// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/conductor"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/state"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/version"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// namePattern is what a node may be called from API 1.10 on: RFC 3986's unreserved characters.
var namePattern = regexp.MustCompile(`^[a-zA-Z0-9\-._~]+$`)

// reservedNames are names that are paths below /v1/nodes.
var reservedNames = []string{"detail", "maintenance", "management", "states", "vendor_passthru", "validate", "ports"}

func validName(name string) bool {
	return namePattern.MatchString(name) && !record.IsUUID(name) && !slices.Contains(reservedNames, name) && len(name) <= 255
}

// statesPath is where the progress of what was asked for shows.
func statesPath(c *api.Call) string { return "nodes/" + c.R.PathValue("node") + "/states" }

func showNode(c *api.Call) (api.Answer, error) {
	q, err := c.Query()
	if err != nil {
		return api.Answer{}, err
	}

	if err := checkFields(c, q.Fields); err != nil {
		return api.Answer{}, err
	}

	n, err := c.Target(0)
	if err != nil {
		return api.Answer{}, err
	}

	doc, err := document(c, n, q.Fields)

	return api.OK(doc), err
}

// creatable are the fields of POST /v1/nodes that are not taken over by patching an empty node.
var creatable = []string{"uuid", "driver"}

func createNode(c *api.Call) (api.Answer, error) {
	body, err := c.Decode("node")
	if err != nil {
		return api.Answer{}, err
	}

	n, err := newNode(c, body)
	if err != nil {
		return api.Answer{}, err
	}

	if err := c.CheckInterfaces(n); err != nil {
		return api.Answer{}, err
	}

	if err := unique(c, n, &record.Node{}); err != nil {
		return api.Answer{}, err
	}

	if err := c.AddNode(n); err != nil {
		return api.Answer{}, err
	}

	doc, err := document(c, n, nil)

	return api.Answer{Status: http.StatusCreated, Body: doc, Location: "nodes/" + n.UUID}, err
}

// newNode makes a node from the body of a POST.
func newNode(c *api.Call, body map[string]any) (*record.Node, error) {
	n := &record.Node{CreatedAt: c.Now, ProvisionState: state.Enroll}
	if c.Minor < 11 { // "enroll" is the first state from 1.11 on only
		n.ProvisionState = state.Available
	}

	n.Fill()

	if body["driver"] == nil {
		return nil, fault.Invalid("Schema error for node: 'driver' is a required property")
	}

	for field, v := range body {
		if !slices.Contains(creatable, field) && (!isPatchable(field) || slices.Contains(patchOnly, field)) {
			return nil, fault.Invalid("Schema error for node: Additional properties are not allowed ('%s' was unexpected)", field)
		}

		if version.FieldSince[field] > c.Minor {
			return nil, fault.NotAcceptable()
		}

		if field == "owner" && v != nil && c.Newest >= 80 { // stand-alone, without authentication
			return nil, fault.Invalid("Cannot create a node as a project scoped admin with an owner other than your own project.")
		}
	}

	if err := n.Assign(body); err != nil {
		return nil, err
	}

	switch id, _ := body["uuid"].(string); {
	case id == "":
		n.UUID = record.NewUUID()
	case !record.IsUUID(id):
		return nil, fault.Invalid("Expected UUID for uuid: %s", id)
	default:
		n.UUID = id
	}

	if n.Name != "" && !validName(n.Name) {
		return nil, fault.Invalid("Cannot create node with invalid name '%s'", n.Name)
	}

	return n, nil
}

// unique refuses what another node has already.
func unique(c *api.Call, n, old *record.Node) error {
	if old.UUID == "" {
		if ok, err := c.HasNode(n.UUID); err != nil || ok {
			return fault.OrElse(err, fault.Conflict("A node with UUID %s already exists.", n.UUID))
		}
	}

	if n.Name != "" {
		id, err := c.NodeNamed(n.Name)
		if err != nil || id != "" && id != n.UUID {
			return fault.OrElse(err, fault.Conflict("A node with name %s already exists.", n.Name))
		}
	}

	if n.InstanceUUID != "" {
		id, err := c.NodeOf(n.InstanceUUID)
		if err != nil || id != "" && id != n.UUID {
			return fault.OrElse(err, fault.Conflict("Instance %s is already associated with a node, it cannot be associated with this other node %s",
				n.InstanceUUID, n.UUID))
		}
	}

	return nil
}

func deleteNode(c *api.Call) (api.Answer, error) {
	n, err := c.Locked(0)
	if err != nil {
		return api.Answer{}, err
	}

	switch {
	case !n.Maintenance && n.InstanceUUID != "":
		return api.Answer{}, fault.Conflict("Node %s is associated with instance %s.", n.UUID, n.InstanceUUID)
	case n.Protected:
		return api.Answer{}, fault.Protected(n.UUID)
	case !n.Maintenance && !slices.Contains(state.Deletable, n.ProvisionState):
		return api.Answer{}, fault.Conflict(`Can not delete node "%s" while it is in provision state "%s". `+
			`Valid provision states to perform deletion are: "%s", or set the node into maintenance mode`,
			n.UUID, n.ProvisionState, "('"+strings.Join(state.Deletable, "', '")+"')")
	}

	if err := c.ForgetNode(n); err != nil {
		return api.Answer{}, err
	}

	return api.Answer{Status: http.StatusNoContent}, nil
}

// usable is the node's machine for a request that is answered at once: a silent BMC is a
// server error.
func usable(c *api.Call, n *record.Node) (*machine.Machine, error) {
	m, err := c.Machine(n)

	var silent *conductor.Broken
	if conductor.AsBroken(err, &silent) {
		return nil, fault.Refuse(http.StatusInternalServerError, "%s", silent.Text)
	}

	return m, err
}
