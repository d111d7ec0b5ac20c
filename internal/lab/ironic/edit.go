// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/conductor"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
)

// Edit changes a node behind everybody's back, by the names of the API's fields:
// {"provision_state": "clean failed", "maintenance": true, "fault": "clean failure"}. A
// transition under way ends. Nothing is checked: any state can be had.
func (s *Service) Edit(ident string, fields map[string]any) error {
	return s.change(func(r record.Repo) error {
		n, err := r.Node(ident)
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

		n.Fill()

		if _, ok := fields["provision_state"]; ok || before != n.ProvisionState {
			n.Walk, n.ProvisionUpdatedAt = nil, time.Now().UTC()
		}

		return r.SaveNode(n)
	})
}

// Forget makes a node vanish, as a database that was lost does. Its machine stays.
func (s *Service) Forget(ident string) error {
	return s.change(func(r record.Repo) error {
		n, err := r.Node(ident)
		if err != nil {
			return err
		}

		return r.ForgetNode(n)
	})
}

// KillBMC makes a node's BMC silent: at the next look its power state is null and its fault
// "power failure". HealBMC brings it back.
func (s *Service) KillBMC(ident string) error { return s.Edit(ident, map[string]any{"bmc_dead": true}) }

// HealBMC ends what KillBMC began; the fault goes away by itself.
func (s *Service) HealBMC(ident string) error {
	return s.Edit(ident, map[string]any{"bmc_dead": false})
}

// FailNext makes the next run of a verb on a node fail ("" for any node; by UUID or name).
// It is kept in the store: another process that shares it may meet the failure.
func (s *Service) FailNext(node, verb string, f record.Failure) error {
	return s.change(func(r record.Repo) error { return r.AddFailure(node, verb, f) })
}

// StopConductor lets the conductor die: no drivers, and no transition moves, for all
// processes that share the store.
func (s *Service) StopConductor() error { return s.change(record.Repo.Stop) }

// StartConductor brings a conductor back. Nodes that it was working on have failed, and
// those that waited for a ramdisk wait on.
func (s *Service) StartConductor() error {
	return s.change(func(r record.Repo) error {
		c, err := conductor.New(r, s.settings)
		if err != nil {
			return err
		}

		return c.Wake()
	})
}
