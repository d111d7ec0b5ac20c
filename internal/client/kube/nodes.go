// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// list reads all pages of a collection. A list that changes too fast for its pages is read again at once.
func (c *Client) list(ctx context.Context, op, path string, query url.Values) ([]object, error) {
	items, err := c.pages(ctx, op, path, query, pageSize)

	var refused *RequestError
	if errors.As(err, &refused) && refused.Status == http.StatusGone {
		return c.pages(ctx, op, path, query, 0)
	}

	return items, err
}

func (c *Client) pages(ctx context.Context, op, path string, query url.Values, limit int) ([]object, error) {
	var items []object

	page := url.Values{}
	for key, values := range query {
		page[key] = values
	}

	if limit > 0 {
		page.Set("limit", strconv.Itoa(limit))
	}

	for {
		o, err := c.object(ctx, call{op: op, method: http.MethodGet, path: path, query: page})
		if err != nil {
			return nil, err
		}

		items = append(items, o.list("items")...)

		next := o.str("metadata", "continue")
		if next == "" || next == page.Get("continue") {
			return items, nil
		}

		page.Set("continue", next)
	}
}

// object sends a request whose answer is an object.
func (c *Client) object(ctx context.Context, k call) (object, error) {
	a, err := c.do(ctx, k)
	if err != nil {
		return nil, err
	}

	o, ok := parse(a.body)
	if !ok {
		return nil, malformed(k)
	}

	return o, nil
}

// remove deletes an object; one that is not there is deleted.
func (c *Client) remove(ctx context.Context, op, path string) error {
	_, err := c.do(ctx, call{op: op, method: http.MethodDelete, path: path})
	if errors.Is(err, ErrNotFound) {
		return nil
	}

	return err
}

// Node is a Node as far as a cluster's life is about it.
type Node struct {
	Name, UID, ResourceVersion, ProviderID string
	Labels, Annotations                    map[string]string
	Taints                                 []Taint
	Unschedulable                          bool
	Ready                                  string // "True", "False", "Unknown", or "" where nothing is said
	ReadySince                             time.Time
	Conditions                             map[string]string // status by type
	Addresses                              []Address
	KubeletVersion                         string
	BootID                                 string // another one after each boot; empty where nothing is said
	Allocatable                            map[string]string
	Created                                time.Time
}

// Address is an address of a Node.
type Address struct{ Type, Address string }

// Taint keeps Pods away from a Node.
type Taint struct{ Key, Value, Effect string }

const nodesPath = "/api/v1/nodes"

func nodePath(name string) string { return nodesPath + "/" + segment(name) }

// Nodes lists all Nodes.
func (c *Client) Nodes(ctx context.Context) ([]Node, error) {
	items, err := c.list(ctx, "list the Nodes", nodesPath, nil)
	if err != nil {
		return nil, err
	}

	nodes := make([]Node, 0, len(items))
	for _, item := range items {
		nodes = append(nodes, nodeOf(item))
	}

	return nodes, nil
}

// Node reads one Node.
func (c *Client) Node(ctx context.Context, name string) (Node, error) {
	o, err := c.node(ctx, name)
	if err != nil {
		return Node{}, err
	}

	return nodeOf(o), nil
}

func (c *Client) node(ctx context.Context, name string) (object, error) {
	k := call{op: "read the Node " + name, method: http.MethodGet, path: nodePath(name)}

	o, err := c.object(ctx, k)
	if err == nil && o.str("metadata", "name") != name {
		return nil, malformed(k)
	}

	return o, err
}

// DeleteNode deletes a Node. One that is not there is deleted.
func (c *Client) DeleteNode(ctx context.Context, name string) error {
	return c.remove(ctx, "delete the Node "+name, nodePath(name))
}

func nodeOf(o object) Node {
	n := Node{
		Name:            o.str("metadata", "name"),
		UID:             o.str("metadata", "uid"),
		ResourceVersion: o.str("metadata", "resourceVersion"),
		ProviderID:      o.str("spec", "providerID"),
		Labels:          o.texts("metadata", "labels"),
		Annotations:     o.texts("metadata", "annotations"),
		Unschedulable:   o.truth("spec", "unschedulable"),
		Conditions:      map[string]string{},
		KubeletVersion:  o.str("status", "nodeInfo", "kubeletVersion"),
		BootID:          o.str("status", "nodeInfo", "bootID"),
		Allocatable:     o.texts("status", "allocatable"),
		Created:         o.moment("metadata", "creationTimestamp"),
	}

	for _, taint := range o.list("spec", "taints") {
		n.Taints = append(n.Taints, taintOf(taint))
	}

	for _, condition := range o.list("status", "conditions") {
		kind, status := condition.str("type"), condition.str("status")
		n.Conditions[kind] = status

		if kind == "Ready" {
			n.Ready, n.ReadySince = status, condition.moment("lastTransitionTime")
		}
	}

	for _, address := range o.list("status", "addresses") {
		if a := address.str("address"); a != "" {
			n.Addresses = append(n.Addresses, Address{address.str("type"), a})
		}
	}

	return n
}

func taintOf(o object) Taint { return Taint{o.str("key"), o.str("value"), o.str("effect")} }
