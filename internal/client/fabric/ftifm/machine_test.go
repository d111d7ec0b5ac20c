// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ftifm_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/ftifm"
)

const (
	base    = "/fabric_manager/api/v1/machines"
	query   = "?tenant_uuid=" + tenant
	getMach = "GET " + base + "/" + mach + query
	list    = "GET " + base + query
	update  = base + "/" + mach + "/update" + query
)

// machine is an answer with one machine.
func machine(id, fields string) string {
	return `{"data":{"machines":[` + bare(id, fields) + `]}}`
}

func bare(id, fields string) string { return `{"mach_uuid":"` + id + `",` + fields + `}` }

// device is a GPU; raw is the JSON of its res_op_status.
func device(uuid, serial, raw string) string {
	return `{"res_uuid":"` + uuid + `","res_name":"gpu0","res_type":"gpu","res_status":4,"res_op_status":` + raw + `,"res_serial_num":` + serial +
		`,"res_spec":{"condition":[{"column":"model","operator":"eq","value":"A100-40G"}]}}`
}

func get(t *testing.T, body string, change ...func(*fabric.Config)) (fabric.Machine, error) {
	t.Helper()

	f, _ := start(t, map[string]reply{getMach: {body: body}}, change...)

	return f.Machine(t.Context(), mach)
}

func TestMachine_whole(t *testing.T) {
	t.Parallel()

	m, err := get(t, machine(strings.ToUpper(mach), `"fabric_uuid":"F","fabric_id":1,"mach_id":7,"mach_id_nonliqid":null,"mach_name":"node_01","mach_status":13,
		"mach_op_status":"00","mach_status_detail":"ACTIVE PON","mach_owner":"user","tenant_uuid":"T","boot_ssd":null,
		"lanports":[{"lanport_uuid":"L","mac_address":"52:54:00:00:00:01","ip_address":"x"},{"mac_address":null},"odd"],
		"resources":[`+device("U", `"GPU-a83d"`, `"0"`)+`]`))
	if err != nil {
		t.Fatal(err)
	}

	want := fabric.Machine{
		ID: strings.ToUpper(mach), Name: "node_01", FabricID: "F", Status: "13 ACTIVE_PON", OpStatus: "00", State: fabric.Ready, Power: fabric.PowerOn,
		Owner: "user", MACs: []string{"52:54:00:00:00:01"},
		Devices: []fabric.Device{{
			FabricID: "U", DeviceID: "GPU-a83d", Serial: "GPU-a83d", Type: "gpu", Model: "A100-40G", Health: fabric.HealthOK, HealthRaw: "0", MachineID: strings.ToUpper(mach),
		}},
	}
	if fmt.Sprintf("%+v", m) != fmt.Sprintf("%+v", want) {
		t.Errorf("got  %+v\nwant %+v", m, want)
	}
}

func TestOGPU01_statusWords(t *testing.T) {
	t.Parallel()

	for raw, want := range map[string]struct {
		health fabric.Health
		text   string
	}{
		`"0"`: {fabric.HealthOK, "0"}, `"0001"`: {fabric.HealthOK, "0001"}, `" 0"`: {fabric.HealthOK, " 0"}, `0`: {fabric.HealthOK, "0"},
		`"1"`: {fabric.HealthWarning, "1"}, `"2"`: {fabric.HealthCritical, "2"}, `2`: {fabric.HealthCritical, "2"},
		`""`: {fabric.HealthUnknown, ""}, `null`: {fabric.HealthUnknown, ""}, `"9"`: {fabric.HealthUnknown, "9"}, `" "`: {fabric.HealthUnknown, " "},
		`true`: {fabric.HealthUnknown, "true"}, `["0"]`: {fabric.HealthUnknown, `["0"]`}, `{}`: {fabric.HealthUnknown, "{}"},
		`"","x":1`: {fabric.HealthUnknown, ""},
	} {
		m, err := get(t, machine(mach, `"mach_status":13,"resources":[`+device("U", `"S"`, raw)+`]`))
		if err != nil || len(m.Devices) != 1 || m.Devices[0].Health != want.health || m.Devices[0].HealthRaw != want.text {
			t.Errorf("%s is %+v, %v", raw, m.Devices, err)
		}
	}

	m, err := get(t, machine(mach, `"mach_status":13,"resources":[{"res_uuid":"U","res_type":"gpu"}]`))
	if err != nil || len(m.Devices) != 1 || m.Devices[0].Health != fabric.HealthUnknown || m.Devices[0].DeviceID != "" {
		t.Errorf("without a status: %+v, %v", m.Devices, err)
	}
}

func TestMachine_statusCodes(t *testing.T) {
	t.Parallel()

	for raw, want := range map[string]struct {
		state fabric.State
		power fabric.Power
		text  string
	}{
		"10": {fabric.Busy, 0, "10 BUILDING_BEFORE_QUEUE"}, "11": {fabric.Busy, 0, "11 BUILDING"}, "12": {fabric.Busy, 0, "12 BOOTING"},
		"13": {fabric.Ready, fabric.PowerOn, "13 ACTIVE_PON"}, `"13"`: {fabric.Ready, fabric.PowerOn, "13 ACTIVE_PON"}, "13.0": {fabric.Ready, fabric.PowerOn, "13 ACTIVE_PON"},
		"14": {fabric.Busy, 0, "14 POWERING_OFF"}, "15": {fabric.Ready, fabric.PowerOff, "15 ACTIVE_POFF"},
		"16": {fabric.Leaving, 0, "16 UNBUILDING"}, "30": {fabric.Leaving, 0, "30 UNBUILDING_WAIT"}, "17": {fabric.Gone, 0, "17 UNBUILDED"},
		"18": {fabric.Busy, 0, "18 OS_INSTALLING"}, "19": {fabric.Busy, 0, "19 ERASING"},
		"20": {fabric.Busy, 0, "20 ADDING_RESOURCE"}, "21": {fabric.Busy, 0, "21 DELETING_RESOURCE"}, "90": {fabric.Failed, 0, "90 ERROR"},
		"0": {fabric.Ready, 0, "0 odd"}, "77": {fabric.Ready, 0, "77 odd"}, "null": {fabric.Ready, 0, "odd"}, `"x"`: {fabric.Ready, 0, "x odd"},
	} {
		m, err := get(t, machine(mach, `"mach_status_detail":"odd","mach_name":null,"resources":[],"mach_status":`+raw))
		if err != nil || m.State != want.state || m.Power != want.power || m.Status != want.text {
			t.Errorf("%s is %v %v %q, %v", raw, m.State, m.Power, m.Status, err)
		}
	}
}

// TestMachine_drift: P5, P10 and P11. What is not needed may be of any kind.
func TestMachine_drift(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		device string
		model  string
		serial string
	}{
		"misspelt":               {`"res_spcec":{"condition":[{"column":"model","operator":"eq","value":"X"}]}`, "X", ""},
		"both, one is null":      {`"res_spec":null,"res_spcec":{"condition":[{"column":"model","operator":"eq","value":"X"}]}`, "X", ""},
		"the column of a sample": {`"res_spec":{"condition":[{"column":"vendor","operator":"eq","value":"N"},{"column":"gpu_model","operator":"eq","value":"X"}]}`, "X", ""},
		"another operator":       {`"res_spec":{"condition":[{"column":"model","operator":"ne","value":"Y"}]}`, "", ""},
		"no operator":            {`"res_spec":{"condition":[{"column":"model","value":"X"}]}`, "X", ""},
		"conditions as object":   {`"res_spec":{"condition":{"column":"model"}}`, "", ""},
		"specification as text":  {`"res_spec":"X"`, "", ""},
		"numbers as text":        {`"res_status":"4","res_spec":{"condition":[{"column":"model","operator":"eq","value":5}]}`, "5", ""},
		"a serial":               {`"res_serial_num":" GPU-1 "`, "", "GPU-1"},
		"a serial as number":     {`"res_serial_num":12345678901234567890`, "", "12345678901234567890"},
		"no serial":              {`"res_serial_num":null`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m, err := get(t, machine(mach, `"mach_status":"13","fabric_id":"1","lanports":{},"resources":[7,{"res_type":"memory","res_uuid":null},{"res_uuid":"U","res_type":"GPU",`+tc.device+`}]`))
			// A number is no device, and a list with one cannot be trusted.
			if err == nil || !errors.Is(err, fabric.ErrNotFabric) {
				t.Errorf("an odd entry: %+v, %v", m, err)
			}

			m, err = get(t, machine(mach, `"mach_status":"13","fabric_id":"1","lanports":{},"resources":[{"res_type":"memory","res_uuid":null},{"res_uuid":"U","res_type":"GPU",`+tc.device+`}]`))
			if err != nil || len(m.Devices) != 1 || m.FabricID != "1" {
				t.Fatalf("got %+v, %v", m, err)
			}

			if d := m.Devices[0]; d.Model != tc.model || d.DeviceID != tc.serial || d.Type != "gpu" || d.FabricID != "U" {
				t.Errorf("got %+v", d)
			}
		})
	}
}

func TestMachine_modelColumn(t *testing.T) {
	t.Parallel()

	m, err := get(t, machine(mach, `"resources":[{"res_uuid":"U","res_spec":{"condition":[{"column":"model","operator":"eq","value":"no"},{"column":"product","operator":"eq","value":"yes"}]}}]`),
		func(c *fabric.Config) { c.ModelColumn = "product" })
	if err != nil || len(m.Devices) != 1 || m.Devices[0].Model != "yes" {
		t.Errorf("got %+v, %v", m, err)
	}
}

// TestMachine_answersWithoutIt: P2 and more. Only the manager's own word is "not found".
func TestMachine_answersWithoutIt(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		reply reply
		kind  error
		words string
	}{
		"an empty list":           {reply{body: `{"data":{"machines":[]}}`}, fabric.ErrNotFabric, "machine not found in answer"},
		"null":                    {reply{body: `{"data":{"machines":null}}`}, fabric.ErrNotFabric, "machine not found in answer"},
		"another machine":         {reply{body: machine(mach2, `"resources":[]`)}, fabric.ErrNotFabric, "machine not found in answer"},
		"no list":                 {reply{body: `{"data":{}}`}, fabric.ErrNotFabric, "data.machines"},
		"a list of data":          {reply{body: `{"data":[]}`}, fabric.ErrNotFabric, "data.machines"},
		"JSON of somebody":        {reply{body: `{"items":[]}`}, fabric.ErrNotFabric, "data.machines"},
		"a list":                  {reply{body: `[]`}, fabric.ErrNotFabric, "no JSON object"},
		"nothing":                 {reply{body: ``}, fabric.ErrNotFabric, "no JSON object"},
		"cut":                     {reply{body: `{"data":{"machines":[{"mach`}, fabric.ErrNotFabric, "no JSON object"},
		"HTML":                    {reply{body: `<html><title>Hi</title>`}, fabric.ErrNotFabric, "Hi"},
		"a machine of odd kind":   {reply{body: `{"data":{"machines":["x"]}}`}, fabric.ErrNotFabric, "cannot be read"},
		"no machine but null":     {reply{body: `{"data":{"machines":[null]}}`}, fabric.ErrNotFabric, "cannot be read"},
		"no devices":              {reply{body: machine(mach, `"mach_status":13`)}, fabric.ErrNotFabric, "list of the machine's devices"},
		"devices of odd kind":     {reply{body: machine(mach, `"mach_status":13,"resources":"x"`)}, fabric.ErrNotFabric, "list of the machine's devices"},
		"null as devices":         {reply{body: machine(mach, `"mach_status":13,"resources":null`)}, fabric.ErrNotFabric, "list of the machine's devices"},
		"devices that are null":   {reply{body: machine(mach, `"mach_status":13,"resources":[null]`)}, fabric.ErrNotFabric, "list of the machine's devices"},
		"a GPU without any id":    {reply{body: machine(mach, `"mach_status":13,"resources":[{"res_type":"gpu","res_status":4}]`)}, fabric.ErrNotFabric, "no id"},
		"a device without a word": {reply{body: machine(mach, `"mach_status":13,"resources":[{}]`)}, fabric.ErrNotFabric, "no id"},
		"the manager's not found": {reply{404, `{"status":404,"detail":{"code":"E02XXXX","message":"machine not found"}}`}, fabric.ErrNotFound, "machine not found"},
		"a mock's not found":      {reply{404, `{"error":"machine not found"}`}, fabric.ErrNotFound, "machine not found"},
		"a proxy's not found":     {reply{404, `<html><title>404 Not Found</title>`}, fabric.ErrNotFabric, "404 Not Found"},
		"an empty not found":      {reply{404, ``}, fabric.ErrNotFabric, "404"},
		"a redirect":              {reply{302, ``}, fabric.ErrNotFabric, "redirects"},
		"a sample error":          {reply{500, `{"status":500,"detail":{"code":"E020001","message":"x"}}`}, fabric.ErrUnknown, "E020001"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f, _ := start(t, map[string]reply{getMach: tc.reply})

			m, err := f.Machine(t.Context(), mach)
			if !errors.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.words) || !strings.Contains(err.Error(), mach) {
				t.Errorf("got %+v, %v", m, err)
			}
		})
	}

	m, err := get(t, machine(mach, `"mach_status":17,"mach_name":null,"mach_owner":null,"fabric_id":null`))
	if err != nil || m.State != fabric.Gone || len(m.Devices) != 0 {
		t.Errorf("a machine that was: %+v, %v", m, err)
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()

	f, d := start(t, map[string]reply{getMach: {body: machine(mach, `"resources":[]`)}})

	if _, err := f.Machine(t.Context(), " fsas-cdi://"+mach); err != nil {
		t.Error(err)
	}

	for _, id := range []string{"", "x", "../tenants/" + tenant, mach + "/update", mach[1:], "{" + mach + "}", mach + "?x=y"} {
		_, err := f.Machine(t.Context(), id)
		_, free := f.Free(t.Context(), id, "gpu", "A100")
		_, attach := f.Attach(t.Context(), id, fabric.Want{Type: "gpu", Model: "A100"})
		_, detach := f.Detach(t.Context(), id, fabric.Device{FabricID: "U"})

		for _, err := range []error{err, free, attach, detach} {
			if !errors.Is(err, fabric.ErrConfig) || !strings.Contains(err.Error(), fmt.Sprintf("%q", id)) {
				t.Errorf("%q: %v", id, err)
			}
		}
	}

	if len(d.Seen) != 1 {
		t.Errorf("sent %q", d.Seen)
	}

	if f.LockKey(mach) != f.LockKey(" fsas-cdi://"+strings.ToUpper(mach)) || f.LockKey(mach) == f.LockKey(mach2) {
		t.Errorf("locks %s", f.LockKey(mach))
	}
}

func TestMachines(t *testing.T) {
	t.Parallel()

	get2 := "GET " + base + "/" + mach2 + query
	full, bare2 := bare(mach, `"mach_status":13,"resources":[`+device("U", `"S"`, `"0"`)+`]`), bare(mach2, `"mach_status":13`)

	for name, tc := range map[string]struct {
		list    string
		second  reply
		ids     []string
		devices int
		calls   int
		kind    error
	}{
		"devices are in the list":        {full, reply{}, []string{mach}, 1, 1, nil},
		"the list leaves them out":       {bare2 + "," + full, reply{body: machine(mach2, `"resources":[`+device("V", `"S"`, `"0"`)+`]`)}, []string{mach2, mach}, 2, 2, nil},
		"one that is gone is not asked":  {full + "," + bare(mach2, `"mach_status":17`), reply{}, []string{mach, mach2}, 1, 1, nil},
		"none":                           {"", reply{}, nil, 0, 1, nil},
		"one that cannot be read (P15)":  {full + "," + bare2, reply{500, `{}`}, nil, 0, 2, fabric.ErrUnknown},
		"one that is no machine (P15)":   {full + `,"x"`, reply{}, nil, 0, 1, fabric.ErrNotFabric},
		"one without an id":              {full + `,{"mach_status":13}`, reply{}, nil, 0, 1, fabric.ErrNotFabric},
		"one of which devices are odd":   {bare(mach, `"resources":{}`), reply{}, nil, 0, 1, fabric.ErrNotFabric},
		"one of which devices are null":  {bare(mach, `"resources":[null]`), reply{}, nil, 0, 1, fabric.ErrNotFabric},
		"one that shows null all along":  {bare(mach2, `"resources":null`), reply{body: machine(mach2, `"resources":null`)}, nil, 0, 2, fabric.ErrNotFabric},
		"one that is gone, with null":    {bare(mach2, `"mach_status":17,"resources":null`), reply{}, []string{mach2}, 0, 1, nil},
		"one that is null":               {full + ",null", reply{}, nil, 0, 1, fabric.ErrNotFabric},
		"one that has an id of no use":   {`{"mach_uuid":"../x"}`, reply{}, nil, 0, 1, fabric.ErrConfig},
		"one that the manager lost just": {full + "," + bare2, reply{404, `{"error":"machine not found"}`}, nil, 0, 2, fabric.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f, d := start(t, map[string]reply{list: {body: `{"data":{"machines":[` + tc.list + `]}}`}, get2: tc.second})

			all, err := f.Machines(t.Context())

			var (
				ids     []string
				devices int
			)

			for _, m := range all {
				ids = append(ids, m.ID)
				devices += len(m.Devices)
			}

			if !errors.Is(err, tc.kind) || !slices.Equal(ids, tc.ids) || devices != tc.devices || len(d.Seen) != tc.calls {
				t.Errorf("got %v with %d devices in %d calls, %v", ids, devices, len(d.Seen), err)
			}
		})
	}
}

func TestNew_whatIsMissing(t *testing.T) {
	t.Parallel()

	_, err := ftifm.New(fabric.Config{Endpoint: "h", Auth: fabric.Auth{Realm: "r", Username: "u", Password: "p"}})

	var wrong *fabric.ConfigError
	if !errors.As(err, &wrong) || wrong.Option != "tenant_id" {
		t.Errorf("got %v", err)
	}
}

// FuzzMachine reads any answer: no panic, and devices only with an id.
func FuzzMachine(f *testing.F) {
	f.Add(machine(mach, `"mach_status":13,"resources":[`+device("U", `"S"`, `"0"`)+`]`))
	f.Add(machine(mach, `"mach_status":17,"resources":[]`))
	f.Add(machine(mach, `"resources":[{"res_uuid":1,"res_spcec":{"condition":[{"column":"model","value":[]}]}}]`))
	f.Add(`{"data":{"machines":[]}}`)
	f.Add(`<html>`)
	f.Add(``)

	f.Fuzz(func(t *testing.T, body string) {
		answer := reply{http.StatusOK, body}
		fm := driver(t, "fabric.example", double(t, map[string]reply{getMach: answer, "PATCH " + update: answer}))

		m, err := fm.Machine(t.Context(), mach)
		if err == nil && !strings.EqualFold(m.ID, mach) {
			t.Errorf("another machine: %+v", m)
		}

		for _, d := range m.Devices {
			if err == nil && d.FabricID == "" && d.DeviceID == "" {
				t.Errorf("a device without an id: %+v", d)
			}
		}

		_, _ = fm.Attach(t.Context(), mach, fabric.Want{Type: "gpu", Model: "A100-40G"})
	})
}
