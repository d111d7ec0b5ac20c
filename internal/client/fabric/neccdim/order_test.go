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
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/neccdim"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

func want(id string) fabric.Want {
	return fabric.Want{Type: "gpu", Model: "A100", Count: 1, Device: fabric.Device{FabricID: id, Type: "gpu", Model: "A100"}}
}

func TestOrders_nameTheMachineInItsDialect(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		far    func(*testing.T) *manager
		source string
		fields [2]string
	}{
		"the open manager takes the CPU":       {open, cpu1, [2]string{"targetCPUID", "targetDeviceID"}},
		"the product takes the fabric adapter": {closed, side, [2]string{"sourceDeviceID", "destinationDeviceID"}},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := c.far(t)
			f := m.serve()

			hint, err := f.Attach(t.Context(), cpu1, want(gpu2))
			if err != nil || hint.Task != "636ddde1ba" || !slices.Equal(ids(hint.Devices), []string{gpu2}) {
				t.Fatalf("attach: %+v, %v", hint, err)
			}

			hint, err = f.Detach(t.Context(), cpu1, fabric.Device{FabricID: gpu1, Type: "gpu"})
			if err != nil || hint.Task != "636ddde1ba" {
				t.Fatalf("detach: %+v, %v", hint, err)
			}

			for i, step := range []obj{{"operation": "connect", "device": gpu2}, {"operation": "disconnect", "device": gpu1}} {
				got := m.orders[i]
				if got["operation"] != step["operation"] || got[c.fields[0]] != c.source || got[c.fields[1]] != step["device"] || got["operationID"] != 1.0 {
					t.Errorf("order %d: %v", i, got)
				}
			}
		})
	}
}

func TestAttach_theFirstDeviceOfALoneCPU(t *testing.T) {
	t.Parallel()

	m := open(t)

	if _, err := m.serve().Attach(t.Context(), cpu2, want(gpu2)); err != nil || m.orders[0]["targetCPUID"] != cpu2 {
		t.Errorf("%v, %v", m.orders, err)
	}
}

func TestOrders_sendNothingWhereTheyCannotBeRight(t *testing.T) {
	t.Parallel()

	attach := func(machine string, w fabric.Want) func(*testing.T, fabric.Fabric) error {
		return func(t *testing.T, f fabric.Fabric) error {
			t.Helper()
			_, err := f.Attach(t.Context(), machine, w)

			return err
		}
	}
	detach := func(machine, id string) func(*testing.T, fabric.Fabric) error {
		return func(t *testing.T, f fabric.Fabric) error {
			t.Helper()
			_, err := f.Detach(t.Context(), machine, fabric.Device{FabricID: id, Type: "gpu"})

			return err
		}
	}

	cases := map[string]struct {
		far    func(*testing.T) *manager
		change func(*manager)
		order  func(*testing.T, fabric.Fabric) error
		kind   error
	}{
		"no device is named":           {open, nil, attach(cpu1, want("")), fabric.ErrRefused},
		"no such machine":              {open, nil, attach("nobody", want(gpu2)), fabric.ErrNotFound},
		"the machine cannot be read":   {open, failing("GET /nodes/" + cpu1), attach(cpu1, want(gpu2)), fabric.ErrUnsent},
		"an adapter of another role":   {closed, role(host, "eeio"), attach(cpu1, want(gpu2)), fabric.ErrRefused},
		"a fabric side that is none":   {closed, role(side, "eesv"), attach(cpu1, want(gpu2)), fabric.ErrRefused},
		"an adapter without a link":    {closed, linkless(host), attach(cpu1, want(gpu2)), fabric.ErrRefused},
		"the device is in the pool":    {open, nil, detach(cpu1, gpu2), fabric.ErrNotFound},
		"the device is elsewhere":      {open, nil, detach(cpu2, gpu1), fabric.ErrNotFound},
		"elsewhere on the product":     {closed, nil, detach(cpu2, gpu1), fabric.ErrNotFound},
		"no such device":               {open, nil, detach(cpu1, "nothing"), fabric.ErrNotFound},
		"a device without id":          {open, nil, detach(cpu1, ""), fabric.ErrNotFound},
		"the device cannot be read":    {open, failing("GET /resources/" + gpu1), detach(cpu1, gpu1), fabric.ErrUnsent},
		"nobody knows whose it is":     {closed, func(m *manager) { m.find(gpu1)["nodeIDs"], m.nodes[cpu1] = []string{}, []string{host} }, detach(cpu1, gpu1), fabric.ErrNotFound},
		"an answer of another machine": {open, func(m *manager) { m.answers["GET /nodes/"+cpu1] = answer(200, obj{"id": cpu2}) }, attach(cpu1, want(gpu2)), fabric.ErrUnsent},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := c.far(t)
			if c.change != nil {
				c.change(m)
			}

			err := c.order(t, m.serve())
			if !errors.Is(err, c.kind) || !fabric.NothingDone(err) {
				t.Errorf("%v", err)
			}

			if len(m.orders) > 0 {
				t.Errorf("sent: %v", m.orders)
			}
		})
	}
}

func failing(request string) func(*manager) {
	return func(m *manager) { m.answers[request] = answer(500, obj{"code": "E02003", "message": "database"}) }
}

func role(id, status string) func(*manager) {
	return func(m *manager) {
		inner(m.find(id), "attribute", obj{"deviceSpecificInformation": obj{"status": status}})
	}
}

func linkless(id string) func(*manager) {
	return func(m *manager) { inner(m.find(id), "links", []obj{}) }
}

func TestDetach_asksTheMachineWhereTheDeviceDoesNotSayWhoseItIs(t *testing.T) {
	t.Parallel()

	m := closed(t)
	m.find(gpu1)["nodeIDs"] = []string{}

	if _, err := m.serve().Detach(t.Context(), cpu1, fabric.Device{FabricID: gpu1}); err != nil || m.orders[0]["sourceDeviceID"] != side {
		t.Errorf("%v, %v", m.orders, err)
	}
}

func TestOGPU07_ordersSayWhetherAnythingWasDone(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		say       func(http.ResponseWriter)
		kind      error
		done      bool // something may have been done
		transient bool
		words     string
	}{
		"another apply runs":     {answer(409, obj{"code": "E40010", "message": "Already running. Cannot start multiple instances."}), fabric.ErrBusy, false, true, "E40010"},
		"an apply is suspended":  {answer(409, obj{"code": "E40027", "message": "Suspended data exist. applyID: 123456789a"}), fabric.ErrSuspended, false, false, "123456789a"},
		"a body that is refused": {answer(400, obj{"code": "E40001", "message": "Unexpected strings"}), fabric.ErrRefused, false, false, "Unexpected"},
		"no answer":              {drop, fabric.ErrUnknown, true, false, "connection"},
		"an error of theirs":     {answer(500, obj{"code": "E40026", "message": "Failed to start subprocess."}), fabric.ErrUnknown, true, false, "subprocess"},
		"a gateway":              {raw(502, "text/html", "<title>Bad Gateway</title>"), fabric.ErrUnknown, true, false, "Bad Gateway"},
		"200 without an id":      {answer(200, obj{"applyID": nil}), fabric.ErrUnknown, true, false, "applyID"},
		"200 in HTML":            {raw(200, "text/html", "<html>"), fabric.ErrUnknown, true, false, "applyID"},
		"a redirect":             {raw(307, "text/plain", ""), fabric.ErrNotFabric, true, false, "/elsewhere"},
		"no permission":          {raw(403, "text/plain", "no"), fabric.ErrAuth, false, false, "403"},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := open(t)
			m.answers["POST /layout-apply"] = c.say

			_, err := m.serve().Attach(t.Context(), cpu1, want(gpu2))
			if !errors.Is(err, c.kind) || fabric.NothingDone(err) == c.done || wait.IsTransient(err) != c.transient || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%v (nothing done %v, transient %v)", err, fabric.NothingDone(err), wait.IsTransient(err))
			}

			if n := m.count("POST /layout-apply"); n != 1 {
				t.Errorf("sent %d times", n)
			}
		})
	}
}

func TestTask_saysHowAJobStands(t *testing.T) {
	t.Parallel()

	failed := []obj{{"operationID": 1, "status": "COMPLETED"}, {"operationID": 2, "status": "FAILED", "statusCode": 500, "responseBody": obj{"code": "X1", "message": "link training"}}}

	cases := map[string]struct {
		doc   obj
		state fabric.TaskState
		words string
	}{
		"completed":              {obj{"status": "COMPLETED"}, fabric.TaskDone, "COMPLETED"},
		"in progress":            {obj{"status": "IN_PROGRESS"}, fabric.TaskRunning, "IN_PROGRESS"},
		"canceling":              {obj{"status": "CANCELING"}, fabric.TaskRunning, "CANCELING"},
		"no state":               {obj{"applyID": "636ddde1ba", "status": nil}, fabric.TaskRunning, "no state"},
		"a state nobody knows":   {obj{"status": "NEW"}, fabric.TaskRunning, "NEW"},
		"lower case":             {obj{"status": "completed"}, fabric.TaskDone, ""},
		"failed":                 {obj{"status": "FAILED", "applyResult": failed}, fabric.TaskFailed, "X1 link training"},
		"failed without words":   {obj{"status": "FAILED", "applyResult": []obj{{"status": "FAILED", "statusCode": 504}}}, fabric.TaskFailed, "HTTP 504"},
		"failed with odd result": {obj{"status": "FAILED", "applyResult": "x"}, fabric.TaskFailed, "FAILED"},
		"canceled":               {obj{"status": "CANCELED"}, fabric.TaskFailed, "CANCELED"},
		"rolled back":            {obj{"status": "CANCELED", "rollbackStatus": "COMPLETED"}, fabric.TaskFailed, "rollback COMPLETED"},
		"rolling back":           {obj{"status": "CANCELED", "rollbackStatus": "IN_PROGRESS"}, fabric.TaskRunning, "rollback"},
		"suspended":              {obj{"status": "SUSPENDED"}, fabric.TaskSuspended, "a person must resume or cancel it (PUT /layout-apply/636ddde1ba"},
		"suspended rollback":     {obj{"status": "CANCELED", "rollbackStatus": "SUSPENDED"}, fabric.TaskSuspended, "a person"},
		"not known any more":     {nil, fabric.TaskRunning, "no longer knows"},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := open(t)
			m.applies["636ddde1ba"] = c.doc

			tasks, ok := m.serve().(fabric.Tasks)
			if !ok {
				t.Fatal("no tasks")
			}

			got, err := tasks.Task(t.Context(), "636ddde1ba")
			if err != nil || (got.ID == "") != (c.doc == nil) || got.State != c.state || !strings.Contains(got.Text, c.words) {
				t.Errorf("%+v, %v", got, err)
			}

			if len(m.log) != 1 || m.log[0] != "GET /layout-apply/636ddde1ba" {
				t.Errorf("a job is only looked at: %q", m.log)
			}
		})
	}
}

func TestTask_refusesWhatIsNoJob(t *testing.T) {
	t.Parallel()

	for name, say := range map[string]func(http.ResponseWriter){
		"another document": answer(200, obj{"x": 1}), "HTML": raw(200, "text/html", "<html>"), "another service": raw(404, "text/plain", "nothing here"),
	} {
		m := open(t)
		m.answers["GET /layout-apply/7"] = say

		tasks, _ := m.serve().(fabric.Tasks)
		if _, err := tasks.Task(t.Context(), "7"); !errors.Is(err, fabric.ErrNotFabric) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNew_sendsOrdersToTheirOwnAddress(t *testing.T) {
	t.Parallel()

	config, orders := open(t), open(t)
	a, b := config.serve().Endpoint(), orders.serve().Endpoint()
	f := driver(t, fabric.Config{Endpoint: a + "/cdim/api/v1", LayoutEndpoint: b, Auth: fabric.Auth{Username: "u", Password: "p"}})

	if _, err := f.Attach(t.Context(), cpu1, want(gpu2)); err != nil {
		t.Fatal(err)
	}

	if len(orders.orders) != 1 || config.count("POST /layout-apply") != 0 || config.count("GET /nodes/"+cpu1) != 1 {
		t.Errorf("configuration %q, orders %q", config.log, orders.log)
	}

	if f.Endpoint() != a {
		t.Errorf("the base path is no part of the name: %s", f.Endpoint())
	}

	if f.LockKey(cpu1) != f.LockKey(cpu2) {
		t.Error("the manager takes one order at a time")
	}

	if caps := f.Caps(); !caps.PicksDevice || !caps.Async || !caps.ReportsHealth || caps.ReportsSerial || !slices.Contains(caps.Types, "gpu") {
		t.Errorf("%+v", caps)
	}
}

func TestNew_refusesAddresses(t *testing.T) {
	t.Parallel()

	for option, cfg := range map[string]fabric.Config{
		"endpoint: ": {Endpoint: "http://cdim.example.com"}, "layout_endpoint: ": {Endpoint: "cdim.example.com", LayoutEndpoint: "http://x"},
	} {
		if _, err := neccdim.New(cfg); !errors.Is(err, fabric.ErrConfig) || !strings.HasPrefix(err.Error(), option) {
			t.Errorf("%v", err)
		}
	}
}
