// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package neccdim_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

func ids(devices []fabric.Device) []string {
	var out []string
	for _, d := range devices {
		out = append(out, d.FabricID)
	}

	return out
}

func TestMachine_isOneRequest(t *testing.T) {
	t.Parallel()

	m := open(t)
	inner(m.resources[2], "attribute", obj{"uuid": "GPU-1"})
	inner(m.resources[2], "serialNumber", 1324)
	inner(m.resources[2], "status", obj{"state": "Enabled", "health": "Warning"})
	f := m.serve()

	got, err := f.Machine(t.Context(), "fsas-cdi://"+cpu1)
	if err != nil {
		t.Fatal(err)
	}

	if got.ID != cpu1 || got.State != fabric.Ready || got.Power != fabric.PowerOn || got.Status != "Enabled OK" || got.FabricID != f.Endpoint() {
		t.Errorf("machine: %+v", got)
	}

	want := fabric.Device{
		FabricID: gpu1, DeviceID: "GPU-1", Type: "gpu", Model: "A100", Serial: "1324",
		Health: fabric.HealthWarning, HealthRaw: "Warning", MachineID: cpu1,
	}
	if !slices.Equal(got.Devices, []fabric.Device{want}) {
		t.Errorf("devices: %+v", got.Devices)
	}

	if len(m.log) != 1 {
		t.Errorf("requests: %q", m.log)
	}
}

func TestMachine_aLoneCPUIsAMachineWithoutDevices(t *testing.T) {
	t.Parallel()

	m := open(t)
	f := m.serve()

	got, err := f.Machine(t.Context(), cpu2)
	if err != nil || got.ID != cpu2 || len(got.Devices) != 0 {
		t.Errorf("%+v, %v", got, err)
	}

	for _, id := range []string{"nobody", gpu2, "", "a/b?c"} {
		if _, err := f.Machine(t.Context(), id); !errors.Is(err, fabric.ErrNotFound) {
			t.Errorf("machine %q: %v", id, err)
		}
	}
}

func TestMachine_isTakenFromTheListWhereThereIsNoSingleRead(t *testing.T) {
	t.Parallel()

	m := open(t)
	m.answers["GET /nodes/"+cpu1] = raw(http.StatusNotFound, "text/plain", "404 page not found")

	got, err := m.serve().Machine(t.Context(), cpu1)
	if err != nil || !slices.Equal(ids(got.Devices), []string{gpu1}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestMachine_whatIsNotDetectedAnyMoreStays(t *testing.T) {
	t.Parallel()

	m := open(t)
	m.resources[0]["detected"], m.resources[2]["detected"] = false, false

	got, err := m.serve().Machine(t.Context(), cpu1)
	if err != nil || got.State != fabric.Failed || len(got.Devices) != 1 || got.Devices[0].HealthRaw != "not detected" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestMachines_listsEveryMachineInTwoRequests(t *testing.T) {
	t.Parallel()

	m := open(t)
	// The open manager's list of nodes has no models.
	m.answers["GET /nodes"] = answer(http.StatusOK, obj{"count": 1, "nodes": []obj{{"id": cpu1, "resources": []obj{
		{"device": obj{"deviceID": cpu1, "type": "CPU"}, "detected": true}, {"device": obj{"deviceID": gpu1, "type": "GPU"}, "detected": true},
	}}}})

	got, err := m.serve().Machines(t.Context())
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}

	if got[0].ID != cpu1 || got[0].Devices[0].Model != "A100" || got[1].ID != cpu2 || len(got[1].Devices) != 0 {
		t.Errorf("machines: %+v", got)
	}

	if len(m.log) != 2 {
		t.Errorf("requests: %q", m.log)
	}
}

func TestFree_listsWhatAnOrderMayName(t *testing.T) {
	t.Parallel()

	m := open(t)
	hidden := []obj{
		inner(device("1", "GPU", "A100"), "status", obj{"state": "Enabled", "health": "Critical"}),
		inner(device("2", "GPU", "A100"), "status", obj{"state": "Disabled", "health": "OK"}),
		inner(device("3", "GPU", "A100"), "status", nil),
		device("4", "GPU", "A100", to("eeio", side)),
		on(device("5", "GPU", "A100"), cpu2),
		device("6", "GPU", "L40S"),
		device("7", "memory", "A100"),
		device("8", "GPU", "a100"),
	}
	hidden = append(hidden, device("9", "GPU", "A100"), device("10", "GPU", "A100"), device("11", "GPU", "A100"))
	hidden[8]["detected"] = false
	hidden[9]["annotation"] = obj{"available": false}
	hidden[10]["nodeIDs"] = cpu2 // no list
	cxl := inner(device("12", "CXL-Memory", "64G"), "status", obj{"state": "ENABLED", "health": "ok"})
	m.resources = append(m.resources, append(hidden, cxl)...)
	f := m.serve()

	got, err := f.Free(t.Context(), cpu1, "gpu", "A100")
	if err != nil || !got.Known || got.Count != 2 || !slices.Equal(ids(got.Devices), []string{gpu2, gpu3}) {
		t.Errorf("%+v, %v", got, err)
	}

	if !slices.Equal(got.Models, []string{"A100", "L40S", "a100"}) || got.FabricID != f.Endpoint() {
		t.Errorf("models %q of %s", got.Models, got.FabricID)
	}

	if got, err = f.Free(t.Context(), cpu1, "cxlmemory", "64G"); err != nil || got.Count != 1 || got.Devices[0].Type != "cxlmemory" {
		t.Errorf("memory: %+v, %v", got, err)
	}

	if got, err = f.Free(t.Context(), "", "", ""); err != nil || got.Count != 5 {
		t.Errorf("everything: %d, %v", got.Count, err)
	}
}

func TestReads_refuseWhatIsNoAnswer(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		say       func(http.ResponseWriter)
		kind      error
		transient bool
		words     string
	}{
		"fewer than counted": {answer(200, obj{"count": 3, "resources": []obj{device(gpu1, "GPU", "A100")}}), fabric.ErrNotFabric, false, "count says 3"},
		"an odd entry":       {answer(200, obj{"count": 1, "resources": []any{7}}), fabric.ErrNotFabric, false, "no object"},
		"without an id":      {answer(200, obj{"resources": []obj{device("", "GPU", "A100")}}), fabric.ErrNotFabric, false, "deviceID"},
		"links of a type":    {answer(200, obj{"resources": []obj{inner(device("x", "GPU", ""), "links", "y")}}), fabric.ErrNotFabric, false, "links"},
		"another service":    {answer(200, obj{"items": []int{}}), fabric.ErrNotFabric, false, "no list"},
		"a list":             {answer(200, []int{1}), fabric.ErrNotFabric, false, "no list"},
		"HTML":               {raw(200, "text/html", "<html><title>Log in</title>"), fabric.ErrNotFabric, false, "Log in"},
		"a redirect":         {raw(302, "text/plain", ""), fabric.ErrNotFabric, false, "/elsewhere"},
		"unauthorised":       {raw(401, "text/plain", "no"), fabric.ErrAuth, false, "401"},
		"no such route":      {raw(404, "text/plain", "404 page not found"), fabric.ErrNotFabric, false, "404"},
		"an error of theirs": {answer(500, obj{"code": "E02003", "message": "database"}), fabric.ErrUnknown, false, "database"},
		"overload":           {raw(503, "text/plain", ""), fabric.ErrBusy, true, "503"},
		"nothing":            {drop, fabric.ErrUnknown, true, "connection"},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := open(t)
			m.answers["GET /resources"] = c.say

			_, err := m.serve().Free(t.Context(), cpu1, "gpu", "A100")
			if !errors.Is(err, c.kind) || wait.IsTransient(err) != c.transient || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%v (transient %v)", err, wait.IsTransient(err))
			}
		})
	}
}

func TestReads_takeOddTypes(t *testing.T) {
	t.Parallel()

	m := open(t)
	m.answers["GET /resources"] = raw(200, "application/json", `{"count":"2","resources":[
		{"device":{"deviceID":17,"type":"GPU","model":40,"attribute":[],"status":{"state":"Enabled","health":"OK"},"links":null},"detected":"true","nodeIDs":null},
		{"device":{"deviceID":"x","type":null,"model":{},"attribute":null,"status":"fine"},"detected":1}]}`)

	got, err := m.serve().Free(t.Context(), cpu1, "gpu", "40")
	if err != nil || !slices.Equal(ids(got.Devices), []string{"17"}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestMachine_devicesThatAreNotShownAreNotGone(t *testing.T) {
	t.Parallel()

	for name, doc := range map[string]obj{
		"no list":            {"id": cpu1},
		"null":               {"id": cpu1, "resources": nil},
		"an object":          {"id": cpu1, "resources": obj{}},
		"null entries":       {"id": cpu1, "resources": []any{nil}},
		"entries without id": {"id": cpu1, "resources": []any{obj{"device": obj{"type": "GPU"}}}},
	} {
		m := open(t)
		m.answers["GET /nodes/"+cpu1] = answer(http.StatusOK, doc)
		m.answers["GET /nodes"] = answer(http.StatusOK, obj{"nodes": []any{doc}})
		f := m.serve()

		if got, err := f.Machine(t.Context(), cpu1); !errors.Is(err, fabric.ErrNotFabric) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}

		if got, err := f.Machines(t.Context()); !errors.Is(err, fabric.ErrNotFabric) {
			t.Errorf("%s, in the list: %+v, %v", name, got, err)
		}
	}
}
