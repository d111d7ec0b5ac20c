// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"fmt"
	"net/http"
)

func patches(f *far) {
	name, _ := f.fake()
	path := "/v1/nodes/" + name

	r := f.patch(name, add("/extra/metal3", map[string]any{"v": 1}), add("/properties/capabilities", "boot_mode:uefi"), add("/description", "d"))
	if r.body["description"] != "d" || object(r.body, "properties")["capabilities"] != "boot_mode:uefi" {
		f.Errorf("patched: %s", r.raw)
	}

	f.patch(name, add("/extra/metal3", map[string]any{"v": 2})) // add replaces
	f.patch(name, remove("/description"))

	for text, ops := range map[string]any{
		"can't replace a non-existent object 'nokey'": []any{map[string]any{"op": "replace", "path": "/extra/nokey", "value": 1}},
		"can't remove a non-existent object 'nokey'":  patchOf(remove("/extra/nokey")),
		"Cannot patch /provision_state":               patchOf(add("/provision_state", "x")),
		"Cannot patch /bogus":                         patchOf(add("/bogus", "x")),
		"'driver' is a required property":             patchOf(remove("/driver")),
		"supports driver nope":                        patchOf(add("/driver", "nope")),
		"Could not find the following interface":      patchOf(add("/boot_interface", "nope")),
		"Cannot change name to invalid name":          patchOf(add("/name", "bad name")),
		"is not of type 'array'":                      map[string]any{"op": "add"},
		"'path' is a required property":               []any{map[string]any{"op": "add"}},
		"is not one of ['add', 'replace', 'remove']":  []any{map[string]any{"op": "test", "path": "/extra/x", "value": 1}},
		"Expected UUID for instance_uuid: nope":       patchOf(add("/instance_uuid", "nope")),
	} {
		f.refuse(http.StatusBadRequest, text, http.MethodPatch, path, ops)
	}
}

func claims(f *far) {
	name, uuid := f.fake()
	other, otherUUID := f.fake()
	mine, theirs := newUUID(), newUUID()

	f.patch(name, add("/instance_uuid", mine))
	f.patch(name, add("/instance_uuid", mine)) // the same again is no conflict

	f.refuse(http.StatusConflict, "Node "+uuid+" is associated with instance "+mine+".", http.MethodPatch, "/v1/nodes/"+name,
		patchOf(add("/instance_uuid", theirs)))
	f.refuse(http.StatusConflict, "Instance "+mine+" is already associated with a node, it cannot be associated with this other node "+otherUUID,
		http.MethodPatch, "/v1/nodes/"+other, patchOf(add("/instance_uuid", mine)))
	f.refuse(http.StatusConflict, "is associated with instance", http.MethodDelete, "/v1/nodes/"+name, nil)

	r := f.expect(http.StatusOK, http.MethodGet, "/v1/nodes?instance_uuid="+mine+"&fields=uuid", nil)
	if find(r.body["nodes"], uuid) == nil {
		f.Errorf("not found by its instance: %s", r.raw)
	}

	f.patch(name, remove("/instance_uuid"))
	f.patch(other, add("/instance_uuid", mine))
	f.patch(other, remove("/instance_uuid"))
	f.expect(http.StatusNoContent, http.MethodDelete, "/v1/nodes/"+other, nil)
	f.refuse(http.StatusNotFound, "could not be found", http.MethodDelete, "/v1/nodes/"+other, nil)
}

func fakeWalk(f *far) {
	name, uuid := f.fake()

	n := f.to(name, [2]string{"manage", "manageable"}, [2]string{"inspect", "manageable"})
	if n["inspection_finished_at"] == nil || n["power_state"] != nil {
		f.Errorf("after inspection: finished at %v, power %v", n["inspection_finished_at"], n["power_state"])
	}

	f.refuse(http.StatusNotFound, "Node inventory record", http.MethodGet, "/v1/nodes/"+name+"/inventory", nil)
	f.to(name, [2]string{"provide", "available"}, [2]string{"manage", "manageable"}, [2]string{"provide", "available"})

	// An image, which fake hardware does not look at: 29.0.5 answers 500 to a rebuild without one
	// ("cannot access local variable 'auto_lessee'").
	f.patch(name, add("/instance_uuid", newUUID()), add("/instance_info/image_source", "http://127.0.0.1/x.raw"), add("/extra/kept", true))
	f.verb(name, "active", map[string]any{"configdrive": map[string]any{"user_data": "#cloud-config\n", "meta_data": map[string]any{"a": "b"}}})

	n = f.wait(name, "active")
	if n["target_provision_state"] != nil || object(n, "instance_info")["configdrive"] != "******" {
		f.Errorf("active with target %v, instance_info %v", n["target_provision_state"], n["instance_info"])
	}

	f.refuse(http.StatusConflict, "is associated with instance", http.MethodDelete, "/v1/nodes/"+uuid, nil)
	f.refuse(http.StatusConflict, "can not have deploy_interface updated unless", http.MethodPatch, "/v1/nodes/"+name,
		patchOf(add("/deploy_interface", "direct")))

	f.to(name, [2]string{"rebuild", "active"})

	n = f.to(name, [2]string{"deleted", "available"})
	if n["instance_uuid"] != nil || len(object(n, "instance_info")) != 0 || object(n, "extra")["kept"] != true {
		f.Errorf("after undeploying: instance_uuid %v, instance_info %v, extra %v", n["instance_uuid"], n["instance_info"], n["extra"])
	}

	f.to(name, [2]string{"manage", "manageable"}, [2]string{"adopt", "active"})
	f.refuse(http.StatusConflict, `while it is in provision state "active"`, http.MethodDelete, "/v1/nodes/"+uuid, nil)
}

func badVerbs(f *far) {
	name, uuid := f.fake()

	check := func(state string, verbs ...string) {
		f.Helper()

		for _, verb := range verbs {
			f.refuse(http.StatusBadRequest, `The requested action "`+verb+`" can not be performed on node "`+uuid+`" while it is in state "`+state+`".`,
				http.MethodPut, "/v1/nodes/"+name+"/states/provision", map[string]any{"target": verb})
		}
	}

	check("enroll", "inspect", "provide", "active", "deleted", "abort", "adopt", "rebuild", "clean", "bogus")
	f.refuse(http.StatusBadRequest, "Missing mandatory parameter: target", http.MethodPut, "/v1/nodes/"+name+"/states/provision", map[string]any{})
	f.refuse(http.StatusNotFound, "Node nope could not be found.", http.MethodPut, "/v1/nodes/nope/states/provision", map[string]any{"target": "manage"})
	f.refuse(http.StatusBadRequest, "Unexpected arguments: bogus", http.MethodPut, "/v1/nodes/"+name+"/states/provision",
		map[string]any{"target": "manage", "bogus": 1})

	f.to(name, [2]string{"manage", "manageable"})
	check("manageable", "manage", "active", "deleted", "abort", "rebuild")
	f.refuse(http.StatusBadRequest, `"clean_steps" is required when setting target provision state to clean`, http.MethodPut,
		"/v1/nodes/"+name+"/states/provision", map[string]any{"target": "clean"})

	f.to(name, [2]string{"provide", "available"})
	check("available", "inspect", "provide", "clean", "adopt", "deleted", "rebuild")

	f.to(name, [2]string{"active", "active"})
	check("active", "manage", "inspect", "provide", "active", "clean", "abort", "adopt")
}

func maintenance(f *far) {
	name, _ := f.fake()
	f.to(name, [2]string{"manage", "manageable"}, [2]string{"provide", "available"})

	f.expect(http.StatusAccepted, http.MethodPut, "/v1/nodes/"+name+"/maintenance", map[string]any{"reason": "because"})

	if n := f.state(name); n["maintenance"] != true || n["maintenance_reason"] != "because" || n["fault"] != nil {
		f.Errorf("in maintenance: %v %v %v", n["maintenance"], n["maintenance_reason"], n["fault"])
	}

	f.refuse(http.StatusBadRequest, "because it's in maintenance mode", http.MethodPut, "/v1/nodes/"+name+"/states/provision",
		map[string]any{"target": "active"})
	f.to(name, [2]string{"manage", "manageable"}) // allowed
	f.refuse(http.StatusBadRequest, "The cleaning operation can't be performed", http.MethodPut, "/v1/nodes/"+name+"/states/provision",
		map[string]any{"target": "clean", "clean_steps": []any{map[string]any{"interface": "deploy", "step": "x"}}})

	f.expect(http.StatusAccepted, http.MethodDelete, "/v1/nodes/"+name+"/maintenance", nil)
	f.to(name, [2]string{"provide", "available"}, [2]string{"active", "active"})
	f.expect(http.StatusAccepted, http.MethodPut, "/v1/nodes/"+name+"/maintenance", nil)
	f.to(name, [2]string{"deleted", "available"}) // the one verb of a deployed node that maintenance lets through
	f.expect(http.StatusAccepted, http.MethodDelete, "/v1/nodes/"+name+"/maintenance", nil)

	f.to(name, [2]string{"active", "active"})
	f.expect(http.StatusAccepted, http.MethodPut, "/v1/nodes/"+name+"/maintenance", nil)
	f.expect(http.StatusNoContent, http.MethodDelete, "/v1/nodes/"+name, nil) // any state may be deleted in maintenance
	f.expect(http.StatusNotFound, http.MethodGet, "/v1/nodes/"+name, nil)
}

func protection(f *far) {
	name, uuid := f.fake()

	f.refuse(http.StatusConflict, "can only be made protected in provision states 'active' or 'rescue'", http.MethodPatch, "/v1/nodes/"+name,
		patchOf(add("/protected", true)))
	f.to(name, [2]string{"manage", "manageable"}, [2]string{"provide", "available"}, [2]string{"active", "active"})
	f.patch(name, add("/protected", true), add("/protected_reason", "mine"))

	for _, verb := range []string{"deleted", "rebuild"} {
		f.refuse(http.StatusForbidden, "Node "+uuid+" is protected and cannot be undeployed, rebuilt or deleted", http.MethodPut,
			"/v1/nodes/"+name+"/states/provision", map[string]any{"target": verb})
	}

	f.patch(name, add("/protected", false))
	f.to(name, [2]string{"deleted", "available"})
	f.refuse(http.StatusConflict, "'retired'", http.MethodPatch, "/v1/nodes/"+name, patchOf(add("/retired", true)))
	f.to(name, [2]string{"manage", "manageable"})
	f.patch(name, add("/retired", true))
	f.refuse(http.StatusBadRequest, "because it is retired", http.MethodPut, "/v1/nodes/"+name+"/states/provision",
		map[string]any{"target": "provide"})
}

func badClean(f *far) {
	name, _ := f.fake()
	f.to(name, [2]string{"manage", "manageable"})
	f.verb(name, "clean", map[string]any{"clean_steps": []any{map[string]any{"interface": "deploy", "step": "nope"}}})

	n := f.wait(name, "clean failed")
	if n["target_provision_state"] != "manageable" || n["maintenance"] != false || n["fault"] != nil || n["last_error"] == nil {
		f.Errorf("clean failed with target %v, maintenance %v, fault %v, last_error %v",
			n["target_provision_state"], n["maintenance"], n["fault"], n["last_error"])
	}

	if f.MinorMax >= 78 {
		r := f.expect(http.StatusOK, http.MethodGet, "/v1/nodes/"+name+"/history?detail=true", nil)
		if got := r.body["history"]; !contains(got, fmt.Sprint(n["last_error"])) {
			f.Errorf("history: %s", r.raw)
		}
	}

	n = f.to(name, [2]string{"manage", "manageable"})
	if n["last_error"] == nil { // it survives the way out: no sign of a failure of now
		f.Error("last_error is gone")
	}
}
