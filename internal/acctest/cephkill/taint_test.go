// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephkill_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/tfrun"
)

// TestKill_tainted has a create that does not reach its end in time, which Terraform marks as
// tainted, and goes both ways from there: in place, and through a replacement.
func TestKill_tainted(t *testing.T) {
	t.Parallel()

	c := newCluster(t)

	c.late("")
	before := c.daemons()

	c.Must("untaint", this)

	c.config(2, "")
	if said := c.Must("apply", "-auto-approve"); !strings.Contains(said, "0 added, 1 changed, 0 destroyed") {
		t.Errorf("it does not go on in place: %s", said)
	}

	c.whole(2)

	for name, pid := range before {
		if now := c.daemons()[name]; now != pid {
			t.Errorf("%s was process %d and is %d", name, pid, now)
		}
	}

	// Without the confirmation a replacement costs a restart, and no data.
	ids := c.uuids()
	c.ceph("osd", "pool", "create", "kept", "8")
	c.Must("taint", this)

	said := c.Must("apply", "-auto-approve")
	if !strings.Contains(said, "1 added, 0 changed, 1 destroyed") || !strings.Contains(said, "goes on with this one (fsid "+c.fsid) {
		t.Errorf("it was not replaced, or not with a word about that: %s", said)
	}

	c.whole(2)

	if now := c.uuids(); now != ids || !strings.Contains(c.ceph("osd", "pool", "ls"), "kept") {
		t.Errorf("the OSDs were %s and are %s", ids, now)
	}

	// What was not ready is destroyed in full where that is confirmed, and another one is made.
	c.config(2, confirmed)
	c.Must("apply", "-auto-approve")
	c.Must("destroy", "-auto-approve")
	c.nothing()

	c.fsid = ""
	c.late(confirmed)
	was := c.fsid

	c.config(2, confirmed)

	said = c.Must("apply", "-auto-approve")
	if !strings.Contains(said, "1 added, 0 changed, 1 destroyed") {
		t.Errorf("it was not replaced: %s", said)
	}

	c.fsid = ""
	c.whole(2)

	if c.fsid == was {
		t.Errorf("what was to be destroyed is there: %s", was)
	}

	c.Must("destroy", "-auto-approve")
	c.nothing()
}

// late has a create end with its time while the monitor runs, and nothing else.
func (c *cluster) late(more string) {
	c.T.Helper()

	const limit = 45 * time.Second // a busy machine has its monitor by then

	c.config(2, more+"\n  timeouts      = { create = \"45s\" }")

	r := c.Start("apply", "-auto-approve")
	for c.runs("mon") == 0 && !r.Ended() {
		time.Sleep(3 * time.Millisecond)
	}

	pause(r, limit)
	r.Wait()

	if r.Code != 1 {
		c.T.Fatalf("the create ends with %d:\n%s", r.Code, r.Out)
	}

	said := tfrun.Flat(r.Out.String())
	for _, word := range []string{"the create did not finish", "The limit of 45s (timeouts.create) was reached", "terraform untaint", "no daemon ran at the last look"} {
		if !strings.Contains(said, word) {
			c.T.Errorf("%q is not said in:\n%s", word, r.Out)
		}
	}

	c.same()

	if o := c.state(); o == nil || o.Status != "tainted" || o.Attributes.Ready {
		c.T.Fatalf("the state has %+v", o)
	}

	if now := c.daemons(); len(now) != 1 || now["mon.a"] == 0 {
		c.T.Errorf("running: %v", now)
	}
}

// uuids are the OSDs of the cluster.
func (c *cluster) uuids() string {
	c.T.Helper()

	var all []string

	for line := range strings.Lines(c.ceph("osd", "dump")) {
		if fields := strings.Fields(line); strings.HasPrefix(line, "osd.") {
			all = append(all, fields[0]+"="+fields[len(fields)-1])
		}
	}

	return strings.Join(all, " ")
}

// pause stops the provider for a while: its time goes on.
func pause(r *tfrun.Run, d time.Duration) {
	pids := r.Providers()
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
	}

	time.Sleep(d)

	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
}
