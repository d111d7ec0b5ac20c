// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
)

// detail reads something below a node.
func (c *Client) detail(ctx context.Context, k call, below string) (answer, object, error) {
	var err error
	if k.path, err = nodePath(k.id, below); err != nil {
		return answer{}, nil, err
	}

	a, err := c.read(ctx, k)
	if err != nil {
		return answer{}, nil, err
	}

	o, ok := parseObject(a.body)
	if !ok {
		return answer{}, nil, c.notIronic(k, a)
	}

	return a, o, nil
}

// Validate returns what Ironic thinks of each interface of a node. Where an interface
// cannot be validated (null), there is nothing wrong with it.
func (c *Client) Validate(ctx context.Context, id string) (map[string]Validation, error) {
	_, o, err := c.detail(ctx, call{op: "validate node " + id, id: id}, "validate")
	if err != nil {
		return nil, err
	}

	out := map[string]Validation{}

	for kind, raw := range o {
		if inner, ok := parseObject(raw); ok {
			result := inner.flag("result")
			out[kind] = Validation{Result: result == nil || *result, Reason: c.secrets.clean(inner.text("reason"))}
		}
	}

	return out, nil
}

// Inventory returns what the last inspection found, as Ironic stored it. A node that has
// none gives a [NotFoundError] of the inventory, not of the node.
func (c *Client) Inventory(ctx context.Context, id string) (json.RawMessage, error) {
	k := call{op: "get inventory of node " + id, id: id}

	a, o, err := c.detail(ctx, k, "inventory")
	if err != nil {
		return nil, err
	}

	if _, ok := o["inventory"]; !ok {
		return nil, c.notIronic(k, a)
	}

	return json.RawMessage(bytes.TrimSpace(a.body)), nil
}

// Traits returns the traits of a node.
func (c *Client) Traits(ctx context.Context, id string) ([]string, error) {
	k := call{op: "get traits of node " + id, id: id}

	a, o, err := c.detail(ctx, k, "traits")
	if err != nil {
		return nil, err
	}

	if _, ok := o.list("traits"); !ok {
		return nil, c.notIronic(k, a)
	}

	traits := o.texts("traits")
	slices.Sort(traits)

	return traits, nil
}

// History returns what went wrong with a node so far, the newest last.
func (c *Client) History(ctx context.Context, id string) ([]Event, error) {
	k := call{op: "get history of node " + id, id: id, query: url.Values{"detail": {"true"}}}

	a, o, err := c.detail(ctx, k, "history")
	if err != nil {
		return nil, err
	}

	entries, ok := o.list("history")
	if !ok {
		return nil, c.notIronic(k, a)
	}

	var events []Event

	for _, raw := range entries {
		if e, ok := parseObject(raw); ok {
			events = append(events, Event{
				At:       e.at("created_at"),
				Severity: e.text("severity"),
				Type:     e.text("event_type"),
				Text:     c.secrets.clean(e.text("event")),
			})
		}
	}

	slices.SortStableFunc(events, func(a, b Event) int { return a.At.Compare(b.At) })

	return events, nil
}

// BootMode returns the boot mode ("uefi", "bios", or "" where Ironic does not know it)
// and whether secure boot is on, nil where Ironic does not know that.
func (c *Client) BootMode(ctx context.Context, id string) (mode string, secureBoot *bool, err error) {
	_, o, err := c.detail(ctx, call{op: "get boot mode of node " + id, id: id}, "states")
	if err != nil {
		return "", nil, err
	}

	return o.text("boot_mode"), o.flag("secure_boot"), nil
}

// Drivers returns the hardware types that a living conductor serves. With none of them
// Ironic answers, but can do nothing: a [NotReadyError].
func (c *Client) Drivers(ctx context.Context) ([]string, error) {
	k := call{op: "list drivers", path: "drivers", method: http.MethodGet}

	a, err := c.read(ctx, k)
	if err != nil {
		return nil, err
	}

	o, _ := parseObject(a.body)

	entries, ok := o.list("drivers")
	if !ok {
		return nil, c.notIronic(k, a)
	}

	var names []string

	for _, raw := range entries {
		if d, ok := parseObject(raw); ok && d.text("name") != "" {
			names = append(names, d.text("name"))
		}
	}

	if len(names) == 0 {
		return nil, &NotReadyError{Text: "Ironic answers, but no conductor is alive to work for it"}
	}

	slices.Sort(names)

	return names, nil
}
