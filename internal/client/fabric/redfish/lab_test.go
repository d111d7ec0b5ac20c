// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/redfish"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
)

func TestLab_aDeviceComesAndGoes(t *testing.T) {
	t.Parallel()

	for name, tuning := range map[string]face.Redfish{
		"actions": {}, "links": {NoActions: true, NeedETag: true}, "pages": {PageSize: 3, NoExpand: true}, "without tasks": {NoTasks: true},
		"zones": {Zones: true}, "zones in pages": {Zones: true, PageSize: 2, NoTasks: true}, "no links": {NoLinks: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { comesAndGoes(t, tuning) })
		})
	}
}

func comesAndGoes(t *testing.T, tuning face.Redfish) {
	t.Helper()

	o := lab.Options{Dir: t.TempDir()}
	o.Fabric.AddTime, o.Fabric.RemoveTime, o.Fabric.Tuning.Redfish, o.Fabric.Fabrics = 10*time.Second, 5*time.Second, tuning, 2

	l, err := lab.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()

	f, err := redfish.New(fabric.Config{
		Endpoint: lab.FabricEndpoint, Transport: l.Transport(), AllowPlainHTTP: true,
		Auth: fabric.Auth{Username: labfabric.Username, Password: labfabric.Password},
	})
	if err != nil {
		t.Fatal(err)
	}

	machines, err := f.Machines(t.Context())
	if err != nil || len(machines) != 8 {
		t.Fatalf("%d machines, %v", len(machines), err)
	}

	id := machines[3].ID

	free, err := f.Free(t.Context(), id, "gpu", "A100")
	if err != nil || free.Count != 2 { // of the machine's switch
		t.Fatalf("%+v, %v", free, err)
	}

	device := free.Devices[1]

	hint, err := f.Attach(t.Context(), id, fabric.Want{Type: "gpu", Model: "A100", Device: device})
	if err != nil || (hint.Task == "") != (tuning.NoTasks || tuning.Zones) {
		t.Fatalf("%+v, %v", hint, err)
	}

	arrived(t, f, hint.Task, o.Fabric.AddTime)

	m, err := f.Machine(t.Context(), id)
	if err != nil || len(m.Devices) != 1 || !m.Devices[0].Same(device) || m.Devices[0].DeviceID != device.DeviceID || m.FabricID != free.FabricID {
		t.Fatalf("%+v, %v", m, err)
	}

	if free, err = f.Free(t.Context(), id, "gpu", "A100"); err != nil || free.Count != 1 {
		t.Errorf("%+v, %v", free, err)
	}

	if _, err = f.Attach(t.Context(), machines[5].ID, fabric.Want{Type: "gpu", Device: device}); !errors.Is(err, fabric.ErrBusy) {
		t.Errorf("attach of what is taken: %v", err)
	}

	if hint, err = f.Detach(t.Context(), id, device); err != nil {
		t.Fatal(err)
	}

	arrived(t, f, hint.Task, o.Fabric.RemoveTime)

	if m, err = f.Machine(t.Context(), id); err != nil || len(m.Devices) != 0 {
		t.Errorf("%+v, %v", m, err)
	}

	if _, err := f.Detach(t.Context(), id, device); !errors.Is(err, fabric.ErrNotFound) {
		t.Errorf("detach of what has gone: %v", err)
	}
}

// arrived lets a job come to its end.
func arrived(t *testing.T, f fabric.Fabric, id string, takes time.Duration) {
	t.Helper()

	if id == "" { // it is done, or it goes on without a name
		time.Sleep(takes)

		return
	}

	tasks, _ := f.(fabric.Tasks)

	if got, err := tasks.Task(t.Context(), id); err != nil || got.State != fabric.TaskRunning {
		t.Errorf("task: %+v, %v", got, err)
	}

	time.Sleep(takes) // virtual

	if got, err := tasks.Task(t.Context(), id); err != nil || got.State != fabric.TaskDone {
		t.Errorf("task: %+v, %v", got, err)
	}
}
