// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onironic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// wantedPorts are the ports that the configuration asks for: those it lists, else one for
// the boot MAC address.
func wantedPorts(w host.Wanted) []ironic.Port {
	switch {
	case w.Ports != nil:
		return w.Ports
	case w.BootMAC != "":
		return []ironic.Port{{Address: w.BootMAC, PXEEnabled: true}}
	default:
		return nil
	}
}

func find(ports []ironic.Port, mac string) (ironic.Port, bool) {
	i := slices.IndexFunc(ports, func(p ironic.Port) bool { return p.Address == mac })
	if i < 0 {
		return ironic.Port{}, false
	}

	return ports[i], true
}

// portsDiffer compares only where the ports were read.
func portsDiffer(s host.Seen, w host.Wanted) bool {
	if s.Ports == nil {
		return false
	}

	for _, p := range wantedPorts(w) {
		have, ok := find(s.Ports, p.Address)
		if !ok || (w.Ports != nil && len(portChanges(have, p)) > 0) {
			return true
		}
	}

	return w.Ports != nil && len(s.Ports) != len(w.Ports)
}

// EnsurePorts implements [host.Backend].
func (b *Backend) EnsurePorts(ctx context.Context, s host.Seen, w host.Wanted) ([]ironic.Port, error) {
	wanted := wantedPorts(w)
	if len(wanted) == 0 && w.Ports == nil && s.Node.InspectionFinishedAt.IsZero() {
		return s.Ports, nil // nobody made any
	}

	have, err := b.portsOf(ctx, s)
	if err != nil {
		return nil, err
	}

	have = slices.Clone(have)

	for _, p := range wanted {
		p.NodeUUID = s.Node.UUID

		if have, err = b.ensurePort(ctx, have, p, w.Ports != nil); err != nil {
			return nil, b.explain(ctx, err, p)
		}
	}

	if w.Ports == nil {
		return have, nil
	}

	for _, p := range have {
		if _, keep := find(wanted, p.Address); keep {
			continue
		}

		b.fleet.Forget()

		if err := b.client.DeletePort(ctx, p.UUID); err != nil && !errors.Is(err, ironic.ErrNotFound) {
			return nil, fmt.Errorf("remove port %s of node %s: %w", p.Address, s.Node.UUID, err)
		}
	}

	return slices.DeleteFunc(have, func(p ironic.Port) bool {
		_, keep := find(wanted, p.Address)

		return !keep
	}), nil
}

// portsOf are the ports of a host: those that this run knows of, else those that Ironic shows.
func (b *Backend) portsOf(ctx context.Context, s host.Seen) ([]ironic.Port, error) {
	if s.Ports != nil {
		return s.Ports, nil
	}

	have, err := b.client.NodePorts(ctx, s.Node.UUID)

	return have, missing(err)
}

// ensurePort makes or mends one port, and returns the ports as they are then. Details are
// compared only where the user lists ports.
func (b *Backend) ensurePort(ctx context.Context, have []ironic.Port, p ironic.Port, details bool) ([]ironic.Port, error) {
	at := slices.IndexFunc(have, func(q ironic.Port) bool { return q.Address == p.Address })
	if at < 0 {
		b.fleet.Forget()

		made, err := b.client.CreatePort(ctx, p)
		if err != nil {
			return have, err
		}

		return append(have, made), nil
	}

	ops := portChanges(have[at], p)
	if !details || len(ops) == 0 {
		return have, nil
	}

	b.fleet.Forget()

	changed, err := b.client.PatchPort(ctx, have[at].UUID, ops)
	if err == nil {
		have[at] = changed
	}

	return have, err
}

func portChanges(have, want ironic.Port) []ironic.Patch {
	var ops []ironic.Patch
	if have.PXEEnabled != want.PXEEnabled {
		ops = append(ops, ironic.Patch{Op: "add", Path: "/pxe_enabled", Value: want.PXEEnabled})
	}

	if want.PhysicalNetwork != "" && have.PhysicalNetwork != want.PhysicalNetwork {
		ops = append(ops, ironic.Patch{Op: "add", Path: "/physical_network", Value: want.PhysicalNetwork})
	}

	if want.LocalLink != nil && !maps.Equal(have.LocalLink, want.LocalLink) {
		ops = append(ops, ironic.Patch{Op: "add", Path: "/local_link_connection", Value: want.LocalLink})
	}

	return ops
}

// explain names the node that owns a MAC address which could not be taken.
func (b *Backend) explain(ctx context.Context, err error, p ironic.Port) error {
	if !errors.Is(err, ironic.ErrConflict) {
		return fmt.Errorf("port %s of node %s: %w", p.Address, p.NodeUUID, missing(err))
	}

	other, e := b.client.PortByMAC(ctx, p.Address)
	if e != nil {
		return fmt.Errorf("port %s of node %s: %w", p.Address, p.NodeUUID, err)
	}

	name := other.NodeUUID
	if n, e := b.client.Node(ctx, other.NodeUUID); e == nil && n.Name != "" {
		name = n.Name
	}

	return &host.ExistsError{Name: name, ID: other.NodeUUID, MAC: p.Address, Why: "two hosts cannot have one address"}
}
