// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"slices"
	"time"
)

// Failure is how a verb fails that a test lets fail.
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

// AddFailure makes the next run of a verb on a node fail ("" for any node; by UUID or name).
func (r Repo) AddFailure(node, verb string, f Failure) error {
	var list []Failure
	if _, err := r.Tx.Get(failuresBucket, node+"|"+verb, &list); err != nil {
		return err
	}

	return r.Tx.Put(failuresBucket, node+"|"+verb, append(list, f))
}

// TakeFailure takes the failure that was asked for, if any.
func (r Repo) TakeFailure(n *Node, verb string) (*Failure, error) {
	for _, ident := range []string{n.UUID, n.Name, ""} {
		var list []Failure
		if _, err := r.Tx.Get(failuresBucket, ident+"|"+verb, &list); err != nil {
			return nil, err
		}

		if len(list) > 0 {
			return &list[0], r.Tx.Put(failuresBucket, ident+"|"+verb, slices.Delete(slices.Clone(list), 0, 1))
		}
	}

	return nil, nil //nolint:nilnil // nothing is to fail
}

// Stop lets the conductor die.
func (r Repo) Stop() error { return r.Tx.Put(metaBucket, "down", true) }

// Restart lets the conductor live again.
func (r Repo) Restart() error { return r.Tx.Delete(metaBucket, "down") }

// Stopped tells whether the conductor is dead.
func (r Repo) Stopped() (down bool, err error) {
	_, err = r.Tx.Get(metaBucket, "down", &down)

	return down, err
}
