// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package facetest is the hardware behind a face, for the tests of faces.
package facetest

import (
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// Bench is a fabric of three machines, two A100 and two L40S.
type Bench struct {
	testing.TB

	Env *face.Env
}

// New makes the fabric of one test.
func New(tb testing.TB, tune func(*face.Tuning)) Bench {
	tb.Helper()

	env := &face.Env{
		Store: store.New(""), Machines: machine.Options{Count: 3},
		Hardware: hardware.Options{
			GPUs: map[string]int{"A100": 2, "L40S": 2}, CXL: map[string]int{"CXL-64G": 1},
			AddTime: 10 * time.Second, RemoveTime: 5 * time.Second,
		},
	}
	env.Tune(tune)

	return Bench{TB: tb, Env: env}
}

// Change changes the hardware behind everybody's back.
func (b Bench) Change(f func(store.Tx, time.Time) error) {
	b.Helper()

	if err := b.Env.Update(f); err != nil {
		b.Fatal(err)
	}
}

// Set changes a device.
func (b Bench) Set(id string, change func(*hardware.Device)) {
	b.Helper()
	b.Change(func(tx store.Tx, now time.Time) error {
		d, _, err := hardware.Load(tx, now, id)
		if err != nil {
			return err
		}

		change(&d)

		return hardware.Save(tx, d)
	})
}

// GPUs are the devices of a model, by index.
func (b Bench) GPUs(model string) (out []hardware.Device) {
	b.Helper()
	b.Change(func(tx store.Tx, now time.Time) error {
		all, err := hardware.All(tx, now)
		for _, d := range all {
			if d.Model == model {
				out = append(out, d)
			}
		}

		return err
	})

	return out
}
