// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"fmt"
)

// ending reports whether an earlier destroy got past the question whether pools hold data: every
// host that keeps the identity and still has it says so.
func (w *worker) ending(seen *Seen) bool {
	n := 0

	for _, p := range newView(&w.Wanted, seen).keepers() {
		id := seen.Hosts[p.Host].Identity
		if id == nil {
			continue
		}

		if !id.Ending {
			return false
		}

		n++
	}

	return n > 0
}

// noteEnding writes down that the data of users is not in the way of a destroy that destroys.
// What is cut off from here on can be done again, although no monitor answers by then.
func (w *worker) noteEnding(ctx context.Context, seen *Seen, confirmed bool) error {
	if !confirmed || seen.Cluster == nil || w.ending(seen) {
		return nil
	}

	if err := w.saveIdentity(ctx, seen, func(id *Identity) { id.Ending = true }); err != nil {
		return fmt.Errorf("note that the cluster ends: %w. Nothing was stopped", err)
	}

	return nil
}

// wantedAgain takes back that the cluster ends: from now on it may get data.
func (w *worker) wantedAgain(ctx context.Context, seen *Seen) error {
	for _, h := range seen.Hosts {
		if h.Err == nil && h.Identity != nil && h.Identity.Ending {
			return w.saveIdentity(ctx, seen, func(id *Identity) { id.Ending = false })
		}
	}

	return nil
}
