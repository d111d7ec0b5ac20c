// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/tfrun"
)

// A poll may not see a state that passes at once: a moment then names those
// that follow, too.
var (
	exists = func(n node) bool { return n != nil }
	moving = func(n node) bool { return n != nil && n.text("target_power_state") != "" }

	afterInspection = []string{"cleaning", "clean wait", "available", "deploying", "wait call-back"}

	creates = []moment{
		when("the node is registered", exists),
		first("verifying", "manageable"),
		first("inspecting", "inspect wait"),
		first("inspect wait").after(700 * time.Millisecond),
		first("inspect wait").then("inspecting", "manageable", "cleaning", "clean wait"),
		first(afterInspection...),
		first("clean wait").then("cleaning", "available", "deploying", "wait call-back"),
		first("deploying", "wait call-back"),
		first("wait call-back"),
		first("wait call-back").after(1500 * time.Millisecond),
		first("wait call-back").then("deploying").then("active", "wait call-back"),
		first("active"),
	}

	redeploys = []moment{
		first("deleting", "cleaning", "clean wait"),
		first("clean wait").then("cleaning", "available", "deploying"),
		first("deploying"),
		first("wait call-back").after(time.Second),
		first("wait call-back").then("deploying").then("active"),
	}

	deletes = []moment{
		first("deleting", "cleaning", "clean wait"),
		first("clean wait"),
		first("clean wait").then("cleaning", "available").after(500 * time.Millisecond),
		when("its power changes", moving),
		first("cleaning", "clean wait").then("available"),
	}

	powers = []moment{
		when("its power changes", moving),
		when("it is off", func(n node) bool { return n != nil && n.text("power_state") == "power off" }),
		first("active").after(1500 * time.Millisecond), // before anything, or just when it begins
	}
)

// TestKill_createUpdateDelete cuts short a create, an update and a delete of
// each of many hosts, at moments spread over all phases, each in one of five
// ways. Whatever happens, the next apply has to reach the same target with
// the same one record, and the next destroy to leave nothing.
func TestKill_createUpdateDelete(t *testing.T) {
	t.Parallel()

	// Two Ironics share the work, one of them behind a password and TLS.
	ironics := []acctest.Real{acctest.Ironic(t), acctest.IronicBasic(t)}

	var struck, missed atomic.Int32

	t.Cleanup(func() {
		t.Logf("%d runs were cut short, %d ended before their moment", struck.Load(), missed.Load())

		if !t.Failed() && missed.Load() > struck.Load() {
			t.Errorf("most runs ended before their moment: %d of %d", missed.Load(), struck.Load()+missed.Load())
		}
	})

	const lives = 12

	for i := range lives {
		create, update, remove := creates[i%len(creates)], redeploys[i%len(redeploys)], deletes[(i+2)%len(deletes)]
		how := [3]tfrun.Strike{strikes[(i+i/5)%len(strikes)], strikes[(i+2)%len(strikes)], strikes[(i/2+1)%len(strikes)]}

		t.Run(fmt.Sprintf("host %02d: %s at %s", i, how[0].Name, create.name), func(t *testing.T) {
			t.Parallel()

			k := killed{life: newLife(t, ironics[i/2%2], func(h *host) {
				h.name = fmt.Sprintf("kill-%02d", i)
				h.extra = "  user_data = \"#cloud-config\\n{}\\n\"\n  labels = { of = \"kill\" }"
			}), struck: &struck, missed: &missed, untaint: i%4 != 3}
			k.creates(t, create, how[0])

			if i%2 == 0 {
				k.redeploys(t, update, how[1])
			} else {
				k.settings(t, powers[i/2%len(powers)], how[1])
			}

			k.deletes(t, remove, how[2])
		})
	}
}

// killed is a host whose runs are cut short.
type killed struct {
	*life

	struck, missed *atomic.Int32
	untaint        bool // as the message of a failed create says; else the host is replaced
}

// cut runs a command into a strike.
func (k *killed) cut(t *testing.T, m moment, s tfrun.Strike, args ...string) (r *tfrun.Run, hit bool) {
	t.Helper()

	r = k.start(t, args...)
	hit = k.life.cut(t, r, m, s)

	if hit {
		k.struck.Add(1)
	} else {
		k.missed.Add(1)
	}

	t.Logf("terraform %s, %s at %q: hit %t, exit %d, state %s", args[0], s.Name, m.name, hit, r.Code, k.known(t))

	return r, hit
}

// known says what the state file has of the host.
func (k *killed) known(t *testing.T) string {
	t.Helper()

	in, ok := k.state(t)[k.host.name]
	if !ok {
		return "nothing"
	}

	return strings.TrimSpace(fmt.Sprint(in.Attributes["id"], " ", in.Attributes["provisioning_state"], " ", in.Status))
}

// settle applies again and checks that the target of before is reached.
func (k *killed) settle(t *testing.T, id string) {
	t.Helper()
	k.apply(t)

	n := k.is(t, "active")
	if id != "" && n.text("uuid") != id {
		t.Errorf("there is another node: %s instead of %s", n.text("uuid"), id)
	}

	in := k.state(t)[k.host.name].Attributes
	if in["user_data"] != "#cloud-config\n{}\n" || in["provisioning_state"] != "provisioned" || in["instance_uuid"] != n.text("instance_uuid") {
		t.Errorf("the state has lost something: %v %v %v", in["user_data"], in["provisioning_state"], in["instance_uuid"])
	}

	if in["hardware"] == nil || in["applied"] == nil {
		t.Errorf("the state has no hardware or no applied: %v %v", in["hardware"], in["applied"])
	}

	k.empty(t)
}

// creates cuts a create short and goes on.
func (k *killed) creates(t *testing.T, m moment, s tfrun.Strike) {
	t.Helper()

	r, hit := k.cut(t, m, s, "apply", "-auto-approve")

	var id string
	if n := k.node(t); n != nil {
		id = n.text("uuid")
	}

	in, known := k.state(t)[k.host.name]

	if hit && s.Asks {
		if r.Code == 0 {
			t.Errorf("an interrupted apply ends well:\n%s", r.Out)
		}

		if !known || in.Status != "" || in.Attributes["id"] != id {
			t.Errorf("after %s the state has %s, Ironic %s:\n%s", s.Name, k.known(t), id, r.Out)
		}
	}

	if in.Status == "tainted" {
		if k.untaint {
			k.must(t, "untaint", "metal3_baremetal_host.h")
		} else {
			id = "" // it is replaced
		}
	}

	k.settle(t, id)
}

// redeploys cuts a new deployment short.
func (k *killed) redeploys(t *testing.T, m moment, s tfrun.Strike) {
	t.Helper()

	url, sum := k.far.Image(t, "kill-2.raw")
	id := k.node(t).text("uuid")
	k.with(t, func(h *host) { h.image = raw(url, sum) })

	k.interrupted(t, m, s)
	k.settle(t, id)

	if got := k.host.machine.View(t)["image"]; got != url {
		t.Errorf("the machine runs %v, not %s", got, url)
	}
}

// settings cuts a change of settings and power short, and puts them back.
func (k *killed) settings(t *testing.T, m moment, s tfrun.Strike) {
	t.Helper()

	id, extra := k.node(t).text("uuid"), k.host.extra
	k.with(t, func(h *host) { h.extra += "\n  online = false\n  description = \"switched off\"" })

	k.interrupted(t, m, s)
	k.settle(t, id)

	if v := k.host.machine.View(t); v["power"] != "Off" || v["image"] != k.far.ImageURL {
		t.Errorf("the machine is %v with %v", v["power"], v["image"])
	}

	k.with(t, func(h *host) { h.extra = extra })
	k.settle(t, id)
}

// interrupted cuts an update short: never tainted, never lost.
func (k *killed) interrupted(t *testing.T, m moment, s tfrun.Strike) {
	t.Helper()

	r, hit := k.cut(t, m, s, "apply", "-auto-approve")
	in, known := k.state(t)[k.host.name]

	if !known || in.Status != "" {
		t.Errorf("after %s in an update the state has %s:\n%s", s.Name, k.known(t), r.Out)
	}

	if hit && s.Asks && r.Code == 0 {
		t.Errorf("an interrupted update ends well:\n%s", r.Out)
	}
}

// deletes cuts a destroy short, and destroys.
func (k *killed) deletes(t *testing.T, m moment, s tfrun.Strike) {
	t.Helper()

	r, _ := k.cut(t, m, s, "destroy", "-auto-approve")

	if _, known := k.state(t)[k.host.name]; !known && k.node(t) != nil {
		t.Errorf("after %s the state has lost a host that is still there:\n%s", s.Name, r.Out)
	}

	k.gone(t)

	if v := k.host.machine.View(t); v["power"] != "Off" || v["image"] != "" {
		t.Errorf("the machine is %v with %v", v["power"], v["image"])
	}
}
