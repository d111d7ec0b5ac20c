// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
)

// TestOTF02_farSideRewritesWhatItWasSent has Ironic answer in other spellings and with more
// than it was asked for.
func TestOTF02_farSideRewritesWhatItWasSent(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.Ironic.Rewrite(func(kind string, doc map[string]any) {
			switch kind {
			case "port":
				if mac, ok := doc["address"].(string); ok {
					doc["address"] = strings.ToUpper(mac)
				}
			case "node":
				doc["surprise"] = "a field"

				if p, ok := doc["properties"].(map[string]any); ok {
					p["added"], p["memory_mb"] = "by the server", 1024
				}

				if e, ok := doc["extra"].(map[string]any); ok {
					e["added"] = map[string]any{"by": "the server"}
				}

				if e, ok := doc["driver_info"].(map[string]any); ok {
					e["added"] = true
				}
			}
		})

		config := with(full(), Map{"boot_mac_address": "52:54:00:5a:00:00", "properties": Map{"site": "A"}, "traits": []any{"CUSTOM_B", "CUSTOM_A"}})
		w.apply(config)
		w.apply(with(config, Map{"labels": Map{"n": "1"}}))
	})
}

// TestOTF03_whatMovesIsOpen plans an update that moves much: those values are unknown in its
// plan, stable ids are not, and a plan without changes shows none of it.
func TestOTF03_whatMovesIsOpen(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(full())

		p := w.Plan(w.ctx, with(full(), disk(image2), Map{"online": true}))
		for _, moving := range []string{"powered_on", "ironic_state", "error_message", "error_type", "health", "conditions", "applied"} {
			if p.Planned[moving] != (unknown{}) {
				w.t.Errorf("%s is planned as %v", moving, p.Planned[moving])
			}
		}

		for _, stable := range []string{"id", "name", "node_name", "instance_uuid", "endpoint", "boot_mac_address", "driver", "architecture"} {
			if p.Planned[stable] != w.Get(stable) || p.Planned[stable] == nil {
				w.t.Errorf("%s is planned as %v", stable, p.Planned[stable])
			}
		}

		w.settled(full())
	})
}

// TestOTF05_unknownValues has every input in turn come from something that is made in the
// same apply: validation and plan succeed, and apply does what the value says.
func TestOTF05_unknownValues(t *testing.T) {
	t.Parallel()

	all := with(full(), Map{
		"boot_mac_address": "52:54:00:5a:00:00", "boot_mode": "legacy", "architecture": "x86_64", "online": true, "disable_power_off": false,
		"automated_cleaning_mode": "disabled", "inspection_mode": "agent", "inspect_trigger": "1", "description": "d", "annotations": Map{"a": "b"},
		"failure_domain": "z", "fabric_machine_id": "m", "namespace": "ns", "instance_uuid": "11111111-2222-4333-8444-555555555555",
		"interfaces": Map{"management": "redfish"}, "ports": []any{Map{"mac": "52:54:00:5a:00:00"}}, "root_device_hints": Map{"min_size_gigabytes": 10},
		"preprovisioning_network_data": `{"links":[]}`, "deploy_image": Map{"kernel_url": "http://images.lab/k", "ramdisk_url": "http://images.lab/r"},
		"resource_class": "big", "owner": "me", "conductor_group": "", "traits": []any{"CUSTOM_A"}, "properties": Map{"site": "a"},
		"vendor_data": `{"a":"b"}`, "reprovision": "allow", "reprovision_on": []any{"image_url"}, "reprovision_triggers": Map{"a": "1"},
		"reprovision_method": "rebuild", "reboot_trigger": "1", "reboot_mode": "hard", "deletion_policy": "deprovision", "deletion_protection": false,
		"force_destroy": false, "power_off_on_destroy": true, "on_create_failure": "taint", "provisioning_attempts": 1, "refresh_depth": "full",
		"queue_timeout": "1h", "phase_timeouts": Map{"inspect": "45m"}, "externally_provisioned": false,
	})
	delete(all, "conductor_group")

	for name := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				o := w.ApplyUnknown(w.ctx, with(all, Map{name: unknown{}}), all)
				if o.Errors != "" || w.Tainted {
					w.t.Fatal(o.Errors)
				}

				w.settled(all)

				// The same in an update in which nothing of it changes.
				if o := w.ApplyUnknown(w.ctx, with(all, Map{name: unknown{}, "labels": Map{"n": "1"}}), with(all, Map{"labels": Map{"n": "1"}})); o.Errors != "" {
					w.t.Fatal(o.Errors)
				}

				w.wants(Map{"provisioning_state": "provisioned"})
			})
		})
	}
}

func TestOTF05_unknownPartsOfBlocks(t *testing.T) {
	t.Parallel()

	for name, parts := range map[string]func(Map) Map{
		"address":       func(m Map) Map { return bmc(m, Map{"address": unknown{}}) },
		"user name":     func(m Map) Map { return bmc(m, Map{"username": unknown{}}) },
		"password":      func(m Map) Map { return bmc(m, Map{"password_wo": unknown{}}) },
		"version":       func(m Map) Map { return bmc(m, Map{"password_wo_version": unknown{}}) },
		"image URL":     func(m Map) Map { return with(m, disk("", Map{"url": unknown{}})) },
		"checksum":      func(m Map) Map { return with(m, disk(image, Map{"checksum": unknown{}})) },
		"checksum type": func(m Map) Map { return with(m, disk(image, Map{"checksum_type": unknown{}})) },
		"a label":       func(m Map) Map { return with(m, Map{"labels": Map{"a": unknown{}}}) },
		"metadata":      func(m Map) Map { return with(m, Map{"meta_data": Map{"rack": unknown{}}}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				if o := w.ApplyUnknown(w.ctx, parts(full()), full()); o.Errors != "" {
					w.t.Fatal(o.Errors)
				}

				w.settled(full())
			})
		})
	}
}

// TestOTF05_wrongValueIsFoundBeforeAnyRequest turns an unknown value out to be wrong.
func TestOTF05_wrongValueIsFoundBeforeAnyRequest(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ before, after Map }{
		"address":  {bmc(full(), Map{"address": unknown{}}), bmc(full(), Map{"address": "gopher://x"})},
		"password": {bmc(full(), Map{"password_wo": unknown{}}), bmc(full(), Map{"password_wo": ""})},
		"checksum": {with(full(), disk(image, Map{"checksum": unknown{}})), with(full(), disk(image, Map{"checksum": "abc"}))},
		"image":    {with(full(), Map{"image": unknown{}, "externally_provisioned": true}), with(full(), Map{"externally_provisioned": true})},
		"hints":    {with(full(), Map{"root_device_hints": Map{"device_name": unknown{}}}), with(full(), Map{"root_device_hints": Map{"device_name": "sda"}})},
		"network":  {with(full(), Map{"network_data": unknown{}}), with(full(), Map{"network_data": "[1, 2"})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				o := w.ApplyUnknown(w.ctx, c.before, c.after)
				if o.Errors == "" || len(w.Sent()) != 0 {
					w.t.Errorf("%q; sent %v", o.Errors, w.Sent())
				}
			})
		})
	}
}
