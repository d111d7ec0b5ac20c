// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"maps"
	"slices"
	"strings"
)

// KeepRequests makes the service remember requests with their bodies.
func (s *script) KeepRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.keep = true
}

// Requests are the requests since KeepRequests, in the order in which they came, but for
// those that are still being answered.
func (s *script) Requests() []Request { return s.Since(0) }

// Mark is a point in the list of requests.
func (s *script) Mark() int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return len(s.requests)
}

// Since are the requests since a Mark.
func (s *script) Since(mark int) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()

	out := slices.Clone(s.requests[min(mark, len(s.requests)):])
	slices.SortStableFunc(out, func(a, b Request) int { return a.At.Compare(b.At) })

	return out
}

// Counts tells how many requests came, by method and path.
func (s *script) Counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return maps.Clone(s.counts)
}

// Count tells how many requests came that match a pattern of a [Fault].
func (s *script) Count(match string) int {
	s.mu.Lock()
	defer s.mu.Unlock()

	n := 0

	for key, count := range s.counts {
		method, path, _ := strings.Cut(key, " ")
		if matches(match, method, path) {
			n += count
		}
	}

	return n
}

// ResetCounts begins to count anew, and forgets the requests that were kept.
func (s *script) ResetCounts() {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.counts, s.requests = nil, nil
}

// Logins tells how many times the token service was asked, for refreshing too.
func (s *script) Logins() int { return s.Count(TokenRequests) }

func (s *script) note(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.counts == nil {
		s.counts = map[string]int{}
	}

	s.counts[r.Method+" "+r.Path]++

	if s.keep {
		s.requests = append(s.requests, r)
	}
}
