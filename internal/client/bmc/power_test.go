// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/bmc"
)

// shown scripts the words that successive reads of the system show.
func shown(f *fake, words ...any) {
	f.script("GET "+systemOne, func(n int, _ call) *reply {
		if n > len(words) {
			return nil
		}

		d := doc{}
		for key, value := range f.docs[systemOne] {
			d[key] = value
		}

		d["PowerState"] = words[n-1]
		if words[n-1] == missing {
			delete(d, "PowerState")
		}

		return &reply{status: http.StatusOK, body: d}
	})
}

const missing = "(missing)"

func TestOBMH11_powerStateThatIsNone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		shown(f, "Off", nil, "", missing, "PoweringOn", "Unknown", "Off", 7, "On")

		if err := f.client(t).SetPower(t.Context(), bmc.TurnOn); err != nil {
			t.Fatal(err)
		}

		if n := f.count("POST " + resetPath); n != 1 {
			t.Errorf("the button was pressed %d times, want once", n)
		}

		if n := f.count("GET " + systemOne); n != 9 {
			t.Errorf("%d looks, want as many as it took to see On: 9", n)
		}
	})
}

func TestOBMH11_unknownIsNeitherOnNorOff(t *testing.T) {
	t.Parallel()

	f := newFake()
	shown(f, nil, "", missing, "PoweringOff", "Paused", "on", "Off")

	client := f.client(t)

	for _, want := range []bmc.Power{"", "", "", "", "", bmc.PowerOn, bmc.PowerOff} {
		if got, err := client.Power(t.Context()); err != nil || got != want {
			t.Errorf("power %q, error %v, want %q", got, err, want)
		}
	}
}

func TestClient_SetPower(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		power   any
		change  bmc.Change
		allowed []any
		sent    string
		wrong   string
	}{
		"on":                               {"Off", bmc.TurnOn, []any{"On", "ForceOff"}, `{"ResetType":"On"}`, ""},
		"on, when only the force is there": {"Off", bmc.TurnOn, []any{"ForceOn"}, `{"ResetType":"ForceOn"}`, ""},
		"off":                              {"On", bmc.TurnOff, []any{"On", "ForceOff"}, `{"ResetType":"ForceOff"}`, ""},
		"nothing when it is on already":    {"On", bmc.TurnOn, []any{"On"}, "", ""},
		"nothing when it is off already":   {"Off", bmc.ShutDown, []any{"On"}, "", ""},
		"restart":                          {"On", bmc.Restart, []any{"ForceRestart"}, `{"ResetType":"ForceRestart"}`, ""},
		"restart by a power cycle":         {"On", bmc.Restart, []any{"PowerCycle"}, `{"ResetType":"PowerCycle"}`, ""},
		"restart of what is off":           {"Off", bmc.Restart, []any{"On", "ForceRestart"}, `{"ResetType":"On"}`, ""},
		"no word is forced on the BMC":     {"On", bmc.ShutDown, []any{"On", "ForceOff"}, "", "allows only On, ForceOff"},
		"a BMC that lists nothing":         {"Off", bmc.TurnOn, nil, `{"ResetType":"On"}`, ""},
		"a state that stays unknown":       {nil, bmc.TurnOn, []any{"On"}, `{"ResetType":"On"}`, ""},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.docs[systemOne]["PowerState"] = tc.power
				action := f.docs[systemOne]["Actions"].(doc)["#ComputerSystem.Reset"].(doc)
				action["ResetType@Redfish.AllowableValues"] = tc.allowed

				err := f.client(t).SetPower(t.Context(), tc.change)
				if (err != nil) != (tc.wrong != "") || (err != nil && !strings.Contains(err.Error(), tc.wrong)) {
					t.Fatalf("error %v, want %q", err, tc.wrong)
				}

				sent := ""
				for _, c := range f.calls {
					if c.path == resetPath {
						sent += c.body
					}
				}

				if sent != tc.sent {
					t.Errorf("sent %s, want %s", sent, tc.sent)
				}
			})
		})
	}
}

func TestClient_SetPower_lostAnswer(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		done bool
	}{
		"the work was done":     {true},
		"the work was not done": {false},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.script("POST "+resetPath, func(_ int, c call) *reply {
					if tc.done {
						time.AfterFunc(10*time.Second, func() { f.mu.Lock(); defer f.mu.Unlock(); f.obey(c) })
					}

					return &reply{}
				})

				start := time.Now()

				err := f.client(t).SetPower(t.Context(), bmc.TurnOn)
				if (err == nil) != tc.done {
					t.Errorf("error %v, want none: %v", err, tc.done)
				}

				if n := f.count("POST " + resetPath); n != 1 {
					t.Errorf("pressed %d times, want once", n)
				}

				if waited := time.Since(start); waited > 2*time.Minute {
					t.Errorf("waited %s for the effect of a lost request", waited)
				}
			})
		})
	}
}

func TestClient_SetPower_refusedWhenDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.script("POST "+resetPath, func(_ int, c call) *reply {
			f.obey(c) // somebody else was quicker

			answer := failed(http.StatusConflict, "the system is on already")

			return &answer
		})

		if err := f.client(t).SetPower(t.Context(), bmc.TurnOn); err != nil {
			t.Errorf("error %v, want none: the machine is on", err)
		}
	})
}

func TestClient_SetPower_timeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.afterPut = func(*fake, call) {} // stuck

		err := f.client(t).SetPower(t.Context(), bmc.TurnOn)
		if err == nil || !strings.Contains(err.Error(), "turn on the system "+systemOne) || !strings.Contains(err.Error(), "power state Off") {
			t.Errorf("error %v, want one that says what was waited for and what was seen", err)
		}
	})
}
