// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// Fault is what goes wrong with the next requests of a kind. The zero value of a field leaves
// that part alone. There are functions for the usual ones.
type Fault struct {
	// Match is a method and a path whose segments may be "*": "PATCH /fabric_manager/api/v1/machines/*/update".
	// A last segment "**" stands for any rest, a method "*" for all; empty matches every request.
	Match string
	// When says more about the requests that it strikes, whose bodies it is given; nil: all.
	When func(r *http.Request, body []byte) bool
	// Times is how many requests it strikes; 0 means one, a negative number all to come.
	Times int
	// Skip lets so many matching requests through first.
	Skip int

	// First happens before the request is served, Then once it was, before the answer leaves.
	First, Then func(tx store.Tx, now time.Time) error
	// Late serves the request so much later, even when nobody waits for the answer any more.
	Late time.Duration
	// DropBefore closes the connection before the work is done, DropAfter when it is done.
	DropBefore, DropAfter bool
	// Status answers this status; without AfterWork the request is not served.
	Status    int
	AfterWork bool
	// Header is added to the answer. Body is the answer's, where it has a Status or is not empty.
	Header map[string]string
	Body   string
	// Edit changes the JSON of the answer (see the functions in this package), Raw its bytes.
	Edit func(doc any) any
	Raw  func(body []byte) []byte
	// Delay sends the answer so much later.
	Delay time.Duration
	// Drip sends the answer byte by byte, with this pause after each.
	Drip time.Duration
}

// Request is a request that came.
type Request struct {
	Method, Path, Query, Body string
	Header                    http.Header
	Status                    int       // that was answered; 0: the connection was closed
	At, Done                  time.Time // when it came, and when its answer was ready
}

// Mutates tells whether the request orders something of the fabric.
func (r Request) Mutates() bool {
	return r.Method != http.MethodGet && !strings.HasPrefix(r.Path, "/id_manager/")
}

// script is what tests told this service to do with requests, and what they can ask about
// afterwards.
type script struct {
	mu       sync.Mutex
	faults   []*Fault
	keep     bool
	requests []Request
	counts   map[string]int
}

// Inject makes requests fail. Several faults are looked through in order; the first that
// matches strikes.
func (s *script) Inject(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if f.Times == 0 {
		f.Times = 1
	}

	s.faults = append(s.faults, &f)
}

// Heal forgets all faults that have not struck yet.
func (s *script) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.faults = nil
}

// strike takes the fault that meets a request; a zero one if there is none.
func (s *script) strike(r *http.Request, body []byte) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, f := range s.faults {
		if f.Times == 0 || !matches(f.Match, r.Method, r.URL.Path) || f.When != nil && !f.When(r, body) {
			continue
		}

		if f.Skip > 0 {
			f.Skip--

			continue
		}

		if f.Times > 0 {
			f.Times--
		}

		return *f
	}

	return Fault{}
}

func matches(pattern, method, path string) bool {
	if pattern == "" {
		return true
	}

	want, glob, _ := strings.Cut(pattern, " ")
	if want != "*" && want != method {
		return false
	}

	parts, globs := strings.Split(strings.Trim(path, "/"), "/"), strings.Split(strings.Trim(glob, "/"), "/")

	for i, g := range globs {
		if g == "**" && i == len(globs)-1 {
			return true
		}

		if i >= len(parts) || g != "*" && g != parts[i] {
			return false
		}
	}

	return len(parts) == len(globs)
}
