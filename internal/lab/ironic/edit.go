// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// Edit changes a node behind everybody's back, by the names of the API's fields:
// {"provision_state": "clean failed", "maintenance": true, "fault": "clean failure"}. A
// transition under way ends. Nothing is checked: any state can be had.
func (s *Service) Edit(ident string, fields map[string]any) error {
	return s.store.Update(func(tx store.Tx) error {
		r := repo{tx: tx, write: true}

		n, err := r.node(ident)
		if err != nil {
			return err
		}

		raw, err := json.Marshal(fields)
		if err != nil {
			return fmt.Errorf("edit of %s: %w", ident, err)
		}

		before := n.ProvisionState
		if err := json.Unmarshal(raw, n); err != nil {
			return fmt.Errorf("edit of %s: %w", ident, err)
		}

		n.fill()

		if _, ok := fields["provision_state"]; ok || before != n.ProvisionState {
			n.Walk, n.ProvisionUpdatedAt = nil, time.Now().UTC()
		}

		return r.save(n)
	})
}

// Forget makes a node vanish, as a database that was lost does. Its machine stays.
func (s *Service) Forget(ident string) error {
	return s.store.Update(func(tx store.Tx) error {
		r := repo{tx: tx, write: true}

		n, err := r.node(ident)
		if err != nil {
			return err
		}

		return r.forget(n)
	})
}

// KillBMC makes a node's BMC silent: at the next look its power state is null and its fault
// "power failure". HealBMC brings it back.
func (s *Service) KillBMC(ident string) error { return s.Edit(ident, map[string]any{"bmc_dead": true}) }

// HealBMC ends what KillBMC began; the fault goes away by itself.
func (s *Service) HealBMC(ident string) error {
	return s.Edit(ident, map[string]any{"bmc_dead": false})
}

// stuck are the states that a conductor cannot resume when it was dead in between.
var stuck = []string{deploying, cleaning, verifying, inspecting, adopting, rescuing, unrescuing, deleting, servicing}

// StartConductor brings a conductor back. Nodes that it was working on have failed, and
// those that waited for a ramdisk wait on.
func (s *Service) StartConductor() error {
	return s.store.Update(func(tx store.Tx) error {
		if err := tx.Delete(metaBucket, "down"); err != nil {
			return err
		}

		c := &call{Service: s, repo: repo{tx: tx, write: true}, now: time.Now().UTC()}

		all, err := c.nodes()
		if err != nil {
			return err
		}

		for _, n := range all {
			if n.Walk == nil || !slices.Contains(stuck, n.ProvisionState) {
				continue
			}

			why := fmt.Sprintf("Operation was aborted by a restart of the conductor while the node was in state %s", n.ProvisionState)
			if err := c.abandon(n, why, c.now); err != nil {
				return err
			}

			if err := c.save(n); err != nil {
				return err
			}
		}

		return nil
	})
}
