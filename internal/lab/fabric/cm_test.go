// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/cm"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

func cmPath(node int, more string) string {
	return cmBase + "/v3" + scope + "/machines/" + machine.ID(node) + more
}

func increase(model string, count int) string {
	return fmt.Sprintf(`{"increase_resource_count":{"spec_uuid":%q,"device_count":%d}}`, cm.SpecID("node-0", "gpu", model), count)
}

func removal(count int, ids ...string) string {
	return fmt.Sprintf(`{"remove_resources":{"spec_uuid":%q,"device_count":%d,"devices":["%s"]}}`,
		cm.SpecID("node-0", "gpu", "A100"), count, strings.Join(ids, `","`))
}

// resize orders of node-0.
func (r *rig) resize(want int, body string) {
	r.t.Helper()
	r.do(want, http.MethodPost, cmPath(0, "/actions/resize"), body)
}

// spec is node-0's specification of a model, as "count: status status", and the ids of its devices.
func (r *rig) spec(model string) (string, []string) {
	r.t.Helper()

	var (
		found string
		ids   []string
	)

	for _, o := range objects(r.do(http.StatusOK, http.MethodGet, cmPath(0, ""), "")) {
		if o["spec_uuid"] != cm.SpecID("node-0", "gpu", model) {
			continue
		}

		found = fmt.Sprint(o["device_count"], ":")

		for _, d := range o["devices"].([]any) {
			d := d.(map[string]any)
			found += fmt.Sprint(" ", d["status"])
			ids = append(ids, fmt.Sprint(d["device_id"]))
		}
	}

	return found, ids
}

// objects are all objects of a document.
func objects(doc any) []map[string]any {
	var out []map[string]any

	fabric.Each(func(o map[string]any) { out = append(out, o) })(doc)

	return out
}

// is fails unless node-0's specification of A100 looks like that; it returns the ids.
func (r *rig) is(want string) []string {
	r.t.Helper()

	got, ids := r.spec("A100")
	if got != want {
		r.t.Errorf("the specification is %q, want %q", got, want)
	}

	return ids
}

func TestCM_resize(t *testing.T) {
	t.Parallel()
	for _, actual := range []bool{false, true} {
		t.Run(fmt.Sprintf("device_count is what is there: %v", actual), func(t *testing.T) {
			t.Parallel()

			o := longLived()
			o.Fabric.Tuning.CountActual = actual

			then := func(target, there string) string {
				if actual {
					return there
				}

				return target
			}

			bubble(t, o, func(r *rig) {
				r.login().is("0:")
				r.resize(http.StatusOK, increase("A100", 1))
				r.is(then("1", "0") + ": ADD_IN_PROGRESS")
				r.resize(http.StatusOK, increase("A100", 1)) // the same target again
				time.Sleep(add)
				r.is("1: ADD_COMPLETE")

				r.resize(http.StatusOK, increase("A100", 2))
				time.Sleep(add)

				ids := r.is("2: ADD_COMPLETE ADD_COMPLETE")
				r.resize(http.StatusBadRequest, removal(2, ids[0]))
				r.resize(http.StatusOK, removal(1, ids[0]))
				r.is(then("1", "2") + ": REMOVE_IN_PROGRESS ADD_COMPLETE")
				time.Sleep(remove)

				if left := r.is("1: ADD_COMPLETE"); len(left) != 1 || left[0] != ids[1] || r.on(0)[0].Serial != ids[1] {
					r.t.Errorf("left %v of %v", left, ids)
				}
			})
		})
	}
}

func TestCM_failures(t *testing.T) {
	t.Parallel()
	bubble(t, longLived(), func(r *rig) {
		r.login()

		first := true

		r.ok(r.Edit(func(d *hardware.Device) {
			if d.Model == "A100" && first {
				d.FailAdd, d.FailRemove, first = "link training", "stuck", false
			}
		}))

		r.Tune(func(t *face.Tuning) { t.LateID = true })
		r.resize(http.StatusOK, increase("A100", 1))

		if ids := r.is("1: ADD_IN_PROGRESS"); ids[0] != "" {
			r.t.Errorf("it has the id %q already", ids[0])
		}

		time.Sleep(add)

		ids := r.is("1: ADD_FAILED")
		r.resize(http.StatusOK, removal(0, ids[0]))
		time.Sleep(remove)
		r.is("1: REMOVE_FAILED")
		r.resize(http.StatusOK, removal(0, ids[0]))
		time.Sleep(remove)
		r.is("0:")
	})
}

func TestCM_refuses(t *testing.T) {
	t.Parallel()
	o := longLived()
	o.Fabric.Tuning.MinCount, o.Fabric.Tuning.MaxCount = 1, 3

	bubble(t, o, func(r *rig) {
		r.login().resize(http.StatusOK, increase("A100", 2))
		time.Sleep(add)

		ids := r.is("2: ADD_COMPLETE ADD_COMPLETE")
		cases := map[string]struct {
			body string
			want int
		}{
			"less by an increase":    {increase("A100", 1), http.StatusBadRequest},
			"above the maximum":      {increase("A100", 4), http.StatusBadRequest},
			"below the minimum":      {removal(0, ids...), http.StatusBadRequest},
			"a specification of air": {increase("A100 40G", 1), http.StatusNotFound},
			"an empty specification": {`{"increase_resource_count":{"spec_uuid":"","device_count":1}}`, http.StatusBadRequest},
			"a device of nobody":     {removal(1, "GPU-x"), http.StatusBadRequest},
			"a device twice":         {removal(0, ids[0], ids[0]), http.StatusBadRequest},
			"no order":               {`{}`, http.StatusBadRequest},
			"no JSON":                {`<html>`, http.StatusBadRequest},
			"a field too many":       {`{"increase_resource_count":{},"x":1}`, http.StatusBadRequest},
		}

		for name, c := range cases {
			if code, text, _ := r.try(http.MethodPost, cmPath(0, "/actions/resize"), c.body); code != c.want {
				r.t.Errorf("%s: %d %s, want %d", name, code, text, c.want)
			}
		}

		r.is("2: ADD_COMPLETE ADD_COMPLETE")
		r.do(http.StatusNotFound, http.MethodGet, cmPath(99, ""), "")
		r.do(http.StatusForbidden, http.MethodGet, strings.Replace(cmPath(0, ""), fabric.Cluster, "x", 1), "")

		for node := 1; node < 3; node++ {
			r.ok(r.Change(func(tx store.Tx, now time.Time) error {
				_, err := hardware.AttachForeign(tx, now, machine.Name(node), hardware.Pick("gpu", "A100"), 0)

				return err
			}))
		}

		r.resize(http.StatusNotFound, increase("A100", 3)) // the pool is empty

		r.Tune(func(t *face.Tuning) { t.RefuseBusy = true })
		r.resize(http.StatusOK, removal(1, ids[0]))
		r.resize(http.StatusConflict, increase("A100", 2))

		if bad, err := r.Overlaps(); err != nil || len(bad) != 1 {
			r.t.Errorf("overlaps %v, %v", bad, err)
		}

		r.ok(r.EditMachine("node-0", func(m *hardware.Record) { m.Deleted = true }))
		r.do(http.StatusNotFound, http.MethodGet, cmPath(0, ""), "")
	})
}

func TestCM_nodegroups(t *testing.T) {
	t.Parallel()
	bubble(t, longLived(), func(r *rig) {
		groups := r.login().do(http.StatusOK, http.MethodGet, cmBase+"/v2"+scope+"/nodegroups", "")["nodegroups"].([]any)
		if len(groups) != 1 {
			r.t.Fatalf("groups %v", groups)
		}

		id := fmt.Sprint(groups[0].(map[string]any)["uuid"])

		group := r.do(http.StatusOK, http.MethodGet, cmBase+"/v2"+scope+"/nodegroups/"+id, "")
		if ids := group["mach_ids"].([]any); len(ids) != 8 || ids[0] != machine.ID(0) {
			r.t.Errorf("group %v", group)
		}

		r.do(http.StatusNotFound, http.MethodGet, cmBase+"/v2"+scope+"/nodegroups/x", "")
	})
}
