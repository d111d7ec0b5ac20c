// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost_test

import (
	"slices"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

func TestHost_externallyProvisioned(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		// A machine that runs something before anybody registers it.
		w.apply(node(0))
		w.destroy()
		w.Change(w.t, "node-0", func(m *machine.Machine) { m.Power, m.Running, m.Image = machine.On, machine.Disk, "mine" })

		boots := w.Machine(w.t, "node-0").Boots
		config := node(0, Map{"externally_provisioned": true})

		w.Mark()
		w.apply(config)
		w.wants(Map{"provisioning_state": "externally provisioned", "ironic_state": "active", "powered_on": true, "applied": nil})

		if v := w.verbs(); !slices.Equal(v, []string{"manage", "adopt"}) {
			w.t.Errorf("sent %v", v)
		}

		w.apply(with(config, Map{"labels": Map{"a": "b"}}))
		w.apply(with(config, Map{"online": false}))
		w.wants(Map{"powered_on": false})
		w.apply(config)
		w.Mark()
		w.destroy()

		if v := w.verbs(); slices.Contains(v, "deleted") {
			w.t.Errorf("sent %v", v)
		}

		if m := w.Machine(w.t, "node-0"); m.Image != "mine" || m.Power != machine.Off || m.Boots > boots+1 {
			w.t.Errorf("disk %q, power %s, started %d times", m.Image, m.Power, m.Boots-boots)
		}
	})
}

// TestHost_externallyProvisionedBecomesOurs names the image that runs: it is recorded, and
// nothing is deployed.
func TestHost_externallyProvisionedBecomesOurs(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0, Map{"externally_provisioned": true}))
		w.Mark()

		o := w.Apply(w.ctx, node(0))
		w.says(o, "Host node-0 would be wiped")

		o = w.apply(full())
		w.says(o, "taken over as provisioned")
		w.sent()
		w.wants(Map{"provisioning_state": "provisioned", "applied.image.url": image})
		w.says(w.apply(with(full(), disk(image2))), overwritten)
		w.wants(Map{"applied.image.url": image2})
	})
}

func TestOBMH19_externallyProvisionedTakesNoImage(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0, Map{"externally_provisioned": true}))
		w.Mark()
		w.says(w.Apply(w.ctx, node(0, disk(image), Map{"externally_provisioned": true})), "has an image and is externally provisioned")
		w.sent()
	})
}

func TestHost_becomesExternallyProvisioned(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(full())
		w.says(w.Apply(w.ctx, node(0, Map{"externally_provisioned": true})), "cannot become externally provisioned")
		w.apply(node(0))
		w.apply(node(0, Map{"externally_provisioned": true}))
		w.wants(Map{"provisioning_state": "externally provisioned"})
		w.destroy()
	})
}

// TestHost_isNotHijacked makes a second configuration with the same names.
func TestHost_isNotHijacked(t *testing.T) {
	t.Parallel()

	for name, parts := range map[string]Map{"available": nil, "provisioned": disk(image)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				w.apply(node(0, parts))
				w.Mark()

				// The labels differ, so it is not the same apply whose state was lost.
				other := world{Core: w.Lab.Core(w.t, theHost), Lab: w.Lab, t: w.t, ctx: w.ctx}
				o := other.Apply(w.ctx, node(0, disk(image2), Map{"labels": Map{"other": "workspace"}}))
				w.says(o, "exists already", w.id(), "import it")

				if other.Exists() {
					w.t.Error("the host is in two states")
				}

				w.sent()
				w.settled(node(0, parts))
			})
		})
	}
}

// TestHost_createGoesOnWithWhatAKilledOneLeft loses the state in the middle of a create.
func TestHost_createGoesOnWithWhatAKilledOneLeft(t *testing.T) {
	t.Parallel()

	for _, deadline := range []string{"30s", "2m", "7m", "9m"} {
		t.Run(deadline, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{Pace: minute}, func(w world) {
				config := full()
				w.Apply(w.ctx, with(config, Map{"timeouts": Map{"create": deadline}}))

				id := w.id()

				w.Forget()
				w.apply(config)
				w.wants(Map{"id": id, "provisioning_state": "provisioned"})
				w.oneNode()
			})
		})
	}
}

func TestHost_ownerIDsKeepConfigurationsApart(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.Provider["owner_id"] = "one"
		w.apply(full())

		id := w.id()

		other := world{Core: w.Lab.Core(w.t, theHost), Lab: w.Lab, t: w.t, ctx: w.ctx}
		other.Provider["owner_id"] = "two"

		if o := other.Import(w.ctx, id); o.Errors != "" {
			w.t.Fatal(o.Errors)
		}

		w.Mark()

		for what, config := range map[string]Map{"an image": with(full(), disk(image2)), "labels": with(full(), Map{"labels": Map{"x": "y"}}), "its end": nil} {
			if o := other.Apply(w.ctx, config); o.Errors == "" {
				w.t.Errorf("%s: %s", what, o.Warnings)
			}
		}

		if sent := w.Sent(); len(sent) != 0 {
			w.t.Errorf("sent %v", sent)
		}
	})
}
