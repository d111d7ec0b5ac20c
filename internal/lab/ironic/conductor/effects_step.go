// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package conductor

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/state"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// knownSteps are the clean and service steps that the lab's machines have.
var knownSteps = []string{
	"deploy.erase_devices", "deploy.erase_devices_metadata", "deploy.erase_devices_express", "deploy.burnin_cpu",
	"raid.create_configuration", "raid.delete_configuration", "bios.apply_configuration", "bios.factory_reset",
	"firmware.update", "vendor.log_passthrough", "management.reset_bmc", "deploy.hold", "power.hold",
}

// stepKind is what the steps of a walk are called.
func stepKind(w *record.Walk) string {
	if w.Verb == state.VerbService {
		return "service"
	}

	return "clean"
}

// checkSteps refuses steps that nobody knows, before the first of them runs: no fault then.
func (c *Conductor) checkSteps(n *record.Node, _ time.Time) error {
	word, kind := "cleaning", stepKind(n.Walk)
	if kind == "service" {
		word = kind
	}

	for _, s := range n.Walk.Steps {
		if !slices.Contains(knownSteps, record.Text(s, "interface")+"."+record.Text(s, "step")) && record.Text(s, "step") != "hold" {
			return broke("Node failed to start the first %s step: node does not support this %s step: %s", word, kind, stepText(s))
		}
	}

	return nil
}

// doStep does the step of the stage that has just been entered.
func (c *Conductor) doStep(n *record.Node, at time.Time) error {
	if n.Walk.Current().Index == 0 { // before the first step all of them are looked up
		n.Walk.Begun = false
		if err := c.checkSteps(n, at); err != nil {
			return err
		}

		n.Walk.Begun = true
	}

	step := n.Walk.Steps[n.Walk.Current().Index]
	name := record.Text(step, "step")

	return c.Change(n, func(m *machine.Machine) error {
		kind := stepKind(n.Walk)
		if why, ok := m.Faults.FailStep(kind+".execute_"+kind+"_step:"+name, name, kind+".execute_"+kind+"_step"); ok {
			return broke("Clean step %s failed on node %s. Agent returned error: %s", stepText(step), n.UUID, why)
		}

		return c.applyStep(n, m, step, at)
	})
}

func (c *Conductor) applyStep(n *record.Node, m *machine.Machine, step map[string]any, at time.Time) error {
	args, _ := step["args"].(map[string]any)

	switch record.Text(step, "interface") + "." + record.Text(step, "step") {
	case "deploy.erase_devices", "deploy.erase_devices_metadata", "deploy.erase_devices_express":
		m.Image = ""
	case "bios.apply_configuration":
		for _, s := range givenSettings(args) {
			m.BIOS[record.Text(s, "name")] = s["value"]
		}
	case "bios.factory_reset":
		m.BIOS = machine.FactoryBIOS()
	case "firmware.update":
		if m.Faults.FailUpdate {
			return broke("Firmware update failed for node %s: the task ended in Exception", n.UUID)
		}

		for _, s := range givenSettings(args) {
			component := strings.ToUpper(record.Text(s, "component"))
			m.Firmware[component] = versionIn(record.Text(s, "url"), m.Firmware[component])
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

// givenSettings are the settings that a step brings.
func givenSettings(args map[string]any) []map[string]any {
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
func (c *Conductor) stepsDone(n *record.Node, at time.Time) error {
	if n.Walk.Verb == state.VerbService {
		return c.bootDisk(n, at)
	}

	return c.Change(n, func(m *machine.Machine) error {
		eject(m)

		return press(n, m, "ForceOff", at)
	})
}

// stepText is a step as Python prints it, which is how Ironic's errors show it.
func stepText(step map[string]any) string {
	return fmt.Sprintf("{'interface': '%s', 'step': '%s'}", record.Text(step, "interface"), record.Text(step, "step"))
}
