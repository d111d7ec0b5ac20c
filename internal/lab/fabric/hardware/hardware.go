// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package hardware is what the lab remembers of a fabric of composable devices: pools of GPUs
// and of CXL memory, and which device is on which machine. All faces of the fabric manager and
// the operating systems of the nodes work on it.
//
// Nothing here has a goroutine. An attach or a detach is stored as "what" and "until when",
// and settles by the clock the next time somebody looks, so that a lab which is killed and
// started again goes on where it was, and tests run in virtual time.
package hardware

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"time"
)

// The types of devices, as FTI spells them.
const (
	GPU = "gpu"
	CXL = "cxlmemory"
)

// The phases of a device. In the pool, and on a machine once it has arrived, it has none.
const (
	Attached     = ""
	Adding       = "adding"
	AddFailed    = "add_failed"
	Removing     = "removing"
	RemoveFailed = "remove_failed"
)

// What a change refuses.
var (
	ErrNoMachine = errors.New("the fabric has no such machine")
	ErrNoDevice  = errors.New("the fabric has no such device")
	ErrNoFree    = errors.New("no free device")
	ErrNotThere  = errors.New("the device is on no machine")
)

// Options says which devices a fabric has, and how fast it is.
type Options struct {
	GPUs    map[string]int // how many of a model are in the pool; nil: 4 A100 and 4 L40S
	CXL     map[string]int // likewise; nil: 2 of 64 GB
	Fabrics int            // switches that machines and devices are spread over in turn; 0 means 1

	AddTime    time.Duration // of an attach
	RemoveTime time.Duration // of a detach
}

func (o Options) filled() Options {
	if o.GPUs == nil {
		o.GPUs = map[string]int{"A100": 4, "L40S": 4}
	}

	if o.CXL == nil {
		o.CXL = map[string]int{"CXL-64G": 2}
	}

	o.Fabrics = max(o.Fabrics, 1)

	return o
}

// Device is what the lab remembers of one device: bucket "fabric_devices", key ID.
type Device struct {
	ID     string `json:"id"`     // res_uuid: the fabric's own
	Serial string `json:"serial"` // GPU-<uuid> as the operating system shows it; of CXL memory, 16 hex digits
	Type   string `json:"type"`   // GPU or CXL
	Model  string `json:"model"`
	Index  int    `json:"index"`
	Fabric int    `json:"fabric"` // the switch that it hangs on: 0, 1, …

	Machine    string    `json:"machine,omitempty"` // node-3; empty: in the pool
	Slot       string    `json:"slot,omitempty"`    // its PCI address there: 0000:1f:00.0
	Phase      string    `json:"phase,omitempty"`
	Until      time.Time `json:"until,omitzero"`       // when Adding or Removing ends
	AttachedAt time.Time `json:"attached_at,omitzero"` // when it arrived, or will
	Foreign    bool      `json:"foreign,omitempty"`    // somebody else put it there

	OpStatus string `json:"op_status"`        // "0" normal, "1" warning, "2" critical
	Reason   string `json:"reason,omitempty"` // of a phase that is a failure
	Gone     bool   `json:"gone,omitempty"`   // pulled out of the chassis: nobody sees it any more

	// FailAdd and FailRemove make the next attach or detach that begins end in the phase of
	// failure, with this reason; empty: it succeeds.
	FailAdd    string `json:"fail_add,omitempty"`
	FailRemove string `json:"fail_remove,omitempty"`
	// Bounce puts the device back into the pool when its attach fails: a manager without phases.
	Bounce bool `json:"bounce,omitempty"`
	// Fails is the reason with which the change under way will fail.
	Fails string `json:"fails,omitempty"`
	// TurnsAt is when the OpStatus becomes Turns by itself; zero: never.
	TurnsAt time.Time `json:"turns_at,omitzero"`
	Turns   string    `json:"turns,omitempty"`
}

// Free tells whether the device is in the pool.
func (d Device) Free() bool { return d.Machine == "" && !d.Gone }

// Present tells whether the operating system of its machine can see the device: it has
// arrived, and has not left yet.
func (d Device) Present() bool {
	return d.Machine != "" && !d.Gone && d.Phase != Adding && d.Phase != AddFailed
}

// settle does what has become due.
func (d *Device) settle(now time.Time) {
	if !d.TurnsAt.IsZero() && !now.Before(d.TurnsAt) {
		d.OpStatus, d.TurnsAt, d.Turns = d.Turns, time.Time{}, ""
	}

	if d.Until.IsZero() || now.Before(d.Until) {
		return
	}

	d.Until = time.Time{}

	switch {
	case d.Fails != "" && d.Phase == Adding && d.Bounce:
		d.release()
	case d.Fails != "" && d.Phase == Adding:
		d.Phase, d.Reason, d.Fails = AddFailed, d.Fails, ""
	case d.Fails != "" && d.Phase == Removing:
		d.Phase, d.Reason, d.Fails = RemoveFailed, d.Fails, ""
	case d.Phase == Removing:
		d.release()
	default:
		d.Phase, d.Reason = Attached, ""
	}
}

// release puts the device back into the pool.
func (d *Device) release() {
	d.Machine, d.Slot, d.Phase, d.Reason, d.Fails = "", "", Attached, "", ""
	d.Until, d.AttachedAt, d.Foreign, d.Bounce = time.Time{}, time.Time{}, false, false
}

// UUID is a UUID that depends on nothing but the name.
func UUID(name string) string {
	b := sha256.Sum256([]byte(name))
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80

	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// FabricID is the UUID of switch i.
func FabricID(i int) string { return fmt.Sprintf("66616272-0000-4000-8000-%012d", i) }
