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

	id := s.Node.UUID

	have, err := b.client.NodePorts(ctx, id)
	if err != nil {
		return nil, missing(err)
	}

	changed := false

	for _, p := range wanted {
		p.NodeUUID = id

		did, err := b.ensurePort(ctx, have, p, w.Ports != nil)
		if err != nil {
			return nil, b.explain(ctx, err, p)
		}

		changed = changed || did
	}

	if w.Ports != nil {
		for _, p := range have {
			if _, keep := find(wanted, p.Address); keep {
				continue
			}

			changed = true

			if err := b.client.DeletePort(ctx, p.UUID); err != nil && !errors.Is(err, ironic.ErrNotFound) {
				return nil, fmt.Errorf("remove port %s of node %s: %w", p.Address, id, err)
			}
		}
	}

	if !changed {
		return have, nil
	}

	b.fleet.Forget()

	return b.client.NodePorts(ctx, id)
}

// ensurePort makes or mends one port. Details are compared only where the user lists ports.
func (b *Backend) ensurePort(ctx context.Context, have []ironic.Port, p ironic.Port, details bool) (bool, error) {
	old, ok := find(have, p.Address)
	if !ok {
		_, err := b.client.CreatePort(ctx, p)

		return true, err
	}

	ops := portChanges(old, p)
	if !details || len(ops) == 0 {
		return false, nil
	}

	_, err := b.client.PatchPort(ctx, old.UUID, ops)

	return true, err
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
