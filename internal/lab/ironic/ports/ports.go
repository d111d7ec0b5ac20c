// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package ports is the endpoints of the lab's Ironic that are about ports.
package ports

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/state"
)

// Routes are the paths of ports.
var Routes = map[string]api.Endpoint{
	"GET /v1/ports":           listPorts,
	"GET /v1/ports/detail":    detailPorts,
	"POST /v1/ports":          createPort,
	"GET /v1/ports/{port}":    showPort,
	"PATCH /v1/ports/{port}":  patchPort,
	"DELETE /v1/ports/{port}": deletePort,
}

// portSince is the API version that a field of a port needs.
var portSince = map[string]int{
	"internal_info": 18, "local_link_connection": 19, "pxe_enabled": 19, "portgroup_uuid": 24, "physical_network": 34,
	"is_smartnic": 53, "name": 88,
}

func portDocument(c *api.Call, p *record.Port, fields []string) map[string]any {
	doc := c.Shape("ports/"+p.UUID, map[string]any{
		"uuid": p.UUID, "address": p.Address, "node_uuid": p.NodeUUID, "name": record.OrNull(p.Name), "pxe_enabled": p.PXEEnabled,
		"is_smartnic": p.SmartNIC, "physical_network": record.OrNull(p.PhysicalNetwork), "local_link_connection": api.NonNilMap(p.LocalLink),
		"extra": api.NonNilMap(p.Extra), "internal_info": map[string]any{}, "portgroup_uuid": nil, "created_at": record.Stamp(p.CreatedAt),
		"updated_at": record.Stamp(p.UpdatedAt),
	}, portSince, fields)

	c.Rewrite("port", doc)

	return doc
}

func listPorts(c *api.Call) (api.Answer, error)   { return portList(c, "ports", false) }
func detailPorts(c *api.Call) (api.Answer, error) { return portList(c, "ports/detail", true) }

func portList(c *api.Call, path string, detail bool) (api.Answer, error) {
	q, err := c.Query("address", "node", "node_uuid", "portgroup", "shard", "conductor_groups")
	if err != nil {
		return api.Answer{}, err
	}

	list, err := filteredPorts(c, q)
	if err != nil {
		return api.Answer{}, err
	}

	q.Detail = q.Detail || detail

	return api.Page(c, q, list, api.Listing[*record.Port]{
		Name: "ports", Path: path, Short: []string{"uuid", "address"},
		ID:       func(p *record.Port) string { return p.UUID },
		Document: func(p *record.Port, fields []string) (map[string]any, error) { return portDocument(c, p, fields), nil },
	})
}

func filteredPorts(c *api.Call, q api.Query) ([]*record.Port, error) {
	address := strings.ToLower(q.Get("address"))
	if address != "" && !record.MACPattern.MatchString(address) {
		return nil, fault.Invalid("Expected valid MAC address for address: %s", q.Get("address"))
	}

	list, err := portsOf(c, cmp.Or(q.Get("node"), q.Get("node_uuid")))

	return slices.DeleteFunc(list, func(p *record.Port) bool { return address != "" && p.Address != address }), err
}

// portsOf are the ports of a node, or all where none is named.
func portsOf(c *api.Call, owner string) ([]*record.Port, error) {
	if owner == "" {
		return c.Ports()
	}

	n, err := c.Node(owner)
	if err != nil {
		return nil, err
	}

	list := make([]*record.Port, 0, len(n.Ports))

	for _, id := range n.Ports {
		p, err := c.Port(id)
		if err != nil {
			return nil, err
		}

		list = append(list, p)
	}

	return list, nil
}

func showPort(c *api.Call) (api.Answer, error) {
	q, err := c.Query()
	if err != nil {
		return api.Answer{}, err
	}

	p, err := c.Port(c.R.PathValue("port"))
	if err != nil {
		return api.Answer{}, err
	}

	return api.OK(portDocument(c, p, q.Fields)), nil
}

var portFields = []string{
	"address", "extra", "is_smartnic", "local_link_connection", "node_ident", "node_uuid", "physical_network", "portgroup_uuid",
	"pxe_enabled", "name",
}

func createPort(c *api.Call) (api.Answer, error) {
	body, err := c.Decode("port")
	if err != nil {
		return api.Answer{}, err
	}

	for field := range body {
		if !slices.Contains(portFields, field) && field != "uuid" {
			return api.Answer{}, fault.Invalid("Schema error for port: Additional properties are not allowed ('%s' was unexpected)", field)
		}
	}

	if body["address"] == nil {
		return api.Answer{}, fault.Invalid("Schema error for port: 'address' is a required property")
	}

	owner := record.Text(body, "node_uuid") + record.Text(body, "node_ident")
	if owner == "" && c.Newest < 94 {
		return api.Answer{}, fault.Invalid("Schema error for port: 'node_uuid' is a required property")
	}

	if owner == "" {
		return api.Answer{}, fault.Invalid("Schema error for port: it is not valid under any of the given schemas. " +
			"Possible root cause: 'node_ident' is a required property")
	}

	p := &record.Port{UUID: record.Text(body, "uuid"), CreatedAt: c.Now}
	if p.UUID == "" {
		p.UUID = record.NewUUID()
	}

	if err := p.Assign(body); err != nil {
		return api.Answer{}, err
	}

	n, err := c.Node(owner)
	if err != nil {
		return api.Answer{}, fault.Invalid("%s", err) // 400, not 404: the node is not what the path names
	}

	if err := c.Lock(n); err != nil {
		return api.Answer{}, err
	}

	if err := freeAddress(c, p); err != nil {
		return api.Answer{}, err
	}

	if err := c.AddPort(n, p); err != nil {
		return api.Answer{}, err
	}

	return api.Answer{Status: http.StatusCreated, Body: portDocument(c, p, nil), Location: "ports/" + p.UUID}, c.SaveNode(n)
}

func freeAddress(c *api.Call, p *record.Port) error {
	id, err := c.PortAt(p.Address)
	if err != nil || id != "" && id != p.UUID {
		return fault.OrElse(err, fault.Conflict("A port with MAC address %s already exists.", p.Address))
	}

	return nil
}

func patchPort(c *api.Call) (api.Answer, error) {
	ops, err := c.Operations(portFields)
	if err != nil {
		return api.Answer{}, err
	}

	p, err := c.Port(c.R.PathValue("port"))
	if err != nil {
		return api.Answer{}, err
	}

	n, err := c.Node(p.NodeUUID)
	if err != nil {
		return api.Answer{}, err
	}

	if err := c.Lock(n); err != nil {
		return api.Answer{}, err
	}

	old := p.Address
	doc := portDocument(c, p, nil)

	for _, op := range ops {
		if err := op.Apply(doc); err != nil {
			return api.Answer{}, err
		}
	}

	if err := p.Assign(doc); err != nil {
		return api.Answer{}, err
	}

	if p.Address != old && n.ProvisionState == state.Active && !n.Maintenance {
		return api.Answer{}, fault.Conflict("Cannot update the address of port %s on node %s while it is in state active.", p.UUID, n.UUID)
	}

	if err := freeAddress(c, p); err != nil {
		return api.Answer{}, err
	}

	p.UpdatedAt = c.Now

	return api.Answer{Status: http.StatusOK, Body: portDocument(c, p, nil)}, c.SavePort(p)
}

func deletePort(c *api.Call) (api.Answer, error) {
	p, err := c.Port(c.R.PathValue("port"))
	if err != nil {
		return api.Answer{}, err
	}

	n, err := c.Node(p.NodeUUID)
	if err != nil {
		return api.Answer{}, err
	}

	if err := c.Lock(n); err != nil {
		return api.Answer{}, err
	}

	n.Ports = slices.DeleteFunc(n.Ports, func(id string) bool { return id == p.UUID })

	if err := c.DropPort(p.UUID); err != nil {
		return api.Answer{}, err
	}

	return api.Answer{Status: http.StatusNoContent}, c.SaveNode(n)
}
