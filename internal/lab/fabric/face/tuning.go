// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package face

import (
	"cmp"
	"net/http"
	"time"
)

// Tuning is how a manager behaves where managers differ or nothing is known for sure. The zero
// value is a manager as the vendor's samples show it.
type Tuning struct {
	// TokenLifetime is how long a token is good; 0 means 60 s, as in the vendor's sample.
	TokenLifetime time.Duration
	// RefreshLifetime is how long a refresh token is good; 0 means 30 minutes.
	RefreshLifetime time.Duration
	// TokenShape is one of the Token… constants.
	TokenShape TokenShape

	// AsyncStatus makes FM answer an order at once, with this status; 0: when it is done, with
	// 200. A 204 has no body.
	AsyncStatus int
	// AnswerAll makes FM answer an attach with all devices of the machine, not with the new one.
	AnswerAll bool
	// ModelColumn is FM's name of the column that holds the model; empty means "model".
	ModelColumn string
	// Misspelt makes FM call res_spec "res_spcec" in its answers, as a production FM does.
	Misspelt bool

	// CountActual makes CM's device_count the devices that are there; else it is the target.
	CountActual bool
	// LateID hides the device_id of a device that CM is still adding.
	LateID bool
	// MinCount and MaxCount are the limits of CM's specifications; MaxCount 0 means 8.
	MinCount, MaxCount int
	// RefuseBusy makes CM answer 409 while a device comes or goes.
	RefuseBusy bool

	// CDIM and Redfish are for the faces of that name.
	CDIM    CDIM
	Redfish Redfish
}

// TokenShape is what an access token looks like.
type TokenShape int

// The shapes of an access token.
const (
	TokenJWT      TokenShape = iota
	TokenOpaque              // no JWT at all
	TokenTwoPart             // a JWT without a signature
	TokenPadded              // base64 with padding, against the standard
	TokenFloatExp            // exp is a number with an exponent
	TokenNoExpiry            // neither exp nor expires_in
	TokenTextual             // expires_in is a string
	TokenMute                // no JWT, and no expires_in
)

func (t Tuning) filled() Tuning {
	t.TokenLifetime = cmp.Or(t.TokenLifetime, time.Minute)
	t.RefreshLifetime = cmp.Or(t.RefreshLifetime, 30*time.Minute)
	t.ModelColumn = cmp.Or(t.ModelColumn, "model")
	t.MaxCount = cmp.Or(t.MaxCount, 8)

	return t
}

// Status is the status of FM's answer to an order.
func (t Tuning) Status() int { return cmp.Or(t.AsyncStatus, http.StatusOK) }

// Tune changes how the manager behaves from now on.
func (e *Env) Tune(f func(*Tuning)) {
	e.tuning.Lock()
	defer e.tuning.Unlock()

	f(&e.tuned)
}

// Tuned is how the manager behaves now, defaults filled in.
func (e *Env) Tuned() Tuning {
	e.tuning.Lock()
	defer e.tuning.Unlock()

	return e.tuned.filled()
}
