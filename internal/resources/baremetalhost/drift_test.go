// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost_test

import (
	"slices"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// TestHost_changedByHand changes a host behind Terraform's back: the plan shows it, in
// place, and the apply takes it back.
func TestHost_changedByHand(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		config Map
		edit   Map
		shows  string   // the attribute that the plan changes
		sends  []string // what the apply sends
		says   string
	}{
		"description":      {config: full(), edit: Map{"description": "by hand"}, shows: "description"},
		"name":             {config: full(), edit: Map{"name": "metal3~other"}, shows: "name"},
		"cleaning":         {config: full(), edit: Map{"automated_clean": false}, shows: "automated_cleaning_mode"},
		"never off":        {config: full(), edit: Map{"disable_power_off": true}, shows: "disable_power_off"},
		"resource class":   {config: node(0, Map{"resource_class": "a"}), edit: Map{"resource_class": "b"}, shows: "resource_class"},
		"a property":       {config: with(full(), Map{"properties": Map{"site": "a"}}), edit: Map{"properties": Map{"site": "b"}}, shows: "properties"},
		"an interface":     {config: with(full(), Map{"interfaces": Map{"management": "redfish"}}), edit: Map{"interfaces": Map{"management": "noop"}}, shows: "interfaces"},
		"undeployed":       {config: full(), edit: Map{"provision_state": "available", "instance_info": Map{}, "instance_uuid": nil}, shows: "provisioning_state", sends: []string{"active"}, says: "will be deployed"},
		"managed":          {config: node(0), edit: Map{"provision_state": "available"}},
		"clean failed":     {config: node(0), edit: Map{"provision_state": "clean failed", "maintenance": true, "fault": "clean failure"}, shows: "operational_status", sends: []string{"manage"}},
		"inspect failed":   {config: node(0), edit: Map{"provision_state": "inspect failed"}, shows: "provisioning_state", sends: []string{"inspect"}},
		"error":            {config: full(), edit: Map{"provision_state": "error"}, shows: "provisioning_state", sends: []string{"deleted", "active"}, says: "will be deployed"},
		"its own settings": {config: full(), edit: Map{"extra": Map{"other": "writer"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				w.apply(c.config)
				w.edit(c.edit)
				w.Mark()

				p := w.Plan(w.ctx, c.config)
				if id := w.Get("fabric_machine_id"); id != machine.ID(0) {
					w.t.Errorf("after the refresh the machine's id in the fabric is %v", id)
				}

				if c.shows != "" && (p.Action != "update" || !slices.Contains(p.Changed, c.shows)) {
					w.t.Errorf("the plan is %q %v: %s", p.Action, p.Changed, p.Errors)
				}

				if c.says != "" {
					w.says(p, c.says)
				} else if p.Says("overwritten") || p.Says("will be deployed") {
					w.t.Errorf("the plan says %s", p.Warnings)
				}

				w.apply(c.config)
				w.deployments(c.sends)
			})
		})
	}
}

func TestHost_poweredByHand(t *testing.T) {
	t.Parallel()

	for name, parts := range map[string]Map{"available": nil, "provisioned": disk(image)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				config := node(0, parts)
				w.apply(config)
				w.edit(Map{"power_state": "power off"})
				w.Change(w.t, "node-0", func(m *machine.Machine) { m.Power, m.Running = machine.Off, "" })
				w.Mark()

				p := w.Plan(w.ctx, config)
				if p.Action != "update" || !slices.Contains(p.Changed, "online") {
					w.t.Errorf("the plan is %q %v", p.Action, p.Changed)
				}

				w.apply(config)
				w.sent("power on")
				w.wants(Map{"online": true, "powered_on": true})
			})
		})
	}
}

// TestHost_transitionByHand reads a host in states in which its power says nothing.
func TestHost_transitionByHand(t *testing.T) {
	t.Parallel()

	for _, state := range []string{"verifying", "inspecting", "inspect wait", "cleaning", "clean wait", "deploying", "wait call-back", "deleting", "adopting", "servicing", "rescuing"} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				config := full()
				w.apply(config)
				w.edit(Map{"provision_state": state, "power_state": "power off"})

				if o := w.Refresh(w.ctx); o.Errors != "" {
					w.t.Fatal(o.Errors)
				}

				w.wants(Map{"online": true, "ironic_state": state, "image.url": image})
			})
		})
	}
}

// TestHost_remarksPlanNothing reads what a person should look at: a warning, and no change.
func TestHost_remarksPlanNothing(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		edit Map
		says string
	}{
		"maintenance": {Map{"maintenance": true, "maintenance_reason": "new fan"}, "Somebody put the node into maintenance: New fan."},
		"last error":  {Map{"last_error": "an old story"}, ""},
		"retired":     {Map{"retired": true, "retired_reason": "old"}, ""},
		"locked":      {Map{"reservation": "conductor-1"}, ""},
		"no power":    {Map{"power_state": nil}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				w.apply(full())
				w.edit(c.edit)
				w.says(w.Refresh(w.ctx), c.says)
				w.settled(full())
			})
		})
	}
}

func TestHost_othersKeysStay(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(full())

		extra, _ := w.ironicNode()["extra"].(Map)
		w.edit(Map{"extra": with(extra, Map{"other": "writer"}), "properties": Map{"memory_mb": "1024", "capabilities": "boot_mode:uefi,a:b"}})
		w.settled(full())
		w.apply(with(full(), Map{"labels": Map{"n": "1"}, "properties": Map{"site": "a"}}))

		now := w.ironicNode()
		if e, _ := now["extra"].(Map); e["other"] != "writer" {
			w.t.Errorf("extra is %v", e)
		}

		if p, _ := now["properties"].(Map); p["memory_mb"] != "1024" || p["site"] != "a" {
			w.t.Errorf("properties are %v", p)
		}
	})
}

func TestHost_labelsChangedByHand(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(full())

		extra, _ := w.ironicNode()["extra"].(Map)
		journal, _ := extra["metal3"].(Map)
		w.edit(Map{"extra": Map{"metal3": with(journal, Map{"labels": Map{"x": "y"}})}})

		if p := w.Plan(w.ctx, full()); p.Action != "update" || !slices.Contains(p.Changed, "labels") {
			w.t.Errorf("the plan is %q %v", p.Action, p.Changed)
		}

		w.apply(full())
		w.wants(Map{"labels.a": "b"})
	})
}

// TestHost_deployedByHand has another image put on the machine through Ironic: that is not
// ours to overwrite until the user asks for it.
func TestHost_deployedByHand(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(full())

		info, _ := w.ironicNode()["instance_info"].(Map)
		w.edit(Map{"instance_info": with(info, Map{"image_source": image2})})
		w.Mark()

		p := w.Plan(w.ctx, full())
		w.says(p, "was not deployed by this provider")

		if p.Errors == "" {
			w.t.Error("the plan is no error")
		}

		w.settled(with(full(), disk(image2))) // the image that runs
		w.sent()
		w.says(w.apply(with(full(), Map{"reprovision_triggers": Map{"a": "1"}})), overwritten)
		w.deployments([]string{"deleted", "active"})
		w.wants(Map{"applied.image.url": image})
	})
}
