// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onironic

import (
	"context"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// ByClaim returns the node whose instance_uuid is id, [host.ErrGone] where none has it.
func (b *Backend) ByClaim(ctx context.Context, id string) (host.Seen, error) {
	n, err := b.client.NodeByInstance(ctx, id)
	if err != nil {
		return host.Seen{}, missing(err)
	}

	return seen(n), nil
}

// Patch changes a node in one request and returns it as it is then.
func (b *Backend) Patch(ctx context.Context, id string, ops []ironic.Patch) (host.Seen, error) {
	b.fleet.Forget()

	n, err := b.client.PatchNode(ctx, id, ops)
	if err != nil {
		return host.Seen{}, missing(err)
	}

	return seen(n), nil
}

// Allocations returns all allocations.
func (b *Backend) Allocations(ctx context.Context) ([]ironic.Allocation, error) {
	return b.client.Allocations(ctx)
}

// Allocation returns an allocation by its UUID or name.
func (b *Backend) Allocation(ctx context.Context, id string) (ironic.Allocation, error) {
	return b.client.Allocation(ctx, id)
}

// Allocate asks for an allocation.
func (b *Backend) Allocate(ctx context.Context, a ironic.NewAllocation) (ironic.Allocation, error) {
	b.fleet.Forget()

	return b.client.CreateAllocation(ctx, a)
}

// Amend replaces the extra of an allocation.
func (b *Backend) Amend(ctx context.Context, id string, extra map[string]string) (ironic.Allocation, error) {
	return b.client.PatchAllocation(ctx, id, extra)
}

// Deallocate ends an allocation.
func (b *Backend) Deallocate(ctx context.Context, id string) error {
	b.fleet.Forget()

	return b.client.DeleteAllocation(ctx, id)
}
