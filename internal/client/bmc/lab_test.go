// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/bmc"
	lab "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/bmc"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// handler is a transport that ends in a handler.
type handler struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (h handler) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if r.Body == nil {
		r.Body = http.NoBody
	}

	h.ServeHTTP(w, r)

	return w.Result(), r.Context().Err()
}

// machineOfTheLab runs the client against a BMC of the lab, whose machine has faults.
func machineOfTheLab(t *testing.T, faults machine.Faults, run func(c *bmc.Client)) machine.Machine {
	t.Helper()

	st := store.New("")
	host := machine.Name(0)

	err := st.Update(func(tx store.Tx) error {
		if err := machine.Ensure(tx, machine.Options{Count: 1, PowerDelay: 3 * time.Second}); err != nil {
			return err
		}

		m, _, err := machine.Load(tx, host)
		m.Faults = faults

		return errors.Join(err, machine.Save(tx, m))
	})
	if err != nil {
		t.Fatal(err)
	}

	service := lab.New(st, lab.Options{Sessions: 2})
	client := bmc.New(bmc.Config{
		Address: "http://" + host + ".lab", SystemPath: machine.SystemPath, Username: "admin", Password: "password",
		Transport: handler{service.Handler(host + ".lab")},
	})

	run(client)
	client.Close(t.Context())

	if n, err := service.Sessions(host); n != 0 || err != nil {
		t.Errorf("%d sessions left open, error %v", n, err)
	}

	var m machine.Machine

	err = st.View(func(tx store.Tx) error {
		m, _, err = machine.Load(tx, host)

		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	return m
}

func TestClient_onTheLab(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		faults machine.Faults
		fails  error
	}{
		"a machine without faults":               {machine.Faults{}, nil},
		"O-BMH-11: power that is not told":       {machine.Faults{PowerReads: []string{"null", "missing", "PoweringOn", "Unknown"}}, nil},
		"O-BMH-11: pending states are shown":     {machine.Faults{ShowPending: true}, nil},
		"O-BMH-12: strict tags":                  {machine.Faults{ETagMode: "strict"}, nil},
		"O-BMH-12: tags are required":            {machine.Faults{ETagMode: "required"}, nil},
		"O-BMH-12: weak tags are refused":        {machine.Faults{ETagMode: "weak"}, nil},
		"O-BMH-12: one stale tag":                {machine.Faults{ETagMode: "strict", StaleETags: 1}, nil},
		"O-BMH-13: a task":                       {machine.Faults{ResetTask: "location"}, nil},
		"O-BMH-13: a monitor":                    {machine.Faults{ResetTask: "monitor"}, nil},
		"O-BMH-13: a body":                       {machine.Faults{ResetTask: "body"}, nil},
		"O-BMH-13: nothing":                      {machine.Faults{ResetTask: "bare"}, nil},
		"O-BMH-13: a task that fails":            {machine.Faults{ResetTask: "location", FailTasks: true}, bmc.ErrTask},
		"O-BMH-13: a monitor that fails":         {machine.Faults{ResetTask: "monitor", FailTasks: true}, bmc.ErrTask},
		"O-BMH-17: logins that are refused":      {machine.Faults{RefuseLogins: 2}, nil},
		"O-BMH-17: logins that are always":       {machine.Faults{RefuseLogins: 1000}, nil},
		"reads that fail for a moment":           {machine.Faults{FailNextReads: 1, PowerReads: []string{"Off"}}, errAny},
		"a machine whose power cannot be turned": {machine.Faults{FailPower: true}, errAny},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := machineOfTheLab(t, tc.faults, func(c *bmc.Client) {
					err := c.Patch(t.Context(), machine.SystemPath, map[string]any{"Boot": map[string]any{
						"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once", "BootSourceOverrideMode": "UEFI",
					}})
					if err == nil {
						err = c.SetPower(t.Context(), bmc.TurnOn)
					}

					if !errors.Is(err, tc.fails) && (!errors.Is(tc.fails, errAny) || err == nil) {
						t.Errorf("error %v, want %v", err, tc.fails)
					}
				})

				if tc.fails == nil && (m.Power != machine.On || m.Booted != "Pxe" || m.Resets != 1) {
					t.Errorf("power %s, booted %s, %d resets, want On, Pxe and one", m.Power, m.Booted, m.Resets)
				}
			})
		})
	}
}
