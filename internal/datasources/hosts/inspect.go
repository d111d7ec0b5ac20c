// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-log/tflog"
	"golang.org/x/sync/errgroup"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/hardware"
)

// atOnce is how many requests are under way at once: one Ironic answers no more of them a
// second however many ask.
const atOnce = 8

// inspect reads the inventory of each host, where there is one.
func inspect(ctx context.Context, backend host.Backend, all []listed) error {
	return each(ctx, all, func(ctx context.Context, l *listed) error {
		raw, err := backend.Inventory(ctx, l.seen.Node.UUID)
		if errors.Is(err, host.ErrGone) {
			return nil
		}

		if err != nil {
			return fmt.Errorf("read the inventory of host %s (node %s): %w", l.name, l.seen.Node.UUID, err)
		}

		decoded, odd := hardware.Decode(raw)
		if len(odd) > 0 {
			tflog.Warn(ctx, "odd fields in the inventory are left out", map[string]any{"node": l.seen.Node.UUID, "fields": odd})
		}

		if decoded.Known() {
			l.inventory = &decoded
		}

		return nil
	})
}

// withPorts adds the ports, where the list did not bring them. They come from a list, too.
func withPorts(ctx context.Context, backend host.Backend, all []listed) error {
	return each(ctx, all, func(ctx context.Context, l *listed) error {
		if l.seen.Ports != nil {
			return nil
		}

		seen, err := backend.Refresh(ctx, l.seen.Node.UUID)
		if errors.Is(err, host.ErrGone) {
			return nil // deleted since the list was made: the list stays the truth of its moment
		}

		if err != nil {
			return fmt.Errorf("read the ports of host %s (node %s): %w", l.name, l.seen.Node.UUID, err)
		}

		l.seen.Ports = seen.Ports

		return nil
	})
}

func each(ctx context.Context, all []listed, do func(context.Context, *listed) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)

	for i := range all {
		group.Go(func() error { return do(ctx, &all[i]) })
	}

	return group.Wait()
}
