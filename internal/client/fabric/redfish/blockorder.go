// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"net/http"

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

	now, err := s.links("Links", "ResourceBlocks")
	if err != nil {
		return fabric.Hint{}, fabric.Unsent(b.wrong(s.path, err.Error()))
	}

	return b.replace(ctx, op, s.resource, "ResourceBlocks", list(now))
}
