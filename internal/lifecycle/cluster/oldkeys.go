// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import "context"

// Keys that a create makes are in Terraform's state only when it returns. Where it is killed before,
// they are lost, and with them the way into a control plane that was made of them. Nobody has used that
// yet: its create never ended. So machines that were made with other keys are made anew, in place.

// keysOf tells sets of keys apart: a hash of the certificate of the cluster's CA, which is no secret.
func (w *Wanted) keysOf() string {
	if w.Bootstrap == nil {
		return ""
	}

	return hashOf(w.Bootstrap.PKI.CA.Certificate)
}

// oldKeys marks machines of an unfinished create that were made with keys which are lost.
func (w *worker) oldKeys(ctx context.Context) error {
	for _, m := range w.wantedMembers() {
		s := m.sight()
		if m.note.Keys == "" || m.note.Keys == w.Wanted.keysOf() || s.vacant() || s == SeenClaimed || s == SeenFailed {
			continue // what is not deployed yet is deployed with today's
		}

		w.log(ctx, "machine "+m.Name+" was made with keys that are lost with the run that made them: it is made anew")

		if m.staleKeys = true; s != SeenActive {
			continue // once it has come to rest
		}

		if err := w.distrust(ctx, m); err != nil {
			return err
		}
	}

	return nil
}

// distrust notes that what runs on a machine is not what it should be.
func (w *worker) distrust(ctx context.Context, m *member) error {
	m.note.Deployed, m.staleKeys = distrusted, false

	return w.scribble(ctx, m)
}
