// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephkill_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/tfrun"
)

// moment is something that is seen on the host in the middle of a run.
type moment struct {
	name string
	seen func(c *cluster) bool
}

// phase is a change, and the moments at which it is cut short, one run after the other.
type phase struct {
	name    string
	osds    int
	more    string
	moments []moment
}

var creating = phase{"create", 2, "", []moment{
	{"the identity is written", func(c *cluster) bool { return c.identity() != "" }},
	{"the monitor has a folder", func(c *cluster) bool { return c.has("mon", "a") }},
	{"the monitor runs", func(c *cluster) bool { return c.runs("mon") == 1 }},
	{"the manager runs", func(c *cluster) bool { return c.runs("mgr") == 1 }},
	{"the first OSD has a record", func(c *cluster) bool { return c.number("slots", "*", "slot.json") > 0 }},
	{"the first OSD has a folder", func(c *cluster) bool { return c.number("osd", "*") > 0 }},
	{"an OSD is made", func(c *cluster) bool { return c.number("osd", "*", "done") > 0 }},
	{"all OSDs run", func(c *cluster) bool { return c.runs("osd") == 2 }},
}}

var growing = phase{"grow", 3, "", []moment{
	{"the third OSD has a record", func(c *cluster) bool { return c.number("slots", "*", "slot.json") == 3 }},
	{"the third OSD has a folder", func(c *cluster) bool { return c.has("osd", "2") }},
	{"the third OSD is made", func(c *cluster) bool { return c.has("osd", "2", "done") }},
	{"the third OSD runs", func(c *cluster) bool { return c.runs("osd") == 3 }},
}}

var shrinking = phase{"shrink", 2, confirmed, []moment{
	{"the third OSD is stopped", func(c *cluster) bool { return c.runs("osd") == 2 }},
	{"the third OSD has no folder", func(c *cluster) bool { return !c.has("osd", "2") }},
	{"the third OSD has no record", func(c *cluster) bool { return c.number("slots", "*", "slot.json") == 2 }},
}}

var destroying = phase{"destroy", 0, "", []moment{
	{"an OSD is stopped", func(c *cluster) bool { return c.runs("osd") < 2 }},
	{"the OSDs are stopped", func(c *cluster) bool { return c.runs("osd") == 0 }},
	{"the manager is stopped", func(c *cluster) bool { return c.runs("mgr") == 0 }},
	{"the monitor is stopped", func(c *cluster) bool { return c.runs("mon") == 0 }},
	{"a device is wiped", func(c *cluster) bool { return c.number("slots", "*", "slot.json") < 2 }},
	{"the folders go", func(c *cluster) bool { return !c.has("osd") }},
}}

// TestKill_createGrowShrinkDestroy has clusters that are cut short in each phase of their lives,
// over and over, each time in another way. Whatever happens, the same cluster comes of it: with
// the same fsid, with no OSD twice, and in the end with nothing left.
func TestKill_createGrowShrinkDestroy(t *testing.T) {
	t.Parallel()

	for life := range 2 {
		t.Run(fmt.Sprintf("life %d", life), func(t *testing.T) {
			c := newCluster(t)
			k := &killer{cluster: c, next: life * 2}

			for _, p := range []phase{creating, growing, shrinking} {
				c.config(p.osds, p.more)
				k.pass(p, "apply", "-auto-approve")
				k.finish("apply", "-auto-approve")
				c.whole(p.osds)
			}

			// What was destroyed in part and is wanted after all is there again.
			half := destroying
			half.moments = destroying.moments[1+2*life:][:1]
			k.pass(half, "destroy", "-auto-approve")
			k.finish("apply", "-auto-approve")
			c.whole(2)

			k.pass(destroying, "destroy", "-auto-approve")
			k.finish("destroy", "-auto-approve")
			c.nothing()

			t.Logf("%d runs were cut short, %d came to their ends first, %d moments were past before a run", k.struck, k.missed, k.past)

			if k.struck < struckAtLeast {
				t.Errorf("%d runs were cut short, wanted are %d", k.struck, struckAtLeast)
			}
		})
	}
}

// struckAtLeast is how many runs of a life have to be cut short. There are more moments; but some
// come milliseconds after another, and a busy machine is past them before the run of their own.
const struckAtLeast = 10

// killer cuts runs short.
type killer struct {
	*cluster

	next   int // strike
	struck int // runs that did not come to their ends
	missed int // runs that did
	past   int // moments that were there before a run
}

// pass cuts a change short at each of its moments.
func (k *killer) pass(p phase, args ...string) {
	k.T.Helper()

	strikes := tfrun.Strikes()

	for _, m := range p.moments {
		if m.seen(k.cluster) {
			k.past++
			k.T.Logf("%s: %s already", p.name, m.name)

			continue
		}

		s := strikes[k.next%len(strikes)]
		k.next++

		var alive map[string]int

		start := time.Now()
		r := k.Start(args...)
		hit := r.Cut(s, tfrun.Cut{Look: 3 * time.Millisecond, Ready: func() bool {
			if !m.seen(k.cluster) {
				return false
			}

			alive = k.daemons()

			return true
		}})
		k.T.Logf("%s, %s when %s: hit %t, exit %d after %.1f s", p.name, s.Name, m.name, hit, r.Code, time.Since(start).Seconds())
		k.after(p, s, r, hit, alive)

		if !hit {
			return // the change is reached
		}
	}
}

// after judges what a run has left that was cut short.
func (k *killer) after(p phase, s tfrun.Strike, r *tfrun.Run, hit bool, alive map[string]int) {
	k.T.Helper()

	if !hit {
		k.missed++

		if r.Code != 0 {
			k.T.Fatalf("an undisturbed %s fails:\n%s", p.name, r.Out)
		}

		return
	}

	// A strike may come when all is done.
	if r.Code == 0 {
		k.missed++
	} else {
		k.struck++
	}

	if s.Asks && r.Code == 0 {
		k.T.Errorf("an interrupted %s ends well:\n%s", p.name, r.Out)
	}

	if o := k.state(); o != nil && o.Status != "" {
		k.T.Errorf("after %s the cluster is %s:\n%s", s.Name, o.Status, r.Out)
	}

	if p.name == destroying.name {
		return
	}

	k.same()

	// The daemons have nothing to do with who made them.
	now := k.daemons()
	for name, pid := range alive {
		if now[name] != pid {
			k.T.Errorf("after %s %s is process %d and was %d:\n%s", s.Name, name, now[name], pid, r.Out)
		}
	}
}

// finish reaches the target, at once.
func (k *killer) finish(args ...string) {
	k.T.Helper()

	start := time.Now()
	said := k.Must(args...)
	k.T.Logf("%s: reached in %.1f s: %s", args[0], time.Since(start).Seconds(), last(said))
}

func last(said string) string { return said[max(0, len(said)-60):] }
