// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/bmc"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

const (
	sessions = "/redfish/v1/SessionService/Sessions"
	right    = `{"UserName":"admin","Password":"password"}`
	wrong    = `{"UserName":"admin","Password":"Password"}`
)

func (r rig) open(want int) {
	r.t.Helper()

	n, err := r.bmc.Sessions(subject)
	if err != nil || n != want {
		r.t.Errorf("%d sessions open, want %d (%v)", n, want, err)
	}
}

func TestOBMH17_sessionsAreFew(t *testing.T) {
	t.Parallel()

	r := newRig(t, bmc.Options{Sessions: 3})
	last := reply{}

	for range 3 {
		last = r.want(http.StatusCreated, http.MethodPost, sessions, right)
	}

	r.open(3)
	r.want(http.StatusServiceUnavailable, http.MethodPost, sessions, right)
	r.want(http.StatusUnauthorized, http.MethodPost, sessions, wrong)
	r.want(http.StatusNoContent, http.MethodDelete, last.header.Get("Location"), "")
	r.open(2)
	r.want(http.StatusCreated, http.MethodPost, sessions, right)

	r.faults(machine.Faults{SessionLimit: 4})
	r.want(http.StatusCreated, http.MethodPost, sessions, right)
	r.want(http.StatusServiceUnavailable, http.MethodPost, sessions, right)
}

func TestOBMH17_sessionsExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, bmc.Options{Sessions: 1})
		token := r.want(http.StatusCreated, http.MethodPost, sessions, right).header.Get("X-Auth-Token")

		for range 3 { // use keeps it alive
			time.Sleep(20 * time.Minute)
			r.want(http.StatusOK, http.MethodGet, system, "", "X-Auth-Token", token)
		}

		time.Sleep(31 * time.Minute)
		r.want(http.StatusUnauthorized, http.MethodGet, system, "", "X-Auth-Token", token)
		r.open(0)
		r.want(http.StatusCreated, http.MethodPost, sessions, right)
	})
}

func TestOBMH17_loginIsRefusedForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, bmc.Options{})
		r.faults(machine.Faults{RefuseLogins: 2, RefuseLoginUntil: time.Now().Add(time.Minute)})

		r.want(http.StatusServiceUnavailable, http.MethodPost, sessions, right)
		time.Sleep(time.Minute)
		r.want(http.StatusServiceUnavailable, http.MethodPost, sessions, right)
		r.want(http.StatusServiceUnavailable, http.MethodPost, sessions, right)
		r.want(http.StatusCreated, http.MethodPost, sessions, right)
	})
}

func TestCredentials(t *testing.T) {
	t.Parallel()

	r := newRig(t, bmc.Options{})
	token := r.want(http.StatusCreated, http.MethodPost, sessions, right).header.Get("X-Auth-Token")

	r.want(http.StatusOK, http.MethodGet, system, "", "X-Auth-Token", token)
	r.want(http.StatusUnauthorized, http.MethodGet, system, "", "X-Auth-Token", "none")
	r.want(http.StatusOK, http.MethodGet, "/redfish/v1/", "", "Authorization", "")
	r.want(http.StatusUnauthorized, http.MethodGet, system, "", "Authorization", "")

	r.want(http.StatusNoContent, http.MethodPatch, "/redfish/v1/AccountService/Accounts/1", `{"Password":"rotated"}`)
	r.want(http.StatusUnauthorized, http.MethodGet, system, "")
	r.want(http.StatusUnauthorized, http.MethodGet, system, "", "X-Auth-Token", token)
	r.want(http.StatusUnauthorized, http.MethodPost, sessions, right)
	r.want(http.StatusCreated, http.MethodPost, sessions, `{"UserName":"admin","Password":"rotated"}`)
}

func TestCredentials_behindOneListener(t *testing.T) {
	t.Parallel()

	r := newRig(t, bmc.Options{})
	r.faults(machine.Faults{Password: "rotated"})

	srv := r.serve(r.bmc.Shared())
	get := func(password string, i int) error {
		client, err := connect(t, srv, false, password)
		if err != nil {
			return err
		}
		defer client.Logout()

		_, err = schemas.GetObject[schemas.ComputerSystem](client, "/redfish/v1/Systems/"+machine.ID(i))

		return err
	}

	for name, c := range map[string]struct {
		password string
		machine  int
		ok       bool
	}{
		"a machine's own password":        {password: "rotated", machine: 2, ok: true},
		"the password of another machine": {password: "password", machine: 2},
		"the password of the others":      {password: "password", machine: 1, ok: true},
		"nobody's password":               {password: "x", machine: 1},
	} {
		if err := get(c.password, c.machine); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFaults_ofTheConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, bmc.Options{})

		r.faults(machine.Faults{Unreachable: true})
		r.want(http.StatusServiceUnavailable, http.MethodGet, "/redfish/v1", "")
		r.want(http.StatusServiceUnavailable, http.MethodPost, sessions, right)

		r.faults(machine.Faults{FailNextReads: 1})
		r.want(http.StatusInternalServerError, http.MethodGet, system, "")
		r.want(http.StatusOK, http.MethodGet, system, "")

		r.faults(machine.Faults{HTTPDelayMS: 1500})

		began := time.Now()
		r.want(http.StatusOK, http.MethodGet, system, "")

		if took := time.Since(began); took != 1500*time.Millisecond {
			t.Errorf("the answer took %v", took)
		}

		r.faults(machine.Faults{FailPower: true})

		if a := r.reset("On"); a.code != http.StatusInternalServerError || r.machine().Power != machine.Off {
			t.Errorf("a refused reset: %d, power %s", a.code, r.machine().Power)
		}
	})
}

func TestFaults_droppedAfterTheWork(t *testing.T) {
	t.Parallel()

	var told []string

	r := newRig(t, bmc.Options{Changed: func(name string) { told = append(told, name) }})
	r.faults(machine.Faults{DropAnswers: 1})

	func() {
		defer func() {
			if recover() != http.ErrAbortHandler { //nolint:errorlint // the server compares it so
				t.Error("the connection was not dropped")
			}
		}()

		r.reset("On")
	}()

	if p := r.machine().Power; p != machine.On {
		t.Errorf("the work was not done: power %s", p)
	}

	if len(told) != 1 || told[0] != subject {
		t.Errorf("told of changes of %v", told)
	}

	if a := r.reset("ForceOff"); a.code != http.StatusNoContent {
		t.Errorf("the next answer: %d", a.code)
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()

	const (
		update    = "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate"
		component = "/redfish/v1/UpdateService/FirmwareInventory/" + subject + "-BIOS"
	)

	for name, fails := range map[string]bool{"ends well": false, "ends in an exception": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, bmc.Options{})
				r.faults(machine.Faults{FailUpdate: fails})

				version, state := "2.2.0", "Completed"
				if fails {
					version, state = "2.1.0", "Exception"
				}

				r.want(http.StatusBadRequest, http.MethodPost, update, `{}`)
				task := r.want(http.StatusAccepted, http.MethodPost, update, `{"ImageURI":"http://images.lab/bios-2.2.0.bin"}`).header.Get("Location")

				if got := r.ask(http.MethodGet, component, "").body["Version"]; got != "2.1.0" {
					t.Errorf("version %v before the task is done", got)
				}

				time.Sleep(time.Second)

				if got := r.ask(http.MethodGet, task, "").body["TaskState"]; got != state {
					t.Errorf("task %v, want %s", got, state)
				}

				if got := r.ask(http.MethodGet, component, "").body["Version"]; got != version {
					t.Errorf("version %v, want %s", got, version)
				}
			})
		})
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		method, path, body string
		code               int
	}{
		"a body that is no JSON":         {http.MethodPatch, system, `{"Boot"`, http.StatusBadRequest},
		"a body that is no object":       {http.MethodPatch, system, `[]`, http.StatusBadRequest},
		"an unknown property":            {http.MethodPatch, system, `{"Boost":{}}`, http.StatusBadRequest},
		"a boot override of no object":   {http.MethodPatch, system, `{"Boot":"Cd"}`, http.StatusBadRequest},
		"an unknown reset type":          {http.MethodPost, system + "/Actions/ComputerSystem.Reset", `{"ResetType":"Kick"}`, http.StatusBadRequest},
		"no reset type":                  {http.MethodPost, system + "/Actions/ComputerSystem.Reset", ``, http.StatusBadRequest},
		"an unknown BIOS attribute":      {http.MethodPatch, system + "/Bios/Settings", `{"Attributes":{"Nope":1}}`, http.StatusBadRequest},
		"BIOS settings without any":      {http.MethodPatch, system + "/Bios/Settings", `{}`, http.StatusBadRequest},
		"an image that is no URI":        {http.MethodPost, system + "/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia", `{"Image":"a.iso"}`, http.StatusBadRequest},
		"a slot that is not there":       {http.MethodGet, system + "/VirtualMedia/Tape", ``, http.StatusNotFound},
		"a path that is not there":       {http.MethodGet, "/redfish/v1/Coffee", ``, http.StatusNotFound},
		"a system of another machine":    {http.MethodGet, "/redfish/v1/Systems/" + machine.ID(1), ``, http.StatusNotFound},
		"a task that is not there":       {http.MethodGet, "/redfish/v1/TaskService/Tasks/9", ``, http.StatusNotFound},
		"a session that is not there":    {http.MethodDelete, sessions + "/x", ``, http.StatusNotFound},
		"firmware of another machine":    {http.MethodGet, "/redfish/v1/UpdateService/FirmwareInventory/node-1-BIOS", ``, http.StatusNotFound},
		"a password change without one":  {http.MethodPatch, "/redfish/v1/AccountService/Accounts/1", `{}`, http.StatusBadRequest},
		"a volume that is not there":     {http.MethodDelete, system + "/Storage/RAID1/Volumes/V1", ``, http.StatusNotFound},
		"secure boot that is no boolean": {http.MethodPatch, system + "/SecureBoot", `{"SecureBootEnable":"yes"}`, http.StatusBadRequest},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newRig(t, bmc.Options{})
			before := r.machine()
			a := r.want(c.code, c.method, c.path, c.body)

			if _, ok := a.body["error"].(map[string]any); !ok {
				t.Errorf("no Redfish error: %s", a.text)
			}

			if after := r.machine(); after.Boots != before.Boots || after.Boot != before.Boot || len(after.Events) != len(before.Events) {
				t.Errorf("the machine changed: %+v", after)
			}
		})
	}
}

func TestHandler_noSuchMachine(t *testing.T) {
	t.Parallel()

	for _, host := range []string{"node-9.lab", "elsewhere:80", ""} {
		w := httptest.NewRecorder()
		bmc.New(store.New(""), bmc.Options{}).Handler(host).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/redfish/v1/", nil))

		if w.Code != http.StatusNotFound {
			t.Errorf("host %q: %d", host, w.Code)
		}
	}
}
