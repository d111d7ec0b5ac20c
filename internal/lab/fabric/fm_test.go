// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

func TestFM_attachAndDetach(t *testing.T) {
	t.Parallel()
	bubble(t, longLived(), func(r *rig) {
		r.login()
		r.do(http.StatusOK, http.MethodPatch, updatePath(0), attachBody(0, "L40S"))

		began := time.Now()
		got := resources(r.t, r.do(http.StatusOK, http.MethodPatch, updatePath(0), attachBody(0, "A100")))

		if took := time.Since(began); took != add || len(got) != 1 || got[0]["res_op_status"] != "0" || got[0]["res_type"] != "gpu" {
			r.t.Fatalf("after %s: %v", took, got)
		}

		id, _ := got[0]["res_uuid"].(string)
		if serial, _ := got[0]["res_serial_num"].(string); !strings.HasPrefix(serial, "GPU-") || r.on(0)[1].ID != id {
			r.t.Errorf("%v on %v", got, r.on(0))
		}

		m := machines(r.t, r.do(http.StatusOK, http.MethodGet, machinePath(0, ""), ""))[0]
		if m["mach_name"] != "node-0" || m["mach_status"] != 13.0 || m["mach_uuid"] != machine.ID(0) {
			r.t.Errorf("machine %v", m)
		}

		r.do(http.StatusNotFound, http.MethodDelete, updatePath(1), detachBody(1, id))
		r.do(http.StatusOK, http.MethodDelete, updatePath(0), detachBody(0, id))

		if left := r.on(0); len(left) != 1 || left[0].Model != "L40S" {
			r.t.Errorf("left %v", left)
		}

		r.do(http.StatusNotFound, http.MethodDelete, updatePath(0), detachBody(0, id))

		if bad, err := r.Overlaps(); err != nil || len(bad) != 0 {
			r.t.Errorf("overlaps %v, %v", bad, err)
		}
	})
}

func TestFM_asyncAndBusy(t *testing.T) {
	t.Parallel()
	bubble(t, longLived(), func(r *rig) {
		r.login()
		r.Tune(func(t *face.Tuning) { t.AsyncStatus = http.StatusAccepted })

		if got := resources(r.t, r.do(http.StatusAccepted, http.MethodPatch, updatePath(0), attachBody(0, "A100"))); len(got) != 0 {
			r.t.Errorf("the answer shows %v", got)
		}

		refused := r.do(http.StatusConflict, http.MethodPatch, updatePath(0), attachBody(0, "A100"))
		if detail, _ := refused["detail"].(map[string]any); refused["status"] != 409.0 || detail["code"] == "" {
			r.t.Errorf("refused with %v", refused)
		}

		m := machines(r.t, r.do(http.StatusOK, http.MethodGet, machinePath(0, ""), ""))[0]
		if m["mach_status"] != 20.0 || len(m["resources"].([]any)) != 0 {
			r.t.Errorf("while it is added: %v", m)
		}

		if bad, err := r.Overlaps(); err != nil || len(bad) != 1 {
			r.t.Errorf("overlaps %v, %v", bad, err)
		}

		time.Sleep(add)

		got := resources(r.t, r.do(http.StatusOK, http.MethodGet, machinePath(0, ""), ""))
		if len(got) != 1 {
			r.t.Fatalf("it never came: %v", got)
		}

		r.Tune(func(t *face.Tuning) { t.AsyncStatus = http.StatusNoContent })
		r.do(http.StatusNoContent, http.MethodDelete, updatePath(0), detachBody(0, got[0]["res_uuid"].(string)))

		if m := machines(r.t, r.do(http.StatusOK, http.MethodGet, machinePath(0, ""), ""))[0]; m["mach_status"] != 21.0 {
			r.t.Errorf("while it is removed: %v", m)
		}

		time.Sleep(remove)

		if left := r.on(0); len(left) != 0 {
			r.t.Errorf("left %v", left)
		}
	})
}

func TestFM_whatTheAnswerShows(t *testing.T) {
	t.Parallel()
	bubble(t, longLived(), func(r *rig) {
		r.login()
		r.Tune(func(t *face.Tuning) { t.AnswerAll, t.Misspelt, t.ModelColumn = true, true, "gpu_model" })

		body := strings.Replace(attachBody(0, "A100"), `"model"`, `"gpu_model"`, 1)
		r.do(http.StatusOK, http.MethodPatch, updatePath(0), body)
		got := resources(r.t, r.do(http.StatusOK, http.MethodPatch, updatePath(0), body))

		if len(got) != 2 || got[0]["res_uuid"] != r.on(0)[0].ID || got[0]["res_spcec"] == nil || got[0]["res_spec"] != nil {
			r.t.Errorf("the answer shows %v", got)
		}

		r.do(http.StatusBadRequest, http.MethodPatch, updatePath(0), attachBody(0, "A100"))
	})
}

func TestFM_refuses(t *testing.T) {
	t.Parallel()
	attach := attachBody(0, "A100")

	cases := map[string]struct {
		method, path, body string
		want               int
	}{
		"another tenant":           {http.MethodGet, strings.Replace(machinePath(0, ""), fabric.Tenant, "x", 1), "", http.StatusForbidden},
		"no tenant":                {http.MethodGet, fmBase + "/machines", "", http.StatusForbidden},
		"a machine that is not":    {http.MethodGet, machinePath(99, ""), "", http.StatusNotFound},
		"no machine's id":          {http.MethodGet, fmBase + "/machines/x" + query, "", http.StatusNotFound},
		"an attach to nowhere":     {http.MethodPatch, updatePath(99), attachBody(99, "A100"), http.StatusNotFound},
		"another machine's body":   {http.MethodPatch, updatePath(1), attach, http.StatusBadRequest},
		"a method of no one":       {http.MethodPost, updatePath(0), attach, http.StatusMethodNotAllowed},
		"a path of no one":         {http.MethodGet, fmBase + "/nothing" + query, "", http.StatusNotFound},
		"a manager of no one":      {http.MethodGet, "/", "", http.StatusNotFound},
		"no body":                  {http.MethodPatch, updatePath(0), "", http.StatusBadRequest},
		"two bodies":               {http.MethodPatch, updatePath(0), attach + attach, http.StatusBadRequest},
		"a field too many":         {http.MethodPatch, updatePath(0), strings.Replace(attach, `"res_num"`, `"x":1,"res_num"`, 1), http.StatusBadRequest},
		"no number":                {http.MethodPatch, updatePath(0), strings.Replace(attach, `"res_num":1`, `"res_num":0`, 1), http.StatusBadRequest},
		"a type of no one":         {http.MethodPatch, updatePath(0), strings.Replace(attach, `"gpu"`, `"fpga"`, 1), http.StatusBadRequest},
		"a tenant in the body":     {http.MethodPatch, updatePath(0), strings.Replace(attach, fabric.Tenant, "x", 1), http.StatusBadRequest},
		"an attach that detaches":  {http.MethodPatch, updatePath(0), detachBody(0, "x"), http.StatusBadRequest},
		"a detach that attaches":   {http.MethodDelete, updatePath(0), attach, http.StatusBadRequest},
		"a device that is not":     {http.MethodDelete, updatePath(0), detachBody(0, "x"), http.StatusNotFound},
		"a model that is not":      {http.MethodPatch, updatePath(0), attachBody(0, "H100"), http.StatusNotFound},
		"more than there are":      {http.MethodPatch, updatePath(0), strings.Replace(attach, `"res_num":1`, `"res_num":5`, 1), http.StatusNotFound},
		"a condition of no one":    {http.MethodGet, machinePath(0, "/available-reserved-resources") + "&res_type=gpu&condition=x", "", http.StatusBadRequest},
		"a tenant that is not":     {http.MethodGet, fmBase + "/tenants/x" + query, "", http.StatusNotFound},
		"and takes its own tenant": {http.MethodGet, fmBase + "/tenants/" + fabric.Tenant + query, "", http.StatusOK},
	}

	bubble(t, longLived(), func(r *rig) {
		r.login()

		for name, c := range cases {
			if code, text, _ := r.try(c.method, c.path, c.body); code != c.want {
				r.t.Errorf("%s: %d %s, want %d", name, code, text, c.want)
			}
		}

		r.do(http.StatusUnsupportedMediaType, http.MethodPatch, updatePath(0), attach, "Content-Type", "text/plain")

		if got := r.on(0); len(got) != 0 {
			r.t.Errorf("something was attached: %v", got)
		}
	})
}

func TestFM_availableAndFabrics(t *testing.T) {
	t.Parallel()
	o := longLived()
	o.Fabric.Fabrics = 2
	o.GPUs = map[string]int{"A100": 3}

	available := func(node int) string {
		return machinePath(node, "/available-reserved-resources") + "&res_type=gpu&condition=" +
			url.QueryEscape(`{"column":"model","operator":"eq","value":"A100"}`)
	}

	bubble(t, o, func(r *rig) {
		r.login()

		for node, want := range []float64{2, 1, 2} {
			if doc := r.do(http.StatusOK, http.MethodGet, available(node), ""); doc["reserved_res_num_per_fabric"] != want {
				r.t.Errorf("node-%d: %v, want %v", node, doc, want)
			}
		}

		r.do(http.StatusOK, http.MethodPatch, updatePath(1), attachBody(1, "A100"))
		r.do(http.StatusNotFound, http.MethodPatch, updatePath(3), attachBody(3, "A100"))

		if all := machines(r.t, r.do(http.StatusOK, http.MethodGet, fmBase+"/machines"+query, "")); len(all) != 8 || all[0]["mach_name"] != "node-0" ||
			all[0]["fabric_uuid"] == all[1]["fabric_uuid"] {
			r.t.Errorf("machines %v", all)
		}
	})
}

func TestFM_statuses(t *testing.T) {
	t.Parallel()
	bubble(t, longLived(), func(r *rig) {
		r.login()

		get := func() map[string]any {
			return machines(r.t, r.do(http.StatusOK, http.MethodGet, machinePath(0, ""), ""))[0]
		}

		r.ok(r.EditMachine("node-0", func(m *hardware.Record) { m.Status, m.StatusUntil = hardware.Building, time.Now().Add(time.Minute) }))
		r.do(http.StatusConflict, http.MethodPatch, updatePath(0), attachBody(0, "A100"))

		if m := get(); m["mach_status"] != 11.0 {
			r.t.Errorf("building: %v", m)
		}

		time.Sleep(time.Minute)
		r.do(http.StatusOK, http.MethodPatch, updatePath(0), attachBody(0, "A100"))

		r.ok(r.EditMachine("node-0", func(m *hardware.Record) { m.Status = hardware.Broken }))
		r.do(http.StatusInternalServerError, http.MethodPatch, updatePath(0), attachBody(0, "A100"))

		r.ok(r.EditMachine("node-0", func(m *hardware.Record) { m.Deleted = true }))
		r.do(http.StatusNotFound, http.MethodPatch, updatePath(0), attachBody(0, "A100"))

		if m := get(); m["mach_status"] != 17.0 || m["mach_name"] != nil || len(m["resources"].([]any)) != 0 {
			r.t.Errorf("deleted: %v", m)
		}
	})
}

func TestFM_aLinkThatDoesNotComeUp(t *testing.T) {
	t.Parallel()
	bubble(t, longLived(), func(r *rig) {
		r.login()
		r.ok(r.Edit(func(d *hardware.Device) { d.FailAdd = "no link" }))
		r.do(http.StatusInternalServerError, http.MethodPatch, updatePath(0), attachBody(0, "A100"))

		if got := r.on(0); len(got) != 0 {
			r.t.Errorf("it is there: %v", got)
		}
	})
}
