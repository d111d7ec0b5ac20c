// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

func TestMachine_goesByIdUUIDAndPath(t *testing.T) {
	t.Parallel()

	f := composable(t).serve()

	for _, id := range []string{"1", uuid1, strings.ToLower(uuid1), sys1, sys1 + "/", "fsas-cdi://" + uuid1} {
		m, err := f.Machine(t.Context(), id)
		if err != nil || m.Name != "System 1" || m.Power != fabric.PowerOn || m.State != fabric.Ready || m.Status != "Enabled OK" {
			t.Errorf("%s: %+v, %v", id, m, err)

			continue
		}

		if m.ID != fabric.MachineID(id) || m.FabricID != zoneA {
			t.Errorf("%s: id %s, pool %s", id, m.ID, m.FabricID)
		}

		want := fabric.Device{
			FabricID: blockDir + "/g1", DeviceID: "uuid-of-g1", Type: "gpu", Model: "A100", Serial: "S-g1",
			Health: fabric.HealthOK, HealthRaw: "OK", MachineID: m.ID,
		}
		if !slices.Equal(m.Devices, []fabric.Device{want}) {
			t.Errorf("%s: %+v", id, m.Devices)
		}
	}
}

func TestMachine_isNotFoundOnlyWhereTheServiceSaysSo(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		id     string
		change func(*service)
		found  bool // ErrNotFound
	}{
		"no such Id or UUID":   {"nobody", nil, true},
		"no such path":         {v1 + "/Systems/9", nil, true},
		"no id":                {" ", nil, true},
		"another kind of path": {"//evil.example/x", nil, true},
		"an empty list":        {"nobody", func(s *service) { delete(s.docs, sys1); delete(s.docs, sys2); s.empty(v1 + "/Systems") }, false},
		"a partial list": {"nobody", func(s *service) {
			s.answers["GET "+v1+"/Systems"] = answer(200, obj{"Members": refs(sys1), "Members@odata.count": 2})
		}, false},
		"a member that is gone": {uuid1, func(s *service) { s.answers["GET "+sys2] = refusing(404, "ResourceMissingAtURI") }, false},
		"a block that is gone":  {"1", func(s *service) { s.answers["GET "+blockDir+"/g1"] = refusing(404, "ResourceMissingAtURI") }, false},
		"no service root":       {"1", func(s *service) { delete(s.docs, v1); s.answers["GET "+v1] = refusing(404, "ResourceMissingAtURI") }, false},
		"a composition that is gone": {"1", func(s *service) {
			delete(s.docs, v1+"/CompositionService")
			s.answers["GET "+v1+"/CompositionService"] = refusing(404, "X")
		}, false},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := composable(t)
			if c.change != nil {
				c.change(s)
			}

			_, err := s.serve().Machine(t.Context(), c.id)
			if err == nil || errors.Is(err, fabric.ErrNotFound) != c.found {
				t.Errorf("%v", err)
			}
		})
	}
}

// empty makes a collection without members.
func (s *service) empty(path string) {
	s.answers["GET "+path] = answer(200, obj{"@odata.id": path, "Members": []any{}, "Members@odata.count": 0})
}

func TestMachine_costsTwoReadsForEachDevice(t *testing.T) {
	t.Parallel()

	s := composable(t)
	f := s.serve()

	for range 2 {
		s.log = nil
		if _, err := f.Machine(t.Context(), uuid1); err != nil {
			t.Fatal(err)
		}
	}

	slices.Sort(s.log)

	want := []string{"GET " + blockDir + "/base", "GET " + blockDir + "/g1", "GET " + blockDir + "/g1/Processors/0", "GET " + sys1}
	if !slices.Equal(s.log, want) {
		t.Errorf("second read: %q", s.log)
	}
}

func TestMachines_readsAllPages(t *testing.T) {
	t.Parallel()

	s := composable(t)
	s.page = 1
	f := s.serve()

	all, err := f.Machines(t.Context())
	if err != nil || len(all) != 2 || all[0].ID != uuid1 || len(all[0].Devices) != 1 || all[1].ID != "2" || len(all[1].Devices) != 0 {
		t.Errorf("%+v, %v", all, err)
	}

	if free, err := f.Free(t.Context(), "1", "gpu", "A100"); err != nil || free.Count != 2 {
		t.Errorf("%+v, %v", free, err)
	}
}

func TestFree_listsWhatAnOrderMayName(t *testing.T) {
	t.Parallel()

	s := composable(t)
	s.block("composing", "Composing", "A100", zoneA)
	s.docs[s.block("reserved", "Unused", "A100", zoneA)]["CompositionStatus"] = obj{"CompositionState": "Unused", "Reserved": true}
	s.docs[s.block("active", "Unused", "A100", zoneA)]["Pool"] = "Active"
	s.docs[s.block("ill", "Unused", "A100", zoneA)]["Status"] = obj{"Health": "Critical"}
	s.docs[s.block("absent", "Unused", "A100", zoneA)]["Status"] = obj{"State": "Absent"}
	s.block("far", "Unused", "A100", "/redfish/v1/CompositionService/ResourceZones/B")
	s.block("other", "Unused", "L40S", zoneA)
	s.docs[s.block("cpu", "Unused", "A100", zoneA)+"/Processors/0"]["ProcessorType"] = "CPU"

	double := s.block("double", "Unused", "A100", zoneA)
	s.docs[double]["Processors"] = refs(double+"/Processors/0", blockDir+"/g2/Processors/0")

	s.docs[s.block("nozone", "Unused", "A100")]["Pool"] = nil

	mem := s.block("mem", "Unused", "", zoneA)
	s.docs[mem]["ResourceBlockType"], s.docs[mem]["Processors"], s.docs[mem]["Memory"] = []any{"Memory"}, nil, refs(mem+"/Memory/0")
	s.put(mem+"/Memory/0", obj{"@odata.type": "#Memory.v1_20_0.Memory", "Model": "CXL-64G", "SerialNumber": "00ff"})
	f := s.serve()

	got, err := f.Free(t.Context(), uuid1, "gpu", "A100")
	if err != nil || !got.Known || got.Count != 3 || !slices.Equal(ids(got.Devices), []string{"g2", "g3", "nozone"}) {
		t.Errorf("%+v, %v", got, err)
	}

	if !slices.Equal(got.Models, []string{"A100", "L40S"}) || got.FabricID != zoneA {
		t.Errorf("models %q of %s", got.Models, got.FabricID)
	}

	if got, err = f.Free(t.Context(), "1", "cxlmemory", "CXL-64G"); err != nil || got.Count != 1 || got.Devices[0].DeviceID != "00ff" {
		t.Errorf("memory: %+v, %v", got, err)
	}

	if got, err = f.Free(t.Context(), "", "gpu", "A100"); err != nil || got.Count != 4 {
		t.Errorf("for no machine: %q, %v", ids(got.Devices), err)
	}
}

func TestHealth_comesFromTheDeviceAndElseFromItsBlock(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		core, block any
		health      fabric.Health
		raw         string
	}{
		"warning":          {obj{"Health": "Warning"}, obj{"Health": "OK"}, fabric.HealthWarning, "Warning"},
		"critical":         {obj{"Health": "Critical"}, nil, fabric.HealthCritical, "Critical"},
		"of the block":     {nil, obj{"Health": "OK"}, fabric.HealthOK, "OK"},
		"not told":         {obj{"Health": nil}, nil, fabric.HealthUnknown, ""},
		"nobody knows it":  {obj{"Health": "Fine"}, nil, fabric.HealthUnknown, "Fine"},
		"of another type":  {obj{"Health": []any{}}, "OK", fabric.HealthUnknown, ""},
		"status is a word": {"OK", nil, fabric.HealthUnknown, ""},
	}

	for name, c := range cases {
		s := composable(t)
		s.docs[blockDir+"/g1/Processors/0"]["Status"], s.docs[blockDir+"/g1"]["Status"] = c.core, c.block

		m, err := s.serve().Machine(t.Context(), "1")
		if err != nil || len(m.Devices) != 1 || m.Devices[0].Health != c.health || m.Devices[0].HealthRaw != c.raw {
			t.Errorf("%s: %+v, %v", name, m.Devices, err)
		}
	}
}

func TestMachine_tellsWhatTheCompositionSays(t *testing.T) {
	t.Parallel()

	for state, phase := range map[string]fabric.Phase{
		"Composed": fabric.Attached, "ComposedAndAvailable": fabric.Attached, "Composing": fabric.Adding, "Failed": fabric.AddFailed, "": fabric.Attached,
	} {
		s := composable(t)
		s.docs[blockDir+"/g1"]["CompositionStatus"] = obj{"CompositionState": state}

		m, err := s.serve().Machine(t.Context(), "1")
		if err != nil || len(m.Devices) != 1 || m.Devices[0].Phase != phase {
			t.Errorf("%s: %+v, %v", state, m.Devices, err)
		}
	}

	for state, want := range map[string]fabric.State{"Updating": fabric.Busy, "Starting": fabric.Busy, "Absent": fabric.Failed, "Disabled": fabric.Ready} {
		s := composable(t)
		s.docs[sys1]["Status"] = obj{"State": state}

		if m, err := s.serve().Machine(t.Context(), "1"); err != nil || m.State != want {
			t.Errorf("system %s: %+v, %v", state, m, err)
		}
	}
}

func TestOrders_useTheActionsAndElseTheWholeList(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(*service)
		orders []string
		task   string
	}{
		"the actions": {nil, []string{"AddResourceBlock g2", "RemoveResourceBlock g1"}, ""},
		"tasks":       {func(s *service) { s.tasks = true }, []string{"AddResourceBlock g2", "RemoveResourceBlock g1"}, monitor},
		"no actions": {func(s *service) { s.docs[sys1]["Actions"] = obj{"#ComputerSystem.Reset": obj{"target": "/x"}} }, []string{
			`PATCH /Systems/1 {"ResourceBlocks":[{"@odata.id":"/CompositionService/ResourceBlocks/base"},{"@odata.id":"/CompositionService/ResourceBlocks/g1"},{"@odata.id":"/CompositionService/ResourceBlocks/g2"}]}`,
			`PATCH /Systems/1 {"ResourceBlocks":[{"@odata.id":"/CompositionService/ResourceBlocks/base"}]}`,
		}, ""},
	} {
		s := composable(t)
		if c.change != nil {
			c.change(s)
		}

		f := s.serve()

		hint, err := f.Attach(t.Context(), uuid1, want(blockDir+"/g2"))
		if err != nil || hint.Task != c.task || !slices.Equal(ids(hint.Devices), []string{"g2"}) {
			t.Errorf("%s: attach: %+v, %v", name, hint, err)
		}

		if hint, err = f.Detach(t.Context(), "1", want(blockDir+"/g1").Device); err != nil || hint.Task != c.task {
			t.Errorf("%s: detach: %+v, %v", name, hint, err)
		}

		if !slices.Equal(s.orders, c.orders) {
			t.Errorf("%s: %q", name, s.orders)
		}
	}
}

func TestOrders_sendNothingWhereTheyCannotBeRight(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(*service)
		order  string
		device string
		kind   error
	}{
		"no device is named":   {nil, "attach", "", fabric.ErrRefused},
		"no path of a service": {nil, "attach", "GPU-1", fabric.ErrRefused},
		"no such block":        {nil, "attach", blockDir + "/g9", fabric.ErrNotFound},
		"the block is taken":   {nil, "attach", blockDir + "/g1", fabric.ErrBusy},
		"the block is reserved": {func(s *service) {
			s.docs[blockDir+"/g2"]["CompositionStatus"] = obj{"CompositionState": "Unused", "Reserved": true}
		}, "attach", blockDir + "/g2", fabric.ErrBusy},
		"the block cannot be read":  {func(s *service) { s.answers["GET "+blockDir+"/g2"] = refusing(500, "InternalError") }, "attach", blockDir + "/g2", fabric.ErrUnsent},
		"the system cannot be read": {func(s *service) { s.answers["GET "+sys1] = refusing(500, "InternalError") }, "attach", blockDir + "/g2", fabric.ErrUnsent},
		"the block is in the pool":  {nil, "detach", blockDir + "/g2", fabric.ErrNotFound},
		"a device without id":       {nil, "detach", "", fabric.ErrNotFound},
		"links of another type":     {func(s *service) { s.docs[sys1]["Links"] = obj{"ResourceBlocks": "x"} }, "detach", blockDir + "/g1", fabric.ErrUnsent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := composable(t)
			if c.change != nil {
				c.change(s)
			}

			if err := do(t, s.serve(), c.order, c.device); !errors.Is(err, c.kind) || !fabric.NothingDone(err) {
				t.Errorf("%v", err)
			}

			if len(s.orders) > 0 {
				t.Errorf("sent %q", s.orders)
			}
		})
	}
}

func do(t *testing.T, f fabric.Fabric, order, device string) error {
	t.Helper()

	var err error
	if order == "attach" {
		_, err = f.Attach(t.Context(), "1", want(device))
	} else {
		_, err = f.Detach(t.Context(), "1", fabric.Device{FabricID: device, Type: "gpu"})
	}

	return err
}

func TestOGPU07_ordersSayWhetherAnythingWasDone(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		say       func(http.ResponseWriter)
		kind      error
		done      bool // something may have been done
		transient bool
		words     string
	}{
		"it changed meanwhile":    {refusing(412, "PreconditionFailed"), fabric.ErrBusy, false, true, "words of PreconditionFailed"},
		"an ETag is wanted":       {refusing(428, "PreconditionRequired"), fabric.ErrBusy, false, true, "PreconditionRequired"},
		"in use":                  {refusing(409, "ResourceInUse"), fabric.ErrBusy, false, true, "ResourceInUse"},
		"refused":                 {refusing(400, "ActionParameterNotSupported"), fabric.ErrRefused, false, false, "ActionParameter"},
		"no privilege":            {refusing(403, "InsufficientPrivilege"), fabric.ErrAuth, false, false, "InsufficientPrivilege"},
		"an error of the service": {refusing(500, "InternalError"), fabric.ErrUnknown, true, false, "InternalError"},
		"no answer":               {drop, fabric.ErrUnknown, true, false, "connection"},
		"a gateway":               {raw(502, "text/html", "<title>Bad Gateway</title>"), fabric.ErrUnknown, true, false, "Bad Gateway"},
		"a redirect":              {raw(303, "text/plain", ""), fabric.ErrNotFabric, true, false, "/elsewhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := composable(t)
			request := "POST " + sys1 + "/Actions/ComputerSystem.AddResourceBlock"
			s.answers[request] = c.say

			err := do(t, s.serve(), "attach", blockDir+"/g2")
			if !errors.Is(err, c.kind) || fabric.NothingDone(err) == c.done || wait.IsTransient(err) != c.transient || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%v (nothing done %v, transient %v)", err, fabric.NothingDone(err), wait.IsTransient(err))
			}

			if n := s.count(request); n != 1 {
				t.Errorf("sent %d times", n)
			}
		})
	}
}
