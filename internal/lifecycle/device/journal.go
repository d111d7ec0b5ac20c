// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// Intent is an order as it was written down before it was given. It outlives the process:
// Terraform writes its state only when a verb returns.
type Intent struct {
	ID       string `json:"id"`
	Fabric   string `json:"fabric"`
	Machine  string `json:"machine"`
	Type     string `json:"type"`
	Model    string `json:"model"`
	Resource string `json:"resource"`
	// Fingerprint is that of the configuration: see Wanted.fingerprint.
	Fingerprint string    `json:"fingerprint"`
	Before      []Known   `json:"before"` // devices of the kind that were there
	Chosen      string    `json:"chosen,omitempty"`
	Task        string    `json:"task,omitempty"`
	At          time.Time `json:"at"`
	Got         *Known    `json:"got,omitempty"` // the device that came; nil: not known yet
	GotAt       time.Time `json:"got_at,omitzero"`
	Run         string    `json:"run"` // the run that gave the order, see [Journal]
	PID         int       `json:"pid"`
	Began       string    `json:"began,omitempty"` // when that process began, as its system tells; the journal fills it
	Host        string    `json:"host,omitempty"`  // where that process is; the journal fills it
}

// Known are the ids of a device that somebody knew.
type Known struct {
	FabricID string `json:"fabric_id"`
	DeviceID string `json:"device_id,omitempty"`
}

func (k Known) device() fabric.Device {
	return fabric.Device{FabricID: k.FabricID, DeviceID: k.DeviceID}
}

func known(all []fabric.Device) []Known {
	out := make([]Known, 0, len(all))
	for _, d := range all {
		out = append(out, Known{d.FabricID, d.DeviceID})
	}

	return out
}

func has(all []Known, d fabric.Device) bool {
	return slices.ContainsFunc(all, func(k Known) bool { return k.device().Same(d) })
}

// Journal keeps intents where the end of the process does not reach them.
type Journal interface {
	// Put writes an intent, or a newer form of it. What Put returned nil for survives.
	Put(i Intent) error
	// Drop forgets an intent; one that is not there is no error.
	Drop(id string) error
	// Of lists the intents for a machine of a fabric, the oldest first.
	Of(fabric, machine string) ([]Intent, error)
	// Live reports whether the process that wrote an intent may still be at work on it.
	Live(i Intent) bool
	// Run names the run that writes.
	Run() string
}
