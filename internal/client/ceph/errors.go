// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"errors"
	"fmt"
)

// The kinds of failure that a caller can tell apart with errors.Is.
var (
	// ErrNoQuorum says that no monitor answered in time: none is reached, or there is no quorum.
	ErrNoQuorum = errors.New("no monitor answers")
	// ErrNoManager says that the command needs an active manager, and there is none.
	ErrNoManager = errors.New("no active manager")
	// ErrNoLibrados says that the host has no librados for its Python: the cli transport serves.
	ErrNoLibrados = errors.New("the host has no Python librados")
	// ErrNoTool says that the host has no ceph command.
	ErrNoTool = errors.New("the host has no ceph command")
	// ErrAnswer says that an answer cannot be read.
	ErrAnswer = errors.New("unreadable answer of Ceph")
	// ErrLost says that the session broke: whether the command was done is not known.
	ErrLost = errors.New("session with the cluster lost")

	ErrNotFound   = &Error{Code: -2}   // ENOENT
	ErrPermission = &Error{Code: -13}  // EACCES: the key is not taken
	ErrBusy       = &Error{Code: -16}  // EBUSY: not now
	ErrExists     = &Error{Code: -17}  // EEXIST
	ErrInvalid    = &Error{Code: -22}  // EINVAL
	ErrTimedOut   = &Error{Code: -110} // ETIMEDOUT

	errNotPermitted = &Error{Code: -1}  // EPERM: "are you sure?", or not at all
	errAgain        = &Error{Code: -11} // EAGAIN: it is not known yet
	errNotEmpty     = &Error{Code: -39} // ENOTEMPTY
)

// Error is an answer of Ceph that says no.
type Error struct {
	Code    int    // the negative errno, as librados gives it
	Status  string // Ceph's words
	Command string // the prefix of the command, such as "osd ok-to-stop"
	Out     []byte // what was answered all the same: ok-to-stop says why in JSON
}

// Error implements error.
func (e *Error) Error() string {
	words := e.Status
	if words == "" {
		words = errnoText(e.Code)
	}

	if e.Command == "" {
		return words
	}

	return fmt.Sprintf("ceph %s: %s", e.Command, words)
}

// ErrorCode returns the negative errno, as go-ceph's errors do.
func (e *Error) ErrorCode() int { return e.Code }

// Is compares by the code alone, so that errors.Is(err, ErrBusy) holds for every EBUSY.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error) // errors.Is unwraps; this compares one link
	return ok && t.Code == e.Code && t.Command == ""
}

// errnos are the words for what librados and the daemons answer most; the numbers are Linux's,
// whatever system this runs on.
var errnos = map[int]string{
	-1: "operation not permitted", -2: "no such entity", -4: "interrupted", -5: "input or output error",
	-7: "argument list too long", -11: "not known yet, try again", -12: "out of memory", -13: "permission denied",
	-16: "busy", -17: "it exists already", -19: "no such device", -20: "not a directory", -22: "invalid argument",
	-28: "no space left", -30: "read-only", -32: "connection broken", -34: "out of range", -38: "not implemented",
	-39: "not empty", -95: "not supported", -104: "connection reset", -107: "not connected",
	-108: "the client was shut out", -110: "timed out", -111: "connection refused", -112: "host is down",
	-113: "no route to host", -115: "in progress", -122: "quota exceeded", -125: "cancelled",
}

func errnoText(code int) string {
	if words, ok := errnos[code]; ok {
		return words
	}

	return fmt.Sprintf("errno %d", -code)
}
