// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fs_test

import (
	"errors"
	"strings"
	"testing"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/fs"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/pool"
)

// TestDelete_noManager keeps what nobody counts.
func TestDelete_noManager(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, w *world, h1, _ *host) {
		t.Helper()

		if _, _, err := fs.Create(t.Context(), w.reach(), wanted(h1)); err != nil {
			t.Fatal(err)
		}

		w.alone = true

		if _, err := fs.Delete(t.Context(), w.reach(), fs.Removal{Name: "f", Hosts: []ceph.Host{h1}}); !errors.Is(err, api.ErrNoManager) || !w.fs || w.failed || len(w.servers) != 1 {
			t.Errorf("got %v, and in service: %t", err, w.fs && !w.failed)
		}
	})
}

// TestDelete_aPoolIsLeft notes the pools that are left, and the next try deletes those.
func TestDelete_aPoolIsLeft(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, w *world, h1, _ *host) {
		t.Helper()

		if _, _, err := fs.Create(t.Context(), w.reach(), wanted(h1)); err != nil {
			t.Fatal(err)
		}

		w.keep = "f-metadata"

		var notes [][]pool.Which

		d := fs.Removal{Name: "f", Hosts: []ceph.Host{h1}, Note: func(left []pool.Which) { notes = append(notes, left) }}

		_, err := fs.Delete(t.Context(), w.reach(), d)
		if err == nil || w.fs || len(w.pools) != 1 || len(notes) != 2 || len(notes[0]) != 2 || len(notes[1]) != 1 || notes[1][0].Name != "f-metadata" {
			t.Fatalf("notes %v, pools %v: %v", notes, w.pools, err)
		}

		d.Left, w.keep = notes[1], ""

		if _, err := fs.Delete(t.Context(), w.reach(), d); err != nil || len(w.pools) > 0 || len(notes[len(notes)-1]) > 0 {
			t.Errorf("notes %v, pools %v: %v", notes, w.pools, err)
		}
	})
}

// TestUpdate_aFormerHostIsDead goes on without it where its MDS is not heard, and stops where it is.
func TestUpdate_aFormerHostIsDead(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, w *world, h1, h2 *host) {
		t.Helper()

		if _, _, err := fs.Create(t.Context(), w.reach(), wanted(h1, h2)); err != nil {
			t.Fatal(err)
		}

		w.joins["mds.other-h9"] = "other"
		h2.down = true

		less := wanted(h1)
		less.Former = []ceph.Host{h1, h2}

		if _, err := fs.Update(t.Context(), w.reach(), less, false); !errors.Is(err, ceph.ErrUnreachable) || !w.users["mds.f-h2-lan"] || !strings.Contains(err.Error(), "still hears mds.f-h2-lan") {
			t.Errorf("its MDS is up: %v", err)
		}

		delete(w.servers, "f-h2-lan")

		seen, err := fs.Update(t.Context(), w.reach(), less, false)
		if err != nil || len(seen.Warnings) != 1 || !strings.Contains(seen.Warnings[0], "mds.f-h2-lan") {
			t.Errorf("its MDS is gone: %q, %v", seen.Warnings, err)
		}

		if w.users["mds.f-h2-lan"] || !w.users["mds.f-h1-lan"] || len(w.joins) != 2 || w.joins["mds.f-h1-lan"] != "f" {
			t.Errorf("left: %v, %v", w.users, w.joins)
		}
	})
}

// TestUpdate_anotherAddress keeps the MDS of a host that is reached in another way now.
func TestUpdate_anotherAddress(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, w *world, h1, _ *host) {
		t.Helper()

		if _, _, err := fs.Create(t.Context(), w.reach(), wanted(h1)); err != nil {
			t.Fatal(err)
		}

		again := wanted(readdressed{h1})
		again.Former = []ceph.Host{h1}

		if _, err := fs.Update(t.Context(), w.reach(), again, false); err != nil || !w.servers["f-h1-lan"] {
			t.Errorf("MDS %v: %v", w.servers, err)
		}
	})
}

type readdressed struct{ *host }

func (readdressed) Name() string { return "root@10.0.0.1:22" }

// TestCreate_foreign makes nothing in a cluster that has no identity of ours.
func TestCreate_foreign(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, w *world, h1, h2 *host) {
		t.Helper()

		h1.foreign, h2.foreign = true, true

		if _, made, err := fs.Create(t.Context(), w.reach(), wanted(h1)); made || !errors.Is(err, fs.ErrForeign) || len(w.sent) > 0 {
			t.Errorf("sent %v: %v", w.sent, err)
		}

		// A host without monitors has none; those of the monitors have.
		h2.foreign = false
		reach := w.reach()
		reach.Hosts = []ceph.Host{h2}

		if _, _, err := fs.Create(t.Context(), reach, wanted(h1)); err != nil {
			t.Error(err)
		}
	})
}

// TestCreate_aStandbyIsSilent stands, and says which one is missing.
func TestCreate_aStandbyIsSilent(t *testing.T) {
	t.Parallel()

	in(t, func(t *testing.T, w *world, h1, h2 *host) {
		t.Helper()

		w.mute = "f-h2-lan"

		seen, made, err := fs.Create(t.Context(), w.reach(), wanted(h1, h2))
		if err != nil || !made || len(seen.Warnings) != 1 || !strings.Contains(seen.Warnings[0], "mds.f-h2-lan is started") {
			t.Errorf("got %q, %t: %v", seen.Warnings, made, err)
		}
	})
}
