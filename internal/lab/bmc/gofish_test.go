// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/stmcginnis/gofish"
	"github.com/stmcginnis/gofish/schemas"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/bmc"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// subject is the machine that the tests are about.
const subject = "node-2"

// rig is a store with three machines and their BMCs.
type rig struct {
	t     *testing.T
	store *store.Store
	bmc   *bmc.Service
}

func newRig(t *testing.T, o bmc.Options) rig {
	t.Helper()

	st := store.New("")
	if err := st.Update(func(tx store.Tx) error { return machine.Ensure(tx, machine.Options{Count: 3}) }); err != nil {
		t.Fatal(err)
	}

	return rig{t: t, store: st, bmc: bmc.New(st, o)}
}

func (r rig) machine() machine.Machine {
	r.t.Helper()

	var m machine.Machine

	err := r.store.View(func(tx store.Tx) (err error) {
		m, _, err = machine.Load(tx, subject)

		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}

	return m
}

func (r rig) change(f func(*machine.Machine)) {
	r.t.Helper()

	err := r.store.Update(func(tx store.Tx) error {
		m, _, err := machine.Load(tx, subject)
		if err != nil {
			return err
		}

		f(&m)

		return machine.Save(tx, m)
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r rig) serve(h http.Handler) *httptest.Server {
	srv := httptest.NewServer(h)
	r.t.Cleanup(srv.Close)

	return srv
}

func connect(t *testing.T, srv *httptest.Server, basic bool, password string) (*gofish.APIClient, error) {
	t.Helper()

	return gofish.ConnectContext(t.Context(), gofish.ClientConfig{
		Endpoint: srv.URL, Username: "admin", Password: password, BasicAuth: basic, HTTPClient: srv.Client(),
	})
}

// TestGofish drives both faces with the client that the provider uses.
func TestGofish(t *testing.T) {
	t.Parallel()

	faces := map[string]struct {
		handler func(*bmc.Service) http.Handler
		system  string
		systems int
	}{
		"a machine's own BMC":        {handler: func(s *bmc.Service) http.Handler { return s.Handler("node-2.lab:80") }, system: machine.SystemPath, systems: 1},
		"one listener for all of it": {handler: (*bmc.Service).Shared, system: "/redfish/v1/Systems/" + machine.ID(2), systems: 3},
	}

	for name, face := range faces {
		for auth, basic := range map[string]bool{"with a session": false, "with basic authentication": true} {
			t.Run(name+" "+auth, func(t *testing.T) {
				t.Parallel()

				r := newRig(t, bmc.Options{})

				client, err := connect(t, r.serve(face.handler(r.bmc)), basic, "password")
				if err != nil {
					t.Fatal(err)
				}
				defer client.Logout()

				systems, err := client.Service.Systems()
				if err != nil || len(systems) != face.systems {
					t.Fatalf("%d systems, %v", len(systems), err)
				}

				system, err := schemas.GetObject[schemas.ComputerSystem](client, face.system)
				if err != nil {
					t.Fatal(err)
				}

				if system.UUID != machine.ID(2) || system.PowerState != schemas.OffPowerState {
					t.Errorf("system %s is %s", system.UUID, system.PowerState)
				}

				bootAndPower(t, r, client, face.system)
				virtualMedia(t, r, system)
				settings(t, r, system)
				services(t, client)
			})
		}
	}
}

func bootAndPower(t *testing.T, r rig, client *gofish.APIClient, path string) {
	t.Helper()

	fresh := func() *schemas.ComputerSystem {
		system, err := schemas.GetObject[schemas.ComputerSystem](client, path)
		if err != nil {
			t.Fatal(err)
		}

		return system
	}

	r.change(func(m *machine.Machine) { m.Faults.StrictETag = true })

	if err := fresh().SetBoot(&schemas.Boot{
		BootSourceOverrideEnabled: schemas.OnceBootSourceOverrideEnabled,
		BootSourceOverrideTarget:  schemas.CdBootSource,
		BootSourceOverrideMode:    schemas.UEFIBootSourceOverrideMode,
	}); err != nil {
		t.Fatal(err)
	}

	if b := r.machine().Boot; b.Target != "Cd" || b.Enabled != "Once" {
		t.Errorf("boot override %+v", b)
	}

	if _, err := fresh().Reset(schemas.OnResetType); err != nil {
		t.Fatal(err)
	}

	system := fresh()
	if m := r.machine(); m.Booted != "Cd" || system.PowerState != schemas.OnPowerState {
		t.Errorf("booted %s, power %s", m.Booted, system.PowerState)
	}

	if system.Boot.BootSourceOverrideEnabled != schemas.DisabledBootSourceOverrideEnabled {
		t.Errorf("the override is still %s after its boot", system.Boot.BootSourceOverrideEnabled)
	}
}

func virtualMedia(t *testing.T, r rig, system *schemas.ComputerSystem) {
	t.Helper()

	slots, err := system.VirtualMedia()
	if err != nil || len(slots) != 2 {
		t.Fatalf("%d slots, %v", len(slots), err)
	}

	i := slices.IndexFunc(slots, func(v *schemas.VirtualMedia) bool { return v.ID == "Cd" })
	if _, err := slots[i].InsertMedia(&schemas.VirtualMediaInsertMediaParameters{Image: "http://images.lab/a.iso"}); err != nil {
		t.Fatal(err)
	}

	if image := r.machine().Media["Cd"].Image; image != "http://images.lab/a.iso" {
		t.Errorf("inserted %q", image)
	}

	if _, err := slots[i].EjectMedia(); err != nil {
		t.Fatal(err)
	}

	if image := r.machine().Media["Cd"].Image; image != "" {
		t.Errorf("%q is left after the eject", image)
	}
}

func settings(t *testing.T, r rig, system *schemas.ComputerSystem) {
	t.Helper()

	bios, err := system.Bios()
	if err != nil {
		t.Fatal(err)
	}

	if err := bios.UpdateBiosAttributes(schemas.SettingsAttributes{"SriovGlobalEnable": "Enabled"}); err != nil {
		t.Fatal(err)
	}

	if v := r.machine().BIOSPending["SriovGlobalEnable"]; v != "Enabled" {
		t.Errorf("pending %v", v)
	}

	secure, err := system.SecureBoot()
	if err != nil || secure.SecureBootEnable {
		t.Errorf("secure boot %v, %v", secure, err)
	}

	nics, err := system.EthernetInterfaces()
	if err != nil || len(nics) != 2 {
		t.Errorf("%d NICs, %v", len(nics), err)
	}

	cpus, err := system.Processors()
	if err != nil || len(cpus) != 2 {
		t.Errorf("%d processors, %v", len(cpus), err)
	}

	storage, err := system.Storage()
	if err != nil || len(storage) != 1 {
		t.Fatalf("%d storages, %v", len(storage), err)
	}

	if drives, err := storage[0].Drives(); err != nil || len(drives) != 2 {
		t.Errorf("%d drives, %v", len(drives), err)
	}

	if volumes, err := storage[0].Volumes(); err != nil || len(volumes) != 0 {
		t.Errorf("%d volumes, %v", len(volumes), err)
	}
}

func services(t *testing.T, client *gofish.APIClient) {
	t.Helper()

	managers, err := client.Service.Managers()
	if err != nil || len(managers) == 0 {
		t.Fatalf("%d managers, %v", len(managers), err)
	}

	if slots, err := managers[0].VirtualMedia(); err != nil || len(slots) != 2 {
		t.Errorf("%d slots of the manager, %v", len(slots), err)
	}

	if chassis, err := client.Service.Chassis(); err != nil || len(chassis) == 0 {
		t.Errorf("%d chassis, %v", len(chassis), err)
	}

	update, err := client.Service.UpdateService()
	if err != nil {
		t.Fatal(err)
	}

	if inventory, err := update.FirmwareInventory(); err != nil || len(inventory)%3 != 0 || len(inventory) == 0 {
		t.Errorf("%d firmware components, %v", len(inventory), err)
	}

	task, err := update.SimpleUpdate(&schemas.UpdateServiceSimpleUpdateParameters{ImageURI: "http://images.lab/bios-2.2.0.bin"})
	if err != nil || task == nil || task.TaskMonitor == "" {
		t.Errorf("update began as %+v, %v", task, err)
	}

	tasks, err := client.Service.Tasks()
	if err != nil {
		t.Fatal(err)
	}

	if all, err := tasks.Tasks(); err != nil || len(all) != 1 {
		t.Errorf("%d tasks, %v", len(all), err)
	}
}
