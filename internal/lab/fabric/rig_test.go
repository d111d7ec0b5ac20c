// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

const (
	add, remove = 10 * time.Second, 5 * time.Second

	fmBase = "/fabric_manager/api/v1"
	cmBase = "/cluster_manager/cluster_autoscaler"
	login  = "/id_manager/realms/" + fabric.Realm + "/protocol/openid-connect/token"
	scope  = "/tenants/" + fabric.Tenant + "/clusters/" + fabric.Cluster
)

var query = "?tenant_uuid=" + fabric.Tenant

// rig is a lab whose fabric is asked in virtual time.
type rig struct {
	*fabric.Service

	t      *testing.T
	lab    *lab.Lab
	bearer string
}

// bubble runs a test on a lab in virtual time.
func bubble(t *testing.T, o lab.Options, f func(r *rig)) {
	t.Helper()

	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, o)
		defer r.lab.Close()

		f(r)
	})
}

func newRig(t *testing.T, o lab.Options) *rig {
	t.Helper()

	o.Fabric.AddTime, o.Fabric.RemoveTime = add, remove

	l, err := lab.Open(o)
	if err != nil {
		t.Fatal(err)
	}

	return &rig{Service: l.Fabric, t: t, lab: l}
}

// try sends a request; status 0 means that no whole answer came.
func (r *rig) try(method, path, body string, header ...string) (int, string, http.Header) {
	r.t.Helper()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	req, err := http.NewRequestWithContext(ctx, method, lab.FabricEndpoint+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}

	req.Header.Set("Content-Type", "application/json")

	if r.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+r.bearer)
	}

	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}

	res, err := r.lab.Transport().RoundTrip(req)
	if err != nil {
		return 0, err.Error(), nil
	}
	defer res.Body.Close()

	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error(), nil
	}

	return res.StatusCode, string(raw), res.Header
}

// do sends a request that must be answered with a status, and decodes the answer.
func (r *rig) do(want int, method, path, body string, header ...string) map[string]any {
	r.t.Helper()

	code, text, _ := r.try(method, path, body, header...)
	if code != want {
		r.t.Fatalf("%s %s: %d %s, want %d", method, path, code, text, want)
	}

	var doc map[string]any
	if text != "" && json.Unmarshal([]byte(text), &doc) != nil {
		doc = map[string]any{"raw": text}
	}

	return doc
}

func form(pairs ...string) string {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}

	return v.Encode()
}

func passwordForm(pairs ...string) string {
	return form(append([]string{
		"grant_type", "password", "client_id", fabric.ClientID, "client_secret", fabric.ClientSecret,
		"username", fabric.Username, "password", fabric.Password, "scope", "openid", "response_type", "id_token token",
	}, pairs...)...)
}

func (r *rig) post(want int, path, form string) map[string]any {
	r.t.Helper()

	return r.do(want, http.MethodPost, path, form, "Content-Type", "application/x-www-form-urlencoded")
}

func (r *rig) login() *rig {
	r.t.Helper()
	r.bearer, _ = r.post(http.StatusOK, login, passwordForm())["access_token"].(string)

	return r
}

// longLived is a lab whose tokens outlive the test.
func longLived() lab.Options {
	var o lab.Options

	o.Fabric.Tuning.TokenLifetime = 24 * time.Hour

	return o
}

func attachBody(node int, model string) string {
	return fmt.Sprintf(`{"tenants":{"tenant_uuid":%q,"machines":[{"mach_uuid":%q,"resources":[{"res_specs":[{"res_type":"gpu","res_num":1,
		"res_spec":{"condition":[{"column":"model","operator":"eq","value":%q}]}}]}]}]}}`, fabric.Tenant, machine.ID(node), model)
}

func detachBody(node int, id string) string {
	return fmt.Sprintf(`{"tenants":{"tenant_uuid":%q,"machines":[{"mach_uuid":%q,"resources":[{"res_specs":[
		{"res_type":"gpu","res_uuid":%q,"res_num":1}]}]}]}}`, fabric.Tenant, machine.ID(node), id)
}

func updatePath(node int) string { return machinePath(node, "/update") }

func machinePath(node int, more string) string {
	return fmBase + "/machines/" + machine.ID(node) + more + query
}

func (r *rig) on(node int) []hardware.Device {
	r.t.Helper()

	all, err := r.On(machine.Name(node))
	if err != nil {
		r.t.Fatal(err)
	}

	return all
}

// machines are the documents of an answer of FM.
func machines(t *testing.T, doc map[string]any) []map[string]any {
	t.Helper()

	var out []map[string]any

	data, _ := doc["data"].(map[string]any)
	all, _ := data["machines"].([]any)

	for _, m := range all {
		if m, ok := m.(map[string]any); ok {
			out = append(out, m)
		}
	}

	return out
}

// resources are the devices of an answer of FM about one machine.
func resources(t *testing.T, doc map[string]any) []map[string]any {
	t.Helper()

	all := machines(t, doc)
	if len(all) != 1 {
		t.Fatalf("not one machine: %v", doc)
	}

	var out []map[string]any

	list, _ := all[0]["resources"].([]any)
	for _, d := range list {
		if d, ok := d.(map[string]any); ok {
			out = append(out, d)
		}
	}

	return out
}

func (r *rig) ok(err error) {
	r.t.Helper()

	if err != nil {
		r.t.Fatal(err)
	}
}
