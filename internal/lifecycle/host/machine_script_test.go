// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// TestScripts plays the conversations of testdata/*.txt, one line a look:
//
//	want provisioned
//	seen state=enroll                      -> manage
//	seen state=enroll error="code 401"     -> failed "code 401"
//
// What a line says of the host stays so for the lines after it. How often each step was
// done is counted as a run counts it.
func TestScripts(t *testing.T) {
	t.Parallel()

	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}

	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()

			doc, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}

			p := player{T: t, f: calm("")}
			p.f.Claim = host.ClaimNone

			for i, line := range strings.Split(string(doc), "\n") {
				p.line(i+1, strings.TrimSpace(line))
			}
		})
	}
}

type player struct {
	*testing.T

	f    host.Facts
	goal host.Goal
}

func (p *player) line(n int, line string) {
	word, rest, _ := strings.Cut(line, " ")

	switch word {
	case "", "#":
	case "want":
		p.goal = host.Goal(rest)
	case "given":
		p.set(n, rest)
	case "seen":
		facts, wanted, ok := strings.Cut(rest, "->")
		if !ok {
			p.Fatalf("line %d has no arrow", n)
		}

		p.set(n, facts)
		p.look(n, strings.TrimSpace(wanted))
	default:
		p.Fatalf("line %d begins with %q", n, word)
	}
}

func (p *player) look(n int, want string) {
	got, err := next(p.f, p.goal)
	if err != nil {
		want, says, _ := strings.Cut(want, " ")
		if got != want || !strings.Contains(err.Error(), strings.Trim(says, `"`)) {
			p.Fatalf("line %d: got %s: %v", n, got, err)
		}

		return
	}

	if got != want {
		p.Fatalf("line %d: got %q, want %q", n, got, want)
	}

	p.f.Tried[host.Step(got)]++
}

// keys are the words of a script for the facts that have others in the code.
var keys = map[string]string{
	"state": "State", "target": "Target", "error": "LastError", "fault": "Fault", "maintenance": "Maintenance", "power": "Power",
	"power-target": "PowerTarget", "power-error": "PowerError", "uninspected": "NeedsInspection", "unexamined": "NeedsExamination",
	"settled": "InSync", "online": "WantOn", "policy": "Policy", "force": "Force", "consent": "Consent", "as-wanted": "AsWanted", "differs": "Difference",
	"external": "External", "unmanaged": "Unmanaged", "was-deployed": "WasDeployed", "not-ours": "NotOurs", "attempts": "Attempts", "claim": "Claim",
	"verify": "VerifyBMC", "reboot": "RebootWanted", "pressing": "Pressing",
}

func (p *player) set(n int, text string) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		key, rest, _ := strings.Cut(text, "=")

		var value string
		if strings.HasPrefix(rest, `"`) {
			value, text, _ = strings.Cut(rest[1:], `"`)
		} else {
			value, text, _ = strings.Cut(rest, " ")
		}

		field := reflect.ValueOf(&p.f).Elem().FieldByName(keys[key])

		switch {
		case !field.IsValid():
			p.Fatalf("line %d: no fact is called %q", n, key)
		case key == "state":
			p.f.State = ironic.State(value)
		case field.Kind() == reflect.Bool:
			field.SetBool(value == "true")
		case field.Kind() == reflect.Int:
			i, err := strconv.Atoi(value)
			if err != nil {
				p.Fatalf("line %d: %v", n, err)
			}

			field.SetInt(int64(i))
		default:
			field.SetString(value)
		}
	}
}
