// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"fmt"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// outdated has one daemon of a stage run an older program than its host has.
func (st *stage) outdated(kind, entry string) {
	for name := range st.s.Hosts {
		st.host(name, func(h *ceph.HostSeen) { h.Version = next })
	}

	st.w.Upgrade.SkipChecks = true

	for _, k := range []string{"mon", "mgr", "osd", "mds"} {
		st.answers[k+" metadata"] = "[]"
	}

	st.answers[kind+" metadata"] = fmt.Sprintf(`[{%s,"hostname":"h1","ceph_version":%q}]`, entry, old)
}

const (
	setNoout   = `ask {"flags":"noout","prefix":"osd set-group","who":["h1"]}`
	unsetNoout = `ask {"flags":"noout","prefix":"osd unset-group","who":["h1"]}`
)

// TestUpgrade_cutOff: what an apply stopped is started again, and the flag that it set is taken away,
// wherever it is cut off.
func TestUpgrade_cutOff(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		kind, entry string
		change      func(*scene)
		end         string
		done        []string
		not         []string
	}{
		"while a monitor stops": {"mon", `"name":"a"`, func(*scene) {}, "stop mon.a", []string{"start mon.a on h1"}, []string{setNoout}},
		"while an OSD stops":    {"osd", `"id":0`, func(*scene) {}, "stop osd.0", []string{setNoout, "start osd.0 on h1", unsetNoout}, nil},
		"before an OSD stops":   {"osd", `"id":0`, func(*scene) {}, setNoout, []string{unsetNoout}, []string{"stop"}},
		"with a flag of somebody": {
			"osd", `"id":0`, func(sc *scene) { sc.s.Cluster.OSDMap.NoOutHosts = []string{"h1"} }, "start osd.0",
			[]string{"stop osd.0 on h1"},
			[]string{setNoout, unsetNoout},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			sc := settled(t)
			c.change(sc)

			st := staged(t, sc)
			st.outdated(c.kind, c.entry)

			res := st.run().Update(st.ends(t, c.end), known())
			if res.Err == nil || !st.did(c.end) {
				t.Fatalf("%v, done: %q", res.Err, st.done)
			}

			for _, d := range c.done {
				if !st.did(d) {
					t.Errorf("not %q, done: %q", d, st.done)
				}
			}

			for _, d := range c.not {
				if st.did(d) {
					t.Errorf("%q, done: %q", d, st.done)
				}
			}
		})
	}
}

// TestUpgrade_flagLeft: an apply that was killed could not take its flag away; the next one does.
func TestUpgrade_flagLeft(t *testing.T) {
	t.Parallel()

	for note, end := range map[string]string{"set by an upgrade": "config-key rm", "": "config-key get"} {
		sc := settled(t)
		sc.s.Cluster.OSDMap.NoOutHosts = []string{"h1"}

		st := staged(t, sc)
		st.answers["config-key get"] = note
		st.run().Update(st.ends(t, `ask {"key":"metal3/noout/h1","prefix":"`+end), known())

		if st.did(unsetNoout) != (note != "") {
			t.Errorf("note %q, done: %q", note, st.done)
		}
	}
}
