// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"errors"
	"fmt"
	"strings"
)

// The kinds of failure that a caller can tell apart with errors.Is.
var (
	ErrNotFound  = errors.New("not found")                      // the manager says that it has no such machine or device
	ErrBusy      = errors.New("busy")                           // the manager does something else; see [NothingDone] of a 503
	ErrCapacity  = errors.New("no free device")                 // nothing was done
	ErrAuth      = errors.New("not authorised")                 // nothing was done
	ErrRefused   = errors.New("refused")                        // nothing was done, and asking again does not help
	ErrUnsent    = errors.New("not reached")                    // the request surely did not arrive
	ErrUnknown   = errors.New("outcome unknown")                // the order may have been carried out: look
	ErrNotFabric = errors.New("not a fabric manager's")         // HTML, a redirect, JSON of another service
	ErrConfig    = errors.New("wrong configuration")            // of the provider's fabric block
	ErrUnhealthy = errors.New("the device is not healthy")      // it was attached, and the manager calls it critical
	ErrSuspended = errors.New("the manager waits for a person") // a job is suspended; a person must resume or cancel it
)

// Error is a request that a fabric manager refused, or that got no (usable) answer.
type Error struct {
	Op      string // what was being done: "attach a gpu A100 to machine 5f…"
	Method  string
	Path    string // without query and secrets
	Status  int    // of HTTP; 0 where there was no answer
	Code    string // the manager's own
	Message string // the manager's words, or the best text there is: bounded, without secrets
	Kind    error  // one of the Err… values
	Err     error  // below it; nil: none

	login bool // it is the login before the request that failed
}

func (e *Error) Error() string {
	var b strings.Builder

	b.WriteString(e.Op)

	if e.Method != "" {
		fmt.Fprintf(&b, ": %s %s", e.Method, e.Path)
	}

	if e.Status != 0 {
		fmt.Fprintf(&b, " answered %d", e.Status)
	}

	if e.Code != "" {
		fmt.Fprintf(&b, " (%s)", e.Code)
	}

	if e.Message != "" {
		b.WriteString(": " + e.Message)
	} else if e.Kind != nil {
		b.WriteString(": " + e.Kind.Error())
	}

	return b.String()
}

// Is makes errors.Is with the kind true.
func (e *Error) Is(target error) bool { return e.Kind == target }

// Unwrap returns what is below.
func (e *Error) Unwrap() error { return e.Err }

// NothingDone reports whether an error of an order says that nothing was done. Of [ErrBusy]
// that is as certain as the status is: 409, 423 and 429 are the manager's, but a 503 may come
// from a gateway in front of it, after the order went through. Whoever orders again after a
// 503 has to look first.
func NothingDone(err error) bool {
	for _, kind := range []error{ErrNotFound, ErrBusy, ErrCapacity, ErrAuth, ErrRefused, ErrUnsent, ErrConfig} {
		if errors.Is(err, kind) {
			return true
		}
	}

	return false
}
