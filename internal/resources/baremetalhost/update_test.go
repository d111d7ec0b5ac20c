// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// change is one change of an attribute on a host at rest.
type change struct {
	from, to Map
	sends    []string // verbs that it may send; nil: none
	says     string   // in the warnings of the plan
	wants    Map      // of the state after it
	node     Map      // of the record after it
}

// inPlace are the changes that neither deploy nor inspect.
func inPlace() map[string]change {
	return map[string]change{
		"labels":          {to: Map{"labels": Map{"rack": "r1"}}, wants: Map{"labels.rack": "r1"}},
		"labels away":     {from: Map{"labels": Map{"rack": "r1"}}, wants: Map{"labels": nil}},
		"labels emptied":  {from: Map{"labels": Map{"rack": "r1"}}, to: Map{"labels": Map{}}},
		"annotations":     {to: Map{"annotations": Map{"a": "b"}}, wants: Map{"annotations.a": "b"}},
		"failure domain":  {to: Map{"failure_domain": "z1"}, wants: Map{"failure_domain": "z1"}},
		"description":     {to: Map{"description": "x"}, wants: Map{"description": "x"}, node: Map{"description": "x"}},
		"no description":  {from: Map{"description": "x"}, wants: Map{"description": nil}},
		"cleaning":        {to: Map{"automated_cleaning_mode": "disabled"}, node: Map{"automated_clean": false}},
		"resource class":  {to: Map{"resource_class": "big"}, node: Map{"resource_class": "big"}},
		"owner":           {to: Map{"owner": "me"}, node: Map{"owner": "me"}},
		"traits":          {to: Map{"traits": []any{"CUSTOM_A"}}, wants: Map{}},
		"traits replaced": {from: Map{"traits": []any{"CUSTOM_A", "CUSTOM_B"}}, to: Map{"traits": []any{"CUSTOM_B"}}},
		"properties":      {to: Map{"properties": Map{"site": "a"}}, wants: Map{"properties.site": "a"}},
		"property changed": {
			from: Map{"properties": Map{"site": "a"}}, to: Map{"properties": Map{"site": "b"}}, wants: Map{"properties.site": "b"},
		},
		"no properties": {from: Map{"properties": Map{"site": "a"}}, wants: Map{"properties": nil}},
		"architecture":  {to: Map{"architecture": "aarch64"}, wants: Map{"architecture": "aarch64"}},
		"fabric id":     {to: Map{"fabric_machine_id": "m7"}, wants: Map{"fabric_machine_id": "m7"}},
		"off":           {to: Map{"online": false}, sends: []string{"soft power off"}, wants: Map{"powered_on": false}, node: Map{"power_state": "power off"}},
		"on":            {from: Map{"online": false}, to: Map{"online": true}, sends: []string{"power on"}, wants: Map{"powered_on": true}},
		"never off":     {to: Map{"disable_power_off": true}, node: Map{"disable_power_off": true}},
		"rename":        {to: Map{"name": "other"}, says: "renamed in Ironic only", wants: Map{"node_name": "metal3~other", "name": "other"}, node: Map{"name": "metal3~other"}},
		"namespace":     {to: Map{"namespace": "ns2"}, says: "renamed in Ironic only", wants: Map{"node_name": "ns2~node-0"}, node: Map{"name": "ns2~node-0"}},
		"reboot":        {to: Map{"reboot_trigger": "1"}, sends: []string{"soft rebooting"}, says: "will be rebooted"},
		"hard reboot": {
			from: Map{"reboot_trigger": "1"}, to: Map{"reboot_trigger": "2", "reboot_mode": "hard"}, sends: []string{"rebooting"}, says: "will be rebooted",
		},
		"deploy image": {
			to: Map{"deploy_image": Map{"kernel_url": "http://images.lab/k", "ramdisk_url": "http://images.lab/r"}},
		},
		"deploy image away": {
			from: Map{"deploy_image": Map{"kernel_url": "http://images.lab/k", "ramdisk_url": "http://images.lab/r"}},
		},
		"network of the ramdisk":      {to: Map{"preprovisioning_network_data": `{"links":[]}`}},
		"network of the ramdisk away": {from: Map{"preprovisioning_network_data": `{"links":[]}`}},
		"interfaces":                  {to: Map{"interfaces": Map{"management": "redfish"}}},
		"the provider's own settings": {
			to: Map{
				"deletion_policy": "detach", "force_destroy": true, "provisioning_attempts": 1, "refresh_depth": "full", "queue_timeout": "1h",
				"phase_timeouts": Map{"inspect": "45m"}, "on_create_failure": "keep", "timeouts": Map{"create": "1h"},
			},
			wants: Map{"deletion_policy": "detach"},
		},
		"protection":  {to: Map{"deletion_protection": true}, wants: Map{"deletion_protection": true}},
		"other owner": {from: Map{"owner": "a"}, to: Map{"owner": "b"}, wants: Map{"owner": "b"}, node: Map{"owner": "b"}},
	}
}

func TestHost_changesInPlaceOfAnAvailableHost(t *testing.T) {
	t.Parallel()

	for name, c := range inPlace() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) { w.changes(c, node(0)) })
		})
	}
}

func TestHost_changesInPlaceOfAProvisionedHost(t *testing.T) {
	t.Parallel()

	for name, c := range inPlace() {
		if name == "on" { // a host that is to be off is not deployed
			continue
		}

		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				w.changes(c, node(0, disk(image), Map{"user_data": "#cloud-config\n{}\n"}))
				w.wants(Map{"provisioning_state": "provisioned", "applied.image.url": image})
			})
		})
	}
}

// changes applies one change and holds it to what it may do.
func (w world) changes(c change, base Map) {
	w.t.Helper()
	w.apply(with(base, c.from))

	before, boots := w.id(), w.Machine(w.t, "node-0").Boots
	w.Mark()

	to := with(base, c.to)
	plan := w.Plan(w.ctx, to)

	if plan.Action != "update" || plan.Errors != "" {
		w.t.Fatalf("the plan is %q: %s", plan.Action, plan.Errors)
	}

	if c.says != "" {
		w.says(plan, c.says)
	}

	if strings.Contains(plan.Warnings, "overwritten") {
		w.t.Errorf("the plan says %s", plan.Warnings)
	}

	w.apply(to)
	w.sent(c.sends...)
	w.wants(c.wants)
	w.wants(Map{"id": before})
	w.record(c.node)

	if now := w.Machine(w.t, "node-0").Boots; len(c.sends) == 0 && now != boots {
		w.t.Errorf("the machine was started %d times", now-boots)
	}
}

// record compares values of the record in Ironic.
func (w world) record(values Map) {
	w.t.Helper()

	if len(values) == 0 {
		return
	}

	have := w.ironicNode()

	for key, want := range values {
		if have[key] != want {
			w.t.Errorf("the record's %s = %v, want %v", key, have[key], want)
		}
	}
}

func TestHost_bootModeWaitsForTheNextDeployment(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0, disk(image)))
		w.Mark()

		o := w.apply(node(0, disk(image), Map{"boot_mode": "legacy"}))
		w.says(o, "Change of host node-0 waits for its next deployment", "boot_mode")
		w.sent()
		w.wants(Map{"boot_mode": "legacy", "applied.boot_mode": "UEFI"})
	})
}

func TestHost_newPasswordIsTriedAndKept(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0, disk(image)))
		w.Change(w.t, "node-0", func(m *machine.Machine) { m.Password = "changed" })
		w.Mark()

		to := bmc(node(0, disk(image)), Map{"password_wo": "changed", "password_wo_version": 2})
		w.apply(to)
		w.sent("power on") // the state that it has: nothing moves

		if m := w.Machine(w.t, "node-0"); m.Boots != 1 {
			w.t.Logf("started %d times", m.Boots)
		}

		w.wants(Map{"operational_status": "OK", "provisioning_state": "provisioned"})
	})
}

func TestHost_wrongNewPasswordIsAnError(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		config := node(0, disk(image))
		w.apply(config)
		w.Mark()

		wrong := bmc(config, Map{"password_wo": "S3cret", "password_wo_version": 2})

		o := w.Apply(w.ctx, wrong)
		w.says(o, "bmc", "does not accept the new address or credentials")

		if strings.Contains(o.Errors, "S3cret") {
			w.t.Errorf("the password is in %s", o.Errors)
		}

		if w.Tainted {
			w.t.Error("an update never taints")
		}

		if p := w.Plan(w.ctx, wrong); p.Action != "update" || !slices.Contains(p.Changed, "bmc") {
			w.t.Errorf("the next plan is %q %v", p.Action, p.Changed)
		}

		w.apply(bmc(config, Map{"password_wo_version": 3}))
		w.wants(Map{"operational_status": "OK"})
	})
}

func TestHost_newAddressIsTried(t *testing.T) {
	t.Parallel()

	for name, parts := range map[string]Map{"available": nil, "provisioned": disk(image)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				config := node(0, parts)
				w.apply(config)

				// The same machine under another path of the same BMC.
				m := w.Machine(w.t, "node-0")
				w.apply(bmc(config, Map{"address": "redfish-virtualmedia+http://node-0.lab/redfish/v1/Systems/" + m.ID}))
				w.sentNothingBut("power on")

				bad := bmc(config, Map{"address": "redfish-virtualmedia+http://nobody.lab/redfish/v1/Systems/1"})
				o := w.Apply(w.ctx, bad)
				w.says(o, "does not accept the new address or credentials")

				w.apply(config)
				w.wants(Map{"operational_status": "OK", "bmc.address": address(0)})
			})
		})
	}
}

// sentNothingBut wants that of the verbs that follow the first life only these were sent.
func (w world) sentNothingBut(verbs ...string) {
	w.t.Helper()

	all := w.verbs()
	if i := slices.Index(all, "active"); i >= 0 {
		all = all[i+1:]
	}

	for _, v := range all {
		if !slices.Contains(append(verbs, "manage", "inspect", "provide", "power on"), v) {
			w.t.Errorf("sent %q", v)
		}
	}
}

func TestHost_anotherSchemeChangesDriverAndInterfaces(t *testing.T) {
	t.Parallel()

	for name, parts := range map[string]Map{"available": nil, "provisioned": disk(image)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				config := node(0, parts, Map{"boot_mac_address": "52:54:00:5a:00:00"})
				w.apply(config)
				w.record(Map{"boot_interface": "redfish-virtual-media"})

				w.apply(bmc(config, Map{"address": "redfish+http://node-0.lab/redfish/v1/Systems/1"}))
				w.record(Map{"boot_interface": "ipxe", "driver": "redfish", "maintenance": false})
				w.wants(Map{"operational_status": "OK"})
			})
		})
	}
}

func TestHost_portsAreMadeComplete(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		config := node(0)
		w.apply(config)

		ports, _ := w.Get("ports").([]any)
		if len(ports) != 2 {
			w.t.Fatalf("inspection found %v", ports)
		}

		two := []any{
			Map{"mac": "52:54:00:5B:00:00", "physical_network": "net1", "pxe_enabled": false},
			Map{"mac": "52-54-00-5a-00-00", "local_link": Map{"switch_id": "00:11:22:33:44:55", "port_id": "e1"}},
		}
		w.apply(with(config, Map{"ports": two}))

		ports, _ = w.Get("ports").([]any)
		if first, _ := ports[0].(Map); len(ports) != 2 || first["mac"] != "52:54:00:5B:00:00" || first["physical_network"] != "net1" {
			w.t.Errorf("ports are %v", ports)
		}

		w.apply(with(config, Map{"ports": two[1:]}))

		if ports, _ = w.Get("ports").([]any); len(ports) != 1 {
			w.t.Errorf("ports are %v", ports)
		}
	})
}

func TestHost_bootMACMovesToAnotherCard(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0, disk(image), Map{"boot_mac_address": "52:54:00:5a:00:00"}))
		w.apply(node(0, disk(image), Map{"boot_mac_address": "52:54:00:5b:00:00"}))
		w.wants(Map{"boot_mac_address": "52:54:00:5b:00:00", "provisioning_state": "provisioned"})
	})
}

func TestHost_inspectTriggerInspectsAgain(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0))
		w.Mark()

		o := w.apply(node(0, Map{"inspect_trigger": "1"}))
		w.says(o, "Host node-0 will be inspected again")

		if !slices.Contains(w.verbs(), "inspect") {
			w.t.Errorf("sent %v", w.verbs())
		}

		w.wants(Map{"provisioning_state": "available"})

		// One that runs is not inspected.
		w.apply(node(0, disk(image), Map{"inspect_trigger": "1"}))
		w.says(w.Plan(w.ctx, node(0, disk(image), Map{"inspect_trigger": "2"})), "cannot be inspected")
	})
}
