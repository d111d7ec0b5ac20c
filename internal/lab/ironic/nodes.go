// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// namePattern is what a node may be called from API 1.10 on: RFC 3986's unreserved characters.
var namePattern = regexp.MustCompile(`^[a-zA-Z0-9\-._~]+$`)

// reservedNames are names that are paths below /v1/nodes.
var reservedNames = []string{"detail", "maintenance", "management", "states", "vendor_passthru", "validate", "ports"}

func validName(name string) bool {
	return namePattern.MatchString(name) && !isUUID(name) && !slices.Contains(reservedNames, name) && len(name) <= 255
}

// decode reads a body that must be a JSON object.
func (c *call) decode(what string) (map[string]any, error) {
	var body any
	if err := json.Unmarshal(c.body, &body); err != nil {
		return nil, refuse(http.StatusInternalServerError, "Expecting value: %s", err)
	}

	m, ok := body.(map[string]any)
	if !ok {
		return nil, invalid("Schema error for %s: %s is not of type 'object'", what, c.body)
	}

	return m, nil
}

func (c *call) showNode() (answer, error) {
	q, err := c.listQuery()
	if err != nil {
		return answer{}, err
	}

	if err := c.checkFields(q.fields); err != nil {
		return answer{}, err
	}

	n, err := c.target()
	if err != nil {
		return answer{}, err
	}

	doc, err := c.document(n, q.fields)

	return answer{status: http.StatusOK, body: doc}, err
}

// target is the node that the path names. Names are known from API 1.5 on.
func (c *call) target() (*node, error) {
	ident := c.r.PathValue("node")
	if c.minor < 5 && !isUUID(ident) {
		return nil, notFound("Node", ident)
	}

	return c.node(ident)
}

// creatable are the fields of POST /v1/nodes that are not taken over by patching an empty node.
var creatable = []string{"uuid", "driver"}

func (c *call) createNode() (answer, error) {
	body, err := c.decode("node")
	if err != nil {
		return answer{}, err
	}

	n, err := c.newNode(body)
	if err != nil {
		return answer{}, err
	}

	if err := c.checkInterfaces(n); err != nil {
		return answer{}, err
	}

	if err := c.unique(n, &node{}); err != nil {
		return answer{}, err
	}

	if n.Seq, err = c.next(); err != nil {
		return answer{}, err
	}

	if err := c.save(n); err != nil {
		return answer{}, err
	}

	doc, err := c.document(n, nil)

	return answer{status: http.StatusCreated, body: doc, location: "nodes/" + n.UUID}, err
}

// newNode makes a node from the body of a POST.
func (c *call) newNode(body map[string]any) (*node, error) {
	n := &node{CreatedAt: c.now, ProvisionState: enroll}
	if c.minor < 11 { // "enroll" is the first state from 1.11 on only
		n.ProvisionState = available
	}

	n.fill()

	if body["driver"] == nil {
		return nil, invalid("Schema error for node: 'driver' is a required property")
	}

	for field, v := range body {
		if !slices.Contains(creatable, field) && (!isPatchable(field) || slices.Contains(patchOnly, field)) {
			return nil, invalid("Schema error for node: Additional properties are not allowed ('%s' was unexpected)", field)
		}

		if fieldSince[field] > c.minor {
			return nil, notAcceptable()
		}

		if field == "owner" && v != nil && c.Service.minor >= 80 { // stand-alone, without authentication
			return nil, invalid("Cannot create a node as a project scoped admin with an owner other than your own project.")
		}
	}

	if err := n.assign(body); err != nil {
		return nil, err
	}

	switch id, _ := body["uuid"].(string); {
	case id == "":
		n.UUID = newUUID()
	case !isUUID(id):
		return nil, invalid("Expected UUID for uuid: %s", id)
	default:
		n.UUID = id
	}

	if n.Name != "" && !validName(n.Name) {
		return nil, invalid("Cannot create node with invalid name '%s'", n.Name)
	}

	return n, nil
}

// unique refuses what another node has already.
func (c *call) unique(n, old *node) error {
	if old.UUID == "" {
		if ok, err := c.tx.Get(nodesBucket, n.UUID, &node{}); err != nil || ok {
			return orElse(err, conflict("A node with UUID %s already exists.", n.UUID))
		}
	}

	var id string

	if n.Name != "" {
		ok, err := c.tx.Get(namesBucket, n.Name, &id)
		if err != nil || ok && id != n.UUID {
			return orElse(err, conflict("A node with name %s already exists.", n.Name))
		}
	}

	if n.InstanceUUID != "" {
		ok, err := c.tx.Get(instancesBucket, n.InstanceUUID, &id)
		if err != nil || ok && id != n.UUID {
			return orElse(err, conflict("Instance %s is already associated with a node, it cannot be associated with this other node %s",
				n.InstanceUUID, n.UUID))
		}
	}

	return nil
}

func orElse(err, other error) error {
	if err != nil {
		return err
	}

	return other
}

func (c *call) deleteNode() (answer, error) {
	n, err := c.target()
	if err != nil {
		return answer{}, err
	}

	if err := c.lock(n); err != nil {
		return answer{}, err
	}

	switch {
	case !n.Maintenance && n.InstanceUUID != "":
		return answer{}, conflict("Node %s is associated with instance %s.", n.UUID, n.InstanceUUID)
	case n.Protected:
		return answer{}, protectedError(n)
	case !n.Maintenance && !slices.Contains(deletable, n.ProvisionState):
		return answer{}, conflict(`Can not delete node "%s" while it is in provision state "%s". `+
			`Valid provision states to perform deletion are: "%s", or set the node into maintenance mode`,
			n.UUID, n.ProvisionState, "('"+strings.Join(deletable, "', '")+"')")
	}

	if err := c.forget(n); err != nil {
		return answer{}, err
	}

	return answer{status: http.StatusNoContent}, nil
}

func protectedError(n *node) error {
	return refuse(http.StatusForbidden, "Node %s is protected and cannot be undeployed, rebuilt or deleted", n.UUID)
}

// lock refuses a change of a node that a conductor works on. Real Ironic tries for some
// seconds before it says so.
func (c *call) lock(n *node) error {
	if !c.write {
		return errReadOnly
	}

	if host := n.reservedBy(c.Conductor); host != "" {
		return lockedError(n.UUID, host)
	}

	if c.down {
		return refuse(http.StatusNotFound, `No valid host was found. Reason: No conductor service registered which supports driver %s `+
			`for conductor group "%s".`, n.Driver, n.ConductorGroup)
	}

	return nil
}

func (c *call) showStates() (answer, error) {
	n, err := c.target()
	if err != nil {
		return answer{}, err
	}

	doc, err := c.document(n, []string{
		"console_enabled", "last_error", "power_state", "provision_state", "target_power_state", "target_provision_state",
		"provision_updated_at", "raid_config", "target_raid_config", "boot_mode", "secure_boot",
	})
	delete(doc, "links")

	return answer{status: http.StatusOK, body: doc}, err
}

func (c *call) setMaintenance() (answer, error) {
	var body struct{ Reason string }
	if len(c.body) > 0 {
		if err := json.Unmarshal(c.body, &body); err != nil {
			return answer{}, invalid("%s", err)
		}
	}

	return c.maintain(true, body.Reason)
}

func (c *call) unsetMaintenance() (answer, error) { return c.maintain(false, "") }

func (c *call) maintain(on bool, reason string) (answer, error) {
	n, err := c.target()
	if err != nil {
		return answer{}, err
	}

	if err := c.lock(n); err != nil {
		return answer{}, err
	}

	n.Maintenance, n.MaintenanceReason, n.UpdatedAt = on, reason, c.now
	if !on {
		n.Fault = ""
	}

	return answer{status: http.StatusAccepted}, c.save(n)
}

// stepText is a step as Python prints it, which is how Ironic's errors show it.
func stepText(step map[string]any) string {
	return fmt.Sprintf("{'interface': '%s', 'step': '%s'}", text(step, "interface"), text(step, "step"))
}
