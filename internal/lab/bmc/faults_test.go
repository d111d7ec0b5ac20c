// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/bmc"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

const system = machine.SystemPath

type reply struct {
	code   int
	header http.Header
	body   map[string]any
	text   string
}

// ask is a request of an administrator to the subject's own BMC, without a network.
func (r rig) ask(method, path, body string, header ...string) reply {
	r.t.Helper()

	req := httptest.NewRequestWithContext(r.t.Context(), method, path, strings.NewReader(body))
	req.SetBasicAuth("admin", "password")

	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "X-Auth-Token" {
			req.Header.Del("Authorization")
		}

		req.Header.Set(header[i], header[i+1])
	}

	w := httptest.NewRecorder()
	r.bmc.Handler(subject+".lab:80").ServeHTTP(w, req)

	a := reply{code: w.Code, header: w.Header(), text: w.Body.String()}
	_ = json.Unmarshal(w.Body.Bytes(), &a.body)

	return a
}

func (r rig) want(code int, method, path, body string, header ...string) reply {
	r.t.Helper()

	a := r.ask(method, path, body, header...)
	if a.code != code {
		r.t.Fatalf("%s %s %s: %d %s, want %d", method, path, body, a.code, a.text, code)
	}

	return a
}

func (r rig) faults(f machine.Faults) {
	r.t.Helper()
	r.change(func(m *machine.Machine) { m.Faults = f })
}

func (r rig) reset(kind string) reply {
	r.t.Helper()

	return r.ask(http.MethodPost, system+"/Actions/ComputerSystem.Reset", fmt.Sprintf(`{"ResetType":%q}`, kind))
}

func TestOBMH11_powerStateIsUnclear(t *testing.T) {
	t.Parallel()

	r := newRig(t, bmc.Options{})
	r.faults(machine.Faults{PowerReads: []string{"null", "", "missing", "PoweringOn", "Unknown"}, NullPowerReads: 2})

	for i, want := range []any{nil, nil, nil, "", "missing", "PoweringOn", "Unknown", "Off", "Off"} {
		a := r.want(http.StatusOK, http.MethodGet, system, "")

		got, there := a.body["PowerState"]
		if !there {
			got = "missing"
		}

		if got != want {
			t.Errorf("read %d gives %v, want %v", i, got, want)
		}
	}
}

func TestOBMH11_powerStateIsTransitional(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, bmc.Options{})
		r.change(func(m *machine.Machine) { m.PowerDelay, m.Faults.ShowPending = time.Minute, true })

		for _, step := range []struct{ kind, during, after string }{{"On", "PoweringOn", "On"}, {"ForceOff", "PoweringOff", "Off"}} {
			if a := r.reset(step.kind); a.code != http.StatusNoContent {
				t.Fatalf("reset: %d", a.code)
			}

			time.Sleep(time.Minute - 1)

			if got := r.ask(http.MethodGet, system, "").body["PowerState"]; got != step.during {
				t.Errorf("%s under way shows %v", step.kind, got)
			}

			time.Sleep(time.Nanosecond)

			if got := r.ask(http.MethodGet, system, "").body["PowerState"]; got != step.after {
				t.Errorf("%s done shows %v", step.kind, got)
			}
		}
	})
}

func TestOBMH12_preconditions(t *testing.T) {
	t.Parallel()

	const boot = `{"Boot":{"BootSourceOverrideTarget":"Pxe"}}`

	cases := map[string]struct {
		faults machine.Faults
		match  func(tag string) string // nil: no header
		want   []int                   // of one PATCH after the other, each with a tag just read
	}{
		"a calm board asks for nothing":           {want: []int{204}},
		"and does not look at a tag":              {match: func(string) string { return `"old"` }, want: []int{204}},
		"a strict board takes the tag":            {faults: machine.Faults{StrictETag: true}, match: func(tag string) string { return tag }, want: []int{204, 204}},
		"a strict board refuses an old one":       {faults: machine.Faults{ETagMode: "strict"}, match: func(string) string { return `"old"` }, want: []int{412}},
		"a strict board takes none":               {faults: machine.Faults{ETagMode: "strict"}, want: []int{204}},
		"a demanding board wants one":             {faults: machine.Faults{ETagMode: "required"}, want: []int{428}},
		"a demanding board takes the tag":         {faults: machine.Faults{ETagMode: "required"}, match: func(tag string) string { return tag }, want: []int{204}},
		"a weak board refuses what it gave":       {faults: machine.Faults{ETagMode: "weak"}, match: func(tag string) string { return tag }, want: []int{412}},
		"and takes it without the W":              {faults: machine.Faults{ETagMode: "weak"}, match: func(tag string) string { return strings.TrimPrefix(tag, "W/") }, want: []int{204}},
		"any tag is taken as a star":              {faults: machine.Faults{ETagMode: "required"}, match: func(string) string { return "*" }, want: []int{204}},
		"a tag that moves between read and PATCH": {faults: machine.Faults{StaleETags: 1}, match: func(tag string) string { return tag }, want: []int{412, 204}},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newRig(t, bmc.Options{})
			r.faults(c.faults)

			for _, want := range c.want {
				tag := r.ask(http.MethodGet, system, "").header.Get("ETag")

				var header []string
				if c.match != nil {
					header = []string{"If-Match", c.match(tag)}
				}

				if got := r.ask(http.MethodPatch, system, boot, header...).code; got != want {
					t.Errorf("PATCH with %v (tag %s): %d, want %d", header, tag, got, want)
				}
			}
		})
	}
}

func TestOBMH12_noTagAtAll(t *testing.T) {
	t.Parallel()

	r := newRig(t, bmc.Options{})
	r.faults(machine.Faults{ETagMode: "none"})

	a := r.want(http.StatusOK, http.MethodGet, system, "")
	if tag, there := a.body["@odata.etag"]; there || a.header.Get("ETag") != "" {
		t.Errorf("tag %v, header %q", tag, a.header.Get("ETag"))
	}
}

func TestOBMH13_resetIsATask(t *testing.T) {
	t.Parallel()

	for shape, follow := range map[string]func(reply) string{
		"location": func(a reply) string { return a.header.Get("Location") },
		"monitor":  func(a reply) string { return a.header.Get("Location") },
		"body":     func(a reply) string { id, _ := a.body["@odata.id"].(string); return id },
		"bare":     func(a reply) string { return a.header.Get("Location") + a.text },
	} {
		for _, fails := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, fails: %v", shape, fails), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { resetAsTask(t, shape, fails, follow) })
			})
		}
	}
}

func resetAsTask(t *testing.T, shape string, fails bool, follow func(reply) string) {
	t.Helper()

	r := newRig(t, bmc.Options{})
	r.change(func(m *machine.Machine) {
		m.PowerDelay, m.Faults.ResetTask, m.Faults.FailTasks = time.Minute, shape, fails
	})

	a := r.reset("On")
	if a.code != http.StatusAccepted {
		t.Fatalf("reset: %d %s", a.code, a.text)
	}

	at := follow(a)
	look := func() string {
		a := r.ask(http.MethodGet, at, "")

		return fmt.Sprint(a.code, " ", a.body["TaskState"])
	}

	power, state, monitor := "On", "200 Completed", "204 <nil>"
	if fails {
		power, state, monitor = "Off", "200 Exception", "500 <nil>"
	}

	switch shape {
	case "bare":
		if at != "" {
			t.Errorf("a bare answer says %q", at)
		}

		time.Sleep(time.Minute)
	case "monitor":
		expect(t, look(), "202 Running")
		time.Sleep(time.Minute)
		expect(t, look(), monitor)
	default:
		expect(t, look(), "200 Running")
		time.Sleep(time.Minute)
		expect(t, look(), state)
	}

	expect(t, r.machine().Power, power)
}

func expect(t *testing.T, got, want string) {
	t.Helper()

	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOBMH14_twoSystems(t *testing.T) {
	t.Parallel()

	r := newRig(t, bmc.Options{})
	r.faults(machine.Faults{SecondSystem: "HGX_Baseboard_0", SwapSystems: true})

	first := func() any {
		members, _ := r.want(http.StatusOK, http.MethodGet, "/redfish/v1/Systems", "").body["Members"].([]any)
		if len(members) != 2 {
			t.Fatalf("members %v", members)
		}

		return members[0].(map[string]any)["@odata.id"]
	}

	if a, b := first(), first(); a == b {
		t.Errorf("the order stays: %v first", a)
	}

	const other = "/redfish/v1/Systems/HGX_Baseboard_0"

	if got := r.want(http.StatusOK, http.MethodGet, other, "").body["Id"]; got != "HGX_Baseboard_0" {
		t.Errorf("the second system is %v", got)
	}

	mac := r.want(http.StatusOK, http.MethodGet, other+"/EthernetInterfaces/NIC1", "").body["MACAddress"]
	if mac == r.machine().MACs[0] {
		t.Error("both systems have the same MAC address")
	}

	r.want(http.StatusNoContent, http.MethodPost, other+"/Actions/ComputerSystem.Reset", `{"ResetType":"On"}`)

	if p := r.machine().Power; p != machine.Off {
		t.Error("the second system's button switched the first one")
	}

	r.want(http.StatusNotFound, http.MethodGet, "/redfish/v1/Systems/2", "")
}

func TestOBMH15_virtualMedia(t *testing.T) {
	t.Parallel()

	const (
		slot   = system + "/VirtualMedia/Cd"
		insert = slot + "/Actions/VirtualMedia.InsertMedia"
		eject  = slot + "/Actions/VirtualMedia.EjectMedia"
		image  = `{"Image":"http://images.lab/a.iso"}`
	)

	r := newRig(t, bmc.Options{})
	inserted := func() any { return r.want(http.StatusOK, http.MethodGet, slot, "").body["Inserted"] }

	r.want(http.StatusNoContent, http.MethodPost, eject, `{}`)

	r.faults(machine.Faults{RefuseEmpty: true, EjectLag: 2, FailInserts: 2})
	r.want(http.StatusBadRequest, http.MethodPost, eject, `{}`)
	r.want(http.StatusInternalServerError, http.MethodPost, insert, image)
	r.want(http.StatusInternalServerError, http.MethodPost, insert, image)
	r.want(http.StatusNoContent, http.MethodPost, insert, image)
	r.want(http.StatusBadRequest, http.MethodPost, insert, `{"Image":"http://images.lab/b.iso"}`)
	r.want(http.StatusNoContent, http.MethodPost, eject, `{}`)

	for i, want := range []bool{true, true, false} {
		if got := inserted(); got != want {
			t.Errorf("read %d after the eject: inserted %v, want %v", i, got, want)
		}
	}

	r.faults(machine.Faults{NoInsertAction: true})
	r.want(http.StatusNotFound, http.MethodPost, insert, image)

	if actions, there := r.ask(http.MethodGet, slot, "").body["Actions"]; there {
		t.Errorf("the first slot has actions %v", actions)
	}

	r.want(http.StatusNoContent, http.MethodPost, strings.Replace(insert, "Cd", "USBStick", 1), image)

	r.faults(machine.Faults{FailMedia: true})
	r.want(http.StatusBadRequest, http.MethodPost, insert, image)
}

func TestOBMH16_bootOverride(t *testing.T) {
	t.Parallel()

	r := newRig(t, bmc.Options{})
	patch := func(code int, boot string) {
		t.Helper()
		r.want(code, http.MethodPatch, system, `{"Boot":`+boot+`}`)
	}

	patch(http.StatusNoContent, `{"BootSourceOverrideTarget":"Cd","BootSourceOverrideEnabled":"Continuous"}`)
	patch(http.StatusBadRequest, `{"BootSourceOverrideTarget":"Floppy"}`)
	patch(http.StatusBadRequest, `{"BootSourceOverrideEnabled":"Sometimes"}`)

	if b := r.machine().Boot; b.Target != "Cd" || b.Enabled != "Continuous" || b.Mode != "UEFI" {
		t.Errorf("a refused PATCH changed the override to %+v", b)
	}

	r.faults(machine.Faults{NoContinuous: true, ForgetBoot: true, FlipBootMode: true})
	patch(http.StatusBadRequest, `{"BootSourceOverrideEnabled":"Continuous"}`)
	patch(http.StatusNoContent, `{"BootSourceOverrideTarget":"Cd","BootSourceOverrideEnabled":"Once","BootSourceOverrideMode":"UEFI"}`)
	expect(t, r.machine().Boot.Mode, "UEFI")
	patch(http.StatusNoContent, `{"BootSourceOverrideTarget":"Cd","BootSourceOverrideEnabled":"Once"}`)
	expect(t, r.machine().Boot.Mode, "Legacy")

	r.reset("On")
	expect(t, r.machine().Boot.Enabled, "Disabled")
}
