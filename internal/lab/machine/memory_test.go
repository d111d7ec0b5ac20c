// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

func ensure(t *testing.T, st *store.Store, o machine.Options) {
	t.Helper()

	if err := st.Update(func(tx store.Tx) error { return machine.Ensure(tx, o) }); err != nil {
		t.Fatal(err)
	}
}

func TestByAddress(t *testing.T) {
	t.Parallel()

	st := store.New("")
	ensure(t, st, machine.Options{Count: 12})

	cases := map[string]struct {
		host, system string
		want         string // empty: none
	}{
		"a host of the lab alone":            {host: "node-3.lab", want: "node-3"},
		"with a port":                        {host: "node-11.lab:80", want: "node-11"},
		"with the path of its system":        {host: "node-3.lab", system: "/redfish/v1/Systems/1", want: "node-3"},
		"with a trailing slash":              {host: "node-3.lab", system: "/redfish/v1/Systems/1/", want: "node-3"},
		"with its UUID":                      {host: "node-3.lab", system: "/redfish/v1/Systems/" + machine.ID(3), want: "node-3"},
		"in capitals":                        {host: "NODE-3.LAB", want: "node-3"},
		"a shared listener needs the UUID":   {host: "127.0.0.1:8000", system: "/redfish/v1/Systems/" + machine.ID(10), want: "node-10"},
		"and has no system 1":                {host: "127.0.0.1:8000", system: "/redfish/v1/Systems/1"},
		"nor one of no path":                 {host: "127.0.0.1:8000"},
		"a host with another's UUID":         {host: "node-3.lab", system: "/redfish/v1/Systems/" + machine.ID(4)},
		"a host with another system":         {host: "node-3.lab", system: "/redfish/v1/Systems/2"},
		"a host that is not there":           {host: "node-12.lab"},
		"a host of another domain":           {host: "node-3.example", system: "/redfish/v1/Systems/1"},
		"an ID that is only nearly one":      {host: "127.0.0.1", system: "/redfish/v1/Systems/6d6f636b-0000-4000-8000-3"},
		"an ID that is no number at its end": {host: "127.0.0.1", system: "/redfish/v1/Systems/abc"},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := st.View(func(tx store.Tx) error {
				m, ok, err := machine.ByAddress(tx, c.host, c.system)
				if m.Name != c.want || ok != (c.want != "") {
					t.Errorf("machine %q, %v; want %q", m.Name, ok, c.want)
				}

				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestEnsure_keepsWhatIsThere(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "lab.db")
	ensure(t, store.New(path), machine.Options{Count: 2})

	err := store.New(path).Update(func(tx store.Tx) error {
		m, _, err := machine.Load(tx, "node-1")
		if err != nil {
			return err
		}

		m.Image = "http://images.lab/a.qcow2"

		return machine.Save(tx, m)
	})
	if err != nil {
		t.Fatal(err)
	}

	st := store.New(path)
	ensure(t, st, machine.Options{Count: 3, PowerDelay: time.Second})

	err = st.View(func(tx store.Tx) error {
		all, err := machine.All(tx)
		if len(all) != 3 || all[1].Image == "" || all[1].PowerDelay != time.Second || all[2].Name != "node-2" {
			t.Errorf("machines are %+v", all)
		}

		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLoad_survivesJSON(t *testing.T) {
	t.Parallel()

	st := store.New("")
	want := machine.Default(5, machine.Options{Username: "root", Password: "calvin"})
	want.Faults = machine.Faults{PowerReads: []string{"null"}, FailSteps: map[string]string{"a": "b"}}
	want.BIOS = nil // numbers change their type in JSON; the rest must not

	err := st.Update(func(tx store.Tx) error {
		if err := machine.Save(tx, want); err != nil {
			return err
		}

		got, ok, err := machine.Load(tx, want.Name)

		want.Volumes, got.Volumes = nil, nil // empty and absent are the same
		if !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("loaded\n%+v\nwant\n%+v", got, want)
		}

		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAccepts(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		options        machine.Options
		faults         machine.Faults
		user, password string
		want           bool
	}{
		"the default credentials":               {user: "admin", password: "password", want: true},
		"a wrong password":                      {user: "admin", password: "Password"},
		"a wrong user":                          {user: "root", password: "password"},
		"a password rotated behind our back":    {faults: machine.Faults{Password: "new"}, user: "admin", password: "new", want: true},
		"the one before the rotation":           {faults: machine.Faults{Password: "new"}, user: "admin", password: "password"},
		"anything where nothing is asked":       {options: machine.Options{NoAuth: true}, want: true},
		"given credentials":                     {options: machine.Options{Username: "u", Password: "p"}, user: "u", password: "p", want: true},
		"the default ones where others are set": {options: machine.Options{Username: "u", Password: "p"}, user: "admin", password: "password"},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := machine.Default(0, c.options)
			m.Faults = c.faults

			if got := m.Accepts(c.user, c.password); got != c.want {
				t.Errorf("accepts: %v", got)
			}
		})
	}
}

func TestReport(t *testing.T) {
	t.Parallel()

	m := machine.Default(300, machine.Options{})
	m.Faults.InspectError = "no disks"

	raw, err := json.Marshal(m.Report())
	if err != nil {
		t.Fatal(err)
	}

	var report struct {
		Inventory struct {
			Interfaces []struct {
				MAC string `json:"mac_address"`
			}
		}
		RootDisk struct{ Name string } `json:"root_disk"`
		Boot     string                `json:"boot_interface"`
		Error    string
	}
	if err := json.Unmarshal(raw, &report); err != nil {
		t.Fatal(err)
	}

	if len(report.Inventory.Interfaces) != 2 || report.Inventory.Interfaces[0].MAC != "52:54:00:5a:01:2c" {
		t.Errorf("interfaces %+v", report.Inventory.Interfaces)
	}

	if report.RootDisk.Name != "/dev/sda" || report.Boot != "01-52-54-00-5a-01-2c" || report.Error != "no disks" {
		t.Errorf("report %+v", report)
	}
}

func TestSay_isBounded(t *testing.T) {
	t.Parallel()

	m := machine.Default(0, machine.Options{})
	for range 1000 {
		m.Say(time.Now(), "%s", "again")
	}

	if n := len(m.Events); n != 60 {
		t.Errorf("%d events kept", n)
	}
}
