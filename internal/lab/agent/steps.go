// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// pressAfter lets the answer reach Ironic before the machine goes off.
const pressAfter = 100 * time.Millisecond

// execute gives a command's result, what to do after the answer, and whether it is synchronous.
func (a *agent) execute(req request) (result any, then func(), now bool) {
	step := req.Params["step"]

	switch req.Name {
	case "clean.get_clean_steps":
		return offered("clean"), nil, true
	case "deploy.get_deploy_steps":
		return offered("deploy"), nil, true
	case "service.get_service_steps":
		return offered("service"), nil, true
	case "clean.execute_clean_step":
		return map[string]any{"clean_result": nil, "clean_step": step}, nil, false
	case "deploy.execute_deploy_step":
		return map[string]any{"deploy_result": nil, "deploy_step": step}, nil, false
	case "service.execute_service_step":
		return map[string]any{"service_result": nil, "service_step": step}, nil, false
	case "standby.get_partition_uuids":
		return map[string]any{"result": map[string]any{
			"partitions": map[string]any{}, "root uuid": machine.ID(a.m.Index), "efi system partition uuid": "ABCD-1234",
		}}, nil, true
	case "standby.power_off":
		return nil, func() { a.press("ForceOff") }, true
	case "standby.run_image", "standby.reboot":
		return nil, func() { a.press("ForceRestart") }, true
	case "standby.sync", "system.lockdown":
		return nil, nil, true
	case "log.collect_system_logs": // an empty gzip file
		return map[string]any{"system_logs": "H4sIAAAAAAAAAwMAAAAAAAAAAAA="}, nil, false
	default: // image.install_bootloader, standby.prepare_image, rescue.finalize_rescue, ...
		return map[string]any{"result": req.Name + ": done"}, nil, false
	}
}

func (a *agent) press(kind string) {
	if !pause(a.ctx, pressAfter) {
		return
	}

	a.update(a.m.Name, func(m *machine.Machine) { m.SetPower(kind, time.Now(), 0) })
}

// effect does to the machine's disk what a command that succeeded did.
func (a *agent) effect(req request) {
	switch step := req.step(); {
	case step == "write_image" || req.Name == "standby.prepare_image":
		image := imageOf(req)
		a.update(a.m.Name, func(m *machine.Machine) { m.Image = image })
	case strings.HasPrefix(step, "erase_devices"):
		a.update(a.m.Name, func(m *machine.Machine) { m.Image = "" })
	}
}

// imageOf is the source of the image that a command writes, wherever it says so.
func imageOf(req request) string {
	step, _ := req.Params["step"].(map[string]any)
	args, _ := step["args"].(map[string]any)
	node, _ := req.Params["node"].(map[string]any)
	instance, _ := node["instance_info"].(map[string]any)

	if source, _ := instance["image_source"].(string); source != "" {
		return source
	}

	for _, from := range []map[string]any{args, req.Params} {
		info, _ := from["image_info"].(map[string]any)
		if id, _ := info["id"].(string); id != "" {
			return id
		}
	}

	return "unknown image"
}

// offered is the list of steps that the ramdisk says it can do.
func offered(kind string) map[string]any {
	step := func(iface, name string, priority int) any {
		return map[string]any{
			"step": name, "priority": priority, "interface": iface,
			"reboot_requested": false, "abortable": true, "argsinfo": nil,
		}
	}

	var steps []any

	switch kind {
	case "clean":
		steps = []any{
			step("deploy", "erase_devices", 10), step("deploy", "erase_devices_metadata", 99),
			step("deploy", "erase_devices_express", 0), step("deploy", "burnin_cpu", 0),
			step("raid", "create_configuration", 0), step("raid", "delete_configuration", 0),
		}
	case "deploy":
		steps = []any{
			step("deploy", "erase_devices_metadata", 0), step("raid", "apply_configuration", 0),
			step("deploy", "write_image", 0), step("deploy", "inject_files", 0),
		}
	case "service":
		steps = []any{step("deploy", "burnin_cpu", 0), step("raid", "create_configuration", 0)}
	}

	return map[string]any{
		kind + "_steps":            map[string]any{"GenericHardwareManager": steps},
		"hardware_manager_version": map[string]string{"generic_hardware_manager": "1.2"},
	}
}
