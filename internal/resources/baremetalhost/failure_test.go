// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	labironic "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
)

var mismatch = labironic.Failure{LastError: "Deploy failed: image checksum mismatch"}

func TestHost_failedCreateIsTaintedAndReplaced(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		config := node(0, disk(image))
		w.fails("active", 2, mismatch)

		o := w.Apply(w.ctx, config)
		w.says(o, "ProvisioningError: host node-0 did not become provisioned", "image checksum mismatch", "terraform untaint", "replacing it undeploys")

		if !w.Tainted || strings.Contains(o.Errors, "Nothing was registered") {
			w.t.Fatalf("tainted: %v; %s", w.Tainted, o.Errors)
		}

		w.wants(Map{"provisioning_state": "provisioning", "operational_status": "error"})

		before := w.id()

		if o := w.apply(config); o.Action != "replace" || w.id() == before {
			w.t.Errorf("the next apply was %q", o.Action)
		}

		w.wants(Map{"provisioning_state": "provisioned"})
	})
}

// TestOBMH06_deploymentFailsForEver keeps the best words, gives up after a documented number
// of attempts, and goes on from the real state after an untaint.
func TestOBMH06_deploymentFailsForEver(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		config := node(0, disk(image), Map{"provisioning_attempts": 2})

		w.fails("active", 1, mismatch)
		w.fails("active", 2, labironic.Failure{})

		o := w.Apply(w.ctx, config)
		w.says(o, "image checksum mismatch", "2 attempts", "image")

		if n := count(w.verbs(), "active"); n != 2 {
			w.t.Errorf("%d deployments began", n)
		}

		w.Untaint()
		w.Mark()

		id := w.id()
		o = w.apply(config) // fails once more, then succeeds

		if o.Action != "update" || w.id() != id || slices.Contains(w.verbs(), "manage") || slices.Contains(w.verbs(), "inspect") {
			w.t.Errorf("%s: sent %v", o.Action, w.verbs())
		}

		w.wants(Map{"provisioning_state": "provisioned"})
	})
}

func TestHost_keepFailureWarnsAndResumes(t *testing.T) {
	t.Parallel()

	for verb, state := range map[string]string{"manage": "registering", "inspect": "inspecting", "provide": "provisioning", "active": "provisioning"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				config := node(0, disk(image), Map{"on_create_failure": "keep"})
				w.fails(verb, 3, labironic.Failure{LastError: "no luck"})

				o := w.Apply(w.ctx, config)
				if o.Errors != "" || w.Tainted || !w.Exists() {
					w.t.Fatalf("tainted: %v; %s", w.Tainted, o.Errors)
				}

				w.says(o, "no luck", "on_create_failure = \"keep\"")
				w.wants(Map{"provisioning_state": state, "operational_status": "error"})

				id := w.id()

				// The plan tells the goal; the next apply goes on with the same node.
				if p := w.Plan(w.ctx, config); p.Action != "update" || p.Planned["provisioning_state"] != "provisioned" {
					w.t.Errorf("the next plan is %q to %v", p.Action, p.Planned["provisioning_state"])
				}

				w.apply(config)
				w.wants(Map{"id": id, "provisioning_state": "provisioned"})
			})
		})
	}
}

// TestOTF01_killedDuringTheWait creates with a deadline that is too short: the id is in the
// state, the next apply replaces or resumes, and there is one node in all.
func TestOTF01_killedDuringTheWait(t *testing.T) {
	t.Parallel()

	for name, untaint := range map[string]bool{"replaced": false, "resumed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{Pace: minute}, func(w world) {
				config := node(0, disk(image))
				began := time.Now()

				o := w.Apply(w.ctx, with(config, Map{"timeouts": Map{"create": "2s"}}))
				w.says(o, "Waited 2s", "provisioned")

				if took := time.Since(began); took > 10*time.Second {
					w.t.Errorf("the deadline of 2s took %s", took)
				}

				if !w.Exists() || !w.Tainted || w.id() == "" || w.Identity() != w.id() {
					w.t.Fatalf("lost: %v", w.State())
				}

				id := w.id()

				if untaint {
					w.Untaint()
				}

				w.apply(config)

				if (w.id() == id) != untaint {
					w.t.Errorf("the node is %s, was %s", w.id(), id)
				}

				w.oneNode()
				w.destroy()
			})
		})
	}
}

// oneNode wants one record in Ironic.
func (w world) oneNode() {
	w.t.Helper()

	if n := len(w.nodes()); n != 1 {
		w.t.Errorf("there are %d nodes", n)
	}
}

func TestHost_timeoutsSayWhereTheyEnded(t *testing.T) {
	t.Parallel()

	// A pace of a minute: registering ends at 1, inspecting at about 6, cleaning at 8, deploying at 12.
	for name, c := range map[string]struct {
		deadline string
		says     []string
	}{
		"while it is verified":  {"30s", []string{"RegistrationError", `"verifying"`, "replacing it is cheap"}},
		"while it is inspected": {"2m", []string{"InspectionError", "inspect"}},
		"while it is cleaned":   {"7m", []string{"clean"}},
		"while it is deployed":  {"9m", []string{"ProvisioningError", "deploy", "undeploys, cleans, inspects and deploys it anew"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{Pace: minute}, func(w world) {
				config := node(0, disk(image))
				w.says(w.Apply(w.ctx, with(config, Map{"timeouts": Map{"create": c.deadline}})), append(c.says, "Waited")...)

				id := w.id()

				w.Untaint()
				w.apply(config)
				w.wants(Map{"id": id, "provisioning_state": "provisioned"})
			})
		})
	}
}

func TestHost_phaseTimeouts(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{Pace: minute}, func(w world) {
		o := w.Apply(w.ctx, node(0, Map{"phase_timeouts": Map{"inspect": "30s"}}))
		w.says(o, "phase_timeouts.inspect = 30s")
	})
}

// interruptAt cancels after a time: the first Ctrl-C.
func (w world) interruptAt(d time.Duration) context.Context {
	ctx, cancel := context.WithCancel(w.ctx)

	go func() {
		time.Sleep(d)
		cancel()
	}()

	return ctx
}

func TestHost_interruptedCreateIsNotTainted(t *testing.T) {
	t.Parallel()

	for _, at := range []time.Duration{30 * time.Second, 2 * minute, 5 * minute, 9 * minute} {
		t.Run(at.String(), func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{Pace: minute}, func(w world) {
				config := node(0, disk(image))

				o := w.Apply(w.interruptAt(at), config)
				w.says(o, "The run was interrupted")

				if o.Errors != "" || w.Tainted || !w.Exists() {
					w.t.Fatalf("tainted: %v; %s", w.Tainted, o.Errors)
				}

				id := w.id()

				w.apply(config)
				w.wants(Map{"id": id, "provisioning_state": "provisioned"})
				w.oneNode()
			})
		})
	}
}

func TestHost_interruptedUpdateAndDeleteAreErrors(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{Pace: minute}, func(w world) {
		w.apply(full())

		id := w.id()
		to := with(full(), disk(image2))

		o := w.Apply(w.interruptAt(2*minute), to)
		if o.Errors == "" || w.Tainted || !w.Exists() {
			w.t.Fatalf("an interrupted update: %q, tainted %v", o.Errors, w.Tainted)
		}

		if p := w.Plan(w.ctx, to); p.Action != "update" {
			w.t.Errorf("the next plan is %q", p.Action)
		}

		w.apply(to)
		w.wants(Map{"id": id, "applied.image.url": image2})

		o = w.Apply(w.interruptAt(minute), nil)
		if o.Errors == "" || !w.Exists() {
			w.t.Fatalf("an interrupted delete: %q", o.Errors)
		}

		w.says(o, "The run was interrupted; the host stays in the state")
		w.destroy()

		if n := len(w.nodes()); n != 0 {
			w.t.Errorf("there are %d nodes", n)
		}
	})
}

func TestHost_failedUpdatePlansTheRestAgain(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(full())
		w.fails("active", 2, mismatch)

		to := with(full(), disk(image2), Map{"labels": Map{"new": "label"}})

		o := w.Apply(w.ctx, to)
		w.says(o, "image checksum mismatch", "the next apply goes on in place")

		if w.Tainted || !w.Exists() {
			w.t.Fatal("an update never taints")
		}

		w.wants(Map{"operational_status": "error"})

		p := w.Plan(w.ctx, to)
		if p.Action != "update" || p.Planned["provisioning_state"] != "provisioned" {
			w.t.Errorf("the next plan is %q %v", p.Action, p.Changed)
		}

		w.apply(to)
		w.wants(Map{"applied.image.url": image2, "labels.new": "label"})
	})
}

func TestHost_failedUpdateCanBeTakenBack(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(full())
		w.fails("active", 2, mismatch)
		w.Apply(w.ctx, with(full(), disk(image2)))
		w.apply(full()) // back to the old image: the host is deployed with it again
		w.wants(Map{"applied.image.url": image, "provisioning_state": "provisioned"})
	})
}

func TestHost_wrongPasswordAtCreate(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		wrong := bmc(node(0), Map{"password_wo": "S3cret&+%"})

		o := w.Apply(w.ctx, wrong)
		w.says(o, "RegistrationError", "password_wo")

		if strings.Contains(o.Errors, "S3cret") || !w.Tainted {
			w.t.Errorf("tainted: %v; %s", w.Tainted, o.Errors)
		}

		if n := count(w.verbs(), "manage"); n != 1 {
			w.t.Errorf("%d log-ins with a wrong password", n)
		}

		w.Untaint()
		w.apply(bmc(node(0), Map{"password_wo_version": 2}))
		w.wants(Map{"provisioning_state": "available"})
	})
}
