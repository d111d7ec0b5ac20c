// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// note is where a claim says whose it is.
const note = "/instance_info/metal3"

// idle makes a node that an allocation can have: available, of a class of its own, with a power
// state that is known.
func (f *far) idle() (class, uuid string) {
	f.Helper()

	class = newName()
	_, uuid = f.node(map[string]any{"driver": "fake-hardware", "resource_class": class})
	f.to(uuid, [2]string{"manage", "manageable"}, [2]string{"provide", "available"})
	f.expect(http.StatusAccepted, http.MethodPut, "/v1/nodes/"+uuid+"/states/power", map[string]any{"target": "power off"})
	f.settled(uuid)

	return class, uuid
}

func (f *far) deploy(node string) {
	f.Helper()
	f.patch(node, add("/instance_info/image_source", "http://127.0.0.1/x.raw")) // see fakeWalk
	f.to(node, [2]string{"active", "active"})
}

func (f *far) claimedBy(node string) (instance, allocation any) {
	f.Helper()

	n := f.state(node)

	return n["instance_uuid"], n["allocation_uuid"]
}

// rivals: of many different claims at the same moment one is kept, and all others are told so.
func rivals(f *far) {
	const many = 20

	_, uuid := f.fake()

	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		won  []string
		lost int
	)

	for range many {
		mine := newUUID()

		wg.Go(func() {
			r := f.do(http.MethodPatch, "/v1/nodes/"+uuid, patchOf(add("/instance_uuid", mine), add(note, map[string]any{"id": mine})))

			mu.Lock()
			defer mu.Unlock()

			switch r.status {
			case http.StatusOK:
				won = append(won, mine)
			case http.StatusConflict:
				lost++
			default:
				f.Errorf("%d: %s", r.status, r.raw)
			}
		})
	}

	wg.Wait()

	n := f.state(uuid)
	if noted := object(object(n, "instance_info"), "metal3"); len(won) != 1 || lost != many-1 || n["instance_uuid"] != won[0] || noted["id"] != won[0] {
		f.Errorf("%d claims were kept and %d refused; the node has %v and the note %v", len(won), lost, n["instance_uuid"], noted)
	}
}

// plainClaims: instance_uuid is taken in states in which nothing can be deployed, and from a
// machine that runs.
func plainClaims(f *far) {
	name, uuid := f.fake()
	mine := newUUID()

	f.to(name, [2]string{"manage", "manageable"})
	f.expect(http.StatusAccepted, http.MethodPut, "/v1/nodes/"+name+"/maintenance", map[string]any{"reason": "because"})
	f.patch(name, add("/instance_uuid", mine), add(note, map[string]any{"id": mine, "addresses": map[string]any{"prov": "192.0.2.7"}}))
	f.expect(http.StatusAccepted, http.MethodDelete, "/v1/nodes/"+name+"/maintenance", nil)

	r := f.expect(http.StatusOK, http.MethodGet, "/v1/nodes/detail?instance_uuid="+mine, nil)
	if all, _ := r.body["nodes"].([]any); len(all) != 1 || find(r.body["nodes"], uuid) == nil {
		f.Errorf("by its instance: %s", r.raw)
	}

	n := f.to(name, [2]string{"provide", "available"})
	if n["instance_uuid"] != mine || object(object(n, "instance_info"), "metal3")["id"] != mine {
		f.Errorf("in available: instance %v, instance_info %v", n["instance_uuid"], n["instance_info"])
	}

	f.refuse(http.StatusBadRequest, "can not be performed on node", http.MethodPut, "/v1/nodes/"+name+"/states/provision", map[string]any{"target": "rebuild"})

	// Note and claim go in one request.
	f.patch(name, remove(note), remove("/instance_uuid"))
	f.patch(name, add("/instance_uuid", mine), add(note, map[string]any{"id": mine}))
	f.deploy(name)

	if n := f.state(name); n["instance_uuid"] != mine || object(object(n, "instance_info"), "metal3")["id"] != mine {
		f.Errorf("in active: instance %v, instance_info %v", n["instance_uuid"], n["instance_info"])
	}

	f.patch(name, remove("/instance_uuid")) // nothing protects the claim of a machine that runs
}

// vainAllocations: an allocation that finds no node stays as a record in error, with its name.
func vainAllocations(f *far) {
	class, uuid := f.idle()

	for _, c := range []struct {
		why      string
		from, to func()
	}{
		{
			"a claimed node", func() { f.patch(uuid, add("/instance_uuid", newUUID())) }, func() { f.patch(uuid, remove("/instance_uuid")) },
		},
		{
			"a node in maintenance", func() { f.expect(http.StatusAccepted, http.MethodPut, "/v1/nodes/"+uuid+"/maintenance", nil) },
			func() { f.expect(http.StatusAccepted, http.MethodDelete, "/v1/nodes/"+uuid+"/maintenance", nil) },
		},
		{
			"a node that is not available", func() { f.to(uuid, [2]string{"manage", "manageable"}) },
			func() { f.to(uuid, [2]string{"provide", "available"}) },
		},
	} {
		c.from()

		mine, name := newUUID(), newName()
		body := map[string]any{"uuid": mine, "name": name, "resource_class": class, "candidate_nodes": []any{uuid}}

		if a := f.allocate(body, "error"); !contains(a["last_error"], "none of the requested nodes are available and match the resource class "+class) || a["node_uuid"] != nil {
			f.Errorf("%s: node %v, last_error %v", c.why, a["node_uuid"], a["last_error"])
		}

		again := map[string]any{"uuid": newUUID(), "name": name, "resource_class": class}
		f.refuse(http.StatusConflict, "An allocation with name "+name+" already exists.", http.MethodPost, "/v1/allocations", again)

		again["name"], again["uuid"] = newName(), mine
		f.refuse(http.StatusConflict, "An allocation with UUID "+mine+" already exists.", http.MethodPost, "/v1/allocations", again)

		f.expect(http.StatusNoContent, http.MethodDelete, "/v1/allocations/"+mine, nil)
		c.to()
		f.allocate(body, "active") // the same id and name again
		f.expect(http.StatusNoContent, http.MethodDelete, "/v1/allocations/"+mine, nil)
	}

	f.allocate(map[string]any{"resource_class": newName(), "candidate_nodes": []any{uuid}}, "error")
}

// allocatedLife: what an allocation goes through with its node.
func allocatedLife(f *far) {
	class, uuid := f.idle()
	mine := newUUID()
	body := map[string]any{
		"uuid": mine, "name": class, "resource_class": class, "candidate_nodes": []any{uuid}, "extra": map[string]any{"cluster": "edge", "ip.prov": "192.0.2.7"},
	}

	f.allocate(body, "active")
	f.patch(uuid, add(note, map[string]any{"id": mine}), add("/extra/kept", true))
	f.refuse(http.StatusConflict, "is associated with instance", http.MethodPatch, "/v1/nodes/"+uuid, patchOf(add("/instance_uuid", newUUID())))

	path := "/v1/allocations/" + mine

	r := f.expect(http.StatusOK, http.MethodPatch, path, patchOf(add("/extra", map[string]any{"cluster": "edge", "template_hash": "1"})))
	if x := object(r.body, "extra"); x["template_hash"] != "1" || x["ip.prov"] != nil {
		f.Errorf("patched: %s", r.raw)
	}

	f.refuse(http.StatusBadRequest, "Cannot patch /resource_class", http.MethodPatch, path, patchOf(add("/resource_class", "x")))

	r = f.expect(http.StatusOK, http.MethodGet, "/v1/allocations?node="+uuid, nil)
	if a := find(r.body["allocations"], mine); object(a, "extra")["cluster"] != "edge" || a["state"] != "active" || a["node_uuid"] != uuid {
		f.Errorf("in a list: %s", r.raw)
	}

	// A free node gives up both, whichever way.
	f.patch(uuid, remove(note), remove("/instance_uuid"))
	f.refuse(http.StatusNotFound, "could not be found", http.MethodGet, path, nil)

	if instance, allocation := f.claimedBy(uuid); instance != nil || allocation != nil {
		f.Errorf("after the claim was removed: instance %v, allocation %v", instance, allocation)
	}

	f.allocate(body, "active")
	f.patch(uuid, add(note, map[string]any{"id": mine}))
	f.deploy(uuid)

	// One that runs keeps it.
	f.refuse(http.StatusConflict, "Cannot remove allocation "+mine, http.MethodDelete, path, nil)
	f.refuse(http.StatusConflict, "can not have instance_uuid removed unless", http.MethodPatch, "/v1/nodes/"+uuid, patchOf(remove("/instance_uuid")))
	f.to(uuid, [2]string{"rebuild", "active"})

	n := f.state(uuid)
	if n["instance_uuid"] != mine || n["allocation_uuid"] != mine || object(object(n, "instance_info"), "metal3")["id"] != mine {
		f.Errorf("rebuilt: instance %v, allocation %v, instance_info %v", n["instance_uuid"], n["allocation_uuid"], n["instance_info"])
	}

	f.torndown(uuid, "available")
	f.refuse(http.StatusNotFound, "could not be found", http.MethodGet, path, nil)
}

// forced: what runs gives up its claim and its allocation in maintenance, and in no other way.
func forced(f *far) {
	class, uuid := f.idle()
	mine := newUUID()

	f.allocate(map[string]any{"uuid": mine, "name": class, "resource_class": class, "candidate_nodes": []any{uuid}}, "active")
	f.deploy(uuid)
	f.refuse(http.StatusConflict, "can not have instance_uuid removed unless", http.MethodPatch, "/v1/nodes/"+uuid, patchOf(remove("/instance_uuid")))
	f.expect(http.StatusAccepted, http.MethodPut, "/v1/nodes/"+uuid+"/maintenance", map[string]any{"reason": "because"})
	f.patch(uuid, remove("/instance_uuid"))

	if instance, allocation := f.claimedBy(uuid); instance != nil || allocation != nil {
		f.Errorf("in maintenance: instance %v, allocation %v", instance, allocation)
	}

	f.refuse(http.StatusNotFound, "could not be found", http.MethodGet, "/v1/allocations/"+mine, nil)
	f.expect(http.StatusAccepted, http.MethodDelete, "/v1/nodes/"+uuid+"/maintenance", nil)
}

// torndown undeploys a node: claim, allocation and note go before the cleaning, extra stays.
func (f *far) torndown(node, end string) {
	f.Helper()
	f.verb(node, "deleted", nil)

	for stop := time.Now().Add(f.Patience); time.Now().Before(stop); f.pause() {
		n := f.state(node)
		state, _ := n["provision_state"].(string)

		if slices.Contains([]string{"cleaning", "clean wait", end}, state) &&
			(n["instance_uuid"] != nil || n["allocation_uuid"] != nil || object(n, "instance_info")["metal3"] != nil) {
			f.Errorf("in %s: instance %v, allocation %v, instance_info %v", state, n["instance_uuid"], n["allocation_uuid"], n["instance_info"])
		}

		if state == end || strings.HasSuffix(state, "failed") || state == "error" {
			break
		}
	}

	if n := f.wait(node, end); object(n, "extra")["kept"] != true {
		f.Errorf("undeployed: extra %v", n["extra"])
	}
}

// backfills: an allocation can be made for a node that runs, and for no other.
func backfills(f *far) {
	class, uuid := f.idle()

	f.refuse(http.StatusInternalServerError, `Node must be in the "active" state, but the current state is "available".`, http.MethodPost,
		"/v1/allocations", map[string]any{"node": uuid})
	f.deploy(uuid)

	mine := newUUID()

	r := f.expect(http.StatusCreated, http.MethodPost, "/v1/allocations", map[string]any{"node": uuid, "uuid": mine, "name": class})
	f.Cleanup(func() { f.do(http.MethodDelete, "/v1/allocations/"+mine, nil) })

	if r.body["state"] != "active" || r.body["node_uuid"] != uuid || r.body["resource_class"] != class {
		f.Errorf("of an active node: %s", r.raw)
	}

	if instance, allocation := f.claimedBy(uuid); instance != mine || allocation != mine {
		f.Errorf("backfilled: instance %v, allocation %v", instance, allocation)
	}
}

// keeps: a retired node ends in manageable, is claimed there by hand and comes back claimed.
// Where cleaning is skipped it ends in available, and allocations do not mind the mark.
func keeps(f *far) {
	class, uuid := f.idle()
	mine := newUUID()

	f.allocate(map[string]any{"uuid": mine, "name": class, "resource_class": class, "candidate_nodes": []any{uuid}}, "active")
	f.patch(uuid, add(note, map[string]any{"id": mine}), add("/extra/kept", true))
	f.deploy(uuid)
	f.patch(uuid, add("/retired", true), add("/retired_reason", "metal3 reuse"), add("/automated_clean", true),
		add("/extra/metal3", map[string]any{"hold": map[string]any{"machine": "m"}}))
	f.torndown(uuid, "manageable")

	f.allocate(map[string]any{"resource_class": class}, "error") // no scheduler takes it there

	r := f.patch(uuid, add("/instance_uuid", mine), add(note, map[string]any{"id": mine}), add("/retired", false), add("/automated_clean", false))
	if r.body["retired"] != false || r.body["retired_reason"] != nil || r.body["instance_uuid"] != mine {
		f.Errorf("claimed in manageable: %s", r.raw)
	}

	n := f.to(uuid, [2]string{"provide", "available"})
	if n["instance_uuid"] != mine || n["allocation_uuid"] != nil || object(object(n, "instance_info"), "metal3")["id"] != mine {
		f.Errorf("back in available: instance %v, allocation %v, instance_info %v", n["instance_uuid"], n["allocation_uuid"], n["instance_info"])
	}

	f.allocate(map[string]any{"resource_class": class}, "error")
	f.patch(uuid, remove("/extra/metal3/hold"))
	f.deploy(uuid)
	f.patch(uuid, add("/retired", true))
	f.torndown(uuid, "available") // automated_clean is false by now

	other := f.allocate(map[string]any{"resource_class": class}, "active")
	f.refuse(http.StatusConflict, "is associated with instance", http.MethodPatch, "/v1/nodes/"+uuid, patchOf(add("/instance_uuid", mine), add("/retired", false)))
	f.expect(http.StatusNoContent, http.MethodDelete, "/v1/allocations/"+fmt.Sprint(other["uuid"]), nil)
	f.patch(uuid, add("/instance_uuid", mine), add("/retired", false))
}
