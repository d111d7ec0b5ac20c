// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"strconv"
)

// pageSize is Ironic's own limit. Smaller pages cost three to four times as much.
const pageSize = 1000

// Nodes returns all nodes in detail.
func (c *Client) Nodes(ctx context.Context) ([]Node, error) {
	q, err := c.everyNode(ctx)
	if err != nil {
		return nil, err
	}

	return list(ctx, c, call{op: "list nodes", path: "nodes/detail", query: q}, "nodes", func(raw []byte) (string, Node, bool) {
		n, ok := c.node(raw)

		return n.UUID, n, ok
	})
}

// Glances returns the cheap part of all nodes.
func (c *Client) Glances(ctx context.Context) ([]Glance, error) {
	q, err := c.everyNode(ctx)
	if err != nil {
		return nil, err
	}

	q.Set("fields", glanceFields)

	return list(ctx, c, call{op: "look at all nodes", path: "nodes", query: q}, "nodes", func(raw []byte) (string, Glance, bool) {
		g, ok := c.glance(raw)

		return g.UUID, g, ok
	})
}

// everyNode asks for nodes that have a parent, too: a defect of Debian's 29.0.5-0+deb13u3
// makes a node its own parent at its first PATCH, and a plain list then hides it.
func (c *Client) everyNode(ctx context.Context) (url.Values, error) {
	minor, err := c.Version(ctx)
	if err != nil {
		return nil, err
	}

	q := url.Values{}
	if minor >= withChildren {
		q.Set("include_children", "true")
	}

	return q, nil
}

// list follows the pages of a list. Of the link to the next page only the marker counts:
// behind a proxy its host is often one that we cannot reach.
func list[T any](ctx context.Context, c *Client, k call, key string, decode func([]byte) (string, T, bool)) ([]T, error) {
	var (
		all    []T
		seen   = map[string]bool{}
		passed = map[string]bool{}
	)

	k.query = maps.Clone(k.query)
	k.query.Set("limit", strconv.Itoa(pageSize))

	for {
		a, err := c.read(ctx, k)
		if err != nil {
			return nil, err
		}

		o, _ := parseObject(a.body)

		page, ok := o.list(key)
		if !ok {
			return nil, c.notIronic(k, a)
		}

		all = appendNew(all, page, seen, decode)

		marker := markerOf(o.text("next"))
		if marker == "" || passed[marker] {
			return all, nil
		}

		passed[marker] = true
		k.query.Set("marker", marker)
	}
}

// appendNew leaves out what an earlier page had, and what is no object of the kind: it
// counts as absent, and what is absent is asked for alone.
func appendNew[T any](all []T, page []json.RawMessage, seen map[string]bool, decode func([]byte) (string, T, bool)) []T {
	for _, raw := range page {
		id, item, ok := decode(raw)
		if !ok || seen[id] {
			continue
		}

		seen[id] = true
		all = append(all, item)
	}

	return all
}

func markerOf(next string) string {
	u, err := url.Parse(next)
	if err != nil {
		return ""
	}

	return u.Query().Get("marker")
}
