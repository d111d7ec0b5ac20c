// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

const noSpace = "no space left on device"

// breaks makes deployments on a host of the lab fail; works ends that.
func (w world) breaks(i int) {
	w.Change(w.t, fmt.Sprintf("node-%d", i), func(m *machine.Machine) { m.Faults.FailSteps = map[string]string{"write_image": noSpace} })
}

func (w world) works(i int) {
	w.Change(w.t, fmt.Sprintf("node-%d", i), func(m *machine.Machine) { m.Faults.FailSteps = nil })
}

// claims are how many hosts of the lab are claimed.
func (w world) claims() int {
	n := 0

	for i := range w.hosts {
		core := w.Lab.Core(w.t, "metal3_baremetal_host")
		if o := core.Import(w.ctx, w.hosts[i]); o.Errors != "" {
			w.t.Errorf("host %d: %s", i, o.Errors)
		}

		if core.Get("consumer.kind") == "machine" {
			n++
		}
	}

	return n
}

// TestOCL10_oneHostOfThreeFails has one host fail: the others stay, and the next apply does only
// what is missing.
func TestOCL10_oneHostOfThreeFails(t *testing.T) {
	t.Parallel()

	inLab(t, 3, func(w world) {
		config := lived(2, Map{"on_host_error": "fail"})

		w.breaks(2)

		o := w.Apply(w.ctx, config)
		if o.Errors != "" || !strings.Contains(o.Warnings, noSpace) || !strings.Contains(o.Warnings, "node-2") || !strings.Contains(o.Warnings, "ready = false") {
			t.Errorf("errors %q, warnings %q", o.Errors, o.Warnings)
		}

		if len(w.machines()) != 3 || w.Get("ready") != false || w.Get("state") != "degraded" || w.Tainted {
			t.Errorf("machines %v, ready %v, state %v, tainted %v", w.machines(), w.Get("ready"), w.Get("state"), w.Tainted)
		}

		failed := ""

		for _, name := range w.machines() {
			if w.Get("machines."+name+".host_name") == "node-2" {
				failed = name
			} else if w.Get("machines."+name+".state") != "active" {
				t.Errorf("%s is %v", name, w.Get("machines."+name+".state"))
			}
		}

		if text, _ := w.Get("machines." + failed + ".last_error").(string); w.Get("machines."+failed+".state") != "error" || !strings.Contains(text, noSpace) {
			t.Errorf("%s: %v", failed, w.Get("machines."+failed))
		}

		w.works(2)
		w.Mark()
		w.apply(config)

		for _, what := range w.Sent() {
			if strings.Contains(what, "/nodes/") && !strings.Contains(what, w.hosts[2]) && (strings.Contains(what, "/states/") || strings.HasPrefix(what, "DELETE")) {
				t.Errorf("another host got %s", what)
			}
		}

		if o := w.Apply(w.ctx, nil); o.Errors != "" || w.claims() != 0 {
			t.Errorf("destroy: %s, %d claims are left", o.Errors, w.claims())
		}
	})
}

// Test11_5_retriesOnAnotherHost has a host fail while there is another one.
func Test11_5_retriesOnAnotherHost(t *testing.T) {
	t.Parallel()

	inLab(t, 4, func(w world) {
		w.breaks(0)
		w.breaks(1)
		w.breaks(2)
		w.works(1)
		w.works(2)

		o := w.apply(lived(2))
		if !strings.Contains(o.Warnings, "node-0") {
			t.Errorf("nobody says that node-0 failed: %s", o.Warnings)
		}

		for _, name := range w.machines() {
			if w.Get("machines."+name+".host_name") == "node-0" {
				t.Errorf("%s is on the host that fails", name)
			}
		}
	})
}

// Test11_5_failedWorkerDoesNotTaint has a create fail under each policy.
func Test11_5_failedWorkerDoesNotTaint(t *testing.T) {
	t.Parallel()

	for policy, c := range map[string]struct {
		tainted, exists, fails bool
		claims                 int
	}{
		"keep":     {exists: true, claims: 3},
		"taint":    {exists: true, tainted: true, fails: true, claims: 3},
		"rollback": {fails: true},
	} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()

			inLab(t, 3, func(w world) {
				w.breaks(1)

				o := w.Apply(w.ctx, lived(2, Map{"on_host_error": "fail", "on_create_failure": policy}))
				if (o.Errors != "") != c.fails || w.Exists() != c.exists || w.Tainted != c.tainted || !o.Says(noSpace) {
					t.Errorf("exists %v, tainted %v: errors %q, warnings %q", w.Exists(), w.Tainted, o.Errors, o.Warnings)
				}

				if n := w.claims(); n != c.claims {
					t.Errorf("%d hosts are claimed, want %d", n, c.claims)
				}
			})
		})
	}
}

// TestCluster_tooFewHosts claims nothing where hosts do not suffice, or as much as there is.
func TestCluster_tooFewHosts(t *testing.T) {
	t.Parallel()

	inLab(t, 2, func(w world) {
		o := w.Apply(w.ctx, lived(2))
		if !strings.Contains(o.Errors, `AttributeName("host_pool")`) || w.Exists() || w.claims() != 0 {
			t.Errorf("exists %v, %d claims: %s", w.Exists(), w.claims(), o.Errors)
		}

		o = w.Apply(w.ctx, lived(2, Map{"on_insufficient_hosts": "partial"}))
		if o.Errors != "" || w.Get("ready") != false || len(w.machines()) != 3 || w.claims() != 2 {
			t.Errorf("%d claims, machines %v: %s%s", w.claims(), w.machines(), o.Errors, o.Warnings)
		}

		if again := w.Plan(w.ctx, lived(2, Map{"on_insufficient_hosts": "partial"})); again.Action != "update" {
			t.Errorf("the plan after it is %q", again.Action)
		}

		// Who never had a host and is not wanted any more needs none.
		w.Refresh(w.ctx)

		if o := w.Plan(w.ctx, lived(2)); !strings.Contains(o.Warnings, "edge-w-1 has no host") {
			t.Errorf("warnings: %s", o.Warnings)
		}

		if o := w.Plan(w.ctx, lived(1)); strings.Contains(o.Warnings, "edge-w-1") {
			t.Errorf("warnings: %s", o.Warnings)
		}
	})
}

// TestOTF01_interrupted stops a create while hosts are being deployed.
func TestOTF01_interrupted(t *testing.T) {
	t.Parallel()

	inLab(t, 3, func(w world) {
		ctx, cancel := context.WithCancel(w.ctx)
		timer := time.AfterFunc(5*time.Second, cancel)
		defer timer.Stop()

		o := w.Apply(ctx, lived(2))
		if o.Errors != "" || w.Tainted || !strings.Contains(o.Warnings, "interrupted") || len(w.machines()) != 3 {
			t.Errorf("tainted %v, machines %v: %s%s", w.Tainted, w.machines(), o.Errors, o.Warnings)
		}

		w.apply(lived(2))

		if n := w.claims(); n != 3 {
			t.Errorf("%d hosts are claimed", n)
		}
	})
}

// TestOTF01_timeLimit has a create reach its limit, and the next apply go on.
func TestOTF01_timeLimit(t *testing.T) {
	t.Parallel()

	inLab(t, 3, func(w world) {
		o := w.Apply(w.ctx, lived(2, Map{"timeouts": Map{"create": "10s"}}))
		if o.Errors != "" || w.Tainted || !strings.Contains(o.Warnings, "The limit of 10s (timeouts.create)") {
			t.Errorf("tainted %v: %s%s", w.Tainted, o.Errors, o.Warnings)
		}

		w.apply(lived(2))
	})
}

// Test11_5_adoptRefused refuses a create where Ironic has a cluster of that name.
func Test11_5_adoptRefused(t *testing.T) {
	t.Parallel()

	inLab(t, 6, func(w world) {
		w.apply(lived(2))
		time.Sleep(time.Hour) // of the test's own clock: the first create is long over

		other := w.Lab.Core(w.t, theCluster)
		if o := other.Apply(w.ctx, lived(2)); !strings.Contains(o.Errors, "exists already in this Ironic") || other.Exists() {
			t.Errorf("%s", o.Errors)
		}

		w.apply(lived(2))
	})
}
