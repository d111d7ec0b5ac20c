// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// On an attach: what is answered, and how many devices are on the machine a minute later.
func TestFaults_ofAnAttach(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		fault  fabric.Fault
		status int // 0: no whole answer
		text   string
		there  int
		again  int // status of the second request; 0: 200
	}{
		"a lost answer":             {fault: fabric.LostAnswer(fabric.FMAttach), there: 2},
		"a lost request":            {fault: fabric.LostRequest(fabric.FMAttach), there: 1},
		"an answer that is late":    {fault: fabric.Slow(fabric.FMAttach, 2*time.Minute), there: 2},
		"work that is late":         {fault: fabric.Lagging(fabric.FMAttach, 70*time.Second), there: 2},
		"500 after the work":        {fault: fabric.BrokenAfter(fabric.FMAttach, 500), status: 500, text: "E029000", there: 2},
		"500 before the work":       {fault: fabric.Refusing(fabric.FMAttach, 500, 1), status: 500, text: "E029000", there: 1},
		"409 twice":                 {fault: fabric.Refusing(fabric.FMAttach, 409, 2), status: 409, text: "409", there: 0, again: 409},
		"503 with Retry-After":      {fault: fabric.Overloaded(fabric.FMAttach, 1, 7), status: 503, text: "Retry-After: 7", there: 1},
		"401 once":                  {fault: fabric.Refusing(fabric.FMAttach, 401, 1), status: 401, there: 1},
		"JSON that is cut off":      {fault: fabric.Truncated(fabric.FMAttach), status: 200, text: `{"data":`, there: 2},
		"a page of a proxy":         {fault: fabric.HTML(fabric.FMAttach, 200), status: 200, text: "<html>", there: 2},
		"a page that is an error":   {fault: fabric.HTML(fabric.FMAttach, 502), status: 502, text: "text/html", there: 2},
		"a redirect":                {fault: fabric.Redirect(fabric.FMAttach, "http://fabric.lab/login"), status: 302, text: "Location: http://fabric.lab/login", there: 1},
		"a slow drip":               {fault: fabric.Dripping(fabric.FMAttach, time.Second), there: 2},
		"wrong types":               {fault: fabric.Rewritten(fabric.FMAttach, fabric.WrongTypes()), status: 200, text: `"res_op_status":0,"res_serial`, there: 2},
		"an empty status word":      {fault: fabric.Rewritten(fabric.FMAttach, fabric.Set("res_op_status", "")), status: 200, text: `"res_op_status":""`, there: 2},
		"a status word of null":     {fault: fabric.Rewritten(fabric.FMAttach, fabric.Set("res_op_status", nil)), status: 200, text: `"res_op_status":null`, there: 2},
		"no machines":               {fault: fabric.Rewritten(fabric.FMAttach, fabric.Set("machines", []any{})), status: 200, text: `"machines":[]`, there: 2},
		"a misspelt key":            {fault: fabric.Rewritten(fabric.FMAttach, fabric.Rename("res_spec", "res_spcec")), status: 200, text: `"res_spcec":`, there: 2},
		"no serial":                 {fault: fabric.Rewritten(fabric.FMAttach, fabric.Drop("res_serial_num", "res_op_status")), status: 200, text: `res_spec`, there: 2},
		"a third party":             {fault: fabric.ThirdParty(fabric.FMAttach, "node-0", "A100"), status: 200, there: 3},
		"the second of two is lost": {fault: fabric.Fault{Match: fabric.FMAttach, Skip: 1, DropBefore: true}, status: 200, there: 1, again: -1},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, longLived(), func(r *rig) {
				r.login().Inject(c.fault)
				r.KeepRequests()

				code, text, header := r.try(http.MethodPatch, updatePath(0), attachBody(0, "A100"))
				if all := headerText(header) + text; code != c.status || code != 0 && !strings.Contains(all, c.text) {
					r.t.Errorf("answered %d %s, want %d with %q", code, all, c.status, c.text)
				}

				time.Sleep(add + time.Minute)

				want := max(c.again, 0)
				if c.again == 0 {
					want = http.StatusOK
				}

				if code, text, _ := r.try(http.MethodPatch, updatePath(0), attachBody(0, "A100")); code != want {
					r.t.Errorf("the second request: %d %s, want %d", code, text, want)
				}

				if got := r.on(0); len(got) != c.there {
					r.t.Errorf("%d devices are there, want %d", len(got), c.there)
				}

				if bad, err := r.Overlaps(); err != nil || len(bad) != 0 {
					r.t.Errorf("overlaps %v, %v", bad, err)
				}

				if n := r.Count(fabric.FMAttach); n != 2 {
					r.t.Errorf("%d requests", n)
				}
			})
		})
	}
}

func headerText(h http.Header) string {
	var b strings.Builder

	_ = h.Write(&b) // never fails

	return b.String()
}

func TestFaults_wrongTypesAreStillJSON(t *testing.T) {
	t.Parallel()
	bubble(t, longLived(), func(r *rig) {
		r.login().Inject(fabric.Rewritten(fabric.FMMachine, fabric.WrongTypes()))

		m := machines(r.t, r.do(http.StatusOK, http.MethodGet, machinePath(0, ""), ""))[0]
		if m["mach_status"] != "13" || m["mach_op_status"] != 0.0 || m["grp_uuid"] != 7.0 {
			r.t.Errorf("machine %v", m)
		}
	})
}

func TestFaults_ofTheTokenService(t *testing.T) {
	t.Parallel()
	bubble(t, longLived(), func(r *rig) {
		r.Inject(fabric.TokenDown(2))
		r.post(http.StatusServiceUnavailable, login, passwordForm())
		r.post(http.StatusServiceUnavailable, login, passwordForm())
		r.login()
		r.Inject(fabric.TokenDown(-1))
		r.Heal()
		r.login()
	})
}

func TestFaults_when(t *testing.T) {
	t.Parallel()
	bubble(t, longLived(), func(r *rig) {
		f := fabric.Refusing("* /fabric_manager/**", http.StatusTeapot, -1)
		f.When = func(_ *http.Request, body []byte) bool { return strings.Contains(string(body), "L40S") }
		r.login().Inject(f)

		r.do(http.StatusOK, http.MethodPatch, updatePath(0), attachBody(0, "A100"))
		r.do(http.StatusTeapot, http.MethodPatch, updatePath(0), attachBody(0, "L40S"))
		r.do(http.StatusTeapot, http.MethodPatch, updatePath(0), attachBody(0, "L40S"))
	})
}

func TestEdit_byHand(t *testing.T) {
	t.Parallel()
	bubble(t, longLived(), func(r *rig) {
		r.login()

		get := func() string {
			return fmt.Sprint(resources(r.t, r.do(http.StatusOK, http.MethodGet, machinePath(0, ""), "")))
		}

		r.ok(r.Edit(func(d *hardware.Device) { d.OpStatus = "2" }))

		got := resources(r.t, r.do(http.StatusOK, http.MethodPatch, updatePath(0), attachBody(0, "A100")))
		if got[0]["res_op_status"] != "2" {
			r.t.Errorf("critical on arrival: %v", got)
		}

		r.ok(r.Edit(func(d *hardware.Device) { d.OpStatus, d.Turns, d.TurnsAt = "0", "1", time.Now().Add(time.Minute) }))

		if text := get(); !strings.Contains(text, "res_op_status:0") {
			r.t.Errorf("well again: %s", text)
		}

		time.Sleep(time.Minute)

		if text := get(); !strings.Contains(text, "res_op_status:1") {
			r.t.Errorf("turned: %s", text)
		}

		r.ok(r.Edit(func(d *hardware.Device) {
			if d.Machine == "node-0" {
				d.Machine = "node-1"
			}
		}))

		if text := get(); text != "[]" || len(r.on(1)) != 1 {
			r.t.Errorf("moved: %s", text)
		}

		r.ok(r.Edit(func(d *hardware.Device) { d.Gone = d.Machine == "node-1" }))

		if all, err := r.Devices(); err != nil || len(all) != 9 || len(r.on(1)) != 0 {
			r.t.Errorf("vanished: %d devices, %v", len(all), err)
		}

		r.ok(r.Change(func(tx store.Tx, now time.Time) error {
			_, err := hardware.AttachForeign(tx, now, "node-0", hardware.Pick("gpu", "L40S"), 0)

			return err
		}))

		if all := r.on(0); len(all) != 1 || !all[0].Foreign {
			r.t.Errorf("a third party's: %v", all)
		}

		if err := r.EditMachine("node-99", func(*hardware.Record) {}); err == nil {
			r.t.Error("a machine that is not there was changed")
		}
	})
}

func TestRequests_areKept(t *testing.T) {
	t.Parallel()
	bubble(t, longLived(), func(r *rig) {
		r.login()

		if all := r.Requests(); len(all) != 0 {
			r.t.Errorf("kept without being asked: %v", all)
		}

		r.KeepRequests()
		r.do(http.StatusOK, http.MethodGet, machinePath(0, ""), "")
		mark := r.Mark()
		r.do(http.StatusOK, http.MethodPatch, updatePath(0), attachBody(0, "A100"))

		all, since := r.Requests(), r.Since(mark)
		if len(all) != 2 || len(since) != 1 || all[0].Mutates() {
			r.t.Fatalf("kept %v and %v", all, since)
		}

		if q := since[0]; !q.Mutates() || q.Status != http.StatusOK || q.Done.Sub(q.At) != add || !json.Valid([]byte(q.Body)) || "?"+q.Query != query {
			r.t.Errorf("kept %+v", q)
		}

		if n := r.Counts()["GET "+fmBase+"/machines"+strings.TrimPrefix(strings.TrimSuffix(machinePath(0, ""), query), fmBase+"/machines")]; n != 1 {
			r.t.Errorf("counts %v", r.Counts())
		}

		r.ResetCounts()

		if len(r.Requests()) != 0 || r.Count("") != 0 {
			r.t.Error("ResetCounts left something")
		}
	})
}
