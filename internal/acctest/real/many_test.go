// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/tfrun"
)

// many are hosts of one configuration, whose machines differ in how slow
// their BMCs are, so that at one moment they are in different phases.
type many struct {
	*workspace
	far   *far
	hosts []host
}

// newMany takes n machines of machines and configures them behind an Ironic.
func newMany(t *testing.T, r, machines acctest.Real, prefix string, n int) *many {
	t.Helper()

	f := &many{workspace: newWorkspace(t, r), far: farSide(t, r)}
	names := make([]string, 0, n)

	for i := range n {
		h := host{
			label: fmt.Sprintf("h%d", i), name: fmt.Sprintf("%s-%d", prefix, i), machine: machines.Machine(t), image: raw(r.ImageURL, r.ImageSHA256),
			extra: "  user_data = \"#cloud-config\\n{}\\n\"",
		}
		h.machine.Faults(t, map[string]any{"http_delay_ms": i * 40})
		f.hosts, names = append(f.hosts, h), append(names, full(h.name))
	}

	f.configure(t, f.hosts...)
	f.far.sweep(t, names...)

	return f
}

// reached checks that all hosts have one record each, deployed, which the state knows.
func (f *many) reached(t *testing.T, image string) {
	t.Helper()

	state := f.state(t)

	for _, h := range f.hosts {
		n := f.far.node(t, full(h.name))
		if n == nil || stateOf(n) != "active" {
			t.Errorf("%s is %v: %v", h.name, n["provision_state"], n["last_error"])

			continue
		}

		if ids := f.far.of(t, h.machine); len(ids) != 1 {
			t.Errorf("the machine of %s has %d records", h.name, len(ids))
		}

		if in := state[h.name]; in.Attributes["id"] != n.text("uuid") || in.Status != "" {
			t.Errorf("%s: the state has %v %s, Ironic %s", h.name, in.Attributes["id"], in.Status, n.text("uuid"))
		}

		if got := h.machine.View(t)["image"]; got != image {
			t.Errorf("the machine of %s runs %v", h.name, got)
		}
	}

	f.empty(t)
}

// over destroys all of them.
func (f *many) over(t *testing.T) {
	t.Helper()
	f.destroy(t)

	for _, h := range f.hosts {
		if n := f.far.node(t, full(h.name)); n != nil {
			t.Errorf("%s is still there: %v", h.name, n["provision_state"])
		}
	}

	if all := f.state(t); len(all) != 0 {
		t.Errorf("the state still has %d hosts", len(all))
	}
}

// phases says in which states the hosts are, for the log.
func (f *many) phases(t *testing.T) string {
	t.Helper()

	all := make([]string, 0, len(f.hosts))

	for _, h := range f.hosts {
		s := "none"
		if n := f.far.node(t, full(h.name)); n != nil {
			s = stateOf(n)
		}

		all = append(all, s)
	}

	return strings.Join(all, ", ")
}

// TestKill_manyHostsOfOneConfiguration cuts one run of many hosts short.
func TestKill_manyHostsOfOneConfiguration(t *testing.T) {
	t.Parallel()

	r := acctest.Ironic(t)
	f := newMany(t, r, r, "many", 8)
	first := full(f.hosts[0].name)

	cut := func(signal syscall.Signal, group bool, at func(node) bool, args ...string) *tfrun.Run {
		run := f.start(t, args...)
		f.far.watch().until(first, run.Done, verbLimit, at)

		pid := run.Cmd.Process.Pid
		if group {
			pid = -pid
		}

		_ = syscall.Kill(pid, signal)
		run.Wait()
		t.Logf("%v: %s: %s", args, signal, f.phases(t))

		return run
	}

	// Terraform is killed, and then asked to stop, in one and the same create.
	cut(syscall.SIGKILL, false, at("inspect wait"), "apply", "-auto-approve")

	if said := cut(syscall.SIGINT, true, at("wait call-back"), "apply", "-auto-approve"); len(f.state(t)) != len(f.hosts) {
		t.Errorf("after the interrupt the state has %d hosts of %d:\n%s", len(f.state(t)), len(f.hosts), said.Out)
	}

	for name, in := range f.state(t) {
		if in.Status != "" {
			t.Errorf("%s is %s after an interrupt", name, in.Status)
		}
	}

	f.apply(t)
	f.reached(t, r.ImageURL)

	url, sum := r.Image(t, "many-2.raw")
	for i := range f.hosts {
		f.hosts[i].image = raw(url, sum)
	}

	f.configure(t, f.hosts...)
	cut(syscall.SIGKILL, true, at("wait call-back"), "apply", "-auto-approve")
	f.apply(t)
	f.reached(t, url)

	cut(syscall.SIGTERM, true, at("clean wait"), "destroy", "-auto-approve")

	if len(f.state(t)) == 0 {
		t.Error("the interrupted destroy has lost the hosts from the state")
	}

	time.Sleep(time.Second)
	f.over(t)
}
