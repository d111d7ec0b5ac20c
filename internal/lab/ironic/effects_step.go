// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// knownSteps are the clean and service steps that the lab's machines have.
var knownSteps = []string{
	"deploy.erase_devices", "deploy.erase_devices_metadata", "deploy.erase_devices_express", "deploy.burnin_cpu",
	"raid.create_configuration", "raid.delete_configuration", "bios.apply_configuration", "bios.factory_reset",
	"firmware.update", "vendor.log_passthrough", "management.reset_bmc", "deploy.hold", "power.hold",
}

// checkSteps refuses steps that nobody knows, before the first of them runs: no fault then.
func (c *call) checkSteps(n *node, _ time.Time) error {
	word, kind := "cleaning", "clean"
	if n.Walk.Verb == verbService {
		word, kind = "service", "service"
	}

	for _, s := range n.Walk.Steps {
		if !slices.Contains(knownSteps, text(s, "interface")+"."+text(s, "step")) && text(s, "step") != "hold" {
			return broke("Node failed to start the first %s step: node does not support this %s step: %s", word, kind, stepText(s))
		}
	}

	return nil
}

// doStep does the step of the stage that has just been entered.
func (c *call) doStep(n *node, at time.Time) error {
	if n.Walk.stage().Index == 0 { // before the first step all of them are looked up
		n.Walk.Begun = false
		if err := c.checkSteps(n, at); err != nil {
			return err
		}

		n.Walk.Begun = true
	}

	step := n.Walk.Steps[n.Walk.stage().Index]
	name := text(step, "step")

	return c.change(n, func(m *machine.Machine) error {
		kind := "clean"
		if n.Walk.Verb == verbService {
			kind = "service"
		}

		if why, ok := m.Faults.FailStep(kind+".execute_"+kind+"_step:"+name, name, kind+".execute_"+kind+"_step"); ok {
			return broke("Clean step %s failed on node %s. Agent returned error: %s", stepText(step), n.UUID, why)
		}

		return c.applyStep(n, m, step, at)
	})
}

func (c *call) applyStep(n *node, m *machine.Machine, step map[string]any, at time.Time) error {
	args, _ := step["args"].(map[string]any)

	switch text(step, "interface") + "." + text(step, "step") {
	case "deploy.erase_devices", "deploy.erase_devices_metadata", "deploy.erase_devices_express":
		m.Image = ""
	case "bios.apply_configuration":
		for _, s := range settings(args) {
			m.BIOS[text(s, "name")] = s["value"]
		}
	case "bios.factory_reset":
		m.BIOS = machine.FactoryBIOS()
	case "firmware.update":
		if m.Faults.FailUpdate {
			return broke("Firmware update failed for node %s: the task ended in Exception", n.UUID)
		}

		for _, s := range settings(args) {
			component := strings.ToUpper(text(s, "component"))
			m.Firmware[component] = versionIn(text(s, "url"), m.Firmware[component])
		}

		return c.readFirmware(n, *m, at)
	case "raid.delete_configuration":
		m.Volumes = map[string]map[string]any{}
		n.RAIDConfig = map[string]any{}
	case "raid.create_configuration":
		n.RAIDConfig = n.TargetRAIDConfig
		disks, _ := n.TargetRAIDConfig["logical_disks"].([]any)

		for _, d := range disks {
			m.VolumeCount++

			if v, ok := d.(map[string]any); ok {
				m.Volumes[fmt.Sprint(m.VolumeCount)] = v
			}
		}
	}

	return nil
}

func settings(args map[string]any) []map[string]any {
	var out []map[string]any

	list, _ := args["settings"].([]any)
	for _, v := range list {
		if m, ok := v.(map[string]any); ok {
			out = append(out, m)
		}
	}

	return out
}

// versionIn is the version that a firmware file's name ends with (bios-2.2.0.bin), or the old
// one with a mark.
func versionIn(url, old string) string {
	name := strings.TrimSuffix(path.Base(url), path.Ext(url))
	if i := strings.LastIndexByte(name, '-'); i >= 0 && i < len(name)-1 {
		return name[i+1:]
	}

	return old + "+"
}

// stepsDone switches off after cleaning and boots the disk after servicing.
func (c *call) stepsDone(n *node, at time.Time) error {
	if n.Walk.Verb == verbService {
		return c.bootDisk(n, at)
	}

	return c.change(n, func(m *machine.Machine) error {
		for slot := range m.Media {
			m.Media[slot] = machine.Medium{}
		}

		return press(n, m, "ForceOff", at)
	})
}
