// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// lookGone finds out whether the cluster is gone: every host answered twice, and nowhere is
// anything of it. A host that is not the one that was meant, or whose folder is not mounted, shows
// nothing, too: what is odd is told, and then nothing is gone.
func (w *worker) lookGone(ctx context.Context, seen *Seen) (*Seen, bool, error) {
	if !w.empty(seen) {
		return seen, false, nil
	}

	for _, h := range slices.Concat(w.Hosts, w.Former) {
		w.mark(h.Name)
	}

	ask := w.ask(true)
	ask.Devices = true

	seen, err := w.look(ctx, seen, ask)
	if err != nil || !w.empty(seen) {
		return seen, false, err
	}

	if odd := w.odd(seen); len(odd) > 0 {
		return seen, false, &oddError{odd}
	}

	return seen, true, nil
}

// oddError says why hosts that show nothing of the cluster are no proof that it is gone.
type oddError struct{ odd []string }

func (e *oddError) Error() string {
	return "the hosts show nothing of the cluster, and that is no proof that it is gone:\n- " + strings.Join(e.odd, "\n- ") +
		"\nPut that right. If the cluster is gone all the same, wipe those disks, or take it out of the state with `terraform state rm`"
}

// empty: every host answered, and nowhere is anything of the cluster.
func (w *worker) empty(seen *Seen) bool {
	if w.External != nil {
		return false
	}

	for _, h := range slices.Concat(w.Hosts, w.Former) {
		s, ok := seen.Hosts[h.Name]
		if !ok || s.Err != nil || s.Identity != nil || len(s.Daemons) > 0 || len(s.Slots) > 0 {
			return false
		}
	}

	return len(w.Hosts) > 0
}

// odd lists what speaks against empty hosts being the hosts of the cluster, wiped.
func (w *worker) odd(seen *Seen) []string {
	var out []string

	for _, h := range slices.Concat(w.Hosts, w.Former) {
		f := seen.Hosts[h.Name].Facts

		if !strings.EqualFold(f.Hostname, h.Name) {
			out = append(out, fmt.Sprintf("%s calls itself %q", h.Name, f.Hostname))
		}

		for _, d := range f.Disks {
			if d.Label != nil && w.was.FSID != "" && strings.EqualFold(d.Label.FSID, w.was.FSID) {
				out = append(out, fmt.Sprintf("the disk %s of %s carries a label of this cluster: is data_dir, %s, mounted?", d.Path, h.Name, w.Dir))
			}
		}

		out = append(out, w.covered(h.Name, f.Disks)...)
	}

	return out
}

// covered are disks of OSDs whose label is inside of something that is still there.
func (w *worker) covered(host string, disks []Disk) []string {
	var out []string

	for _, id := range sortedKeys(w.was.OSDs) {
		was := w.was.OSDs[id]
		if was.Host != host {
			continue
		}

		d, ok := FindDisk(disks, cmp.Or(was.Path, was.Device))
		if ok && d.Label == nil && (d.Signature == SignatureBlueStore || d.Signature == "crypto_LUKS" || strings.HasPrefix(d.Signature, "LVM2")) {
			out = append(out, fmt.Sprintf("the disk %s of %s, which is that of osd.%d, holds %s: is data_dir, %s, mounted?", d.Path, host, id, d.Signature, w.Dir))
		}
	}

	return out
}

// misplaced refuses to go on with a cluster on hosts that show nothing of it and are not as they were.
func (w *worker) misplaced(seen *Seen) error {
	if w.create || w.was.FSID == "" || !w.empty(seen) {
		return nil
	}

	if odd := w.odd(seen); len(odd) > 0 {
		return &oddError{odd}
	}

	return nil
}

// remarkOdd keeps the state of a cluster of which nothing is seen.
func (w *worker) remarkOdd(err error) (Result, bool) {
	var odd *oddError
	if !errors.As(err, &odd) {
		return Result{}, false
	}

	rec := w.was
	rec.Ready, rec.Phase, rec.Drift = false, PhaseUnavailable, odd.odd

	w.warn("Ceph cluster "+w.Name+" is not seen", err.Error()+". The state stays as it was.")

	return Result{Record: rec, Known: true, Warnings: w.warnings}, true
}
