// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Versions of the API that brought what this file uses.
const (
	withAllocations      = 52
	withAllocationUpdate = 57
	withBackfill         = 58
)

// ErrNoAllocations means that this Ironic has no allocations for us: it is too old, or
// forbids them. Claims are then made with instance_uuid alone.
var ErrNoAllocations = errors.New("allocations cannot be used")

// AllocationState is a state of an allocation in Ironic's spelling.
type AllocationState string

// The states of an allocation.
const (
	Allocating       AllocationState = "allocating"
	AllocationActive AllocationState = "active"
	AllocationError  AllocationState = "error" // the record and its name stay until it is deleted
)

// Allocation is a claim of one node that Ironic itself keeps. The node's instance_uuid is
// the UUID of its allocation.
type Allocation struct {
	UUID           string
	Name           string
	NodeUUID       string // empty until it is active
	State          AllocationState
	LastError      string
	ResourceClass  string
	CandidateNodes []string
	Traits         []string
	Extra          map[string]string // what is no string comes as its spelling, objects not at all
	Owner          string
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// NewAllocation is the body of POST /v1/allocations. Zero values are left out.
type NewAllocation struct {
	UUID           string // a new one where it is empty
	Name           string
	ResourceClass  string
	CandidateNodes []string
	Traits         []string
	Extra          map[string]string
	Node           string // backfill of an active node (API 1.58); then nothing is chosen
}

// Allocations returns all allocations.
func (c *Client) Allocations(ctx context.Context) ([]Allocation, error) {
	if err := c.allocates(ctx); err != nil {
		return nil, err
	}

	all, err := list(ctx, c, call{op: "list allocations", path: "allocations", query: url.Values{}}, "allocations",
		func(raw []byte) (string, Allocation, bool) {
			a, ok := c.allocation(raw)

			return a.UUID, a, ok
		})

	return all, allowed(err)
}

// Allocation returns an allocation by its UUID or name.
func (c *Client) Allocation(ctx context.Context, id string) (Allocation, error) {
	k := call{op: "get allocation " + id, id: id}

	if err := c.toAllocation(ctx, &k); err != nil {
		return Allocation{}, err
	}

	a, err := c.read(ctx, k)

	return decoded(c, k, a, allowed(err), func(raw []byte) (Allocation, bool) {
		found, ok := c.allocation(raw)

		return found, ok && (!isUUID(id) || strings.EqualFold(id, found.UUID))
	})
}

// CreateAllocation asks for an allocation; look at it until it is active or in error.
//
// Because the UUID is ours, an answer that was lost does no harm: the allocation is looked
// for under it, and taken for ours when the name agrees.
func (c *Client) CreateAllocation(ctx context.Context, create NewAllocation) (Allocation, error) {
	if err := c.allocates(ctx); err != nil {
		return Allocation{}, err
	}

	if create.Node != "" {
		if err := c.Require(ctx, withBackfill, "an allocation of a node that is active"); err != nil {
			return Allocation{}, err
		}
	}

	if create.UUID == "" {
		create.UUID = uuid.NewString()
	}

	k := call{op: "create allocation " + create.UUID, method: http.MethodPost, path: "allocations", id: create.UUID, body: create.body()}

	var (
		made Allocation
		last error
		lost bool
	)

	err := wait.Retry(ctx, createRhythm, func(ctx context.Context) error {
		a, err := c.write(ctx, k)
		if made, last = decoded(c, k, a, err, c.allocation); last == nil {
			return nil
		}

		taken := errors.Is(last, ErrConflict)
		if isUnsentError(last) || (!wait.IsTransient(last) && (!taken || !lost)) {
			return nil
		}

		found, err := c.Allocation(ctx, create.UUID)

		switch {
		case err == nil && found.Name == create.Name:
			made, last = found, nil
		case errors.Is(err, ErrNotFound) && !taken:
			lost = true

			return last // marked: it did not arrive, send it again
		}

		return nil
	})
	if err != nil {
		return Allocation{}, err
	}

	return made, allowed(last)
}

func (create NewAllocation) body() map[string]any {
	body := map[string]any{"uuid": create.UUID}

	for key, value := range map[string]string{"name": create.Name, "resource_class": create.ResourceClass, "node": create.Node} {
		if value != "" {
			body[key] = value
		}
	}

	for key, value := range map[string][]string{"candidate_nodes": create.CandidateNodes, "traits": create.Traits} {
		if len(value) > 0 {
			body[key] = value
		}
	}

	if len(create.Extra) > 0 {
		body["extra"] = create.Extra
	}

	return body
}

// PatchAllocation replaces the extra of an allocation and returns the allocation as it is then.
func (c *Client) PatchAllocation(ctx context.Context, id string, extra map[string]string) (Allocation, error) {
	if extra == nil {
		extra = map[string]string{}
	}

	k := call{
		op: "change allocation " + id, method: http.MethodPatch, id: id,
		body: operations([]Patch{{Op: "add", Path: "/extra", Value: extra}}),
	}

	if err := c.toAllocation(ctx, &k); err != nil {
		return Allocation{}, err
	}

	if err := c.Require(ctx, withAllocationUpdate, "the change of an allocation"); err != nil {
		return Allocation{}, err
	}

	a, err := c.write(ctx, k)

	return decoded(c, k, a, allowed(err), c.allocation)
}

// DeleteAllocation ends an allocation and sets its node free. Ironic refuses it for a node
// that is active or in a transition.
func (c *Client) DeleteAllocation(ctx context.Context, id string) error {
	k := call{op: "delete allocation " + id, method: http.MethodDelete, id: id}

	if err := c.toAllocation(ctx, &k); err != nil {
		return err
	}

	_, err := c.write(ctx, k)

	return allowed(err)
}

// NodeByInstance returns the node that an instance_uuid claims. Ironic answers an empty list
// where there is none, which counts as its word: the list was asked for this one only.
func (c *Client) NodeByInstance(ctx context.Context, instance string) (Node, error) {
	op := "find the node of instance " + instance

	if !isUUID(instance) {
		return Node{}, fmt.Errorf("%s: %q is no UUID", op, instance)
	}

	q, err := c.everyNode(ctx)
	if err != nil {
		return Node{}, err
	}

	q.Set("instance_uuid", instance)

	nodes, err := list(ctx, c, call{op: op, path: "nodes/detail", query: q, id: instance}, "nodes", func(raw []byte) (string, Node, bool) {
		n, ok := c.node(raw)

		return n.UUID, n, ok
	})
	if err != nil {
		return Node{}, err
	}

	for _, n := range nodes {
		if strings.EqualFold(n.InstanceUUID, instance) {
			return n, nil
		}
	}

	return Node{}, &NotFoundError{What: "node", ID: instance, Op: op, Text: "no node has this instance_uuid"}
}

// allocates refuses where Ironic is too old for allocations.
func (c *Client) allocates(ctx context.Context) error {
	err := c.Require(ctx, withAllocations, "allocations")

	var old *TooOldError
	if errors.As(err, &old) {
		return fmt.Errorf("%w: %w", ErrNoAllocations, err)
	}

	return err
}

// toAllocation gives a call the path of its allocation. With an empty id, GET would be a list.
func (c *Client) toAllocation(ctx context.Context, k *call) error {
	if _, err := nodePath(k.id); err != nil {
		return fmt.Errorf("%q is neither the UUID nor the name of an allocation", k.id)
	}

	k.path = "allocations/" + url.PathEscape(k.id)

	return c.allocates(ctx)
}

// allowed marks a refusal for want of rights: many who may use nodes may not use allocations.
func allowed(err error) error {
	var e *RequestError
	if errors.As(err, &e) && e.Status == http.StatusForbidden && errors.Is(err, ErrAuth) {
		return fmt.Errorf("%w: %w", ErrNoAllocations, err)
	}

	return err
}

// allocation decodes an allocation and cleans the words in it.
func (c *Client) allocation(raw []byte) (Allocation, bool) {
	a, ok := decodeAllocation(raw)
	a.LastError = c.secrets.clean(a.LastError)

	return a, ok
}

// decodeAllocation reads an allocation; false where the JSON is none.
func decodeAllocation(raw []byte) (Allocation, bool) {
	o, ok := parseObject(raw)
	if !ok || o.text("uuid") == "" {
		return Allocation{}, false
	}

	a := Allocation{
		UUID:           o.text("uuid"),
		Name:           o.text("name"),
		NodeUUID:       o.text("node_uuid"),
		State:          AllocationState(o.text("state")),
		LastError:      o.text("last_error"),
		ResourceClass:  o.text("resource_class"),
		CandidateNodes: o.texts("candidate_nodes"),
		Traits:         o.texts("traits"),
		Extra:          map[string]string{},
		Owner:          o.text("owner"),
		CreatedAt:      o.at("created_at"),
		UpdatedAt:      o.at("updated_at"),
	}

	extra, _ := parseObject(o["extra"])
	for key := range extra {
		if value := extra.text(key); value != "" {
			a.Extra[key] = value
		}
	}

	return a, true
}
