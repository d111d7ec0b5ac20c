// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Ports returns the ports of all nodes.
func (c *Client) Ports(ctx context.Context) ([]Port, error) {
	return c.ports(ctx, "list ports", "", url.Values{})
}

// NodePorts returns the ports of one node.
func (c *Client) NodePorts(ctx context.Context, nodeUUID string) ([]Port, error) {
	if nodeUUID == "" {
		return nil, fmt.Errorf("list ports of a node: %q is no node", nodeUUID)
	}

	return c.ports(ctx, "list ports of node "+nodeUUID, nodeUUID, url.Values{"node_uuid": {nodeUUID}})
}

// PortByMAC returns the port with a MAC address, whosever it is. Ironic answers an empty
// list where there is none, which counts as its word: the list was asked for this address only.
func (c *Client) PortByMAC(ctx context.Context, mac string) (Port, error) {
	mac = normaliseMAC(mac)
	op := "find port " + mac

	if mac == "" {
		return Port{}, fmt.Errorf("%s: no address is given", op)
	}

	ports, err := c.ports(ctx, op, mac, url.Values{"address": {mac}})
	if err != nil {
		return Port{}, err
	}

	for _, p := range ports {
		if p.Address == mac {
			return p, nil
		}
	}

	return Port{}, &NotFoundError{What: "port", ID: mac, Op: op, Text: "no port has this address"}
}

func (c *Client) ports(ctx context.Context, op, id string, q url.Values) ([]Port, error) {
	q.Set("fields", portFields)

	return list(ctx, c, call{op: op, path: "ports", query: q, id: id}, "ports", func(raw []byte) (string, Port, bool) {
		p, ok := decodePort(raw)

		return p.UUID, p, ok
	})
}

// CreatePort gives a node a port. Where the answer was lost, the port is looked for by
// its address and taken for ours when it belongs to the node.
func (c *Client) CreatePort(ctx context.Context, port Port) (Port, error) {
	body := map[string]any{"node_uuid": port.NodeUUID, "address": normaliseMAC(port.Address), "pxe_enabled": port.PXEEnabled}
	if port.UUID != "" {
		body["uuid"] = port.UUID
	}

	if port.PhysicalNetwork != "" {
		body["physical_network"] = port.PhysicalNetwork
	}

	if len(port.LocalLink) > 0 {
		body["local_link_connection"] = port.LocalLink
	}

	k := call{
		op: "create port " + normaliseMAC(port.Address), method: http.MethodPost,
		path: "ports", id: port.NodeUUID, node: port.NodeUUID, body: body,
	}

	a, err := c.write(ctx, k)
	if err != nil && wait.IsTransient(err) && !isUnsentError(err) {
		if found, missed := c.PortByMAC(ctx, port.Address); missed == nil && strings.EqualFold(found.NodeUUID, port.NodeUUID) {
			return found, nil
		}
	}

	return decoded(c, k, a, err, decodePort)
}

// PatchPort changes fields of a port and returns the port as it is then.
func (c *Client) PatchPort(ctx context.Context, id string, ops []Patch) (Port, error) {
	k := call{op: "change port " + id, method: http.MethodPatch, id: id, body: operations(ops)}

	var err error
	if k.path, err = portPath(id); err != nil {
		return Port{}, err
	}

	a, err := c.write(ctx, k)

	return decoded(c, k, a, err, decodePort)
}

// DeletePort removes a port.
func (c *Client) DeletePort(ctx context.Context, id string) error {
	k := call{op: "delete port " + id, method: http.MethodDelete, id: id}

	var err error
	if k.path, err = portPath(id); err != nil {
		return err
	}

	_, err = c.write(ctx, k)

	return err
}

func portPath(id string) (string, error) {
	if !isUUID(id) {
		return "", fmt.Errorf("%q is not the UUID of a port", id)
	}

	return "ports/" + url.PathEscape(id), nil
}
