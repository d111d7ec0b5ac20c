// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// Failure is how a verb fails: see Service.FailNext.
type Failure struct {
	// LastError is the node's last_error.
	LastError string `json:"last_error"`
	// In is the state in which it fails; empty: in the last one before the end.
	In string `json:"in,omitempty"`
	// State is where the node ends; empty: where the verb's failures end ("deploy failed", …).
	State string `json:"state,omitempty"`
	// Fault sets maintenance and this fault.
	Fault string `json:"fault,omitempty"`
	// After is how long it stays in In before it fails.
	After time.Duration `json:"after,omitempty"`
	// Hang stays in the state In for ever instead.
	Hang bool `json:"hang,omitempty"`
}

// failuresBucket holds the failures to come: by node (UUID, name or "") and verb.
const failuresBucket = "ironic.failures"

// FailNext makes the next run of a verb on a node fail ("" for any node; by UUID or name).
// It is kept in the store: another process that shares it may meet the failure.
func (s *Service) FailNext(node, verb string, f Failure) error {
	return s.store.Update(func(tx store.Tx) error {
		var list []Failure
		if _, err := tx.Get(failuresBucket, node+"|"+verb, &list); err != nil {
			return err
		}

		return tx.Put(failuresBucket, node+"|"+verb, append(list, f))
	})
}

// failure takes the failure that was asked for, if any.
func (r repo) failure(n *node, verb string) (*Failure, error) {
	for _, ident := range []string{n.UUID, n.Name, ""} {
		var list []Failure
		if _, err := r.tx.Get(failuresBucket, ident+"|"+verb, &list); err != nil {
			return nil, err
		}

		if len(list) > 0 {
			return &list[0], r.tx.Put(failuresBucket, ident+"|"+verb, slices.Delete(slices.Clone(list), 0, 1))
		}
	}

	return nil, nil //nolint:nilnil // nothing is to fail
}

// StopConductor lets the conductor die: no drivers, and no transition moves, for all
// processes that share the store.
func (s *Service) StopConductor() error {
	return s.store.Update(func(tx store.Tx) error { return tx.Put(metaBucket, "down", true) })
}

// stopped tells whether the conductor is dead.
func (r repo) stopped() (down bool, err error) {
	_, err = r.tx.Get(metaBucket, "down", &down)

	return down, err
}
