// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nec_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/nec"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

type obj = map[string]any

// rig is a manager of three machines, two A100 and two L40S.
type rig struct {
	testing.TB

	env *face.Env
	h   http.Handler
}

func newRig(tb testing.TB, o face.CDIM) *rig {
	tb.Helper()

	env := &face.Env{
		Store: store.New(""), Machines: machine.Options{Count: 3},
		Hardware: hardware.Options{
			GPUs: map[string]int{"A100": 2, "L40S": 2}, CXL: map[string]int{"CXL-64G": 1},
			AddTime: 10 * time.Second, RemoveTime: 5 * time.Second,
		},
	}

	env.Tune(func(t *face.Tuning) { t.CDIM = o })

	return &rig{TB: tb, env: env, h: nec.New(env)}
}

// ask does a request and expects a status.
func (r *rig) ask(status int, method, path, body string) obj {
	r.Helper()

	w := httptest.NewRecorder()
	r.h.ServeHTTP(w, httptest.NewRequestWithContext(r.Context(), method, "/cdim/api/v1"+path, strings.NewReader(body)))

	if w.Code != status {
		r.Fatalf("%s %s: %d, want %d: %s", method, path, w.Code, status, w.Body)
	}

	var doc obj
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		r.Fatalf("%s %s: %s: %v", method, path, w.Body, err)
	}

	return doc
}

func (r *rig) get(path string) obj {
	r.Helper()

	return r.ask(http.StatusOK, http.MethodGet, path, "")
}

// order posts an order of one step and returns the job's id.
func (r *rig) order(operation, machineID, device string) string {
	r.Helper()

	return text(r.ask(http.StatusAccepted, http.MethodPost, "/layout-apply", orderBody(operation, machineID, device)), "applyID")
}

func orderBody(operation, machineID, device string) string {
	raw, _ := json.Marshal(obj{"procedures": []any{obj{
		"operationID": 1, "operation": operation, "targetCPUID": machineID, "targetDeviceID": device, "dependencies": []int{},
	}}})

	return string(raw)
}

// entries are the resources of an answer by device id.
func (r *rig) entries(path string) map[string]obj {
	r.Helper()

	doc := r.get(path)
	all := map[string]obj{}

	for _, e := range items(doc["resources"]) {
		all[text(e, "device", "deviceID")] = e
	}

	if n, _ := doc["count"].(float64); int(n) != len(all) {
		r.Errorf("%s: count %v, %d resources", path, doc["count"], len(all))
	}

	return all
}

// gpus are the devices of a model, by index.
func (r *rig) gpus(model string) (out []hardware.Device) {
	r.Helper()
	r.do(func(tx store.Tx, now time.Time) error {
		all, err := hardware.All(tx, now)
		for _, d := range all {
			if d.Model == model {
				out = append(out, d)
			}
		}

		return err
	})

	return out
}

func (r *rig) do(f func(store.Tx, time.Time) error) {
	r.Helper()

	if err := r.env.Update(f); err != nil {
		r.Fatal(err)
	}
}

// set changes a device.
func (r *rig) set(id string, change func(*hardware.Device)) {
	r.Helper()
	r.do(func(tx store.Tx, now time.Time) error {
		d, _, err := hardware.Load(tx, now, id)
		if err != nil {
			return err
		}

		change(&d)

		return hardware.Save(tx, d)
	})
}

// links are the ids that a resource is linked to, by type.
func links(e obj) map[string]string {
	out := map[string]string{}
	for _, l := range items(value(e, "device", "links")) {
		out[text(l, "type")] = text(l, "deviceID")
	}

	return out
}

func items(v any) []obj {
	all, _ := v.([]any)
	out := make([]obj, 0, len(all))

	for _, e := range all {
		if o, ok := e.(obj); ok {
			out = append(out, o)
		}
	}

	return out
}

func value(o obj, path ...string) any {
	var v any = o

	for _, key := range path {
		m, _ := v.(obj)
		v = m[key]
	}

	return v
}

func text(o obj, path ...string) string {
	s, _ := value(o, path...).(string)

	return s
}
