// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ftifm_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

const (
	attachBody = `{"tenants":{"tenant_uuid":"` + tenant + `","machines":[{"mach_uuid":"` + mach + `","resources":[{"res_specs":[` +
		`{"res_type":"gpu","res_num":1,"res_spec":{"condition":[{"column":"model","operator":"eq","value":"A100-40G"}]}}]}]}]}}`
	detachBody = `{"tenants":{"tenant_uuid":"` + tenant + `","machines":[{"mach_uuid":"` + mach + `","resources":[{"res_specs":[` +
		`{"res_type":"gpu","res_uuid":"U","res_num":1}]}]}]}}`
)

var want = fabric.Want{Type: "gpu", Model: "A100-40G", Count: 7}

func TestAttach(t *testing.T) {
	t.Parallel()

	both := `"resources":[` + device("OLD", `"S1"`, `"0"`) + `,{"res_uuid":"M","res_type":"memory"},` + device("NEW", `"S2"`, `""`) + `]`

	for name, tc := range map[string]struct {
		reply reply
		hint  []string
		kind  error
	}{
		"the answer lists all (P4)":       {reply{200, machine(mach, both)}, []string{"OLD", "NEW"}, nil},
		"accepted (P6)":                   {reply{202, ``}, nil, nil},
		"created, without a device":       {reply{201, machine(mach, `"resources":[]`)}, nil, nil},
		"no content":                      {reply{204, ``}, nil, nil},
		"no list of devices":              {reply{200, machine(mach, `"mach_status":20`)}, nil, nil},
		"an answer of another form":       {reply{200, `{"status":"success"}`}, nil, nil},
		"no machines (P2)":                {reply{200, `{"data":{"machines":[]}}`}, nil, nil},
		"wrong types (P5)":                {reply{200, machine(mach, `"mach_status":[],"resources":[{"res_uuid":"NEW","res_type":"gpu","res_status":"4","res_op_status":0,"res_spec":{"condition":[{"column":"model","operator":"eq","value":"A100-40G"}]}}]`)}, []string{"NEW"}, nil},
		"HTML after all":                  {reply{200, `<html>`}, nil, fabric.ErrUnknown},
		"a cut answer":                    {reply{200, `{"data":{"mach`}, nil, fabric.ErrUnknown},
		"a failure inside":                {reply{500, `{"status":500,"detail":{"code":"E020001","message":"x"}}`}, nil, fabric.ErrUnknown},
		"a proxy's failure":               {reply{502, `<html>`}, nil, fabric.ErrUnknown},
		"a redirect (P7)":                 {reply{303, ``}, nil, fabric.ErrNotFabric},
		"busy":                            {reply{409, `{"status":409,"detail":{"code":"E1","message":"x"}}`}, nil, fabric.ErrBusy},
		"none left, in a mock's words":    {reply{404, `{"error":"insufficient_resources"}`}, nil, fabric.ErrCapacity},
		"none left, in another's":         {reply{404, `{"error":"no_available_resources"}`}, nil, fabric.ErrCapacity},
		"wrong":                           {reply{400, `{"error":"invalid_parameter"}`}, nil, fabric.ErrRefused},
		"no such machine":                 {reply{404, `{"error":"machine not found"}`}, nil, fabric.ErrNotFound},
		"no such page":                    {reply{404, `<html>`}, nil, fabric.ErrNotFabric},
		"not allowed":                     {reply{403, `{"error":"x"}`}, nil, fabric.ErrAuth},
		"not allowed, also the next time": {reply{401, ``}, nil, fabric.ErrAuth},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f, d := start(t, map[string]reply{"PATCH " + update: tc.reply})

			hint, err := f.Attach(t.Context(), mach, want)
			if !errors.Is(err, tc.kind) {
				t.Errorf("got %v", err)
			}

			var ids []string
			for _, dev := range hint.Devices {
				ids = append(ids, dev.FabricID)
			}

			calls := 1
			if tc.reply.status == http.StatusUnauthorized {
				calls = 2
			}

			if !slices.Equal(ids, tc.hint) || len(d.Seen) != calls || d.Seen[0] != "PATCH "+update+" "+attachBody {
				t.Errorf("hint %v after %q", ids, d.Seen)
			}
		})
	}
}

func TestAttach_ofAnything(t *testing.T) {
	t.Parallel()

	f, d := start(t, nil)

	for _, w := range []fabric.Want{{}, {Type: "gpu"}, {Model: "x"}, {Type: "gpu", Model: " "}} {
		if _, err := f.Attach(t.Context(), mach, w); !errors.Is(err, fabric.ErrConfig) || !fabric.NothingDone(err) {
			t.Errorf("%+v: %v", w, err)
		}
	}

	if len(d.Seen) > 0 {
		t.Errorf("sent %q", d.Seen)
	}
}

// TestOGPU04_detachNamesTheFabricsId: the serial is for the operating system only.
func TestOGPU04_detachNamesTheFabricsId(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		reply reply
		kind  error
	}{
		"done":             {reply{200, `{}`}, nil},
		"no content":       {reply{204, ``}, nil},
		"accepted":         {reply{202, ``}, nil},
		"not there":        {reply{404, `{"status":404,"detail":{"code":"E1","message":"resource not found"}}`}, fabric.ErrNotFound},
		"busy":             {reply{423, ``}, fabric.ErrBusy},
		"failed":           {reply{500, ``}, fabric.ErrUnknown},
		"answered in text": {reply{200, `done`}, fabric.ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f, d := start(t, map[string]reply{"DELETE " + update: tc.reply})

			hint, err := f.Detach(t.Context(), mach, fabric.Device{FabricID: "U", DeviceID: "GPU-S", Serial: "GPU-S", Type: "gpu", Model: "A100-40G"})
			if !errors.Is(err, tc.kind) || len(hint.Devices) > 0 || len(d.Seen) != 1 || d.Seen[0] != "DELETE "+update+" "+detachBody {
				t.Errorf("%v after %q", err, d.Seen)
			}
		})
	}

	f, d := start(t, nil)
	if _, err := f.Detach(t.Context(), mach, fabric.Device{DeviceID: "GPU-S", Type: "gpu"}); !errors.Is(err, fabric.ErrRefused) || len(d.Seen) > 0 {
		t.Errorf("without the fabric's id: %v, %q", err, d.Seen)
	}
}

func TestFree(t *testing.T) {
	t.Parallel()

	ask := "GET " + base + "/" + mach + "/available-reserved-resources?condition=" +
		url.QueryEscape(`{"column":"gpu_model","operator":"eq","value":"A100 <40G> & more"}`) + "&res_type=gpu&tenant_uuid=" + tenant

	for name, tc := range map[string]struct {
		reply reply
		known bool
		count int
		kind  error
	}{
		"as mocks answer":        {reply{body: `{"reserved_res_num_per_fabric":5}`}, true, 5, nil},
		"none":                   {reply{body: `{"reserved_res_num_per_fabric":0}`}, true, 0, nil},
		"as string":              {reply{body: `{"reserved_res_num_per_fabric":"5"}`}, true, 5, nil},
		"below data":             {reply{body: `{"data":{"reserved_res_num_per_fabric":5}}`}, true, 5, nil},
		"below more":             {reply{body: `{"data":{"machines":[{"x":1},{"reserved_res_num_per_fabric":5}]}}`}, true, 5, nil},
		"null":                   {reply{body: `{"reserved_res_num_per_fabric":null}`}, false, 0, nil},
		"negative":               {reply{body: `{"reserved_res_num_per_fabric":-1}`}, false, 0, nil},
		"not told":               {reply{body: `{}`}, false, 0, nil},
		"far too deep":           {reply{body: `{"a":{"b":{"c":{"d":{"e":{"f":{"reserved_res_num_per_fabric":5}}}}}}}`}, false, 0, nil},
		"no such call":           {reply{404, `<html>`}, false, 0, nil},
		"no such call, in words": {reply{405, `no`}, false, 0, nil},
		"no such machine":        {reply{404, `{"error":"machine not found"}`}, false, 0, fabric.ErrNotFound},
		"HTML":                   {reply{200, `<html>`}, false, 0, fabric.ErrNotFabric},
		"no JSON":                {reply{200, `five`}, false, 0, fabric.ErrNotFabric},
		"failed":                 {reply{500, ``}, false, 0, fabric.ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f, _ := start(t, map[string]reply{ask: tc.reply}, func(c *fabric.Config) { c.ModelColumn = "gpu_model" })

			got, err := f.Free(t.Context(), mach, "gpu", "A100 <40G> & more")
			if !errors.Is(err, tc.kind) || got.Known != tc.known || got.Count != tc.count {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestToken(t *testing.T) {
	t.Parallel()

	f, _ := start(t, nil)

	source, ok := f.(fabric.TokenSource)
	if !ok {
		t.Fatal("no source of tokens")
	}

	got, err := source.Token(t.Context())
	if err != nil || got.AccessToken != "s3cr3t-token" || fmt.Sprint(got) != "Bearer ***" {
		t.Errorf("got %s, %v", got, err)
	}
}
