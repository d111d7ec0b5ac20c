// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The kinds of failure that a caller can tell apart with errors.Is.
var (
	ErrNotFound    = errors.New("not found")                         // the API server says that the object is not there
	ErrAuth        = errors.New("not authorised")                    // 401 and 403
	ErrConflict    = errors.New("conflict")                          // 409: somebody changed it, or it is there already
	ErrInvalid     = errors.New("invalid")                           // 400, 422: no repetition mends it
	ErrUnreachable = errors.New("no answer")                         // no connection, or it broke
	ErrUnsupported = errors.New("not served")                        // the API server knows no such kind
	ErrForeign     = errors.New("the answer is not an API server's") // HTML, a redirect, JSON of another service
)

// RequestError is a request that the API server refused, or that got no answer.
type RequestError struct {
	Op     string  // what was being done: "cordon Node a"
	Status int     // of HTTP; 0 where there was no answer
	Reason string  // the API server's word: "NotFound", "Invalid", …
	Text   string  // the far side's words, without secrets
	Causes []Cause // field by field, where the API server names them

	kind   error
	cause  error // of no answer
	broken bool  // the answer got lost, or the far side was not able to give one
}

// Cause is one field that an API server finds wrong.
type Cause struct {
	Reason, Field, Message string
}

func (e *RequestError) Error() string {
	var b strings.Builder

	b.WriteString(e.Op)
	b.WriteString(": ")

	if e.Status != 0 {
		fmt.Fprintf(&b, "the API server answered %d: ", e.Status)
	}

	b.WriteString(e.Text)

	return b.String()
}

// Unwrap returns the kind, one of the Err… values, and the cause where there was no answer.
func (e *RequestError) Unwrap() []error {
	var inner []error

	for _, err := range []error{e.kind, e.cause} {
		if err != nil {
			inner = append(inner, err)
		}
	}

	return inner
}

// ForeignCAError says that the certificate of an endpoint is of an authority that we do not
// know: another cluster has that address.
type ForeignCAError struct {
	Server string
	Issuer string // of the certificate that was shown
}

func (e *ForeignCAError) Error() string {
	issuer := ""
	if e.Issuer != "" {
		issuer = fmt.Sprintf(" (issued by %q)", e.Issuer)
	}

	return fmt.Sprintf("%s shows a certificate%s that is not of this cluster's authority: another cluster, or a proxy, answers at this address", e.Server, issuer)
}

// ProviderIDError says that a Node has another provider ID already, which cannot be changed.
type ProviderIDError struct {
	Node, Wanted string
	Err          error
}

func (e *ProviderIDError) Error() string {
	return fmt.Sprintf("the Node %q has another provider ID than %q, and Kubernetes never changes one: the Node is left over from an earlier machine, "+
		"or another cloud provider set it; delete the Node (kubectl delete node %s) so that its kubelet registers it again", e.Node, e.Wanted, e.Node)
}

// Unwrap returns the answer.
func (e *ProviderIDError) Unwrap() error { return e.Err }

// HeldError says that another field manager holds what was to be applied.
type HeldError struct {
	Node string
	Held []Cause
	Err  error
}

func (e *HeldError) Error() string {
	parts := make([]string, 0, len(e.Held))
	for _, held := range e.Held {
		parts = append(parts, held.Field+" ("+held.Message+")")
	}

	return fmt.Sprintf("labels of the Node %q are held by somebody else: %s; remove them there, or leave them out here", e.Node, strings.Join(parts, ", "))
}

// Unwrap returns the answer.
func (e *HeldError) Unwrap() error { return e.Err }

// BlockedError says that a disruption budget forbids an eviction for now.
type BlockedError struct {
	Namespace, Pod string
	Reason         string        // the API server's words
	RetryAfter     time.Duration // 0 where it names none
}

func (e *BlockedError) Error() string {
	return fmt.Sprintf("the Pod %s/%s may not be evicted now: %s", e.Namespace, e.Pod, e.Reason)
}
