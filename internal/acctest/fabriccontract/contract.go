// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package fabriccontract holds drivers of fabric managers to what the lifecycle above them
// relies on. All drivers run the same suite, each against its own face of the lab's fabric, so
// what was ordered is compared with what happened to the hardware.
package fabriccontract

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/drivers"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
)

// Target is a driver, and the kind of manager that it is run against.
type Target struct {
	// Config is the driver's, but for what is the same for all: address, transport and user.
	Config fabric.Config
	// Open managers know no login.
	Open bool
	// Tune makes the lab's manager one of this kind; nil: as it is.
	Tune func(*face.Tuning)

	// Reads matches the requests with which a machine is read, Attach and Detach those that
	// order: patterns of labfabric.Fault.
	Reads, Attach, Detach string
	// ReadCost is how many requests a read of a machine with n devices takes at most, once the
	// driver knows the manager.
	ReadCost func(n int) int
}

// Run runs the suite. Every test has a lab for itself, and time that does not pass by itself.
func Run(t *testing.T, target Target) {
	t.Helper()

	for _, suite := range []map[string]func(*rig){reads(), orders(), faults(), missing()} {
		for name, check := range suite {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { check(newRig(t, target)) })
			})
		}
	}
}

// What the lab of every test has: three machines, and these devices.
const (
	gpu    = "gpu"
	model  = "A100"
	other  = "L40S"
	models = 3 // of model
	pace   = time.Second
)

// rig is a driver and its lab.
type rig struct {
	*testing.T
	Target

	lab *lab.Lab
	far *labfabric.Service
	f   fabric.Fabric
}

func newRig(t *testing.T, target Target) *rig {
	t.Helper()

	o := lab.Options{Machines: 3, Pace: pace, GPUs: map[string]int{model: models, other: 1}}
	if target.Tune != nil {
		target.Tune(&o.Fabric.Tuning)
	}

	l, err := lab.Open(o)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close the lab: %v", err)
		}
	})

	cfg := target.Config
	cfg.Endpoint, cfg.AllowPlainHTTP, cfg.Transport = lab.FabricEndpoint, true, l.Transport()

	if !target.Open {
		cfg.Auth = fabric.Auth{Username: labfabric.Username, Password: labfabric.Password, ClientSecret: labfabric.ClientSecret}
	}

	f, err := drivers.New(cfg)
	if err != nil {
		t.Fatal(err)
	}

	l.Fabric.KeepRequests()

	return &rig{T: t, Target: target, lab: l, far: l.Fabric, f: f}
}
