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
	"time"
)

// port is a network port: bucket "ironic.ports", key UUID.
type port struct {
	UUID            string         `json:"uuid"`
	Seq             int            `json:"seq"`
	NodeUUID        string         `json:"node_uuid"`
	Address         string         `json:"address"`
	Name            string         `json:"name,omitempty"`
	PXEEnabled      bool           `json:"pxe_enabled"`
	SmartNIC        bool           `json:"is_smartnic,omitempty"`
	PhysicalNetwork string         `json:"physical_network,omitempty"`
	LocalLink       map[string]any `json:"local_link_connection,omitempty"`
	Extra           map[string]any `json:"extra,omitempty"`
	CreatedAt       time.Time      `json:"created_at"`
	UpdatedAt       time.Time      `json:"updated_at,omitzero"`
}

var macPattern = regexp.MustCompile(`^[0-9a-f]{2}(:[0-9a-f]{2}){5}$`)

func dashed(mac string) string { return strings.ReplaceAll(mac, ":", "-") }

func (r repo) port(id string) (*port, error) {
	p := &port{}

	ok, err := r.tx.Get(portsBucket, id, p)
	if err == nil && !ok {
		err = notFound("Port", id)
	}

	return p, err
}

// addPort gives a node a port; the caller saves the node.
func (r repo) addPort(n *node, p *port) error {
	seq, err := r.next()
	if err != nil {
		return err
	}

	p.Seq, p.NodeUUID = seq, n.UUID
	n.Ports = append(n.Ports, p.UUID)

	if err := r.tx.Put(macsBucket, p.Address, p.UUID); err != nil {
		return err
	}

	return r.tx.Put(portsBucket, p.UUID, p)
}

func (r repo) dropPort(id string) error {
	p, err := r.port(id)
	if err != nil {
		return err
	}

	if err := r.tx.Delete(macsBucket, p.Address); err != nil {
		return err
	}

	return r.tx.Delete(portsBucket, id)
}

var portSince = map[string]int{
	"internal_info": 18, "local_link_connection": 19, "pxe_enabled": 19, "portgroup_uuid": 24, "physical_network": 34,
	"is_smartnic": 53, "name": 88,
}

func (c *call) portDocument(p *port, fields []string) map[string]any {
	local, extra := p.LocalLink, p.Extra
	if local == nil {
		local = map[string]any{}
	}

	if extra == nil {
		extra = map[string]any{}
	}

	doc := map[string]any{"links": links(c.base(), "ports/"+p.UUID)}

	for field, v := range map[string]any{
		"uuid": p.UUID, "address": p.Address, "node_uuid": p.NodeUUID, "name": orNull(p.Name), "pxe_enabled": p.PXEEnabled,
		"is_smartnic": p.SmartNIC, "physical_network": orNull(p.PhysicalNetwork), "local_link_connection": local, "extra": extra,
		"internal_info": map[string]any{}, "portgroup_uuid": nil, "created_at": stamp(p.CreatedAt), "updated_at": stamp(p.UpdatedAt),
	} {
		if portSince[field] <= c.minor && (fields == nil || slices.Contains(fields, field)) {
			doc[field] = v
		}
	}

	c.script.rewrite("port", doc)

	return doc
}

func (c *call) listPorts() (answer, error)   { return c.portList("ports", false) }
func (c *call) detailPorts() (answer, error) { return c.portList("ports/detail", true) }

func (c *call) portList(path string, detail bool) (answer, error) {
	q, err := c.listQuery("address", "node", "node_uuid", "portgroup", "shard", "conductor_groups")
	if err != nil {
		return answer{}, err
	}

	list, err := c.filteredPorts(q)
	if err != nil {
		return answer{}, err
	}

	short := []string{"uuid", "address"}

	fields := q.fields
	if detail || q.detail {
		fields, short = nil, nil
	} else if fields == nil {
		fields = short
	}

	list, next := page(c, q, list, func(p *port) string { return p.UUID }, short, path)
	docs := make([]any, 0, len(list))

	for _, p := range list {
		docs = append(docs, c.portDocument(p, fields))
	}

	body := map[string]any{"ports": docs}
	if next != "" {
		body["next"] = next
	}

	return answer{status: http.StatusOK, body: body}, nil
}

func (c *call) filteredPorts(q query) ([]*port, error) {
	address := strings.ToLower(q.Get("address"))
	if address != "" && !macPattern.MatchString(address) {
		return nil, invalid("Expected valid MAC address for address: %s", q.Get("address"))
	}

	owner := q.Get("node")
	if owner == "" {
		owner = q.Get("node_uuid")
	}

	if owner != "" {
		n, err := c.node(owner)
		if err != nil {
			return nil, err
		}

		owner = n.UUID
	}

	var list []*port

	err := c.tx.Each(portsBucket, func(key string, raw json.RawMessage) error {
		p := &port{}
		if err := json.Unmarshal(raw, p); err != nil {
			return fmt.Errorf("lab ironic: port %s: %w", key, err)
		}

		if (address == "" || p.Address == address) && (owner == "" || p.NodeUUID == owner) {
			list = append(list, p)
		}

		return nil
	})

	slices.SortFunc(list, func(a, b *port) int { return a.Seq - b.Seq })

	return list, err
}

func (c *call) showPort() (answer, error) {
	q, err := c.listQuery()
	if err != nil {
		return answer{}, err
	}

	p, err := c.port(c.r.PathValue("port"))
	if err != nil {
		return answer{}, err
	}

	return answer{status: http.StatusOK, body: c.portDocument(p, q.fields)}, nil
}

var portFields = []string{
	"address", "extra", "is_smartnic", "local_link_connection", "node_ident", "node_uuid", "physical_network", "portgroup_uuid",
	"pxe_enabled", "name",
}

// assign takes a document over into the port.
func (p *port) assign(doc map[string]any) error {
	address := strings.ToLower(text(doc, "address"))
	if !macPattern.MatchString(address) {
		return invalid("Expected valid MAC address for address: %s", text(doc, "address"))
	}

	p.Address, p.Name, p.PhysicalNetwork = address, text(doc, "name"), text(doc, "physical_network")
	p.Extra, _ = doc["extra"].(map[string]any)
	p.LocalLink, _ = doc["local_link_connection"].(map[string]any)

	pxe, err := toBool("pxe_enabled", doc["pxe_enabled"])
	if err != nil {
		return err
	}

	smart, err := toBool("is_smartnic", doc["is_smartnic"])
	if err != nil {
		return err
	}

	p.PXEEnabled = pxe == nil || *pxe
	p.SmartNIC = smart != nil && *smart

	return nil
}

func (c *call) createPort() (answer, error) {
	body, err := c.decode("port")
	if err != nil {
		return answer{}, err
	}

	for field := range body {
		if !slices.Contains(portFields, field) && field != "uuid" {
			return answer{}, invalid("Schema error for port: Additional properties are not allowed ('%s' was unexpected)", field)
		}
	}

	if body["address"] == nil {
		return answer{}, invalid("Schema error for port: 'address' is a required property")
	}

	owner := text(body, "node_uuid") + text(body, "node_ident")
	if owner == "" && c.Service.minor < 94 {
		return answer{}, invalid("Schema error for port: 'node_uuid' is a required property")
	}

	if owner == "" {
		return answer{}, invalid("Schema error for port: it is not valid under any of the given schemas. " +
			"Possible root cause: 'node_ident' is a required property")
	}

	p := &port{UUID: text(body, "uuid"), CreatedAt: c.now}
	if p.UUID == "" {
		p.UUID = newUUID()
	}

	if err := p.assign(body); err != nil {
		return answer{}, err
	}

	n, err := c.node(owner)
	if err != nil {
		return answer{}, invalid("%s", err) // 400, not 404: the node is not what the path names
	}

	if err := c.lock(n); err != nil {
		return answer{}, err
	}

	if err := c.freeAddress(p); err != nil {
		return answer{}, err
	}

	if err := c.addPort(n, p); err != nil {
		return answer{}, err
	}

	return answer{status: http.StatusCreated, body: c.portDocument(p, nil), location: "ports/" + p.UUID}, c.save(n)
}

func (c *call) freeAddress(p *port) error {
	var id string

	ok, err := c.tx.Get(macsBucket, p.Address, &id)
	if err != nil || ok && id != p.UUID {
		return orElse(err, conflict("A port with MAC address %s already exists.", p.Address))
	}

	return nil
}

func (c *call) patchPort() (answer, error) {
	ops, err := c.operations(portFields)
	if err != nil {
		return answer{}, err
	}

	p, err := c.port(c.r.PathValue("port"))
	if err != nil {
		return answer{}, err
	}

	n, err := c.node(p.NodeUUID)
	if err != nil {
		return answer{}, err
	}

	if err := c.lock(n); err != nil {
		return answer{}, err
	}

	old := p.Address
	doc := c.portDocument(p, nil)

	for _, op := range ops {
		if err := op.apply(doc); err != nil {
			return answer{}, err
		}
	}

	if err := p.assign(doc); err != nil {
		return answer{}, err
	}

	if p.Address != old && n.ProvisionState == active && !n.Maintenance {
		return answer{}, conflict("Cannot update the address of port %s on node %s while it is in state active.", p.UUID, n.UUID)
	}

	if err := c.freeAddress(p); err != nil {
		return answer{}, err
	}

	if err := c.reindex(macsBucket, old, p.Address, p.UUID); err != nil {
		return answer{}, err
	}

	p.UpdatedAt = c.now

	return answer{status: http.StatusOK, body: c.portDocument(p, nil)}, c.tx.Put(portsBucket, p.UUID, p)
}

func (c *call) deletePort() (answer, error) {
	p, err := c.port(c.r.PathValue("port"))
	if err != nil {
		return answer{}, err
	}

	n, err := c.node(p.NodeUUID)
	if err != nil {
		return answer{}, err
	}

	if err := c.lock(n); err != nil {
		return answer{}, err
	}

	n.Ports = slices.DeleteFunc(n.Ports, func(id string) bool { return id == p.UUID })

	if err := c.dropPort(p.UUID); err != nil {
		return answer{}, err
	}

	return answer{status: http.StatusNoContent}, c.save(n)
}
