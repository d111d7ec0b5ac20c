// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
)

// lostWindow is how long after its end a create is still gone on with: the state of a Terraform that
// was killed between our answer and its write to disk.
const lostWindow = 15 * time.Minute

// ErrOtherKeys says that machines were made with keys that nobody has given to this run.
var ErrOtherKeys = errors.New("made with other keys than the state has")

// ExistsError says that there are machines of a cluster of this name already.
type ExistsError struct {
	Cluster  string
	Machines []string
	Why      string
}

func (e *ExistsError) Error() string {
	return fmt.Sprintf("cluster %s exists already in this Ironic, with %d machines (%s): %s. Import it (`terraform import` with the id %s), choose another name, or set adopt_existing = true",
		e.Cluster, len(e.Machines), strings.Join(e.Machines, ", "), e.Why, e.Cluster)
}

// identity decides what a create does about machines of its name that it finds. Those of an
// unfinished create of the same cluster and owner it goes on with; others are somebody's.
func (w *worker) identity() error {
	var (
		names []string
		why   string
	)

	for _, name := range sortedKeys(w.members) {
		m := w.members[name]
		names = append(names, name)

		switch {
		case m.note.OwnerID != w.Wanted.OwnerID:
			why = fmt.Sprintf("%s belongs to owner_id %q, and this provider's owner_id is %q", name, m.note.OwnerID, w.Wanted.OwnerID)
		case w.Wanted.Adopt || why != "":
		case m.note.Fingerprint != "" && m.note.Fingerprint != w.Wanted.Fingerprint():
			why = name + " was made for another endpoint"
		case m.note.Finished != "" && !recent(m.note.Finished):
			why = "its create has ended, so that another state has it"
		}
	}

	if why == "" {
		return nil
	}

	return &ExistsError{w.Wanted.Namespace + "/" + w.Wanted.Name, names, why}
}

// ours refuses to change what is somebody else's.
func (w *worker) ours(create bool) error {
	if create {
		return w.identity()
	}

	return w.foreignOwner()
}

// untouched refuses what no plan could tell: a create that would take down or make anew machines of a
// cluster that is finished, an update without the keys that the cluster was made with, and one that
// turns out to end its etcd.
func (w *worker) untouched(create bool) error {
	var names, changed, keyless, remade []string

	finished := false

	for _, name := range sortedKeys(w.members) {
		m := w.members[name]
		if !m.known {
			continue
		}

		names = append(names, name)
		finished = finished || m.note.Finished != ""

		if m.unwanted || m.outdated() {
			changed = append(changed, name)
		}

		if m.Role == ControlPlane && !m.unwanted && m.outdated() {
			remade = append(remade, name)
		}

		if w.Wanted.Bootstrap != nil && m.note.Keys != "" && m.note.Keys != w.Wanted.keysOf() {
			keyless = append(keyless, name)
		}
	}

	switch {
	case create && finished && len(changed) > 0:
		return &ExistsError{w.Wanted.Namespace + "/" + w.Wanted.Name, names, "its create has ended, and this one would take down or make anew " + joined(changed)}
	case !create && len(keyless) > 0:
		return fmt.Errorf("%s: %w, as after an import: give the cluster's own in bootstrap.kubeadm.pki", joined(keyless), ErrOtherKeys)
	case !create:
		return w.Wanted.CheckQuorum(remade)
	default:
		return nil
	}
}

func recent(stamp string) bool {
	at, err := time.Parse(time.RFC3339, stamp)

	return err == nil && time.Since(at) < lostWindow
}

// finished notes on the first machine that the create has ended: from now on the cluster is in a state.
func (w *worker) finished(ctx context.Context) {
	all := w.wantedMembers()

	at := slices.IndexFunc(all, func(m *member) bool { return m.sight() == SeenActive || m.sight() == SeenClaimed })
	if at < 0 {
		return
	}

	all[at].note.Finished = now()

	if err := w.scribble(ctx, all[at]); err != nil {
		w.log(ctx, "the end of the create is not noted: "+err.Error())
	}
}

// rollback gives everything back that a failed create made.
func (w *worker) rollback(ctx context.Context, cause error) error {
	w.log(ctx, "giving everything back")

	err := w.end(ctx, func(m *member) bool { return !m.known }) // what was there before is not this create's
	if err != nil {
		return fmt.Errorf("%w; giving everything back failed too: %w", cause, err)
	}

	return cause
}

// undisputed makes sure that no machine of another cluster has an address that this run picked: both
// published theirs with their claims, and of two the one with the greater claim picks again.
func (w *worker) undisputed(ctx context.Context) error {
	const rounds = 5

	for range rounds {
		picked := w.picked()
		if len(picked) == 0 {
			return nil
		}

		if _, err := w.relist(ctx); err != nil {
			return err
		}

		w.mu.Lock()
		w.noteForeign(w.allHosts())
		w.mu.Unlock()

		moved := false

		for _, m := range picked {
			again, err := w.yield(ctx, m)
			if err != nil {
				return err
			}

			moved = moved || again
		}

		if !moved {
			return nil
		}
	}

	return errors.New("other clusters take addresses of the same pools at the same time: apply again, or give each cluster a range of its own")
}

// picked are the machines with an address that was chosen, not computed, and that nothing runs with yet.
func (w *worker) picked() []*member {
	var out []*member

	for _, m := range w.wantedMembers() {
		if m.sight() != SeenClaimed {
			continue
		}

		for pool := range m.record.Addresses {
			if c, ok := w.pools[pool]; ok && c.Allocation() != addresses.ByIndex {
				out = append(out, m)

				break
			}
		}
	}

	return out
}

// yield gives up an address that a machine with a smaller claim has, too.
func (w *worker) yield(ctx context.Context, m *member) (bool, error) {
	moved := false

	for _, pool := range sortedKeys(m.record.Addresses) {
		owner := w.foreign[pool][m.record.Addresses[pool].Address]
		if owner == "" || owner > m.ClaimID || w.pools[pool].Allocation() == addresses.ByIndex {
			continue
		}

		w.log(ctx, fmt.Sprintf("machine %s: %s of pool %s is another cluster's, too; it picks again", m.Name, m.record.Addresses[pool].Address, pool))

		delete(m.record.Addresses, pool)
		delete(m.note.Addresses, pool)

		moved = true
	}

	if !moved {
		return false, nil
	}

	if err := w.address(m, m.seen); err != nil {
		return false, err
	}

	w.describe(m)

	return true, w.scribble(ctx, m)
}
