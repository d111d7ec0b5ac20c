// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost_test

import (
	"slices"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	labironic "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
)

func TestHost_deletionPolicies(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		parts []Map
		sends []string
		power string // empty: Ironic itself powers off after cleaning
		disk  string
	}{
		"deprovision":            {sends: []string{"deleted", "power off"}, power: "Off"},
		"deprovision, left on":   {parts: []Map{{"power_off_on_destroy": false}}, sends: []string{"deleted"}},
		"power off":              {parts: []Map{{"deletion_policy": "power_off"}}, sends: []string{"power off"}, power: "Off", disk: image},
		"detach":                 {parts: []Map{{"deletion_policy": "detach"}}, power: "On", disk: image},
		"detach, without image":  {parts: []Map{{"deletion_policy": "detach", "image": nil}}, power: "On"},
		"deprovision, never off": {parts: []Map{{"disable_power_off": true}}, sends: []string{"deleted"}},
		"deprovision, no image":  {parts: []Map{{"image": nil}}, sends: []string{"power off"}, power: "Off"},
		"deprovision without erasing": {
			parts: []Map{{"automated_cleaning_mode": "disabled"}}, sends: []string{"deleted", "power off"}, power: "Off", disk: image,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				w.apply(with(full(), c.parts...))
				w.Mark()
				w.destroy()

				// Where Ironic itself has powered the machine off, there is nothing left to send.
				if got := w.verbs(); !slices.Equal(got, c.sends) && !slices.Equal(append(got, "power off"), c.sends) {
					w.t.Errorf("sent %v, want %v", got, c.sends)
				}

				if m := w.Machine(w.t, "node-0"); c.power != "" && m.Power != c.power || m.Image != c.disk {
					w.t.Errorf("power %s, disk %q", m.Power, m.Image)
				}

				// What is gone can be made anew.
				if c.disk == "" {
					w.apply(with(full(), c.parts...))
				}
			})
		})
	}
}

func TestHost_deletionProtection(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(with(full(), Map{"deletion_protection": true}))
		w.Mark()
		w.says(w.Apply(w.ctx, nil), "Host node-0 is protected", "deletion_protection is set")
		w.sent()
		w.apply(full())
		w.destroy()
	})
}

func TestHost_destroySaysWhatItCosts(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(full())
		w.says(w.destroy(), "Host node-0 will be undeployed")
	})
}

func TestHost_foreignProtectionIsKept(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(full())
		w.edit(Map{"protected": true, "protected_reason": "mine"})
		w.Mark()
		w.says(w.Apply(w.ctx, nil), "protected in Ironic (mine)")
		w.sent()
	})
}

// TestOBMH05_destroyDuringInspection aborts once, and takes "inspect failed" as the end of it.
func TestOBMH05_destroyDuringInspection(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		o := w.Apply(w.ctx, node(0, Map{"timeouts": Map{"create": "3s"}}))
		w.says(o, "inspect")

		if !w.Exists() || !w.Tainted {
			w.t.Fatalf("the state is lost: %s", o.Errors)
		}

		w.edit(Map{"provision_state": "inspect wait", "target_provision_state": "manageable"})
		w.Mark()
		w.destroy()

		if n := count(w.verbs(), "abort"); n != 1 || slices.Contains(w.verbs(), "inspect") {
			w.t.Errorf("sent %v", w.verbs())
		}
	})
}

func count(all []string, one string) int {
	n := 0

	for _, s := range all {
		if s == one {
			n++
		}
	}

	return n
}

func TestHost_undeployFailsUntilForced(t *testing.T) {
	t.Parallel()

	for name, force := range map[string]bool{"without force": false, "with force": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				w.apply(with(full(), Map{"force_destroy": force}))

				w.fails("deleted", 9, labironic.Failure{In: "deleting", LastError: "the BMC is on fire"})

				o := w.Apply(w.ctx, nil)

				if force {
					if o.Errors != "" || w.Exists() {
						w.t.Fatalf("destroy: %s", o.Errors)
					}

					w.says(o, "deleted without being deprovisioned")

					return
				}

				w.says(o, "host node-0 was not deleted", "the BMC is on fire")

				if !w.Exists() {
					w.t.Fatal("the host is out of the state")
				}
			})
		})
	}
}

func TestHost_goneAlreadyIsDeleted(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(full())

		// It goes between plan and apply.
		w.Ironic.Inject(labironic.Trouble{Match: "DELETE /v1/nodes/*", DropAfter: true})
		w.destroy()
	})
}

func TestHost_consumedIsNotDeleted(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0))
		w.edit(Map{"instance_uuid": "11111111-2222-4333-8444-555555555555", "provision_state": "active", "instance_info": Map{"image_source": image}})
		w.Mark()

		w.settled(node(0)) // a host that somebody else deploys on stays as it is
		w.wants(Map{"consumer.kind": "instance"})
		w.says(w.Apply(w.ctx, nil), "is in use")
		w.sent()
		w.apply(node(0, Map{"labels": Map{"a": "b"}}))
		w.sent()
	})
}
