// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// The kinds of failure that a caller can tell apart with errors.Is.
var (
	ErrNotFound    = errors.New("not found")                             // the service owns the object and says that it is not there
	ErrAuth        = errors.New("not authorised")                        // 401, and 403 for another reason than protection
	ErrBusy        = errors.New("locked")                                // 409: somebody holds the node's lock for a moment
	ErrTransition  = errors.New("a state transition is in progress")     // 409: look at the node again, decide anew
	ErrConflict    = errors.New("conflict")                              // 409 that no repetition mends: a name or a MAC is taken, …
	ErrProtected   = errors.New("protected")                             // 403: the node's protected flag forbids it
	ErrRefused     = errors.New("not allowed in this state")             // the verb does not fit the state, or maintenance forbids it
	ErrNotIronic   = errors.New("the answer is not Ironic's")            // HTML, a redirect, JSON of another service
	ErrUnreachable = errors.New("no answer")                             // no connection, or it broke
	errUnsorted    = errors.New("a conflict that the text says not why") // 409, see Client.sortConflict
)

// RequestError is a request that Ironic refused, or that got no answer.
type RequestError struct {
	Op          string // what was being done: "set power of 5f…"
	Status      int    // of HTTP; 0 where there was no answer
	Text        string // the far side's words, without secrets
	Reservation string // the conductor that holds the lock, where it is known

	who    string // answered, where it was not Ironic
	kind   error
	unsent bool // the request surely did not arrive
}

func (e *RequestError) Error() string {
	var b strings.Builder

	b.WriteString(e.Op)
	b.WriteString(": ")

	if e.Status != 0 {
		fmt.Fprintf(&b, "%s answered %d: ", cmp.Or(e.who, "Ironic"), e.Status)
	}

	b.WriteString(e.Text)

	if e.Reservation != "" && !strings.Contains(e.Text, e.Reservation) {
		fmt.Fprintf(&b, " (the lock is held by %s)", e.Reservation)
	}

	return b.String()
}

// Unwrap returns the kind, one of the Err… values, or nil.
func (e *RequestError) Unwrap() error {
	if errors.Is(e.kind, errUnsorted) {
		return ErrConflict
	}

	return e.kind
}

// NotFoundError is Ironic's own word that an object is not there.
type NotFoundError struct {
	What string // "node", "port", "allocation" or "inventory"
	ID   string // as it was asked for
	Op   string
	Text string // Ironic's words
}

func (e *NotFoundError) Error() string { return e.Op + ": " + e.Text }

// Is makes errors.Is(err, ErrNotFound) true.
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }

// TooOldError says that a feature needs a newer Ironic.
type TooOldError struct {
	Feature string
	Needs   int // minor version of the API
	Found   int
}

func (e *TooOldError) Error() string {
	return fmt.Sprintf("%s needs API 1.%d of Ironic, found 1.%d", e.Feature, e.Needs, e.Found)
}

// NotReadyError says that Ironic answers, but that no conductor serves anything.
type NotReadyError struct {
	Text string
}

func (e *NotReadyError) Error() string { return e.Text }
