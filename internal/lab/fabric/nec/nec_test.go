// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nec_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/nec"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

func TestResources(t *testing.T) {
	t.Parallel()

	r := newRig(t, face.CDIM{})
	d := r.GPUs("A100")[0]

	all := r.entries("/resources?detail=true")
	if len(all) != 3*2+5 {
		t.Errorf("%d resources: CPU and memory of 3 machines and 5 devices are wanted", len(all))
	}

	e := all[d.ID]
	if text(e, "device", "type") != "GPU" || text(e, "device", "model") != "A100" || text(e, "device", "status", "health") != "OK" ||
		text(e, "device", "attribute", "uuid") != d.Serial || len(links(e)) != 0 || e["detected"] != true {
		t.Errorf("a free GPU is %v", e)
	}

	if one := r.get("/resources/" + strings.ToUpper(d.ID)); text(one, "device", "deviceID") != d.ID {
		t.Errorf("one resource is %v", one)
	}

	if short := r.entries("/resources")[d.ID]; value(short, "device", "model") != nil || text(short, "device", "type") != "GPU" {
		t.Errorf("without detail a resource is %v", short)
	}

	unused := r.entries("/resources/unused")
	if e := unused[d.ID]; len(unused) != 5 || e == nil || e["detected"] != nil || e["nodeIDs"] != nil {
		t.Errorf("%d unused, one of them %v", len(unused), e)
	}

	r.Set(d.ID, func(d *hardware.Device) { d.OpStatus = "1" })

	if e := r.entries("/resources/unused")[d.ID]; e != nil {
		t.Error("a device with a warning is offered as unused")
	}

	if n := len(r.entries("/resources/available")); n != 10 {
		t.Errorf("%d available", n)
	}

	for path, status := range map[string]int{
		"/resources/6d6f636b-1111-4000-8000-000000000000": http.StatusNotFound,
		"/resources?detail=yes":                           http.StatusBadRequest,
		"/nodes/6d6f636b-1111-4000-8000-000000000000":     http.StatusNotFound,
		"/layout-apply/zz":                                http.StatusBadRequest,
		"/layout-apply/0123456789":                        http.StatusNotFound,
		"/layout-apply/0123456789?fields=none":            http.StatusBadRequest,
		"/elsewhere":                                      http.StatusNotFound,
	} {
		r.ask(status, http.MethodGet, path, "")
	}
}

func TestApply_connectsAndDisconnects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, face.CDIM{})
		d, id := r.GPUs("L40S")[1], machine.ID(1)

		job := r.order("connect", id, d.ID)
		if got := r.get("/layout-apply/" + job); got["status"] != nec.InProgress || got["endedAt"] != nil {
			t.Errorf("at once the job is %v", got)
		}

		if e := r.entries("/resources?detail=true")[d.ID]; len(links(e)) != 0 {
			t.Errorf("while it is connected it is linked already: %v", e)
		}

		time.Sleep(10 * time.Second)

		if got := r.get("/layout-apply/" + job); got["status"] != nec.Completed || got["endedAt"] == nil {
			t.Errorf("after its time the job is %v", got)
		}

		e := r.entries("/resources?detail=true")[d.ID]
		if links(e)["CPU"] != id || !slices.Equal(value(e, "nodeIDs").([]any), []any{id}) {
			t.Errorf("connected it is %v", e)
		}

		node := r.get("/nodes/" + id)
		if !slices.ContainsFunc(items(node["resources"]), func(e obj) bool {
			return text(e, "device", "deviceID") == d.ID && text(e, "device", "model") == "L40S"
		}) {
			t.Errorf("the node is %v", node)
		}

		job = r.order("disconnect", id, d.ID)

		time.Sleep(4 * time.Second)

		if e := r.entries("/resources?detail=true")[d.ID]; links(e)["CPU"] != id {
			t.Errorf("while it is disconnected it is gone already: %v", e)
		}

		time.Sleep(time.Second)

		if got := r.get("/layout-apply/" + job); got["status"] != nec.Completed {
			t.Errorf("the job is %v", got)
		}

		if e := r.entries("/resources/unused")[d.ID]; e == nil {
			t.Error("disconnected it is not unused")
		}
	})
}

func TestApply_steps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, face.CDIM{})
		d, a, b := r.GPUs("A100")[0], machine.ID(0), machine.ID(1)

		r.order("connect", a, d.ID)
		time.Sleep(time.Minute)

		// out of order on purpose: dependencies say what comes first
		job := text(r.ask(http.StatusAccepted, http.MethodPost, "/layout-apply", `{"procedures":[
			{"operationID":2,"operation":"connect","targetCPUID":"`+b+`","targetDeviceID":"`+d.ID+`","dependencies":[1]},
			{"operationID":1,"operation":"disconnect","targetCPUID":"`+a+`","targetDeviceID":"`+d.ID+`","dependencies":[]},
			{"operationID":3,"operation":"shutdown","targetDeviceID":"`+b+`","dependencies":[2]}]}`), "applyID")

		time.Sleep(time.Minute) // nobody looks in between

		got := r.get("/layout-apply/" + job)
		if got["status"] != nec.Completed || len(items(got["applyResult"])) != 3 || len(items(got["procedures"])) != 3 {
			t.Errorf("the job is %v", got)
		}

		ended, _ := time.Parse(time.RFC3339, text(got, "endedAt"))
		began, _ := time.Parse(time.RFC3339, text(got, "startedAt"))

		if took := ended.Sub(began); took != 15*time.Second {
			t.Errorf("it took %s", took)
		}

		if e := r.get("/resources/" + d.ID); links(e)["CPU"] != b {
			t.Errorf("the device is %v", e)
		}

		if cpu := r.get("/resources/" + b); text(cpu, "device", "powerState") != "Off" {
			t.Errorf("the CPU is %v", cpu)
		}

		r.Change(func(tx store.Tx, _ time.Time) error {
			all, err := hardware.Effects(tx)
			if len(all) != 3 || len(hardware.Overlaps(all)) != 0 {
				t.Errorf("effects %v", all)
			}

			return err
		})
	})
}

func TestApply_failures(t *testing.T) {
	t.Parallel()

	connect := func(r *rig) string { return r.order("connect", machine.ID(0), r.GPUs("A100")[0].ID) }

	cases := map[string]struct {
		order     func(r *rig) string
		words     string
		connected bool
	}{
		"a machine that is not there": {
			order: func(r *rig) string { return r.order("connect", machine.ID(7), r.GPUs("A100")[0].ID) },
			words: "does not exist",
		},
		"a device that is not there": {
			order: func(r *rig) string { return r.order("connect", machine.ID(0), "no-such") }, words: "does not exist",
		},
		"a device that is not connected": {
			order: func(r *rig) string { return r.order("disconnect", machine.ID(0), r.GPUs("A100")[0].ID) },
			words: "not connected",
		},
		"a device on another machine": {
			order: func(r *rig) string {
				r.order("connect", machine.ID(1), r.GPUs("A100")[0].ID)
				time.Sleep(time.Minute)

				return connect(r)
			},
			words: "connected already",
		},
		"a device without a link": {
			order: func(r *rig) string {
				r.Set(r.GPUs("A100")[0].ID, func(d *hardware.Device) { d.FailAdd = "link training" })

				return connect(r)
			},
			words: "link training",
		},
		"a device that stays": {
			order: func(r *rig) string {
				r.Set(r.GPUs("A100")[0].ID, func(d *hardware.Device) { d.FailRemove = "held" })
				connect(r)
				time.Sleep(time.Minute)

				return r.order("disconnect", machine.ID(0), r.GPUs("A100")[0].ID)
			},
			words: "held", connected: true,
		},
		"a job that fails after its work": {
			order: func(r *rig) string {
				r.Change(func(tx store.Tx, _ time.Time) error {
					return nec.Arm(tx, nec.Outcome{Status: nec.Failed, Reason: "database", Applied: true})
				})

				return connect(r)
			},
			words: "database", connected: true,
		},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, face.CDIM{})
				job := c.order(r)

				time.Sleep(time.Minute)

				got := r.get("/layout-apply/" + job)
				results := items(got["applyResult"])

				if got["status"] != nec.Failed || len(results) != 1 || !strings.Contains(text(results[0], "responseBody", "message"), c.words) {
					t.Errorf("the job is %v", got)
				}

				e := r.get("/resources/" + r.GPUs("A100")[0].ID)
				if here := links(e)["CPU"] == machine.ID(0); here != c.connected {
					t.Errorf("the device is %v", e)
				}

				r.order("connect", machine.ID(0), r.GPUs("A100")[1].ID) // nothing is in the way
			})
		})
	}
}

func TestApply_oneAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, face.CDIM{})
		gpus := r.GPUs("A100")

		r.order("connect", machine.ID(0), gpus[0].ID)
		time.Sleep(9 * time.Second)

		second := orderBody("connect", machine.ID(1), gpus[1].ID)
		if got := r.ask(http.StatusConflict, http.MethodPost, "/layout-apply", second); got["code"] != "E40010" {
			t.Errorf("refused with %v", got)
		}

		time.Sleep(time.Second)
		r.ask(http.StatusAccepted, http.MethodPost, "/layout-apply", second)
		time.Sleep(time.Minute)

		// somebody else's work keeps us out as well
		r.Change(func(tx store.Tx, now time.Time) error {
			_, err := hardware.AttachForeign(tx, now, "node-2", hardware.Pick(hardware.GPU, "L40S"), time.Minute)

			return err
		})

		if got := r.ask(http.StatusConflict, http.MethodPost, "/layout-apply", second); got["code"] != "E40010" {
			t.Errorf("refused with %v", got)
		}

		r.Change(func(tx store.Tx, _ time.Time) error {
			all, err := hardware.Effects(tx)
			if len(all) != 5 || all[1].Kind != hardware.KindRefused || all[1].Machine != "node-1" {
				t.Errorf("effects %v", all)
			}

			return err
		})
	})
}

func TestApply_suspended(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		action, status string
		connected      bool
	}{
		"a person resumes it": {action: "resume", status: nec.Completed, connected: true},
		"a person cancels it": {action: "cancel&rollbackOnCancel=true", status: nec.Failed},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, face.CDIM{})
				d := r.GPUs("A100")[0]
				r.Change(func(tx store.Tx, _ time.Time) error { return nec.Arm(tx, nec.Outcome{Status: nec.Suspended}) })

				job := r.order("connect", machine.ID(0), d.ID)
				time.Sleep(time.Hour)

				if got := r.get("/layout-apply/" + job); got["status"] != nec.Suspended || got["suspendedAt"] == nil || got["endedAt"] != nil {
					t.Errorf("the job is %v", got)
				}

				order := orderBody("connect", machine.ID(1), r.GPUs("A100")[1].ID)
				got := r.ask(http.StatusConflict, http.MethodPost, "/layout-apply", order)

				if got["code"] != "E40027" || !strings.Contains(text(got, "message"), job) {
					t.Errorf("refused with %v", got)
				}

				r.ask(http.StatusAccepted, http.MethodPut, "/layout-apply/"+job+"?action="+c.action, "")
				time.Sleep(time.Minute)

				if got := r.get("/layout-apply/" + job); got["status"] != c.status {
					t.Errorf("in the end the job is %v", got)
				}

				if e := r.get("/resources/" + d.ID); len(links(e)) > 0 != c.connected {
					t.Errorf("the device is %v", e)
				}

				r.ask(http.StatusConflict, http.MethodPut, "/layout-apply/"+job+"?action=resume", "")
				r.ask(http.StatusAccepted, http.MethodPost, "/layout-apply", order)
			})
		})
	}
}

func TestApply_canceled(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		query     string
		connected bool
		rollback  string
	}{
		"what is done stays":     {query: "?action=cancel", connected: true},
		"what is done is undone": {query: "?action=cancel&rollbackOnCancel=TRUE", rollback: nec.Completed},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, face.CDIM{})
				gpus, id := r.GPUs("A100"), machine.ID(0)

				job := text(r.ask(http.StatusAccepted, http.MethodPost, "/layout-apply", `{"procedures":[
					{"operationID":1,"operation":"connect","targetCPUID":"`+id+`","targetDeviceID":"`+gpus[0].ID+`","dependencies":[]},
					{"operationID":2,"operation":"connect","targetCPUID":"`+id+`","targetDeviceID":"`+gpus[1].ID+`","dependencies":[1]}]}`), "applyID")

				time.Sleep(5 * time.Second)

				got := r.ask(http.StatusAccepted, http.MethodPut, "/layout-apply/"+job+c.query, "")
				if got["status"] != nec.Canceling {
					t.Errorf("at once it is %v", got)
				}

				time.Sleep(time.Minute)

				got = r.get("/layout-apply/" + job)
				if got["status"] != nec.Canceled || text(got, "rollbackStatus") != c.rollback || got["executeRollback"] != (c.rollback != "") {
					t.Errorf("in the end it is %v", got)
				}

				if e := r.get("/resources/" + gpus[0].ID); len(links(e)) > 0 != c.connected {
					t.Errorf("the first device is %v", e)
				}

				if e := r.get("/resources/" + gpus[1].ID); len(links(e)) > 0 {
					t.Errorf("the second device is %v", e)
				}

				r.ask(http.StatusOK, http.MethodPut, "/layout-apply/"+job+c.query, "")
			})
		})
	}
}

func TestProduct(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, face.CDIM{Product: true, NoUUID: true})
		d, id := r.GPUs("A100")[0], machine.ID(2)

		var source, destination string

		for _, n := range items(r.get("/nodes?detail=true")["nodes"]) {
			for _, e := range items(n["resources"]) {
				if n["id"] == id && text(e, "device", "type") == "sourceFabricAdapter" {
					source, destination = text(e, "device", "deviceID"), links(e)["destinationFabricAdapter"]
				}
			}
		}

		for adapter, role := range map[string]string{source: "eesv", destination: "eeio"} {
			if e := r.get("/resources/" + adapter); text(e, "device", "attribute", "deviceSpecificInformation", "status") != role {
				t.Errorf("an adapter is %v, want %s", e, role)
			}
		}

		order := func(operation string) string {
			return `{"procedures":[{"operationID":1,"operation":"` + operation + `","sourceDeviceID":"` + destination +
				`","destinationDeviceID":"` + d.ID + `","dependencies":[]}]}`
		}

		r.ask(http.StatusBadRequest, http.MethodPost, "/layout-apply", orderBody("connect", id, d.ID))
		r.ask(http.StatusAccepted, http.MethodPost, "/layout-apply", order("connect"))
		time.Sleep(10 * time.Second)

		e := r.get("/resources/" + d.ID)
		if links(e)["destinationFabricAdapter"] != destination || value(e, "device", "attribute", "uuid") != nil {
			t.Errorf("the device is %v", e)
		}

		r.ask(http.StatusAccepted, http.MethodPost, "/layout-apply", order("disconnect"))
		time.Sleep(5 * time.Second)

		if e := r.get("/resources/" + d.ID); len(links(e)) != 0 {
			t.Errorf("the device is %v", e)
		}
	})
}

func TestBareMachines_areNoNodes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, face.CDIM{Bare: true})

		r.ask(http.StatusNotFound, http.MethodGet, "/nodes/"+machine.ID(0), "")

		if cpu := r.get("/resources/" + machine.ID(0)); len(value(cpu, "nodeIDs").([]any)) != 0 {
			t.Errorf("the CPU is %v", cpu)
		}

		r.order("connect", machine.ID(0), r.GPUs("A100")[0].ID)
		time.Sleep(time.Minute)

		if n := r.get("/nodes/" + machine.ID(0)); len(items(n["resources"])) != 2 {
			t.Errorf("the node is %v", n)
		}

		if all := r.get("/nodes"); all["count"] != 1.0 {
			t.Errorf("the nodes are %v", all)
		}
	})
}

// bodies are orders that are refused before anything is done.
var bodies = map[string]string{
	"nothing":                      ``,
	"no JSON":                      `{"procedures":[`,
	"a list":                       `[]`,
	"no procedures":                `{}`,
	"null procedures":              `{"procedures":null}`,
	"a step that is none":          `{"procedures":[null]}`,
	"no operation":                 `{"procedures":[{"operationID":1,"targetCPUID":"a","targetDeviceID":"b","dependencies":[]}]}`,
	"an unknown operation":         `{"procedures":[{"operationID":1,"operation":"move","targetCPUID":"a","targetDeviceID":"b","dependencies":[]}]}`,
	"no CPU":                       `{"procedures":[{"operationID":1,"operation":"connect","targetDeviceID":"b","dependencies":[]}]}`,
	"an empty CPU":                 `{"procedures":[{"operationID":1,"operation":"connect","targetCPUID":"","targetDeviceID":"b","dependencies":[]}]}`,
	"no device":                    `{"procedures":[{"operationID":1,"operation":"connect","targetCPUID":"a","dependencies":[]}]}`,
	"an id that is a text":         `{"procedures":[{"operationID":"1","operation":"connect","targetCPUID":"a","targetDeviceID":"b","dependencies":[]}]}`,
	"no dependencies":              `{"procedures":[{"operationID":1,"operation":"connect","targetCPUID":"a","targetDeviceID":"b"}]}`,
	"an unknown dependency":        `{"procedures":[{"operationID":1,"operation":"connect","targetCPUID":"a","targetDeviceID":"b","dependencies":[2]}]}`,
	"a step that waits for itself": `{"procedures":[{"operationID":1,"operation":"connect","targetCPUID":"a","targetDeviceID":"b","dependencies":[1]}]}`,
	"an id twice": `{"procedures":[{"operationID":1,"operation":"boot","targetDeviceID":"b","dependencies":[]},
		{"operationID":1,"operation":"boot","targetDeviceID":"b","dependencies":[]}]}`,
}

func TestApply_strictBodies(t *testing.T) {
	t.Parallel()

	r := newRig(t, face.CDIM{})

	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			r.TB = t
			if got := r.ask(http.StatusBadRequest, http.MethodPost, "/layout-apply", body); got["code"] != "E40001" {
				t.Errorf("refused with %v", got)
			}
		})
	}

	r.TB = t

	// an empty list is nothing to do, and done
	job := text(r.ask(http.StatusAccepted, http.MethodPost, "/layout-apply", `{"procedures":[]}`), "applyID")
	if got := r.get("/layout-apply/" + job); got["status"] != nec.Completed {
		t.Errorf("the job is %v", got)
	}

	if all := r.get("/layout-apply"); all["count"] != 1.0 {
		t.Errorf("the jobs are %v", all)
	}
}

func FuzzApply(f *testing.F) {
	for _, body := range bodies {
		f.Add(body, true)
	}

	f.Add(orderBody("connect", machine.ID(0), "x"), false)
	f.Add(`{"procedures":[{"operationID":1,"operation":"boot","targetDeviceID":"`+machine.ID(0)+`","dependencies":[]}]}`, false)

	f.Fuzz(func(t *testing.T, body string, product bool) {
		r := newRig(t, face.CDIM{Product: product})
		w := httptest.NewRecorder()
		r.h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/cdim/api/v1/layout-apply", strings.NewReader(body)))

		if w.Code != http.StatusAccepted && w.Code != http.StatusBadRequest {
			t.Errorf("%q: %d %s", body, w.Code, w.Body)
		}

		for range 3 {
			r.get("/layout-apply")
		}
	})
}
