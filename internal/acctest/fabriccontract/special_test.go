// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabriccontract_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/drivers"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/nec"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/redfish"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// start opens a lab of two A100 and a driver for it.
func start(t *testing.T, driver string) (*lab.Lab, fabric.Fabric) {
	t.Helper()

	l, err := lab.Open(lab.Options{Machines: 2, GPUs: map[string]int{"A100": 2}})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = l.Close() })

	f, err := drivers.New(fabric.Config{
		Type: driver, Endpoint: lab.FabricEndpoint, AllowPlainHTTP: true, Transport: l.Transport(),
		Auth: fabric.Auth{Username: labfabric.Username, Password: labfabric.Password},
	})
	if err != nil {
		t.Fatal(err)
	}

	return l, f
}

func attach(t *testing.T, f fabric.Fabric) (fabric.Hint, error) {
	t.Helper()

	free, err := f.Free(t.Context(), machine.ID(0), "gpu", "A100")
	if err != nil || len(free.Devices) == 0 {
		t.Fatalf("free: %+v, %v", free, err)
	}

	return f.Attach(t.Context(), machine.ID(0), fabric.Want{Type: "gpu", Model: "A100", Device: free.Devices[0], Count: 1})
}

func TestCDIM_aSuspendedJobWaitsForAPerson(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, f := start(t, "nec_cdim")

		arm := func(tx store.Tx, _ time.Time) error {
			return nec.Arm(tx, nec.Outcome{Status: nec.Suspended, Reason: "switch"})
		}
		if err := l.Fabric.Change(arm); err != nil {
			t.Fatal(err)
		}

		hint, err := attach(t, f)
		if err != nil {
			t.Fatal(err)
		}

		time.Sleep(time.Hour)

		task, err := f.(fabric.Tasks).Task(t.Context(), hint.Task)
		if err != nil || task.State != fabric.TaskSuspended || !strings.Contains(task.Text, "switch") {
			t.Errorf("the job is %+v, %v", task, err)
		}

		_, err = attach(t, f)
		if !errors.Is(err, fabric.ErrSuspended) || !fabric.NothingDone(err) || !strings.Contains(err.Error(), hint.Task) {
			t.Errorf("the next order: %v", err)
		}

		if n := l.Fabric.Count("PUT /cdim/api/v1/layout-apply/*"); n != 0 {
			t.Errorf("the driver resumed or cancelled %d times", n)
		}

		// a person does
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPut,
			lab.FabricEndpoint+"/cdim/api/v1/layout-apply/"+hint.Task+"?action=resume", nil)

		res, err := (&http.Client{Transport: l.Transport()}).Do(req)
		if err != nil {
			t.Fatal(err)
		}

		_ = res.Body.Close()

		time.Sleep(time.Minute)

		if task, err := f.(fabric.Tasks).Task(t.Context(), hint.Task); err != nil || task.State != fabric.TaskDone {
			t.Errorf("resumed the job is %+v, %v", task, err)
		}

		if m, err := f.Machine(t.Context(), machine.ID(0)); err != nil || len(m.Devices) != 1 {
			t.Errorf("the machine is %+v, %v", m, err)
		}
	})
}

func TestCDIM_aBareMachineIsOneAllTheSame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, f := start(t, "nec_cdim")
		l.Fabric.Tune(func(t *face.Tuning) { t.CDIM.Bare = true })

		if m, err := f.Machine(t.Context(), machine.ID(0)); err != nil || len(m.Devices) != 0 {
			t.Errorf("the machine is %+v, %v", m, err)
		}

		if all, err := f.Machines(t.Context()); err != nil || len(all) != 2 {
			t.Errorf("the machines are %+v, %v", all, err)
		}

		if _, err := attach(t, f); err != nil {
			t.Fatal(err)
		}

		time.Sleep(time.Minute)

		if m, err := f.Machine(t.Context(), machine.ID(0)); err != nil || len(m.Devices) != 1 {
			t.Errorf("the machine is %+v, %v", m, err)
		}
	})
}

func TestRedfish_aReservedBlockIsNotFree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, f := start(t, "redfish")

		free, err := f.Free(t.Context(), machine.ID(0), "gpu", "A100")
		if err != nil || free.Count != 2 {
			t.Fatalf("free: %+v, %v", free, err)
		}

		taken := free.Devices[0]
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPatch, lab.FabricEndpoint+taken.FabricID,
			strings.NewReader(`{"CompositionStatus":{"Reserved":true}}`))
		req.SetBasicAuth(labfabric.Username, labfabric.Password)

		res, err := (&http.Client{Transport: l.Transport()}).Do(req)
		if err != nil || res.StatusCode != http.StatusNoContent {
			t.Fatalf("reserve: %v, %v", res, err)
		}

		_ = res.Body.Close()

		if free, err := f.Free(t.Context(), machine.ID(0), "gpu", "A100"); err != nil || free.Count != 1 || free.Devices[0].Same(taken) {
			t.Errorf("free: %+v, %v", free, err)
		}

		_, err = f.Attach(t.Context(), machine.ID(0), fabric.Want{Type: "gpu", Model: "A100", Device: taken})
		if !errors.Is(err, fabric.ErrBusy) {
			t.Errorf("attach what somebody reserved: %v", err)
		}
	})
}

func TestRedfish_aSessionThatEndsIsOpenedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, f := start(t, "redfish")

		for range 3 {
			if _, err := f.Machine(t.Context(), machine.ID(0)); err != nil {
				t.Errorf("read: %v", err)
			}

			if err := l.Fabric.Change(func(tx store.Tx, _ time.Time) error { return redfish.EndSessions(tx) }); err != nil {
				t.Fatal(err)
			}
		}

		if n := l.Fabric.Count("POST /redfish/v1/SessionService/Sessions"); n != 3 {
			t.Errorf("%d logins", n)
		}
	})
}
