// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephlife_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// sh runs a shell script that finds the cluster, and returns what it printed.
func (o *one) sh(t *testing.T, script string) string {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	cmd := exec.CommandContext(ctx, "sh", "-ec", script)
	cmd.Env = append(cmd.Environ(),
		"CEPH_CONF="+filepath.Join(o.wanted.Dir, "ceph.conf"),
		"CEPH_ARGS=--keyring "+filepath.Join(o.wanted.Dir, "ceph.client.admin.keyring"))

	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}

	return strings.TrimSpace(string(out))
}

// pids are the processes of a daemon, or of a kind of daemons: "mon", "osd.1".
func (o *one) pids(t *testing.T, daemon string) []int {
	t.Helper()

	kind, id, _ := strings.Cut(daemon, ".")
	if id != "" {
		id = "-i " + id + " "
	}

	var all []int

	for _, p := range strings.Fields(o.sh(t, fmt.Sprintf("pgrep -f -- '^ceph-%s -c %s/ceph.conf %s' || :", kind, o.wanted.Dir, id))) {
		n, err := strconv.Atoi(p)
		if err != nil {
			t.Fatal(err)
		}

		all = append(all, n)
	}

	return all
}

// kill ends a daemon as the kernel does when memory is short.
func (o *one) kill(t *testing.T, daemon string) {
	t.Helper()

	all := o.pids(t, daemon)
	if len(all) != 1 {
		t.Fatalf("%s is the processes %v", daemon, all)
	}

	if err := syscall.Kill(all[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}

	for range 100 {
		if len(o.pids(t, daemon)) == 0 {
			return
		}

		time.Sleep(20 * time.Millisecond)
	}

	t.Fatalf("%s does not end", daemon)
}

// put writes an object, and pool and all first.
func (o *one) put(t *testing.T, text string) {
	t.Helper()
	o.sh(t, "ceph osd pool create things 8 8; printf %s '"+text+"' | rados -p things put thing -")
}

// get reads the object back.
func (o *one) get(t *testing.T) string {
	t.Helper()

	return o.sh(t, "timeout 40 rados -p things get thing -")
}

// hooked is a host that something happens to before each thing that is done on it.
type hooked struct {
	ceph.Host

	before func(what string) error
}

func (h hooked) MakeOSD(ctx context.Context, l ceph.Layout, slot ceph.Slot, id int) error {
	if err := h.before("make osd"); err != nil {
		return err
	}

	return h.Host.MakeOSD(ctx, l, slot, id)
}

// errSkip has something that is to be done not be done, and succeed.
var errSkip = errors.New("skipped")

func (h hooked) Start(ctx context.Context, l ceph.Layout, d ceph.Daemon, how ceph.StartHow) error {
	switch err := h.before("start " + d.String()); {
	case errors.Is(err, errSkip):
		return nil
	case err != nil:
		return err
	}

	return h.Host.Start(ctx, l, d, how)
}

func (h hooked) Stop(ctx context.Context, l ceph.Layout, d ceph.Daemon) error {
	if err := h.before("stop " + d.String()); err != nil {
		return err
	}

	return h.Host.Stop(ctx, l, d)
}

func (h hooked) Remove(ctx context.Context, l ceph.Layout, d ceph.Daemon) error {
	if err := h.before("remove " + d.String()); err != nil {
		return err
	}

	return h.Host.Remove(ctx, l, d)
}

func (h hooked) Wipe(ctx context.Context, l ceph.Layout, slot ceph.Slot, method string, passes int) error {
	if err := h.before("wipe " + slot.Path); err != nil {
		return err
	}

	return h.Host.Wipe(ctx, l, slot, method, passes)
}

// drifts fails where none of the drift has these words.
func drifts(t *testing.T, rec ceph.Record, words ...string) {
	t.Helper()

	for _, w := range words {
		if rec.Ready || !slices.ContainsFunc(rec.Drift, func(d string) bool { return strings.Contains(d, w) }) {
			t.Fatalf("ready is %v, and no drift has %q: %q", rec.Ready, w, rec.Drift)
		}
	}
}

// calm fails where there is any drift.
func calm(t *testing.T, rec ceph.Record) {
	t.Helper()

	if !rec.Ready || len(rec.Drift) > 0 {
		t.Fatalf("ready is %v, and there is drift: %q", rec.Ready, rec.Drift)
	}
}

// fails fails where a verb did not, or without these words.
func fails(t *testing.T, res ceph.Result, words ...string) {
	t.Helper()

	if res.Err == nil {
		t.Fatal("nothing failed")
	}

	t.Logf("as it should: %v", res.Err)

	for _, w := range words {
		if !strings.Contains(res.Err.Error(), w) {
			t.Fatalf("%q is not in %q", w, res.Err)
		}
	}
}
