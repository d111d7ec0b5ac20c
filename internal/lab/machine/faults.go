// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import "time"

// Faults is what a machine and its BMC were told to do wrong. Numbers named "next" count down.
type Faults struct {
	// Power.
	FailPower      bool     `json:"fail_power,omitempty"`       // a reset answers 500
	StuckPower     bool     `json:"stuck_power,omitempty"`      // a reset is accepted and nothing happens
	NullPowerReads int      `json:"null_power_reads,omitempty"` // the next so many reads of the system give PowerState null
	PowerReads     []string `json:"power_reads,omitempty"`      // what the next reads give instead: null, missing, or the word itself
	ShowPending    bool     `json:"show_pending,omitempty"`     // PoweringOn and PoweringOff while a change is under way

	// The BMC's HTTP.
	Unreachable   bool `json:"unreachable,omitempty"`    // everything of this machine answers 503
	HTTPDelayMS   int  `json:"http_delay_ms,omitempty"`  // every answer is late
	FailNextReads int  `json:"fail_next_gets,omitempty"` // the next so many GETs answer 500
	DropAnswers   int  `json:"drop_answers,omitempty"`   // the next so many changes are done, but the connection drops before the answer

	// Credentials and sessions.
	Password         string    `json:"password,omitempty"`          // what the BMC accepts instead of the password it had
	SessionLimit     int       `json:"session_limit,omitempty"`     // sessions at once
	RefuseLogins     int       `json:"refuse_logins,omitempty"`     // the next so many logins answer 503
	RefuseLoginUntil time.Time `json:"refuse_login_until,omitzero"` // and so do all until then

	// ETags.
	ETagMode   string `json:"etag_mode,omitempty"`   // "", strict, required, weak, none: see package bmc
	StrictETag bool   `json:"strict_etag,omitempty"` // another name of the mode strict
	StaleETags int    `json:"stale_etags,omitempty"` // the next so many changes answer 412 as if the resource had just changed

	// Tasks.
	ResetTask string `json:"reset_task,omitempty"` // a reset answers 202: location, monitor, body or bare
	FailTasks bool   `json:"fail_tasks,omitempty"` // such a task ends in Exception and the power stays
	// FailUpdate makes firmware tasks end in Exception.
	FailUpdate bool `json:"fail_update,omitempty"`

	// Systems.
	SecondSystem string `json:"second_system,omitempty"` // the id of another system on the same BMC
	SwapSystems  bool   `json:"swap_systems,omitempty"`  // the order of the two changes with every read
	Swapped      bool   `json:"swapped,omitempty"`       // which order the last read saw

	// Virtual media and boot.
	FailMedia      bool `json:"fail_media,omitempty"`       // an insert answers 400
	FailInserts    int  `json:"fail_inserts,omitempty"`     // the next so many inserts answer 500
	RefuseEmpty    bool `json:"refuse_empty,omitempty"`     // ejecting an empty slot answers 400
	EjectLag       int  `json:"eject_lag,omitempty"`        // after an eject so many reads still see the medium
	NoInsertAction bool `json:"no_insert_action,omitempty"` // the first slot has no actions
	NoContinuous   bool `json:"no_continuous,omitempty"`    // a continuous boot override answers 400
	ForgetBoot     bool `json:"forget_boot,omitempty"`      // every power on resets the boot override
	FlipBootMode   bool `json:"flip_boot_mode,omitempty"`   // an override without the mode flips it to Legacy

	// The deployment agent.
	NoAgent      bool              `json:"no_agent,omitempty"`      // it boots but never calls back
	InspectError string            `json:"inspect_error,omitempty"` // sent with the inventory
	FailSteps    map[string]string `json:"fail_steps,omitempty"`    // text by agent command or step
}

// FailStep is the text with which a step fails, looked up by any of its names.
func (f Faults) FailStep(names ...string) (string, bool) {
	for _, name := range names {
		if why, ok := f.FailSteps[name]; ok {
			return why, true
		}
	}

	return "", false
}
