// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"time"
)

func newUUID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80

	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func newMAC() string {
	b := make([]byte, 4)
	_, _ = rand.Read(b) // never fails

	return fmt.Sprintf("52:54:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3])
}

func ports(f *far) {
	name, uuid := f.fake()
	mac := newMAC()

	r := f.expect(http.StatusCreated, http.MethodPost, "/v1/ports", map[string]any{"node_uuid": uuid, "address": mac, "pxe_enabled": true})
	id, _ := r.body["uuid"].(string)

	if r.body["address"] != mac || r.body["node_uuid"] != uuid || r.body["pxe_enabled"] != true {
		f.Errorf("port: %s", r.raw)
	}

	f.refuse(http.StatusConflict, "A port with MAC address "+mac+" already exists.", http.MethodPost, "/v1/ports",
		map[string]any{"node_uuid": uuid, "address": mac})
	f.refuse(http.StatusBadRequest, "Expected valid MAC address for address: nope", http.MethodPost, "/v1/ports",
		map[string]any{"node_uuid": uuid, "address": "nope"})
	f.refuse(http.StatusBadRequest, "could not be found", http.MethodPost, "/v1/ports",
		map[string]any{"node_uuid": newUUID(), "address": newMAC()})

	owner := "node_ident" // from 1.94 on a port may name its node
	if f.MinorMax < 94 {
		owner = "node_uuid"
	}

	f.refuse(http.StatusBadRequest, "'"+owner+"' is a required property", http.MethodPost, "/v1/ports", map[string]any{"address": newMAC()})

	for _, query := range []string{"?address=" + mac, "?node_uuid=" + uuid, "?node=" + name, "/detail?node_uuid=" + uuid} {
		r := f.expect(http.StatusOK, http.MethodGet, "/v1/ports"+query, nil)
		if all, _ := r.body["ports"].([]any); len(all) != 1 || find(r.body["ports"], id) == nil {
			f.Errorf("%s: %s", query, r.raw)
		}
	}

	r = f.expect(http.StatusOK, http.MethodGet, "/v1/ports?address="+mac+"&fields=node_uuid,uuid,address", nil)
	if p := find(r.body["ports"], id); p["node_uuid"] != uuid {
		f.Errorf("by address: %s", r.raw)
	}

	f.refuse(http.StatusNotFound, "could not be found", http.MethodGet, "/v1/ports?node_uuid="+newUUID(), nil)
	f.refuse(http.StatusBadRequest, "Expected valid MAC", http.MethodGet, "/v1/ports?address=nope", nil)

	r = f.expect(http.StatusOK, http.MethodPatch, "/v1/ports/"+id, patchOf(add("/pxe_enabled", false)))
	if r.body["pxe_enabled"] != false || r.body["updated_at"] == nil {
		f.Errorf("patched port: %s", r.raw)
	}

	f.refuse(http.StatusBadRequest, "Cannot patch /bogus", http.MethodPatch, "/v1/ports/"+id, patchOf(add("/bogus", 1)))
	f.expect(http.StatusNoContent, http.MethodDelete, "/v1/ports/"+id, nil)
	f.refuse(http.StatusNotFound, "Port "+id+" could not be found.", http.MethodDelete, "/v1/ports/"+id, nil)
}

func allocations(f *far) {
	class := newName()
	_, uuid := f.node(map[string]any{"driver": "fake-hardware", "resource_class": class})
	f.to(uuid, [2]string{"manage", "manageable"}, [2]string{"provide", "available"})

	// Nothing is given while the power state is not known.
	early := f.allocate(map[string]any{"resource_class": class}, "error")
	if want := "no available nodes match the resource class " + class; !contains(early["last_error"], want) {
		f.Errorf("last_error %v, want %q", early["last_error"], want)
	}

	f.expect(http.StatusAccepted, http.MethodPut, "/v1/nodes/"+uuid+"/states/power", map[string]any{"target": "power off"})
	f.settled(uuid)

	mine := newUUID()

	a := f.allocate(map[string]any{"resource_class": class, "uuid": mine, "candidate_nodes": []any{uuid}, "name": class}, "active")
	if a["node_uuid"] != uuid {
		f.Errorf("allocated node %v", a["node_uuid"])
	}

	if n := f.state(uuid); n["instance_uuid"] != mine || n["allocation_uuid"] != mine {
		f.Errorf("node with instance %v, allocation %v", n["instance_uuid"], n["allocation_uuid"])
	}

	f.refuse(http.StatusConflict, "An allocation with name "+class+" already exists.", http.MethodPost, "/v1/allocations",
		map[string]any{"resource_class": class, "name": class})
	f.refuse(http.StatusBadRequest, "Nodes cannot be found: nope", http.MethodPost, "/v1/allocations",
		map[string]any{"resource_class": class, "candidate_nodes": []any{"nope"}})
	f.refuse(http.StatusBadRequest, "The resource_class field is mandatory", http.MethodPost, "/v1/allocations", map[string]any{"name": newName()})
	f.allocate(map[string]any{"resource_class": class}, "error") // taken

	f.expect(http.StatusNoContent, http.MethodDelete, "/v1/allocations/"+mine, nil)
	f.refuse(http.StatusNotFound, "Allocation "+mine+" could not be found.", http.MethodGet, "/v1/allocations/"+mine, nil)

	if n := f.state(uuid); n["instance_uuid"] != nil || n["allocation_uuid"] != nil {
		f.Errorf("after the allocation: instance %v, allocation %v", n["instance_uuid"], n["allocation_uuid"])
	}
}

// allocate makes an allocation, waits for its end and removes it with the test.
func (f *far) allocate(body map[string]any, want string) map[string]any {
	f.Helper()

	r := f.expect(http.StatusCreated, http.MethodPost, "/v1/allocations", body)
	if r.body["state"] != "allocating" {
		f.Errorf("a new allocation is %v", r.body["state"])
	}

	id, _ := r.body["uuid"].(string)
	f.Cleanup(func() { f.do(http.MethodDelete, "/v1/allocations/"+id, nil) })

	for end := time.Now().Add(f.Patience); time.Now().Before(end); f.pause() {
		r = f.expect(http.StatusOK, http.MethodGet, "/v1/allocations/"+id, nil)
		if r.body["state"] != "allocating" {
			break
		}
	}

	if r.body["state"] != want {
		f.Fatalf("allocation: %s", r.raw)
	}

	return r.body
}

// settled waits for the end of a power action.
func (f *far) settled(node string) map[string]any {
	f.Helper()

	var n map[string]any
	for end := time.Now().Add(f.Patience); time.Now().Before(end); f.pause() {
		if n = f.state(node); n["target_power_state"] == nil && n["reservation"] == nil {
			return n
		}
	}

	f.Fatalf("power target is still %v", n["target_power_state"])

	return nil
}

func traits(f *far) {
	name, _ := f.fake()
	path := "/v1/nodes/" + name + "/traits"

	f.expect(http.StatusNoContent, http.MethodPut, path, map[string]any{"traits": []any{"CUSTOM_B", "HW_CPU_X86_VMX"}})
	f.refuse(http.StatusBadRequest, "'bad' is not valid under any of the given schemas", http.MethodPut, path, map[string]any{"traits": []any{"bad"}})
	f.expect(http.StatusNoContent, http.MethodPut, path+"/CUSTOM_A", nil)

	r := f.expect(http.StatusOK, http.MethodGet, path, nil)
	if all, _ := r.body["traits"].([]any); len(all) != 3 {
		f.Errorf("traits: %s", r.raw)
	}

	f.expect(http.StatusNoContent, http.MethodDelete, path+"/CUSTOM_A", nil)
	f.refuse(http.StatusNotFound, "doesn't have a trait 'CUSTOM_A'", http.MethodDelete, path+"/CUSTOM_A", nil)

	if all, _ := f.state(name)["traits"].([]any); len(all) != 2 {
		f.Errorf("traits in the node: %v", all)
	}
}

func power(f *far) {
	name, _ := f.fake()
	path := "/v1/nodes/" + name + "/states/power"

	f.to(name, [2]string{"manage", "manageable"})
	f.refuse(http.StatusBadRequest, `The requested action "bogus" can not be performed`, http.MethodPut, path, map[string]any{"target": "bogus"})
	f.refuse(http.StatusBadRequest, "timeout has to be positive integer", http.MethodPut, path,
		map[string]any{"target": "soft power off", "timeout": 0})

	for _, c := range [][2]string{{"power on", "power on"}, {"soft power off", "power off"}, {"rebooting", "power on"}} {
		f.expect(http.StatusAccepted, http.MethodPut, path, map[string]any{"target": c[0]})

		if n := f.settled(name); n["power_state"] != c[1] {
			f.Errorf("after %s: %v, want %s", c[0], n["power_state"], c[1])
		}
	}

	if f.MinorMax >= 95 {
		f.patch(name, add("/disable_power_off", true))
		f.refuse(http.StatusConflict, "Failed to set node power state to power off.", http.MethodPut, path, map[string]any{"target": "power off"})
	}
}
