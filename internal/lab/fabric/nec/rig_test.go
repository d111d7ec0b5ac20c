// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nec_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face/facetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/nec"
)

type obj = map[string]any

// rig is a manager of three machines, two A100 and two L40S.
type rig struct {
	facetest.Bench

	h http.Handler
}

func newRig(tb testing.TB, o face.CDIM) *rig {
	tb.Helper()

	b := facetest.New(tb, func(t *face.Tuning) { t.CDIM = o })

	return &rig{Bench: b, h: nec.New(b.Env)}
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
