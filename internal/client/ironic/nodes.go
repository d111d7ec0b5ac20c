// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// nodePath returns the path of a node. An id that would lead elsewhere is refused: with
// an empty one, GET is a list; Ironic reads "a%2Fb" as node "a".
func nodePath(id string, more ...string) (string, error) {
	if id == "" || id == "." || id == ".." || strings.ContainsAny(id, "/\\\x00\r\n") {
		return "", fmt.Errorf("%q is neither the UUID nor the name of a node", id)
	}

	return strings.Join(append([]string{"nodes", url.PathEscape(id)}, more...), "/"), nil
}

// Node returns a node by its UUID or name.
func (c *Client) Node(ctx context.Context, id string) (Node, error) {
	k := call{op: "get node " + id, id: id}

	var err error
	if k.path, err = nodePath(id); err != nil {
		return Node{}, err
	}

	a, err := c.read(ctx, k)

	return decoded(c, k, a, err, func(raw []byte) (Node, bool) {
		n, ok := c.node(raw)

		return n, ok && (!isUUID(id) || strings.EqualFold(id, n.UUID))
	})
}

// Glance returns the cheap part of a node.
func (c *Client) Glance(ctx context.Context, id string) (Glance, error) {
	k := call{op: "look at node " + id, id: id, query: url.Values{"fields": {glanceFields}}}

	var err error
	if k.path, err = nodePath(id); err != nil {
		return Glance{}, err
	}

	a, err := c.read(ctx, k)

	return decoded(c, k, a, err, c.glance)
}

// node decodes a node and cleans the words in it: a driver may repeat the password that
// the BMC refused.
func (c *Client) node(raw []byte) (Node, bool) {
	n, ok := decodeNode(raw)
	n.LastError = c.secrets.clean(n.LastError)
	n.MaintenanceReason = c.secrets.clean(n.MaintenanceReason)

	return n, ok
}

func (c *Client) glance(raw []byte) (Glance, bool) {
	g, ok := decodeGlance(raw)
	g.LastError = c.secrets.clean(g.LastError)

	return g, ok
}

func isUUID(id string) bool {
	return len(id) == 36 && strings.Count(id, "-") == 4 && strings.Trim(id, "0123456789abcdefABCDEF-") == ""
}

// operation is a [Patch] on the wire: a nil value is sent as null, which gophercloud's own type cannot.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// MarshalJSON leaves the value out where it has no meaning.
func (o operation) MarshalJSON() ([]byte, error) {
	if o.Op == "remove" {
		return json.Marshal(map[string]string{"op": o.Op, "path": o.Path})
	}

	return json.Marshal(map[string]any{"op": o.Op, "path": o.Path, "value": o.Value})
}

func operations(ops []Patch) []operation {
	out := make([]operation, 0, len(ops))
	for _, op := range ops {
		out = append(out, operation(op))
	}

	return out
}

// PatchNode changes fields of a node and returns the node as it is then.
func (c *Client) PatchNode(ctx context.Context, id string, ops []Patch) (Node, error) {
	k := call{op: "change node " + id, method: http.MethodPatch, id: id, node: id, body: operations(ops)}

	var err error
	if k.path, err = nodePath(id); err != nil {
		return Node{}, err
	}

	a, err := c.write(ctx, k)

	return decoded(c, k, a, err, c.node)
}

// DeleteNode removes a node from Ironic.
func (c *Client) DeleteNode(ctx context.Context, id string) error {
	return c.order(ctx, call{op: "delete node " + id, method: http.MethodDelete, id: id})
}

// Provision asks for a change of the provision state. Ironic only notes the wish: look
// at the node until the state is reached.
func (c *Client) Provision(ctx context.Context, id string, p Provision) error {
	body := map[string]any{"target": string(p.Target)}

	if p.ConfigDrive != nil {
		body["configdrive"] = p.ConfigDrive
	}

	if p.CleanSteps != nil {
		body["clean_steps"] = p.CleanSteps
	}

	if p.DeploySteps != nil {
		body["deploy_steps"] = p.DeploySteps
	}

	return c.order(ctx, call{op: fmt.Sprintf("ask node %s to %s", id, p.Target), method: http.MethodPut, id: id, body: body}, "states", "provision")
}

// SetPower asks for a power state. The timeout counts for the soft targets only, 0 is the conductor's own.
func (c *Client) SetPower(ctx context.Context, id string, target Power, timeout time.Duration) error {
	body := map[string]any{"target": string(target)}
	if timeout > 0 && (target == SoftPowerOff || target == SoftRebooting) {
		body["timeout"] = max(1, int(timeout/time.Second))
	}

	return c.order(ctx, call{op: fmt.Sprintf("set power of node %s to %q", id, target), method: http.MethodPut, id: id, body: body}, "states", "power")
}

// SetMaintenance puts a node into maintenance.
func (c *Client) SetMaintenance(ctx context.Context, id, reason string) error {
	body := map[string]any{"reason": reason}

	return c.order(ctx, call{op: "set maintenance of node " + id, method: http.MethodPut, id: id, body: body}, "maintenance")
}

// UnsetMaintenance takes a node out of maintenance.
func (c *Client) UnsetMaintenance(ctx context.Context, id string) error {
	return c.order(ctx, call{op: "unset maintenance of node " + id, method: http.MethodDelete, id: id}, "maintenance")
}

// SetTraits replaces the traits of a node.
func (c *Client) SetTraits(ctx context.Context, id string, traits []string) error {
	body := map[string]any{"traits": append([]string{}, traits...)}

	return c.order(ctx, call{op: "set traits of node " + id, method: http.MethodPut, id: id, body: body}, "traits")
}

// order sends a write on a node whose answer says nothing more.
func (c *Client) order(ctx context.Context, k call, below ...string) error {
	var err error
	if k.path, err = nodePath(k.id, below...); err != nil {
		return err
	}

	k.node = k.id
	_, err = c.write(ctx, k)

	return err
}

// IsGone reports whether err is Ironic's own word that the node itself is not there.
// A missing part of it, such as the inventory, is something else.
func IsGone(err error) bool {
	var missing *NotFoundError

	return errors.As(err, &missing) && missing.What == "node"
}
