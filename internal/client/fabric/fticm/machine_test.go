// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fticm_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/fticm"
)

const (
	v2      = "/cluster_manager/cluster_autoscaler/v2/tenants/" + tenant + "/clusters/" + cluster
	v3      = "/cluster_manager/cluster_autoscaler/v3/tenants/" + tenant + "/clusters/" + cluster + "/machines/"
	getMach = "GET " + v3 + mach
	resize  = "POST " + v3 + mach + "/actions/resize"
)

// machine is an answer with specifications.
func machine(id, specs string) string {
	return `{"data":{"tenant_uuid":"` + tenant + `","cluster":{"cluster_uuid":"` + cluster + `","machine":{"uuid":"` + id +
		`","name":"node1","status":"ACTIVE","status_reason":"","resspecs":[` + specs + `]}}}}`
}

// spec is a specification of GPUs; limits is "min,max,count".
func spec(id, model, limits string, devices ...string) string {
	var low, high, count string
	if n, _ := fmt.Sscanf(strings.ReplaceAll(limits, ",", " "), "%s %s %s", &low, &high, &count); n != 3 {
		panic(limits)
	}

	return `{"spec_uuid":"` + id + `","type":"gpu","selector":{"version":"type_conditions","expression":{"conditions":[` +
		`{"column":"vendor","operator":"eq","value":"N"},{"column":"model","operator":"eq","value":"` + model + `"}]}},` +
		`"min_resspec_count":` + low + `,"max_resspec_count":` + high + `,"device_count":` + count + `,"devices":[` + strings.Join(devices, ",") + `]}`
}

func device(id, res, status string) string {
	return `{"device_id":"` + id + `","status":"` + status + `","status_reason":"link training","detail":{"fabric_uuid":"F","fabric_id":1,"res_uuid":"` + res +
		`","res_type":"gpu","res_name":"gpu0","res_status":3,"res_op_status":"0","resspecs":[{"model":"NVIDIA A100 of 40G"}]}}`
}

func get(t *testing.T, body string) (fabric.Machine, error) {
	t.Helper()

	f, _ := start(t, map[string]reply{getMach: {body: body}})

	return f.Machine(t.Context(), mach)
}

func TestMachine_whole(t *testing.T) {
	t.Parallel()

	m, err := get(t, machine(mach, `{"spec_uuid":"C","type":"cpu","selector":null},`+spec("S", "A100 40G", `2,6,1`, device("GPU-1", "U", "ADD_COMPLETE"))))
	if err != nil {
		t.Fatal(err)
	}

	want := fabric.Machine{
		ID: mach, Name: "node1", FabricID: "F", Status: "ACTIVE", State: fabric.Ready,
		Specs: []fabric.Spec{{ID: "C", Type: "cpu"}, {ID: "S", Type: "gpu", Models: []string{"A100 40G"}, Min: 2, Max: 6, Current: 1}},
		Devices: []fabric.Device{{
			FabricID: "U", DeviceID: "GPU-1", Type: "gpu", Model: "A100 40G", Health: fabric.HealthOK, HealthRaw: "0", MachineID: mach, Spec: "S",
		}},
	}
	if fmt.Sprintf("%+v", m) != fmt.Sprintf("%+v", want) {
		t.Errorf("got  %+v\nwant %+v", m, want)
	}
}

// TestOGPU05_phases: what is not known to be over is under way.
func TestOGPU05_phases(t *testing.T) {
	t.Parallel()

	for status, want := range map[string]struct {
		phase  fabric.Phase
		reason string
	}{
		"ADD_COMPLETE": {fabric.Attached, ""}, "add_complete": {fabric.Attached, ""}, "ADD_FAILED": {fabric.AddFailed, "link training"},
		"REMOVE_FAILED": {fabric.RemoveFailed, "link training"}, "REMOVE_IN_PROGRESS": {fabric.Removing, ""}, "REMOVING": {fabric.Removing, ""},
		"ADD_IN_PROGRESS": {fabric.Adding, ""}, "": {fabric.Adding, ""}, "WHATEVER": {fabric.Adding, ""},
	} {
		m, err := get(t, machine(mach, spec("S", "A", `0,4,1`, device("GPU-1", "U", status))))
		if err != nil || len(m.Devices) != 1 || m.Devices[0].Phase != want.phase || m.Devices[0].Reason != want.reason {
			t.Errorf("%q is %+v, %v", status, m.Devices, err)
		}
	}
}

// TestOGPU04_ids: the device's id is the operating system's, res_uuid the fabric's.
func TestOGPU04_ids(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct{ device, os, fabric string }{
		"both":              {device("D", "U2", "ADD_COMPLETE"), "D", "U2"},
		"by the other name": {`{"device_uuid":"D","status":"ADD_COMPLETE","detail":{"res_uuid":"U2"}}`, "D", "U2"},
		"without a detail":  {`{"device_id":"D","status":"ADD_COMPLETE"}`, "D", ""},
		"a detail of text":  {`{"device_id":"D","status":"ADD_COMPLETE","detail":"x"}`, "D", ""},
		"numbers":           {`{"device_id":7,"status":null,"detail":{"res_uuid":8,"res_op_status":null,"resspecs":{}}}`, "7", "8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m, err := get(t, machine(mach, spec("S", "A", `0,4,1`, tc.device)))
			if err != nil || len(m.Devices) != 1 || m.Devices[0].DeviceID != tc.os || m.Devices[0].FabricID != tc.fabric || m.Devices[0].Model != "A" {
				t.Errorf("got %+v, %v", m.Devices, err)
			}
		})
	}
}

func TestMachine_answersWithoutIt(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		reply reply
		kind  error
		words string
	}{
		"no machine":                 {reply{body: `{"data":{"cluster":{}}}`}, fabric.ErrNotFabric, "data.cluster.machine"},
		"a list":                     {reply{body: `{"data":{"cluster":{"machine":[]}}}`}, fabric.ErrNotFabric, "data.cluster.machine"},
		"another machine":            {reply{body: machine(mach2, ``)}, fabric.ErrNotFabric, "machine not found in answer"},
		"no specifications":          {reply{body: `{"data":{"cluster":{"machine":{"uuid":"` + mach + `"}}}}`}, fabric.ErrNotFabric, "specifications"},
		"odd specifications":         {reply{body: machine(mach, `"x"`)}, fabric.ErrNotFabric, "specifications"},
		"odd devices":                {reply{body: machine(mach, spec("S", "A", `0,4,1`, `"x"`))}, fabric.ErrNotFabric, "specification S"},
		"HTML":                       {reply{body: `<html><title>Hi</title>`}, fabric.ErrNotFabric, "Hi"},
		"nothing":                    {reply{}, fabric.ErrNotFabric, "no JSON object"},
		"the manager's not found":    {reply{404, `{"status":"404","detail":{"code":"E02XXXX","message":"no such machine"}}`}, fabric.ErrNotFound, "no such machine"},
		"a proxy's not found":        {reply{404, `<html>`}, fabric.ErrNotFabric, "404"},
		"a token that is no good":    {reply{401, `{"error":"invalid_token"}`}, fabric.ErrAuth, "401"},
		"a cluster of somebody else": {reply{403, `{"status":"403","detail":{"code":"E1","message":"no"}}`}, fabric.ErrAuth, "E1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f, _ := start(t, map[string]reply{getMach: tc.reply})

			m, err := f.Machine(t.Context(), mach)
			if !errors.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.words) {
				t.Errorf("got %+v, %v", m, err)
			}
		})
	}
}

// TestMachine_listsThatAreMissing: devices that an answer does not show are not gone.
func TestMachine_listsThatAreMissing(t *testing.T) {
	t.Parallel()

	one := device("GPU-1", "U", "ADD_COMPLETE")
	bare := func(count, devices string) string {
		return `{"spec_uuid":"S","type":"gpu","device_count":` + count + devices + `}`
	}

	for name, tc := range map[string]struct {
		specs  string
		state  fabric.State
		broken bool
	}{
		"all that is counted":           {spec("S", "A", `0,4,1`, one), fabric.Ready, false},
		"more than is counted":          {spec("S", "A", `0,4,0`, one), fabric.Ready, false},
		"no count":                      {spec("S", "A", `0,4,null`, one), fabric.Ready, false},
		"less than is counted":          {spec("S", "A", `0,4,2`, one), fabric.Busy, false},
		"nothing of what is counted":    {spec("S", "A", `0,4,2`), fabric.Busy, false},
		"no list":                       {bare(`2`, ``), 0, true},
		"null":                          {bare(`2`, `,"devices":null`), 0, true},
		"an object":                     {bare(`0`, `,"devices":{}`), 0, true},
		"null entries":                  {bare(`2`, `,"devices":[null,null]`), 0, true},
		"entries without ids":           {bare(`1`, `,"devices":[{"status":"ADD_COMPLETE"}]`), 0, true},
		"no list, and nobody counts":    {bare(`null`, ``), 0, true},
		"no list where none is counted": {bare(`0`, ``), fabric.Ready, false},
		"null where none is counted":    {bare(`"0"`, `,"devices":null`), fabric.Ready, false},
		"null as specification":         {`null`, 0, true},
		"a type that is not handed out": {`{"spec_uuid":"C","type":"cpu","device_count":2,"devices":[null,{}]}`, fabric.Ready, false},
		"a type that is not told":       {`{"spec_uuid":"S","device_count":2}`, 0, true},
	} {
		m, err := get(t, machine(mach, tc.specs))
		if errors.Is(err, fabric.ErrNotFabric) != tc.broken || m.State != tc.state {
			t.Errorf("%s: %+v, %v", name, m, err)
		}

		gone := strings.Replace(machine(mach, tc.specs), `"ACTIVE"`, `17`, 1)
		if m, err := get(t, gone); err != nil || m.State != fabric.Gone {
			t.Errorf("%s, of a machine that is gone: %+v, %v", name, m, err)
		}
	}

	for _, list := range []string{`null`, `{}`} {
		body := strings.Replace(machine(mach, ``), `"resspecs":[]`, `"resspecs":`+list, 1)
		if m, err := get(t, body); !errors.Is(err, fabric.ErrNotFabric) {
			t.Errorf("specifications %s: %+v, %v", list, m, err)
		}
	}
}

func TestMachine_states(t *testing.T) {
	t.Parallel()

	for raw, want := range map[string]fabric.State{
		`"ACTIVE"`: fabric.Ready, `""`: fabric.Ready, `null`: fabric.Ready, `20`: fabric.Busy, `"17"`: fabric.Gone, `"ADDING_RESOURCE"`: fabric.Busy,
		`"Active PON"`: fabric.Ready, `"ERROR"`: fabric.Failed, `"unbuilding"`: fabric.Leaving,
	} {
		m, err := get(t, strings.Replace(machine(mach, ``), `"ACTIVE"`, raw, 1))
		if err != nil || m.State != want {
			t.Errorf("%s is %v, %v", raw, m.State, err)
		}
	}
}

func TestMachines(t *testing.T) {
	t.Parallel()

	groups := "GET " + v2 + "/nodegroups"
	group := func(id string) string { return groups + "/" + id }

	for name, tc := range map[string]struct {
		replies map[string]reply
		ids     []string
		kind    error
	}{
		"each machine once": {map[string]reply{
			groups:      {body: `{"nodegroups":[{"uuid":"g1","name":"a"},{"uuid":"g2","name":null}]}`},
			group("g1"): {body: `{"uuid":"g1","name":"a","mach_ids":["` + mach2 + `","` + mach + `"]}`},
			group("g2"): {body: `{"data":{"mach_ids":["` + strings.ToUpper(mach) + `"]}}`},
		}, []string{mach2, mach}, nil},
		"no groups": {map[string]reply{groups: {body: `{"nodegroups":[]}`}}, nil, nil},
		"an empty group": {map[string]reply{
			groups: {body: `{"nodegroups":[{"uuid":"g1"}]}`}, group("g1"): {body: `{"mach_ids":null}`},
		}, nil, nil},
		"no list of groups":  {map[string]reply{groups: {body: `{}`}}, nil, fabric.ErrNotFabric},
		"a group without id": {map[string]reply{groups: {body: `{"nodegroups":[{"name":"a"}]}`}}, nil, fabric.ErrNotFabric},
		"a group that fails": {map[string]reply{
			groups: {body: `{"nodegroups":[{"uuid":"g1"}]}`}, group("g1"): {500, ``},
		}, nil, fabric.ErrUnknown},
		"a group without machines": {map[string]reply{
			groups: {body: `{"nodegroups":[{"uuid":"g1"}]}`}, group("g1"): {body: `{}`},
		}, nil, fabric.ErrNotFabric},
		"a machine without id": {map[string]reply{
			groups: {body: `{"nodegroups":[{"uuid":"g1"}]}`}, group("g1"): {body: `{"mach_ids":["x"]}`},
		}, nil, fabric.ErrNotFabric},
		"a group of odd name": {map[string]reply{
			groups: {body: `{"nodegroups":[{"uuid":"../x"}]}`}, group("..%2Fx"): {body: `{"mach_ids":["` + mach + `"]}`},
		}, []string{mach}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for _, id := range []string{mach, mach2} {
				tc.replies["GET "+v3+id] = reply{body: machine(id, ``)}
			}

			f, _ := start(t, tc.replies)
			all, err := f.Machines(t.Context())

			var ids []string
			for _, m := range all {
				ids = append(ids, m.ID)
			}

			if !errors.Is(err, tc.kind) || !slices.Equal(ids, tc.ids) {
				t.Errorf("got %v, %v", ids, err)
			}
		})
	}
}

func TestNew_whatIsMissing(t *testing.T) {
	t.Parallel()

	full := fabric.Config{Endpoint: "h", TenantID: "t", ClusterID: "c", Auth: fabric.Auth{Username: "u", Password: "p"}}

	for option, cut := range map[string]func(*fabric.Config){
		"tenant_id":     func(c *fabric.Config) { c.TenantID = " " },
		"cluster_id":    func(c *fabric.Config) { c.ClusterID = "" },
		"auth.username": func(c *fabric.Config) { c.Auth.Username = "" },
		"endpoint":      func(c *fabric.Config) { c.Endpoint = "http://h" },
	} {
		cfg := full
		cut(&cfg)

		var wrong *fabric.ConfigError
		if _, err := fticm.New(cfg); !errors.As(err, &wrong) || wrong.Option != option {
			t.Errorf("%s: %v", option, err)
		}
	}
}

// FuzzMachine reads any answer: no panic, and no order to a machine that makes no sense.
func FuzzMachine(f *testing.F) {
	f.Add(machine(mach, spec("S", "A", `0,4,1`, device("GPU-1", "U", "ADD_COMPLETE"))))
	f.Add(machine(mach, spec("S", "A", `"0","4","1"`, device("GPU-1", "U", "ADD_FAILED"))))
	f.Add(machine(mach, spec("", "A", `null,null,null`)))
	f.Add(`{"data":{"cluster":{"machine":{}}}}`)
	f.Add(`<html>`)

	f.Fuzz(func(t *testing.T, body string) {
		cm := driver(t, "fabric.example", double(t, map[string]reply{getMach: {http.StatusOK, body}, resize: {}}))

		m, err := cm.Machine(t.Context(), mach)
		if err == nil && !strings.EqualFold(m.ID, mach) {
			t.Errorf("another machine: %+v", m)
		}

		_, _ = cm.Free(t.Context(), mach, "gpu", "A")

		if _, ordered := cm.Attach(t.Context(), mach, fabric.Want{Type: "gpu", Model: "A"}); ordered == nil && (err != nil || len(m.Specs) == 0) {
			t.Errorf("it ordered from %+v, %v", m, err)
		}

		for _, d := range m.Devices {
			_, _ = cm.Detach(t.Context(), mach, d)
		}
	})
}
