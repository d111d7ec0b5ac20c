// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/redfish"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/token"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

const (
	v1     = "/redfish/v1"
	blocks = v1 + "/CompositionService/ResourceBlocks"
)

type obj = map[string]any

// rig is a service of three machines, two A100 and two L40S.
type rig struct {
	testing.TB

	env *face.Env
	h   http.Handler
}

func newRig(tb testing.TB, o face.Redfish) *rig {
	tb.Helper()

	env := &face.Env{
		Store: store.New(""), Machines: machine.Options{Count: 3},
		Hardware: hardware.Options{
			GPUs: map[string]int{"A100": 2, "L40S": 2}, CXL: map[string]int{"CXL-64G": 1},
			AddTime: 10 * time.Second, RemoveTime: 5 * time.Second,
		},
	}
	env.Tune(func(t *face.Tuning) { t.Redfish = o })

	return &rig{TB: tb, env: env, h: redfish.New(env)}
}

// reply is what came back.
type reply struct {
	code   int
	header http.Header
	doc    obj
}

func (r *rig) do(method, path, body string, header ...string) reply {
	r.Helper()

	req := httptest.NewRequestWithContext(r.Context(), method, path, strings.NewReader(body))
	req.SetBasicAuth(token.Username, token.Password)

	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "X-Auth-Token" {
			req.Header.Del("Authorization")
		}

		req.Header.Set(header[i], header[i+1])
	}

	w := httptest.NewRecorder()
	r.h.ServeHTTP(w, req)

	out := reply{code: w.Code, header: w.Header()}
	if w.Body.Len() > 0 {
		if err := json.Unmarshal(w.Body.Bytes(), &out.doc); err != nil {
			r.Fatalf("%s %s: %s: %v", method, path, w.Body, err)
		}
	}

	return out
}

// ask does a request and expects a status.
func (r *rig) ask(status int, method, path, body string, header ...string) reply {
	r.Helper()

	out := r.do(method, path, body, header...)
	if out.code != status {
		r.Fatalf("%s %s %s: %d, want %d: %v", method, path, body, out.code, status, out.doc)
	}

	return out
}

func (r *rig) get(path string) obj {
	r.Helper()

	return r.ask(http.StatusOK, http.MethodGet, path, "").doc
}

// gpus are the devices of a model, by index.
func (r *rig) gpus(model string) (out []hardware.Device) {
	r.Helper()
	r.change(func(tx store.Tx, now time.Time) error {
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

func (r *rig) change(f func(store.Tx, time.Time) error) {
	r.Helper()

	if err := r.env.Update(f); err != nil {
		r.Fatal(err)
	}
}

// set changes a device.
func (r *rig) set(id string, change func(*hardware.Device)) {
	r.Helper()
	r.change(func(tx store.Tx, now time.Time) error {
		d, _, err := hardware.Load(tx, now, id)
		if err != nil {
			return err
		}

		change(&d)

		return hardware.Save(tx, d)
	})
}

// act does an action of a system with a block.
func (r *rig) act(status int, action string, i int, block string) reply {
	r.Helper()

	return r.ask(status, http.MethodPost, system(i)+"/Actions/ComputerSystem."+action, order(block))
}

func order(block string) string { return `{"ResourceBlock":{"@odata.id":"` + block + `"}}` }

func system(i int) string { return v1 + "/Systems/" + machine.ID(i) }

// state is that of a block.
func (r *rig) state(d hardware.Device) string {
	r.Helper()

	return text(r.get(blocks+"/"+d.ID), "CompositionStatus", "CompositionState")
}

// links are the paths of a list of references.
func links(o obj, path ...string) (out []string) {
	all, _ := value(o, path...).([]any)
	for _, e := range all {
		if e, ok := e.(obj); ok {
			out = append(out, text(e, "@odata.id"))
		}
	}

	return out
}

func linksBody(name string, paths []string) string {
	refs := make([]obj, 0, len(paths))
	for _, p := range paths {
		refs = append(refs, obj{"@odata.id": p})
	}

	raw, _ := json.Marshal(obj{"Links": obj{name: refs}})

	return string(raw)
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
