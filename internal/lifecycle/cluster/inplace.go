// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// This file is about what changes on the hosts of machines that run, without a deployment. What changes
// in place on their Nodes is package nodes's; what matters to the next machine only, as keep_power and
// hooks, is read when it matters.

// setCleaning has the hosts of machines that run clean as their pool says now, those of machines that
// are about to leave first of all.
func (w *worker) setCleaning(ctx context.Context) error {
	var todo []*member

	for _, name := range sortedKeys(w.members) {
		if m := w.members[name]; m.cleansOtherwise() {
			todo = append(todo, m)
		}
	}

	return remote.Each(ctx, atOnce, todo, func(ctx context.Context, m *member) error {
		if err := w.setCleaningOf(ctx, m); err != nil {
			return fmt.Errorf("machine %s%s: setting automated_cleaning_mode: %w", m.Name, m.on(), err)
		}

		return nil
	})
}

// cleansOtherwise reports whether a machine runs on a host that does not clean as the pool says.
func (m *member) cleansOtherwise() bool {
	if m.pool.Name == "" || m.sight() != SeenActive && m.sight() != SeenHalf {
		return false
	}

	have := m.seen.Node.AutomatedClean // an old Ironic does not say

	return m.note.CleaningMode != m.pool.CleaningMode || m.pool.CleaningMode != "" && have != nil && *have != cleans(m.pool.CleaningMode)
}

// setCleaningOf sets a host's cleaning with the note of what it was before, in one request: a machine
// that leaves, or whose pool says nothing any more, gives the host its own setting back.
func (w *worker) setCleaningOf(ctx context.Context, m *member) error {
	const path = "/automated_clean"

	var ops []ironic.Patch

	note := m.note
	note.CleaningMode = m.pool.CleaningMode

	switch {
	case note.CleaningMode != "":
		if m.note.CleaningMode == "" {
			note.CleaningWas = m.cleaned()
		}

		ops = append(ops, ironic.Patch{Op: "add", Path: path, Value: cleans(note.CleaningMode)})
	case note.CleaningWas != nil:
		ops = append(ops, ironic.Patch{Op: "add", Path: path, Value: *note.CleaningWas})
		note.CleaningWas = nil
	}

	w.log(ctx, "setting automated_cleaning_mode of machine "+m.Name+m.on())

	s, err := w.Far.Patch(ctx, m.seen.Node.UUID, append(ops, ironic.Patch{Op: "add", Path: "/instance_info/" + host.TenancyKey, Value: note.Value()}))
	if err != nil {
		return err
	}

	w.take(m, s)

	return nil
}

// cleaned is whether a machine's host cleans; one that does not say does.
func (m *member) cleaned() *bool {
	is := m.seen.Node.AutomatedClean == nil || *m.seen.Node.AutomatedClean

	return &is
}

// cleans reports whether an automated_cleaning_mode cleans.
func cleans(mode string) bool { return mode != "disabled" }
