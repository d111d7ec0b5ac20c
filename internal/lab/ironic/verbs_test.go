// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
)

// table is Ironic's state machine as the documentation of the host has it: state, verb and
// the state that follows at once. A verb marked with * needs a server of API 1.110.
const table = `
enroll: manage=verifying
verifying:
manageable: inspect=inspecting clean=cleaning provide=cleaning adopt=adopting
available: active=deploying manage=manageable
inspecting:
inspect wait: abort=inspect failed
inspect failed: manage=manageable inspect=inspecting
cleaning:
clean wait: abort=clean failed
clean hold: unhold=clean wait abort=clean failed
clean failed: manage=manageable
deploying:
wait call-back: deleted=deleting abort*=deploy failed
deploy hold: unhold=wait call-back abort=deploy failed
deploy failed: active=deploying rebuild=deploying deleted=deleting
active: rebuild=deploying deleted=deleting rescue=rescuing service=servicing
deleting:
error: rebuild=deploying deleted=deleting
adopting:
adopt failed: adopt=adopting manage=manageable
servicing:
service wait: abort=service failed deleted=deleting
service hold: service=servicing unhold=service wait abort=service failed
service failed: service=servicing rescue=rescuing abort*=active deleted=deleting
rescuing:
rescue wait: abort=rescue failed deleted=deleting
rescue: rescue=rescuing unrescue=unrescuing deleted=deleting
rescue failed: rescue=rescuing unrescue=unrescuing deleted=deleting
unrescuing:
unrescue failed: rescue=rescuing unrescue=unrescuing deleted=deleting
`

// extras are what a verb must bring.
var extras = map[string]string{
	"clean":   `,"clean_steps":[{"interface":"deploy","step":"erase_devices"}]`,
	"service": `,"service_steps":[{"interface":"bios","step":"factory_reset"}]`,
	"rescue":  `,"rescue_password":"x"`,
}

var allVerbs = []string{
	"manage", "inspect", "clean", "provide", "adopt", "active", "rebuild", "deleted", "abort", "unhold", "rescue", "unrescue", "service",
}

func rows(t *testing.T) map[string]map[string]string {
	t.Helper()

	all := map[string]map[string]string{}

	for line := range strings.Lines(strings.TrimSpace(table)) {
		state, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		all[state] = map[string]string{}

		verb := ""
		for _, word := range strings.Fields(rest) {
			if name, next, ok := strings.Cut(word, "="); ok {
				verb = name
				all[state][verb] = next
			} else {
				all[state][verb] += " " + word
			}
		}
	}

	return all
}

func TestProvision_everyVerbInEveryState(t *testing.T) {
	t.Parallel()

	for name, o := range map[string]ironic.Options{
		"29.0.5 (1.96)": {Pace: time.Hour}, "35 (1.111)": {Pace: time.Hour, MaxMinor: 111},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newRig(t, o)
			r.fake()

			for state, row := range rows(t) {
				for _, verb := range allVerbs {
					want, known := row[verb]
					if next, ok := row[verb+"*"]; ok && o.MaxMinor >= 110 {
						want, known = next, true
					}

					r.edit("n", map[string]any{
						"provision_state": state, "target_provision_state": "", "maintenance": false, "walk": nil, "power": nil,
					})

					code := r.verb(verb, extras[verb])
					got := r.get("n")["provision_state"]

					if known && (code != http.StatusAccepted || got != want) {
						t.Errorf("%s in %s: %d, then %v; want 202 and %s", verb, state, code, got, want)
					}

					if !known && (code != http.StatusBadRequest || got != state) {
						t.Errorf("%s in %s: %d, then %v; want 400", verb, state, code, got)
					}
				}
			}
		})
	}
}

// updatable are the states in which a node with a target may be patched.
var updatable = map[string]bool{
	"deploy failed": true, "inspect failed": true, "inspect wait": true, "clean failed": true, "error": true, "verifying": true,
	"adopt failed": true, "rescue failed": true, "unrescue failed": true, "service hold": true, "service failed": true,
}

func TestPatch_duringATransition(t *testing.T) {
	t.Parallel()

	r := newRig(t, ironic.Options{})
	r.fake()

	const patch = `[{"op":"add","path":"/extra/metal3","value":{"v":1}}]`

	for state := range rows(t) {
		want := http.StatusConflict
		if updatable[state] {
			want = http.StatusOK
		}

		r.edit("n", map[string]any{"provision_state": state, "target_provision_state": "active", "maintenance": true})

		if code, body := r.do(http.MethodPatch, "/v1/nodes/n", patch); code != want {
			t.Errorf("%s with a target: %d, want %d: %v", state, code, want, body)
		}

		r.edit("n", map[string]any{"instance_uuid": "11111111-2222-4333-8444-555555555555"})

		if code, body := r.do(http.MethodPatch, "/v1/nodes/n", `[{"op":"remove","path":"/instance_uuid"}]`); code != http.StatusOK {
			t.Errorf("%s: releasing a node in maintenance: %d: %v", state, code, body)
		}
	}
}

func TestProvision_everyFailedStateCanBeHad(t *testing.T) {
	t.Parallel()

	for verb, c := range map[string]struct{ from, end, target string }{
		"manage":   {"enroll", "enroll", ""},
		"inspect":  {"manageable", "inspect failed", "manageable"},
		"clean":    {"manageable", "clean failed", "manageable"},
		"provide":  {"manageable", "clean failed", "available"},
		"adopt":    {"manageable", "adopt failed", "active"},
		"active":   {"available", "deploy failed", "active"},
		"rebuild":  {"active", "deploy failed", "active"},
		"deleted":  {"active", "error", "available"},
		"service":  {"active", "service failed", "active"},
		"rescue":   {"active", "rescue failed", "rescue"},
		"unrescue": {"rescue", "unrescue failed", "active"},
	} {
		t.Run(verb+" fails", func(t *testing.T) {
			t.Parallel()

			r := newRig(t, ironic.Options{})
			r.fake()
			r.edit("n", map[string]any{"provision_state": c.from})
			r.failNext("n", verb, ironic.Failure{LastError: "no luck", In: firstState[verb]})

			if code := r.verb(verb, extras[verb]); code != http.StatusAccepted {
				t.Fatalf("status %d", code)
			}

			n := r.rest(c.end)
			if n["last_error"] != "no luck" || c.target != "" && n["target_provision_state"] != c.target {
				t.Errorf("last_error %v, target %v", n["last_error"], n["target_provision_state"])
			}

			history := r.must(http.StatusOK, http.MethodGet, "/v1/nodes/n/history", nil)["history"].([]any)
			if len(history) != 1 || history[0].(map[string]any)["event"] != "no luck" {
				t.Errorf("history: %v", history)
			}
		})
	}
}

// firstState is where a verb is made to fail: a deletion fails before its cleaning.
var firstState = map[string]string{"deleted": "deleting"}

func TestProvision_aFailureWithAFault(t *testing.T) {
	t.Parallel()

	r := newRig(t, ironic.Options{})
	r.fake()
	r.edit("n", map[string]any{"provision_state": "manageable"})
	r.failNext("", "clean", ironic.Failure{LastError: "disk is frozen", Fault: "clean failure", After: 2 * time.Millisecond})
	r.verb("clean", extras["clean"])

	n := r.rest("clean failed")
	if n["maintenance"] != true || n["fault"] != "clean failure" {
		t.Errorf("maintenance %v, fault %v", n["maintenance"], n["fault"])
	}

	r.verb("manage", "")

	if n := r.rest("manageable"); n["maintenance"] != true {
		t.Error("maintenance does not survive the way out")
	}
}

func TestProvision_stepsCanHold(t *testing.T) {
	t.Parallel()

	r := newRig(t, ironic.Options{})
	r.fake()
	r.edit("n", map[string]any{"provision_state": "manageable"})
	r.verb("clean", `,"clean_steps":[{"interface":"deploy","step":"hold"},{"interface":"deploy","step":"erase_devices"}]`)
	r.rest("clean hold")
	time.Sleep(5 * time.Millisecond)
	r.rest("clean hold")
	r.verb("unhold", "")
	r.rest("manageable")
}

func TestProvision_configDrive(t *testing.T) {
	t.Parallel()

	r := newRig(t, ironic.Options{})
	r.fake()

	for more, want := range map[string]int{
		`,"configdrive":{"user_data":"x","meta_data":{},"network_data":{},"vendor_data":{}}`: http.StatusAccepted,
		`,"configdrive":{}`:                             http.StatusAccepted,
		`,"configdrive":"H4sIAAA="`:                     http.StatusAccepted,
		`,"configdrive":{"bogus":1}`:                    http.StatusBadRequest,
		`,"deploy_steps":[{"interface":"deploy"}]`:      http.StatusBadRequest,
		`,"clean_steps":[{"interface":"a","step":"b"}]`: http.StatusBadRequest,
	} {
		r.edit("n", map[string]any{"provision_state": "available", "instance_info": map[string]any{"configdrive": nil}})

		if code := r.verb("active", more); code != want {
			t.Errorf("%s: %d, want %d", more, code, want)
		}
	}
}
