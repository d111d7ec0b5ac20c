// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"net/http"
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// The actions that add a block to a running system and take it away.
const (
	addAction    = "#ComputerSystem.AddResourceBlock"
	removeAction = "#ComputerSystem.RemoveResourceBlock"
)

func (b *blocks) attach(ctx context.Context, op string, s system, device string) (fabric.Hint, error) {
	r, err := b.get(ctx, device)
	if err != nil {
		return fabric.Hint{}, fabric.Unsent(err)
	}

	one := block{resource: r}
	if why := one.why(); why != "" {
		return fabric.Hint{}, busy(op, "%s is not free any more: %s", device, why)
	}

	return b.change(ctx, op, s, addAction, one.resource, func(now []string) []string { return append(now, device) })
}

func (b *blocks) detach(ctx context.Context, op string, s system, device string) (fabric.Hint, error) {
	own, err := s.links("Links", "ResourceBlocks")
	if err != nil {
		return fabric.Hint{}, fabric.Unsent(b.wrong(s.path, err.Error()))
	}

	if !has(own, device) {
		return fabric.Hint{}, refuse(op, fabric.ErrNotFound, "the system has no resource block %s", device)
	}

	r, err := b.part(ctx, device) // for its ETag
	if err != nil {
		return fabric.Hint{}, fabric.Unsent(err)
	}

	return b.change(ctx, op, s, removeAction, r, func(now []string) []string { return without(now, device) })
}

// change uses the action where the system offers it, and else writes the whole list.
func (b *blocks) change(ctx context.Context, op string, s system, action string, r resource, list func([]string) []string) (fabric.Hint, error) {
	if target := local(s.Object.Object("Actions", action).Text("target")); target != "" {
		body := map[string]any{"ResourceBlock": reference(r.path)}

		if r.etag != "" {
			body["ResourceBlockETag"] = r.etag
		}

		if s.etag != "" {
			body["ComputerSystemETag"] = s.etag
		}

		return b.order(ctx, fabric.Request{Op: op, Method: http.MethodPost, Path: target, Body: body})
	}

	return b.rewrite(ctx, op, s, list)
}

// rewrite writes the whole list. Without an ETag nothing holds against a change of somebody
// else, so the system is read once more: other reads lie between the first one and the order.
func (b *blocks) rewrite(ctx context.Context, op string, s system, list func([]string) []string) (fabric.Hint, error) {
	before, err := s.list("Links", "ResourceBlocks")
	if err != nil {
		return fabric.Hint{}, fabric.Unsent(b.wrong(s.path, err.Error()))
	}

	if s.etag != "" {
		return b.replace(ctx, op, s.resource, "ResourceBlocks", list(before))
	}

	again, err := b.fetch(ctx, s.path)
	if err != nil {
		return fabric.Hint{}, fabric.Unsent(err)
	}

	now, err := again.list("Links", "ResourceBlocks")
	if err != nil {
		return fabric.Hint{}, fabric.Unsent(b.wrong(s.path, err.Error()))
	}

	if !slices.Equal(before, now) {
		return fabric.Hint{}, busy(op, "the resource blocks of %s change just now", s.path)
	}

	return b.replace(ctx, op, again, "ResourceBlocks", list(now))
}
