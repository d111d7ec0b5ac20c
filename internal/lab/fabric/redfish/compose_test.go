// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

func TestActions_addAndRemove(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, face.Redfish{})
		d, block := r.GPUs("L40S")[0], blocks+"/"+r.GPUs("L40S")[0].ID

		added := r.act(http.StatusAccepted, "AddResourceBlock", 1, block)
		monitor := added.header.Get("Location")

		if r.state(d) != "Composing" || text(r.get(system(1)), "Status", "State") != "Updating" {
			t.Errorf("at once the block is %s", r.state(d))
		}

		r.ask(http.StatusAccepted, http.MethodGet, monitor, "")

		if task := r.get(v1 + "/TaskService/Tasks/" + text(added.doc, "Id")); task["TaskState"] != "Running" {
			t.Errorf("the task is %v", task)
		}

		time.Sleep(10 * time.Second)
		r.ask(http.StatusNoContent, http.MethodGet, monitor, "")

		if task := r.get(v1 + "/TaskService/Tasks/" + text(added.doc, "Id")); task["TaskState"] != "Completed" {
			t.Errorf("the task is %v", task)
		}

		got := r.get(block)
		if r.state(d) != "Composed" || got["Pool"] != "Active" || !slices.Equal(links(got, "Links", "ComputerSystems"), []string{system(1)}) {
			t.Errorf("composed the block is %v", got)
		}

		if all := links(r.get(system(1)), "Links", "ResourceBlocks"); len(all) != 2 || all[1] != block {
			t.Errorf("the system has %v", all)
		}

		monitor = r.act(http.StatusAccepted, "RemoveResourceBlock", 1, block).header.Get("Location")
		time.Sleep(4 * time.Second)

		if r.state(d) != "Composed" {
			t.Errorf("while it is removed the block is %s", r.state(d))
		}

		time.Sleep(time.Second)
		r.ask(http.StatusNoContent, http.MethodGet, monitor, "")

		if all := links(r.get(system(1)), "Links", "ResourceBlocks"); len(all) != 1 || r.state(d) != "Unused" {
			t.Errorf("the system has %v, the block is %s", all, r.state(d))
		}

		r.Change(func(tx store.Tx, _ time.Time) error {
			all, err := hardware.Effects(tx)
			if len(all) != 2 || len(hardware.Overlaps(all)) != 0 {
				t.Errorf("effects %v", all)
			}

			return err
		})
	})
}

func TestActions_refusals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, face.Redfish{})
		gpus := r.GPUs("A100")
		one, two := blocks+"/"+gpus[0].ID, blocks+"/"+gpus[1].ID
		add := system(0) + "/Actions/ComputerSystem.AddResourceBlock"

		for name, body := range map[string]string{
			"no body":                 ``,
			"no JSON":                 `{`,
			"no block":                `{}`,
			"a bare path":             `{"ResourceBlock":"` + one + `"}`,
			"a block that is not":     order(blocks + "/none"),
			"the block of a machine":  order(blocks + "/compute-" + machine.ID(1)),
			"no path of a block":      order(gpus[0].ID),
			"an unknown parameter":    `{"ResourceBlock":{"@odata.id":"` + one + `"},"Force":true}`,
			"an ETag that is no text": `{"ResourceBlock":{"@odata.id":"` + one + `"},"ResourceBlockETag":7}`,
		} {
			if got := r.do(http.MethodPost, add, body); got.code != http.StatusBadRequest || text(got.doc, "error", "code") == "" {
				t.Errorf("%s: %d %v", name, got.code, got.doc)
			}
		}

		stale := r.get(system(0))["@odata.etag"].(string)

		r.act(http.StatusAccepted, "AddResourceBlock", 0, one)
		r.act(http.StatusConflict, "AddResourceBlock", 0, two) // busy
		r.act(http.StatusConflict, "AddResourceBlock", 1, one) // taken
		time.Sleep(time.Minute)

		r.ask(http.StatusPreconditionFailed, http.MethodPost, add, order(two), "If-Match", stale)
		r.ask(http.StatusPreconditionRequired, http.MethodPost, add,
			`{"ResourceBlock":{"@odata.id":"`+two+`"},"ComputerSystemETag":"\"old\""}`)
		r.act(http.StatusBadRequest, "RemoveResourceBlock", 1, one) // it is on another
		r.ask(http.StatusNotFound, http.MethodPost, system(7)+"/Actions/ComputerSystem.AddResourceBlock", order(two))
		r.ask(http.StatusNotFound, http.MethodPost, system(0)+"/Actions/ComputerSystem.Reset", `{}`)
		r.ask(http.StatusMethodNotAllowed, http.MethodDelete, system(0), "")
		r.ask(http.StatusMethodNotAllowed, http.MethodPatch, blocks, `{}`)

		fresh, block := r.get(system(0))["@odata.etag"].(string), r.get(two)["@odata.etag"].(string)
		r.ask(http.StatusAccepted, http.MethodPost, add,
			`{"ResourceBlock":{"@odata.id":"`+two+`"},"ComputerSystemETag":`+quote(fresh)+`,"ResourceBlockETag":`+quote(block)+`}`, "If-Match", fresh)
	})
}

func quote(tag string) string { return `"\"` + tag[1:len(tag)-1] + `\""` }

func TestActions_failures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, face.Redfish{})
		d := r.GPUs("A100")[0]
		r.Set(d.ID, func(d *hardware.Device) { d.FailAdd = "no link" })

		added := r.act(http.StatusAccepted, "AddResourceBlock", 0, blocks+"/"+d.ID)
		time.Sleep(time.Minute)

		if got := r.ask(http.StatusInternalServerError, http.MethodGet, added.header.Get("Location"), ""); text(got.doc, "error", "message") != "no link" {
			t.Errorf("the monitor says %v", got.doc)
		}

		if task := r.get(v1 + "/TaskService/Tasks/" + text(added.doc, "Id")); task["TaskState"] != "Exception" || r.state(d) != "Failed" {
			t.Errorf("the task is %v, the block %s", task, r.state(d))
		}

		r.act(http.StatusAccepted, "RemoveResourceBlock", 0, blocks+"/"+d.ID)
		time.Sleep(time.Minute)

		if r.state(d) != "Unused" {
			t.Errorf("taken away the block is %s", r.state(d))
		}
	})
}

func TestWithoutTasks_theAnswerWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, face.Redfish{NoTasks: true})
		d := r.GPUs("A100")[0]
		start := time.Now()

		r.act(http.StatusNoContent, "AddResourceBlock", 0, blocks+"/"+d.ID)

		if took := time.Since(start); took != 10*time.Second || r.state(d) != "Composed" {
			t.Errorf("after %s the block is %s", took, r.state(d))
		}

		instant := newRig(t, face.Redfish{})
		instant.Env.Hardware.AddTime = 0
		instant.act(http.StatusNoContent, "AddResourceBlock", 0, blocks+"/"+d.ID)
	})
}

func TestLinks_insteadOfActions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, face.Redfish{NoActions: true, NeedETag: true})
		gpus := r.GPUs("A100")
		doc := r.get(system(2))
		have := links(doc, "Links", "ResourceBlocks")

		if doc["Actions"] != nil {
			t.Errorf("the system has actions: %v", doc["Actions"])
		}

		r.act(http.StatusNotFound, "AddResourceBlock", 2, blocks+"/"+gpus[0].ID)

		want := append(slices.Clone(have), blocks+"/"+gpus[0].ID, blocks+"/"+gpus[1].ID)
		etag := text(doc, "@odata.etag")

		r.ask(http.StatusPreconditionRequired, http.MethodPatch, system(2), linksBody("ResourceBlocks", want))
		r.ask(http.StatusPreconditionFailed, http.MethodPatch, system(2), linksBody("ResourceBlocks", want), "If-Match", `"old"`)

		for name, body := range map[string]string{
			"without the machine":   linksBody("ResourceBlocks", nil),
			"a block that is not":   linksBody("ResourceBlocks", append(slices.Clone(have), blocks+"/none")),
			"another property":      `{"AssetTag":"x"}`,
			"other links":           linksBody("Chassis", have),
			"no list":               `{"Links":{"ResourceBlocks":{}}}`,
			"a path, no reference":  `{"Links":{"ResourceBlocks":["` + have[0] + `"]}}`,
			"a null among the list": `{"Links":{"ResourceBlocks":[null]}}`,
			"no JSON":               `[`,
		} {
			if got := r.do(http.MethodPatch, system(2), body, "If-Match", etag); got.code != http.StatusBadRequest {
				t.Errorf("%s: %d %v", name, got.code, got.doc)
			}
		}

		r.ask(http.StatusAccepted, http.MethodPatch, system(2), linksBody("ResourceBlocks", want), "If-Match", etag)
		r.ask(http.StatusConflict, http.MethodPatch, system(2), linksBody("ResourceBlocks", have), "If-Match", "*")
		time.Sleep(time.Minute)

		if got := links(r.get(system(2)), "Links", "ResourceBlocks"); !slices.Equal(got, want) {
			t.Errorf("the system has %v", got)
		}

		r.ask(http.StatusNoContent, http.MethodPatch, system(2), linksBody("ResourceBlocks", want), "If-Match", "*")
		r.ask(http.StatusAccepted, http.MethodPatch, system(2), linksBody("ResourceBlocks", have), "If-Match", "*")
		time.Sleep(time.Minute)

		if got := links(r.get(system(2)), "Links", "ResourceBlocks"); !slices.Equal(got, have) {
			t.Errorf("in the end the system has %v", got)
		}

		r.Env.Tune(func(t *face.Tuning) { t.Redfish.NoLinks = true })
		r.ask(http.StatusBadRequest, http.MethodPatch, system(2), linksBody("ResourceBlocks", want), "If-Match", "*")
	})
}

func TestBlocks_reserved(t *testing.T) {
	t.Parallel()

	r := newRig(t, face.Redfish{})
	block := blocks + "/" + r.GPUs("A100")[0].ID
	etag := text(r.get(block), "@odata.etag")

	r.ask(http.StatusNoContent, http.MethodPatch, block, `{"CompositionStatus":{"Reserved":true}}`, "If-Match", etag)
	r.ask(http.StatusPreconditionFailed, http.MethodPatch, block, `{"CompositionStatus":{"Reserved":true}}`, "If-Match", etag)

	if got := r.get(block); value(got, "CompositionStatus", "Reserved") != true {
		t.Errorf("the block is %v", got)
	}

	r.ask(http.StatusBadRequest, http.MethodPatch, block, `{"CompositionStatus":{}}`)
	r.ask(http.StatusNoContent, http.MethodPatch, block, `{"CompositionStatus":{"Reserved":false}}`)

	if got := r.get(block); value(got, "CompositionStatus", "Reserved") != false {
		t.Errorf("the block is %v", got)
	}
}

func TestZones(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, face.Redfish{Zones: true})
		gpus := r.GPUs("A100")
		fabric := v1 + "/Fabrics/PCIe-1"
		zone, end := fabric+"/Zones/node-1", fabric+"/Endpoints/"

		r.ask(http.StatusNotFound, http.MethodGet, v1+"/CompositionService", "")
		r.ask(http.StatusOK, http.MethodGet, v1+"/Systems", "", "Authorization", "Basic eDp5")

		doc := r.get(zone)
		own := links(doc, "Links", "Endpoints")
		etag := text(doc, "@odata.etag")
		want := append(slices.Clone(own), end+gpus[0].ID)

		if !slices.Equal(own, links(r.get(system(1)), "Links", "Endpoints")) {
			t.Errorf("in the zone is %v", own)
		}

		r.ask(http.StatusPreconditionRequired, http.MethodPatch, zone, linksBody("Endpoints", want))
		r.ask(http.StatusPreconditionFailed, http.MethodPatch, zone, linksBody("Endpoints", want), "If-Match", `"x"`)
		r.ask(http.StatusBadRequest, http.MethodPatch, zone, linksBody("Endpoints", nil), "If-Match", etag)
		r.ask(http.StatusOK, http.MethodPatch, zone, linksBody("Endpoints", want), "If-Match", etag)

		if got := links(r.get(zone), "Links", "Endpoints"); !slices.Equal(got, own) {
			t.Errorf("at once the zone has %v", got)
		}

		r.ask(http.StatusConflict, http.MethodPatch, zone, linksBody("Endpoints", own), "If-Match", "*") // busy
		time.Sleep(10 * time.Second)

		if got := links(r.get(zone), "Links", "Endpoints"); !slices.Equal(got, want) {
			t.Errorf("after its time the zone has %v", got)
		}

		if e := r.get(end + gpus[0].ID); !slices.Equal(links(e, "Links", "Zones"), []string{zone}) {
			t.Errorf("the endpoint is %v", e)
		}

		other := fabric + "/Zones/node-2"
		r.ask(http.StatusConflict, http.MethodPatch, other,
			linksBody("Endpoints", append(links(r.get(other), "Links", "Endpoints"), end+gpus[0].ID)), "If-Match", "*") // taken

		r.ask(http.StatusOK, http.MethodPatch, zone, linksBody("Endpoints", own), "If-Match", "*")
		time.Sleep(5 * time.Second)

		if got := links(r.get(zone), "Links", "Endpoints"); !slices.Equal(got, own) {
			t.Errorf("in the end the zone has %v", got)
		}

		// what cannot be attached is free again
		r.Set(gpus[1].ID, func(d *hardware.Device) { d.FailAdd = "no link" })
		r.ask(http.StatusOK, http.MethodPatch, zone, linksBody("Endpoints", append(slices.Clone(own), end+gpus[1].ID)), "If-Match", "*")
		time.Sleep(time.Minute)

		if d := r.GPUs("A100")[1]; !d.Free() {
			t.Errorf("the device is %+v", d)
		}
	})
}

func TestTwoSwitches_shareNothing(t *testing.T) {
	t.Parallel()

	r := newRig(t, face.Redfish{})
	r.Env.Hardware.Fabrics = 2

	for _, d := range append(r.GPUs("A100"), r.GPUs("L40S")...) {
		want := http.StatusAccepted
		if d.Fabric != 0 {
			want = http.StatusBadRequest
		}

		got := r.do(http.MethodPost, system(0)+"/Actions/ComputerSystem.AddResourceBlock", order(blocks+"/"+d.ID))
		if got.code != want && got.code != http.StatusConflict {
			t.Errorf("the device of switch %d: %d %v", d.Fabric, got.code, got.doc)
		}
	}

	if zones := links(r.get(v1+"/CompositionService/ResourceZones"), "Members"); len(zones) != 2 {
		t.Errorf("the zones are %v", zones)
	}
}

func FuzzBodies(f *testing.F) {
	f.Add(order(blocks+"/x"), uint8(0))
	f.Add(linksBody("ResourceBlocks", []string{blocks + "/x"}), uint8(1))
	f.Add(linksBody("Endpoints", []string{v1}), uint8(2))
	f.Add(`{"CompositionStatus":{"Reserved":null}}`, uint8(3))
	f.Add(`{"UserName":"a","Password":7}`, uint8(4))
	f.Add(`{"Links":null}`, uint8(1))

	f.Fuzz(func(t *testing.T, body string, which uint8) {
		r := newRig(t, face.Redfish{Zones: which%5 == 2})
		d := r.GPUs("A100")[0]

		targets := []struct{ method, path string }{
			{http.MethodPost, system(0) + "/Actions/ComputerSystem.AddResourceBlock"},
			{http.MethodPatch, system(0)},
			{http.MethodPatch, v1 + "/Fabrics/PCIe-1/Zones/node-0"},
			{http.MethodPatch, blocks + "/" + d.ID},
			{http.MethodPost, v1 + "/SessionService/Sessions"},
		}
		target := targets[int(which)%len(targets)]

		if got := r.do(target.method, target.path, body, "If-Match", "*"); got.code >= 500 || got.code == 0 {
			t.Errorf("%s %s %q: %d %v", target.method, target.path, body, got.code, got.doc)
		}
	})
}
