// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package neccdim_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
)

func TestLab_aDeviceComesAndGoes(t *testing.T) {
	t.Parallel()

	for name, tuning := range map[string]face.CDIM{
		"the open manager": {}, "machines of a CPU alone": {Bare: true}, "the product": {Product: true}, "no UUID": {NoUUID: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { comesAndGoes(t, tuning) })
		})
	}
}

func comesAndGoes(t *testing.T, tuning face.CDIM) {
	t.Helper()

	o := lab.Options{Dir: t.TempDir()}
	o.Fabric.AddTime, o.Fabric.RemoveTime, o.Fabric.Tuning.CDIM = 10*time.Second, 5*time.Second, tuning

	l, err := lab.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()

	f := driver(t, fabric.Config{Endpoint: lab.FabricEndpoint, Transport: l.Transport()})

	machines, err := f.Machines(t.Context())
	if err != nil || len(machines) != 8 {
		t.Fatalf("%d machines, %v", len(machines), err)
	}

	id := machines[3].ID

	free, err := f.Free(t.Context(), id, "gpu", "A100")
	if err != nil || free.Count != 4 {
		t.Fatalf("%+v, %v", free, err)
	}

	device := free.Devices[1]

	hint, err := f.Attach(t.Context(), id, fabric.Want{Type: "gpu", Model: "A100", Device: device})
	if err != nil || hint.Task == "" {
		t.Fatalf("%+v, %v", hint, err)
	}

	if _, err := f.Attach(t.Context(), machines[4].ID, fabric.Want{Type: "gpu", Model: "A100", Device: free.Devices[0]}); !errors.Is(err, fabric.ErrBusy) {
		t.Errorf("a second order: %v", err)
	}

	task(t, f, hint.Task, fabric.TaskRunning)
	time.Sleep(o.Fabric.AddTime) // virtual
	task(t, f, hint.Task, fabric.TaskDone)

	m, err := f.Machine(t.Context(), id)
	if err != nil || len(m.Devices) != 1 || !m.Devices[0].Same(device) || (m.Devices[0].DeviceID == "") != tuning.NoUUID {
		t.Fatalf("%+v, %v", m, err)
	}

	if free, err = f.Free(t.Context(), id, "gpu", "A100"); err != nil || free.Count != 3 {
		t.Errorf("%+v, %v", free, err)
	}

	if hint, err = f.Detach(t.Context(), id, device); err != nil {
		t.Fatal(err)
	}

	time.Sleep(o.Fabric.RemoveTime)
	task(t, f, hint.Task, fabric.TaskDone)

	if m, err = f.Machine(t.Context(), id); err != nil || len(m.Devices) != 0 {
		t.Errorf("%+v, %v", m, err)
	}

	if _, err := f.Detach(t.Context(), id, device); !errors.Is(err, fabric.ErrNotFound) {
		t.Errorf("detach of what has gone: %v", err)
	}
}

func task(t *testing.T, f fabric.Fabric, id string, want fabric.TaskState) {
	t.Helper()

	tasks, _ := f.(fabric.Tasks)

	got, err := tasks.Task(t.Context(), id)
	if err != nil || got.State != want {
		t.Errorf("task: %+v, %v, want %d", got, err, want)
	}
}
