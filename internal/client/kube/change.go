// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// SetProviderID gives a Node its provider ID. A Node that has it already is left as it is; one
// that has another gives a [ProviderIDError].
func (c *Client) SetProviderID(ctx context.Context, name, id string) error {
	err := c.patch(ctx, "set the provider ID of the Node "+name, nodePath(name), object{"spec": object{"providerID": id}})

	// The words differ from release to release; the code and the field do not.
	var refused *RequestError
	if errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity &&
		slices.ContainsFunc(refused.Causes, func(cause Cause) bool { return cause.Field == "spec.providerID" }) {
		return &ProviderIDError{Node: name, Wanted: id, Err: err}
	}

	return err
}

// ApplyLabels makes the given labels all those of a Node that are ours: what an earlier call
// set and this one does not name is removed; the labels of others stay. A label that somebody
// else holds gives a [HeldError], unless force takes it.
func (c *Client) ApplyLabels(ctx context.Context, name string, labels map[string]string, force bool) error {
	// An apply makes what is not there. With the uid it is refused instead.
	node, err := c.node(ctx, name)
	if err != nil {
		return err
	}

	if labels == nil {
		labels = map[string]string{}
	}

	_, err = c.do(ctx, call{
		op:     "apply labels to the Node " + name,
		method: http.MethodPatch,
		path:   nodePath(name),
		query:  url.Values{"fieldManager": {Manager}, "force": {strconv.FormatBool(force)}},
		kind:   applyPatch,
		body: object{"apiVersion": "v1", "kind": "Node", "metadata": object{
			"name": name, "uid": node.str("metadata", "uid"), "labels": labels,
		}},
	})

	var refused *RequestError

	switch {
	case !errors.As(err, &refused):
		return err
	case slices.ContainsFunc(refused.Causes, func(cause Cause) bool { return cause.Field == "metadata.uid" }):
		// the Node was registered anew in between
		return wait.Transient(refused)
	case refused.Status != http.StatusConflict:
		return err
	}

	var held []Cause

	for _, cause := range refused.Causes {
		if cause.Reason == "FieldManagerConflict" {
			held = append(held, cause)
		}
	}

	if len(held) == 0 {
		return err
	}

	return &HeldError{Node: name, Held: held, Err: refused}
}

// MergeMeta sets labels and annotations of a Node; nil removes one.
func (c *Client) MergeMeta(ctx context.Context, name string, labels, annotations map[string]*string) error {
	meta := object{}

	if len(labels) > 0 {
		meta["labels"] = labels
	}

	if len(annotations) > 0 {
		meta["annotations"] = annotations
	}

	if len(meta) == 0 {
		return nil
	}

	return c.patch(ctx, "change labels and annotations of the Node "+name, nodePath(name), object{"metadata": meta})
}

// Cordon says whether new Pods may be put on a Node.
func (c *Client) Cordon(ctx context.Context, name string, cordoned bool) error {
	op := "uncordon the Node "
	if cordoned {
		op = "cordon the Node "
	}

	return c.patch(ctx, op+name, nodePath(name), object{"spec": object{"unschedulable": cordoned}})
}

// taintTries bounds how often a change of taints begins anew, because somebody else was faster.
const taintTries = 5

// ChangeTaints reads the taints of a Node, has them changed, and writes them if nobody else wrote
// to the Node in between; otherwise it begins anew. Taints that stay keep what else they say.
func (c *Client) ChangeTaints(ctx context.Context, name string, change func([]Taint) []Taint) error {
	var err error

	for range taintTries {
		var node object

		if node, err = c.node(ctx, name); err != nil {
			return err
		}

		before := nodeOf(node).Taints
		after := change(slices.Clone(before))

		if slices.Equal(before, after) {
			return nil
		}

		// A strategic merge patch would replace the list, too, but not say that somebody was faster.
		err = c.patch(ctx, "change the taints of the Node "+name, nodePath(name), object{
			"metadata": object{"resourceVersion": node.str("metadata", "resourceVersion")},
			"spec":     object{"taints": taintsFor(after, node.list("spec", "taints"))},
		})
		if !errors.Is(err, ErrConflict) {
			return err
		}
	}

	return err
}

// taintsFor writes taints; those that were there before keep the time when they were added.
func taintsFor(wanted []Taint, before []object) []object {
	out := make([]object, 0, len(wanted))

	for _, taint := range wanted {
		i := slices.IndexFunc(before, func(o object) bool { return taintOf(o) == taint })
		if i >= 0 {
			out = append(out, before[i])

			continue
		}

		written := object{"key": taint.Key, "effect": taint.Effect}
		if taint.Value != "" {
			written["value"] = taint.Value
		}

		out = append(out, written)
	}

	return out
}

// patch sends a merge patch.
func (c *Client) patch(ctx context.Context, op, path string, body object) error {
	_, err := c.do(ctx, call{op: op, method: http.MethodPatch, path: path, query: url.Values{"fieldManager": {Manager}}, kind: mergePatch, body: body})

	return err
}
