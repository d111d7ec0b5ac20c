// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face/facetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/redfish"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/token"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

const (
	v1     = "/redfish/v1"
	blocks = v1 + "/CompositionService/ResourceBlocks"
)

type obj = map[string]any

// rig is a service of three machines, two A100 and two L40S.
type rig struct {
	facetest.Bench

	h http.Handler
}

func newRig(tb testing.TB, o face.Redfish) *rig {
	tb.Helper()

	b := facetest.New(tb, func(t *face.Tuning) { t.Redfish = o })

	return &rig{Bench: b, h: redfish.New(b.Env)}
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
