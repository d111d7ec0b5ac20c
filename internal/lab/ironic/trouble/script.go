// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package trouble is what goes wrong on the way to the lab's Ironic and back, as tests ask for
// it, and what they can ask about the requests that came. It belongs to a process: what
// happens to nodes is in the store.
package trouble

import (
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Trouble is what goes wrong with the next requests of a kind. The zero value of a field
// leaves that part alone.
type Trouble struct {
	// Match is a method and a path whose segments may be "*": "PUT /v1/nodes/*/states/power".
	// A method "*" matches all; empty matches every request.
	Match string
	// Times is how many requests it strikes; 0 means one, a negative number all to come.
	Times int
	// Skip lets so many matching requests through first.
	Skip int

	// Delay holds the answer back.
	Delay time.Duration
	// Locked answers 409 as for a node that a conductor holds.
	Locked bool
	// Status answers this status; Text is the fault's text, and Header is added.
	Status int
	Text   string
	Header map[string]string
	// HTML answers a page of a proxy instead of JSON: with Status, or 200.
	HTML string
	// DropBefore closes the connection before the work is done, DropAfter when it is done.
	DropBefore, DropAfter bool
	// Then is called once the request was served. It may change the lab.
	Then func()
}

// Busy is the trouble of an overloaded server.
func Busy(match string, times int) Trouble {
	return Trouble{
		Match: match, Times: times, Status: http.StatusServiceUnavailable, Header: map[string]string{"Retry-After": "1"},
		Text: "Requested action cannot be performed due to lack of free conductor workers.",
	}
}

// Request is a request that was served, in the order of arrival.
type Request struct {
	Method, Path, Query, Body string
	Minor                     string // the version header
	Status                    int
}

// Script is what tests told this service to do with requests, and what they can ask about
// afterwards.
type Script struct {
	mu       sync.Mutex
	troubles []*Trouble
	change   func(kind string, doc map[string]any)
	requests []Request
	keep     bool
	counts   map[string]int
}

// Inject makes requests fail. Several troubles are looked through in order; the first that
// matches strikes.
func (s *Script) Inject(t Trouble) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if t.Times == 0 {
		t.Times = 1
	}

	s.troubles = append(s.troubles, &t)
}

// Rewrite changes every document of a kind ("node", "port") before it is answered: a server
// that gives back something else than it was sent. nil stops it.
func (s *Script) Rewrite(f func(kind string, doc map[string]any)) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.change = f
}

// Counts tells how many requests came, by method and pattern: "GET /v1/nodes/{node}".
func (s *Script) Counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return maps.Clone(s.counts)
}

// ResetCounts begins to count anew, and forgets the requests that were kept.
func (s *Script) ResetCounts() {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.counts, s.requests = nil, nil
}

// Requests are the requests since KeepRequests, in order, with their bodies.
func (s *Script) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()

	return slices.Clone(s.requests)
}

// KeepRequests makes the service remember requests with their bodies.
func (s *Script) KeepRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.keep = true
}

// Rewritten changes a document as Rewrite was told to.
func Rewritten(s *Script, kind string, doc map[string]any) {
	s.mu.Lock()
	change := s.change
	s.mu.Unlock()

	if change != nil {
		change(kind, doc)
	}
}
