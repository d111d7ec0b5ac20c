// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/onhost"
)

// cut is a host that goes away: at its n-th command, before or after that has run, or in the middle
// of a script, at a place that it is told.
type cut struct {
	remote.Host

	n     int
	after bool
	in    string // the script ends here
	done  bool
}

func (c *cut) lost() error { return fmt.Errorf("%w: cut", remote.ErrLost) }

func (c *cut) now() bool {
	c.n--

	return c.n == 0
}

func (c *cut) Run(ctx context.Context, cmd remote.Command) (remote.Result, error) {
	if c.in != "" && strings.Contains(cmd.Script, c.in) && !c.done {
		c.done = true
		i := strings.LastIndex(cmd.Script, c.in)
		cmd.Script = cmd.Script[:i] + "kill -KILL $$ || " + cmd.Script[i:]
		res, err := c.Host.Run(ctx, cmd)

		return res, err
	}

	now := c.now()
	if now && !c.after {
		return remote.Result{}, c.lost()
	}

	res, err := c.Host.Run(ctx, cmd)
	if now {
		return remote.Result{}, c.lost()
	}

	return res, err
}

func (c *cut) WriteFile(ctx context.Context, path string, data []byte, owner string, mode fs.FileMode) error {
	now := c.now()
	if now && !c.after {
		return c.lost()
	}

	err := c.Host.WriteFile(ctx, path, data, owner, mode)
	if now {
		return c.lost()
	}

	return err
}

// attempt makes an OSD on a host that may go away.
func (c *cluster) attempt(t *testing.T, h *onhost.Host, spec ceph.SlotSpec) (ceph.Slot, int, error) {
	t.Helper()

	s, err := h.MakeSlot(t.Context(), c.l, spec)
	if err != nil {
		return s, -1, err
	}

	id := c.register(t, s)

	return s, id, h.MakeOSD(t.Context(), c.l, s, id)
}

func TestOCEPH12_cutOffAnywhereThereIsOneOSD(t *testing.T) {
	t.Parallel()

	c := newCluster(t, "ceph")
	c.up(t)

	local, err := remote.New(remote.Config{Type: remote.Local})
	must(t, err)
	t.Cleanup(func() { _ = local.Close() })

	var cuts []*cut

	// Before a command and after the one before it is the same, but for who knows of it.
	for n := range 7 {
		cuts = append(cuts, &cut{Host: local, n: n + 1, after: n%2 == 1})
	}

	for _, in := range []string{
		`lead "$dev" "$data" block`, `[ -z "$old" ] || blank`, `printf %s "$secret" | ceph-osd`, `[ "$(cat "$data/fsid")" = "$uuid" ]`,
		"write_activate\n  sync", `printf '%s\n' "$fsid" >"$data/done.new"`, `mv -f "$data/done.new"`, `truncate -s "$3"`,
	} {
		cuts = append(cuts, &cut{Host: local, in: in})
	}

	for i, k := range cuts {
		spec := c.inFile(fmt.Sprintf("f%d", i))
		spec.Size = 2 * gib

		if i%3 == 0 {
			spec.Device.DB, spec.Device.DBSize = spec.Device.Path+".db", gib
		}

		first, was, err := c.attempt(t, onhost.New(k), spec)
		if err == nil && (k.in != "" || k.n <= 0) {
			t.Errorf("cut %d (%+v) was not noticed", i, k)
		}

		s, id, err := c.attempt(t, c.Host, spec)
		if err != nil {
			t.Fatalf("cut %d (after %v, in %q), then repeated: %v", i, k.after, k.in, err)
		}

		if (was >= 0 && was != id) || (first.UUID != "" && first.UUID != s.UUID && was >= 0) {
			t.Errorf("cut %d: osd.%d became osd.%d", i, was, id)
		}
	}

	if ids := strings.Fields(c.ceph(t, "osd", "ls")); len(ids) != len(cuts) {
		t.Errorf("%d OSDs and not %d: %v", len(ids), len(cuts), ids)
	}

	f, err := c.Look(t.Context(), c.l, ceph.Ask{})
	must(t, err)

	for _, s := range f.Slots {
		if !s.Made || s.ID < 0 {
			t.Errorf("not made: %+v", s)
		}
	}

	// One of them, with a DB, as proof that what was made in two goes works.
	s := f.Slots[0]
	must(t, c.Start(t.Context(), c.l, ceph.OSDDaemon(s.ID), ceph.StartHow{Slot: s}))
	c.isUp(t, s.ID)
}
