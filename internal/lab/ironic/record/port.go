// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
)

// Port is a network port: bucket "ironic.ports", key UUID.
type Port struct {
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

// MACPattern is an address as it is stored.
var MACPattern = regexp.MustCompile(`^[0-9a-f]{2}(:[0-9a-f]{2}){5}$`)

// Assign takes a document over into the port.
func (p *Port) Assign(doc map[string]any) error {
	address := strings.ToLower(Text(doc, "address"))
	if !MACPattern.MatchString(address) {
		return fault.Invalid("Expected valid MAC address for address: %s", Text(doc, "address"))
	}

	p.Address, p.Name, p.PhysicalNetwork = address, Text(doc, "name"), Text(doc, "physical_network")
	p.Extra, _ = doc["extra"].(map[string]any)
	p.LocalLink, _ = doc["local_link_connection"].(map[string]any)

	pxe, err := ToBool("pxe_enabled", doc["pxe_enabled"])
	if err != nil {
		return err
	}

	smart, err := ToBool("is_smartnic", doc["is_smartnic"])
	if err != nil {
		return err
	}

	p.PXEEnabled = pxe == nil || *pxe
	p.SmartNIC = smart != nil && *smart

	return nil
}

// Port finds a port by UUID.
func (r Repo) Port(id string) (*Port, error) {
	p := &Port{}

	ok, err := r.Tx.Get(portsBucket, id, p)
	if err == nil && !ok {
		err = fault.NotFound("Port", id)
	}

	return p, err
}

// Ports are all ports in the order of their creation.
func (r Repo) Ports() ([]*Port, error) {
	list, err := all[Port](r, portsBucket)
	slices.SortFunc(list, func(a, b *Port) int { return a.Seq - b.Seq })

	return list, err
}

// PortAt is the UUID of the port with an address; "" where nobody has it.
func (r Repo) PortAt(mac string) (id string, err error) {
	_, err = r.Tx.Get(macsBucket, mac, &id)

	return id, err
}

// AddPort gives a node a port; the caller saves the node.
func (r Repo) AddPort(n *Node, p *Port) (err error) {
	if p.Seq, err = r.Next(); err != nil {
		return err
	}

	p.NodeUUID = n.UUID
	n.Ports = append(n.Ports, p.UUID)

	return r.SavePort(p)
}

// SavePort remembers a port and keeps the index in step.
func (r Repo) SavePort(p *Port) error {
	var old Port
	if _, err := r.Tx.Get(portsBucket, p.UUID, &old); err != nil {
		return err
	}

	if err := r.reindex(macsBucket, old.Address, p.Address, p.UUID); err != nil {
		return err
	}

	return r.Tx.Put(portsBucket, p.UUID, p)
}

// DropPort forgets a port; the caller takes it from its node.
func (r Repo) DropPort(id string) error {
	p, err := r.Port(id)
	if err != nil {
		return err
	}

	if err := r.Tx.Delete(macsBucket, p.Address); err != nil {
		return err
	}

	return r.Tx.Delete(portsBucket, id)
}
