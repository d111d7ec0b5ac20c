// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
)

func contains(v any, part string) bool { return v != nil && strings.Contains(fmt.Sprint(v), part) }

// real makes a node of a machine; each test has a machine of its own.
func (f *far) real(i int, change func(info map[string]any)) (name, uuid string) {
	f.Helper()

	if f.Machine == nil {
		f.Skip("no machines: METAL3_TEST_BMC is not set")
	}

	driver, info := f.Machine(i)
	info = maps.Clone(info)

	if change != nil {
		change(info)
	}

	inspect := "agent"
	if f.MinorMax < 84 {
		inspect = "redfish"
	}

	return f.node(map[string]any{
		"driver": driver, "driver_info": info, "boot_interface": "redfish-virtual-media", "inspect_interface": inspect,
		"deploy_interface": "direct", "automated_clean": false, "properties": map[string]any{"capabilities": "boot_mode:uefi"},
	})
}

func life(f *far) {
	name, uuid := f.real(1, nil)

	n := f.to(name, [2]string{"manage", "manageable"})
	if n["power_state"] == nil {
		f.Error("no power state after the first contact")
	}

	f.to(name, [2]string{"inspect", "manageable"})
	f.inspected(uuid)
	f.to(name, [2]string{"provide", "available"})

	f.refuse(http.StatusBadRequest, "Missing are: ['instance_info.image_source']", http.MethodPut, "/v1/nodes/"+name+"/states/provision",
		map[string]any{"target": "active"})
	f.patch(name, add("/instance_info/image_source", f.Image), add("/instance_info/image_disk_format", "raw"))
	f.refuse(http.StatusBadRequest, "must be provided in instance_info", http.MethodPut, "/v1/nodes/"+name+"/states/provision",
		map[string]any{"target": "active"})
	f.patch(name, add("/instance_info/image_os_hash_algo", "sha256"), add("/instance_info/image_os_hash_value", f.SHA256))

	r := f.expect(http.StatusOK, http.MethodGet, "/v1/nodes/"+name+"/validate", nil)
	for _, kind := range []string{"boot", "deploy", "power", "management"} {
		if v, _ := r.body[kind].(map[string]any); v["result"] != true {
			f.Errorf("validate %s: %v", kind, v)
		}
	}

	f.verb(name, "active", map[string]any{"configdrive": map[string]any{"user_data": "#cloud-config\n"}})
	f.busy(name, uuid)

	n = f.wait(name, "active")
	info := object(n, "instance_info")

	if n["power_state"] != "power on" || info["configdrive"] != "******" || info["image_source"] != f.Image {
		f.Errorf("active: power %v, instance_info %v", n["power_state"], info)
	}

	n = f.to(name, [2]string{"deleted", "available"})
	if n["power_state"] != "power off" || len(object(n, "instance_info")) != 0 {
		f.Errorf("available again: power %v, instance_info %v", n["power_state"], n["instance_info"])
	}

	f.expect(http.StatusNoContent, http.MethodDelete, "/v1/nodes/"+name, nil)

	r = f.expect(http.StatusOK, http.MethodGet, "/v1/ports", nil)
	if strings.Contains(r.raw, uuid) {
		f.Error("the ports outlived their node")
	}
}

// inspected is what an inspection leaves.
func (f *far) inspected(uuid string) {
	f.Helper()

	n := f.state(uuid)
	if n["inspection_finished_at"] == nil || object(n, "properties")["cpu_arch"] != "x86_64" {
		f.Errorf("inspected at %v, properties %v", n["inspection_finished_at"], n["properties"])
	}

	if f.MinorMax < 84 { // 21.4.4 keeps nothing of an inspection through Redfish
		f.expect(http.StatusNotFound, http.MethodGet, "/v1/nodes/"+uuid+"/inventory", nil)

		return
	}

	r := f.expect(http.StatusOK, http.MethodGet, "/v1/nodes/"+uuid+"/inventory", nil)

	data := object(r.body, "inventory")
	for _, key := range []string{"cpu", "disks", "interfaces", "memory", "system_vendor", "boot", "hostname", "bmc_address"} {
		if data[key] == nil {
			f.Errorf("no %s in the inventory", key)
		}
	}

	if object(r.body, "plugin_data") == nil {
		f.Error("no plugin_data")
	}

	r = f.expect(http.StatusOK, http.MethodGet, "/v1/ports/detail?node_uuid="+uuid, nil)
	if all, _ := r.body["ports"].([]any); len(all) != 2 {
		f.Errorf("ports after inspection: %s", r.raw)
	}
}

// busy is what a node in a transition refuses. It may be over before we look.
func (f *far) busy(name, uuid string) {
	f.Helper()

	r := f.do(http.MethodPatch, "/v1/nodes/"+name, patchOf(add("/extra/x", 1)))
	if r.status != http.StatusConflict {
		if state := f.state(uuid)["provision_state"]; state != "active" {
			f.Errorf("a patch in %v: %d %s", state, r.status, r.raw)
		}

		return
	}

	if want := "Node " + name + " can not be updated while a state transition is in progress."; r.fault() != want {
		f.Errorf("a patch of a busy node: %q, want %q", r.fault(), want)
	}
}

func wrongPassword(f *far) {
	name, _ := f.real(2, func(info map[string]any) { info["redfish_password"] = "wrong" })
	f.verb(name, "manage", nil)

	n := f.failedVerify(name)
	if !contains(n["last_error"], "Failed to get power state for node") || !contains(n["last_error"], "returned code 401") {
		f.Errorf("last_error: %v", n["last_error"])
	}

	_, info := f.Machine(2)
	f.patch(name, add("/driver_info/redfish_password", info["redfish_password"]))

	if n := f.to(name, [2]string{"manage", "manageable"}); n["last_error"] != nil {
		f.Errorf("last_error after the cure: %v", n["last_error"])
	}

	// A wrong password shows when the power state is asked for that the machine already has.
	f.patch(name, add("/driver_info/redfish_password", "wrong"))
	f.expect(http.StatusAccepted, http.MethodPut, "/v1/nodes/"+name+"/states/power", map[string]any{"target": "power off"})

	if n := f.settled(name); !contains(n["last_error"], "Failed to change power state to 'power off'") ||
		!contains(n["last_error"], "returned code 401") {
		f.Errorf("last_error: %v", n["last_error"])
	}
}

// failedVerify waits for the end of a "manage" that must fail.
func (f *far) failedVerify(name string) map[string]any {
	f.Helper()

	n := f.wait(name, "enroll")
	if n["last_error"] == nil {
		f.Fatal("enrolled without an error")
	}

	return n
}

func noBMC(f *far) {
	name, _ := f.real(3, func(info map[string]any) { info["redfish_address"] = "http://127.0.0.1:1" })
	f.verb(name, "manage", nil)

	if n := f.failedVerify(name); !contains(n["last_error"], "Unable to connect to http://127.0.0.1:1/redfish/v1/") {
		f.Errorf("last_error: %v", n["last_error"])
	}
}

func missingImage(f *far) {
	name, _ := f.real(4, nil)
	f.to(name, [2]string{"manage", "manageable"}, [2]string{"provide", "available"})
	f.patch(name, add("/instance_info/image_source", f.MissingImage), add("/instance_info/image_os_hash_algo", "sha256"),
		add("/instance_info/image_os_hash_value", f.SHA256), add("/instance_info/image_disk_format", "raw"))
	f.verb(name, "active", nil)

	n := f.wait(name, "deploy failed")
	if n["target_provision_state"] != "active" || n["maintenance"] != false ||
		!contains(n["last_error"], "Validation of image href "+f.MissingImage+" failed, reason: Got HTTP code 404") {
		f.Errorf("target %v, maintenance %v, last_error %v", n["target_provision_state"], n["maintenance"], n["last_error"])
	}

	f.to(name, [2]string{"deleted", "available"})
}

func abortedInspection(f *far) {
	if f.MinorMax < 84 {
		f.Skip("in-band inspection came with 1.84")
	}

	name, _ := f.real(5, nil)
	f.to(name, [2]string{"manage", "manageable"})
	f.verb(name, "inspect", nil)

	for n := f.state(name); n["target_provision_state"] != nil; n = f.state(name) { // no pause: the wait may be short
		if n["provision_state"] == "inspect wait" && n["reservation"] == nil {
			break
		}
	}

	r := f.do(http.MethodPut, "/v1/nodes/"+name+"/states/provision", map[string]any{"target": "abort"})
	if r.status != http.StatusAccepted {
		f.Skipf("the inspection was faster than the abort: %d %s", r.status, r.raw)
	}

	n := f.wait(name, "inspect failed")
	if n["target_provision_state"] != "manageable" || n["last_error"] != "Inspection was aborted by request." {
		f.Errorf("target %v, last_error %v", n["target_provision_state"], n["last_error"])
	}

	f.to(name, [2]string{"manage", "manageable"})
}
