// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpus_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
)

// answer is what goes wrong with the order of one device, and what comes of it.
type answer struct {
	fault func(k kind) labfabric.Fault
	tune  func(*face.Tuning)
	// asks is how many orders come; 0: one.
	asks int
	// only are the managers that it is about; nil: all.
	only []kind
}

// harmless are answers after which the apply is green, with exactly one device.
func harmless() map[string]answer {
	fault := func(f func(match string) labfabric.Fault) func(kind) labfabric.Fault {
		return func(k kind) labfabric.Fault { return f(k.attach) }
	}
	status := func(code int, body string) func(kind) labfabric.Fault {
		return func(k kind) labfabric.Fault {
			return labfabric.Fault{Match: k.attach, Status: code, Body: body, AfterWork: true}
		}
	}
	edit := func(f func(any) any) func(kind) labfabric.Fault {
		return func(k kind) labfabric.Fault { return labfabric.Rewritten(k.attach, f) }
	}

	return map[string]answer{
		"11.5 applied, and the connection is dropped": {fault: fault(labfabric.LostAnswer)},
		"11.6 dropped before anything is done":        {fault: fault(labfabric.LostRequest), asks: 2},
		"11.6 a timeout, and nothing is done": {fault: func(k kind) labfabric.Fault {
			return labfabric.Fault{Match: k.attach, Status: 200, Body: "{}", Delay: 10 * time.Minute}
		}, asks: 2, only: []kind{fm, cm}},
		"11.6 a timeout, and it is done": {fault: func(k kind) labfabric.Fault { return labfabric.Slow(k.attach, 10*time.Minute) }, only: some},
		"11.6 a timeout, and it is done late": {
			fault: func(k kind) labfabric.Fault { return labfabric.Lagging(k.attach, 200*time.Second) },
			tune:  func(t *face.Tuning) { t.TokenLifetime = 10 * time.Minute }, // the token must outlive the delay
		},
		"11.7 500 after the work":                         {fault: status(500, `{"status":500,"detail":{"code":"E020001","message":"internal"}}`)},
		"11.7 500 after the work, without a body":         {fault: status(500, ""), only: some},
		"11.7 502 with a page, after the work":            {fault: status(502, "<html>Bad Gateway</html>"), only: some},
		"11.7 504 with a page, after the work":            {fault: status(504, "<html>Gateway Timeout</html>"), only: some},
		"11.7 503 after the work":                         {fault: status(503, `{"status":503,"detail":{"code":"E1","message":"overloaded"}}`), only: some},
		"11.7 truncated JSON":                             {fault: fault(labfabric.Truncated)},
		"11.7 HTML with 200":                              {fault: func(k kind) labfabric.Fault { return labfabric.HTML(k.attach, 200) }},
		"11.7 200 without a body":                         {fault: status(200, ""), only: some},
		"11.7 200 with null":                              {fault: status(200, "null"), only: some},
		"11.7 200 with a list":                            {fault: status(200, "[]"), only: some},
		"11.7 200 with another service's JSON":            {fault: status(200, `{"hello":"world"}`), only: some},
		"11.7 a byte a second":                            {fault: func(k kind) labfabric.Fault { return labfabric.Dripping(k.attach, time.Second) }, only: some},
		"11.7 wrong types":                                {fault: edit(labfabric.WrongTypes()), only: []kind{fm, cm}},
		"11.7 201":                                        {fault: status(201, "{}"), only: []kind{fm, cm}},
		"11.7 202 at once":                                {tune: func(t *face.Tuning) { t.AsyncStatus = http.StatusAccepted }, only: []kind{fm}},
		"11.7 204 at once":                                {tune: func(t *face.Tuning) { t.AsyncStatus = http.StatusNoContent }, only: []kind{fm}},
		"11.10 no machine in the answer to the order":     {fault: edit(labfabric.Set("machines", []any{})), only: []kind{fm}},
		"11.10 no device in the answer to the order":      {fault: edit(labfabric.Set("resources", []any{})), only: []kind{fm}},
		"11.8 no status in the answer to the order":       {fault: edit(labfabric.Drop("res_op_status")), only: []kind{fm}},
		"11.8 an empty status in the answer to the order": {fault: edit(labfabric.Set("res_op_status", "")), only: []kind{fm}},
		"11.17 no serial in the answer to the order":      {fault: edit(labfabric.Drop("res_serial_num")), only: []kind{fm}},
		"11.17 res_spcec, in all answers":                 {tune: func(t *face.Tuning) { t.Misspelt = true }, only: []kind{fm}},
		"11.11 all devices in the answer, the old one first": {
			tune: func(t *face.Tuning) { t.AnswerAll = true }, only: []kind{fm},
		},
		"11.13 409 three times":                       {fault: func(k kind) labfabric.Fault { return labfabric.Refusing(k.attach, 409, 3) }, asks: 4},
		"11.13 423 three times":                       {fault: func(k kind) labfabric.Fault { return labfabric.Refusing(k.attach, 423, 3) }, asks: 4, only: []kind{fm, cm}},
		"11.13 429 three times":                       {fault: func(k kind) labfabric.Fault { return labfabric.Refusing(k.attach, 429, 3) }, asks: 4, only: []kind{fm, cm}},
		"11.13 503 with Retry-After, before the work": {fault: func(k kind) labfabric.Fault { return labfabric.Overloaded(k.attach, 2, 7) }, asks: 3, only: []kind{fm, cm}},
		"11.7 500 before the work":                    {fault: func(k kind) labfabric.Fault { return labfabric.Refusing(k.attach, 500, 1) }, asks: 2, only: []kind{fm, cm}},
		"O-GPU-07 reads are answered 502 for a moment": {fault: func(k kind) labfabric.Fault {
			return labfabric.Fault{Match: k.read, Times: 2, Status: 502, Body: "<html>Bad Gateway</html>"}
		}},
	}
}

// TestGPU_answers attaches a device beside an old one of somebody else, while the order is
// answered in all the wrong ways.
func TestGPU_answers(t *testing.T) {
	t.Parallel()

	for name, c := range harmless() {
		on := c.only
		if on == nil {
			on = kinds
		}

		for _, k := range on {
			t.Run(name+", "+k.name, func(t *testing.T) {
				t.Parallel()

				inLab(t, setup{kind: k, tune: c.tune}, func(w world) {
					old := w.foreign(0, 1, a100)

					if c.fault != nil {
						w.far.Inject(c.fault(k))
					}

					config := gpus(1, nodes(0), Map{"existing_devices": "ignore"})
					w.apply(config)

					if all := w.on(0); len(all) != 2 || len(w.devices()) != 1 || strings.HasSuffix(w.devices()[0], old[0]) {
						t.Errorf("on the machine %v, in the state %v; the old one is %s", all, w.devices(), old[0])
					}

					if n := w.sent(k.attach); n != max(c.asks, 1) {
						t.Errorf("%d orders", n)
					}

					w.known1()
					w.destroy()

					if left := w.on(0); len(left) != 1 {
						t.Errorf("left: %v", left)
					}
				})
			})
		}
	}
}

// sent counts the requests that match.
func (w world) sent(match string) int { return w.far.Count(match) }

// known1 wants the one device of the state known by both of its ids, online and well.
func (w world) known1() {
	w.t.Helper()

	for _, d := range w.on(0) {
		if d.Foreign {
			continue
		}

		if !same(w.first("fabric_device_id"), d) || !strings.HasSuffix(d.Serial, w.first("device_id")) || w.first("device_id") == "" || w.first("state") != "Online" || w.first("health") != "ok" {
			w.t.Errorf("the state has %v, the machine %v", w.Get("devices"), d)
		}
	}
}

// TestGPU_lostDetach destroys while the answer to the order is lost in all ways.
func TestGPU_lostDetach(t *testing.T) {
	t.Parallel()

	for name, fault := range map[string]func(match string) labfabric.Fault{
		"11.5 the connection is dropped after the work": labfabric.LostAnswer,
		"11.5 the connection is dropped before it":      labfabric.LostRequest,
		"11.7 500 after the work":                       func(m string) labfabric.Fault { return labfabric.BrokenAfter(m, 500) },
		"11.7 HTML with 200":                            func(m string) labfabric.Fault { return labfabric.HTML(m, 200) },
		"11.7 truncated JSON":                           labfabric.Truncated,
		"11.13 409 three times":                         func(m string) labfabric.Fault { return labfabric.Refusing(m, 409, 3) },
		"11.6 a timeout, and it is done late":           func(m string) labfabric.Fault { return labfabric.Lagging(m, 200*time.Second) },
	} {
		for _, k := range either(strings.HasPrefix(name, "11.5")) {
			t.Run(name+", "+k.name, func(t *testing.T) {
				t.Parallel()

				inLab(t, setup{kind: k}, func(w world) {
					w.apply(gpus(2))
					w.far.Inject(fault(k.detach))
					w.destroy()
					w.count(0)
				})
			})
		}
	}
}

// TestGPU_accepted has managers that say yes and do nothing: nothing is ordered twice after a yes.
func TestGPU_accepted(t *testing.T) {
	t.Parallel()

	for _, k := range []kind{fm, cm} {
		t.Run("11.6 a clear yes of which nothing comes is never asked again, "+k.name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: k}, func(w world) {
				w.far.Inject(labfabric.Fault{Match: k.attach, Status: 200, Body: `{"status":"success","data":{"machines":[]}}`})
				w.fails(gpus(1), "no device appeared")
				w.count(0)

				if n := w.sent(k.attach); n != 1 || w.Exists() {
					t.Errorf("%d orders; state %v", n, w.State())
				}
			})
		})
	}
}

// TestGPU_refused has definite words of the manager: they are in the error, and nothing is asked again.
func TestGPU_refused(t *testing.T) {
	t.Parallel()

	fti := `{"status":404,"detail":{"code":"E0201","message":"no licence for this"}}`

	for name, f := range map[string]labfabric.Fault{
		"O-GPU-07 the vendor's shape":             {Status: 404, Body: fti},
		"O-GPU-07 with status as a string":        {Status: 400, Body: strings.Replace(fti, "404", `"404"`, 1)},
		"O-GPU-07 with an object for a message":   {Status: 400, Body: `{"status":400,"detail":{"code":"E0201","message":{"reason":"no licence for this"}}}`},
		"O-GPU-07 the mock's shape":               {Status: 400, Body: `{"error":"E0201","message":"no licence for this"}`},
		"O-GPU-07 with data that is a list":       {Status: 400, Body: `{"status":400,"detail":{"code":"E0201","message":"no licence for this","data":[]}}`},
		"O-GPU-07 no message":                     {Status: 400, Body: `{"detail":{"code":"E0201 no licence for this"}}`},
		"O-GPU-07 a page, and 403":                {Status: 403, Body: "<html><title>E0201: no licence for this</title></html>"},
		"O-GPU-02 capacity, by a configured code": {Status: 400, Body: `{"status":400,"detail":{"code":"E0201","message":"no licence for this"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := setup{}
			if strings.Contains(name, "capacity") {
				s.fabric = Map{"capacity_error_codes": []any{"E0201"}}
			}

			inLab(t, s, func(w world) {
				f.Match = labfabric.FMAttach
				w.far.Inject(f)
				o := w.fails(gpus(1), "E0201", "no licence for this", "PATCH")
				w.count(0)

				if n := w.sent(labfabric.FMAttach); n != 1 || w.Exists() || len(o.Errors) > 4000 {
					t.Errorf("%d orders; state %v; %s", n, w.State(), o.Errors)
				}
			})
		})
	}
}

// TestGPU_busyByCode has a manager whose code for "later" the user told.
func TestGPU_busyByCode(t *testing.T) {
	t.Parallel()

	t.Run("11.13 400 with a code that means busy", func(t *testing.T) {
		t.Parallel()

		inLab(t, setup{fabric: Map{"busy_error_codes": []any{"E029000"}}}, func(w world) {
			w.far.Inject(labfabric.Refusing(labfabric.FMAttach, 400, 2))
			w.apply(gpus(1))
			w.count(1)
		})
	})
}

// TestGPU_machineBusy orders nothing while the machine is in one of its states of work.
func TestGPU_machineBusy(t *testing.T) {
	t.Parallel()

	for name, code := range map[string]int{
		"11.13 building": hardware.Building, "11.13 powering off": 14, "11.13 a device is being added": hardware.AddingDevice, "11.13 erasing": 19,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{}, func(w world) {
				w.busyFor(0, code, 3*time.Minute)

				begun := time.Now()
				w.apply(gpus(1))
				w.count(1)

				if n := w.sent(labfabric.FMAttach); n != 1 || time.Since(begun) < 3*time.Minute {
					t.Errorf("%d orders after %s", n, time.Since(begun))
				}
			})
		})
	}
}
