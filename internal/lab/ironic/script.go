// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
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

// script is what tests told this service to do with requests, and what they can ask about
// afterwards. It belongs to this process; what happens to nodes is in the store.
type script struct {
	mu       sync.Mutex
	troubles []*Trouble
	change   func(kind string, doc map[string]any)
	requests []Request
	keep     bool
	counts   map[string]int
}

// Inject makes requests fail. Several troubles are looked through in order; the first that
// matches strikes.
func (s *Service) Inject(t Trouble) {
	s.script.mu.Lock()
	defer s.script.mu.Unlock()

	if t.Times == 0 {
		t.Times = 1
	}

	s.script.troubles = append(s.script.troubles, &t)
}

// Rewrite changes every document of a kind ("node", "port") before it is answered: a server
// that gives back something else than it was sent. nil stops it.
func (s *Service) Rewrite(f func(kind string, doc map[string]any)) {
	s.script.mu.Lock()
	defer s.script.mu.Unlock()

	s.script.change = f
}

// Counts tells how many requests came, by method and pattern: "GET /v1/nodes/{node}".
func (s *Service) Counts() map[string]int {
	s.script.mu.Lock()
	defer s.script.mu.Unlock()

	return maps.Clone(s.script.counts)
}

// ResetCounts begins to count anew, and forgets the requests that were kept.
func (s *Service) ResetCounts() {
	s.script.mu.Lock()
	defer s.script.mu.Unlock()

	s.script.counts, s.script.requests = nil, nil
}

// Requests are the requests since KeepRequests, in order, with their bodies.
func (s *Service) Requests() []Request {
	s.script.mu.Lock()
	defer s.script.mu.Unlock()

	return slices.Clone(s.script.requests)
}

// KeepRequests makes the service remember requests with their bodies.
func (s *Service) KeepRequests() {
	s.script.mu.Lock()
	defer s.script.mu.Unlock()

	s.script.keep = true
}

func (p *script) rewrite(kind string, doc map[string]any) {
	p.mu.Lock()
	change := p.change
	p.mu.Unlock()

	if change != nil {
		change(kind, doc)
	}
}

// strike takes the trouble that meets a request, if any.
func (p *script) strike(r *http.Request) *Trouble {
	p.mu.Lock()
	defer p.mu.Unlock()

	for _, t := range p.troubles {
		if t.Times == 0 || !matches(t.Match, r.Method, r.URL.Path) {
			continue
		}

		if t.Skip > 0 {
			t.Skip--

			continue
		}

		if t.Times > 0 {
			t.Times--
		}

		copied := *t

		return &copied
	}

	return nil
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

	return slices.EqualFunc(parts, globs, func(p, g string) bool { return g == "*" || p == g })
}

// around serves a request with whatever trouble is due for it.
func (p *script) around(s *Service, w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	seen := &recorder{ResponseWriter: w, status: http.StatusOK}
	body := p.observe(r)
	t := p.strike(r)

	defer func() { p.note(s, r, body, seen.status) }()

	if t == nil {
		next(seen, r)

		return
	}

	if t.Then != nil {
		defer t.Then()
	}

	if t.Delay > 0 {
		select {
		case <-time.After(t.Delay): //nolint:forbidigo // a far side that is slow
		case <-r.Context().Done():
			panic(http.ErrAbortHandler)
		}
	}

	switch {
	case t.DropBefore:
		panic(http.ErrAbortHandler)
	case t.DropAfter:
		next(nowhere{http.Header{}}, r)
		panic(http.ErrAbortHandler)
	case t.Locked, t.Status != 0, t.HTML != "":
		t.answer(s, seen, r)
	default:
		next(seen, r)
	}
}

func (t *Trouble) answer(s *Service, w http.ResponseWriter, r *http.Request) {
	for k, v := range t.Header {
		w.Header().Set(k, v)
	}

	if t.HTML != "" {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(max(t.Status, http.StatusOK))
		_, _ = io.WriteString(w, t.HTML) // whoever asked has gone away

		return
	}

	if _, ok := s.negotiate(w, r); !ok {
		return
	}

	if t.Locked {
		node := "node"
		if parts := strings.Split(r.URL.Path, "/"); len(parts) > 3 {
			node = parts[3]
		}

		writeFault(w, http.StatusConflict, lockedError(node, s.Conductor).Error())

		return
	}

	text := t.Text
	if text == "" {
		text = http.StatusText(t.Status)
	}

	writeFault(w, t.Status, text)
}

// observe reads the body for the record, and puts it back.
func (p *script) observe(r *http.Request) string {
	p.mu.Lock()
	keep := p.keep
	p.mu.Unlock()

	if !keep || r.Body == nil {
		return ""
	}

	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return ""
	}

	r.Body = io.NopCloser(strings.NewReader(string(raw)))

	return string(raw)
}

func (p *script) note(s *Service, r *http.Request, body string, status int) {
	_, pattern := s.mux.Handler(r)
	if pattern == "" {
		pattern = r.Method + " " + strings.TrimSuffix(r.URL.Path, "/")
	}

	p.mu.Lock()
	defer p.mu.Unlock()

	if p.counts == nil {
		p.counts = map[string]int{}
	}

	p.counts[pattern]++

	if p.keep {
		p.requests = append(p.requests, Request{
			Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Body: body, Minor: r.Header.Get(versionHeader), Status: status,
		})
	}
}

type recorder struct {
	http.ResponseWriter

	status int
}

func (w *recorder) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// nowhere takes an answer that nobody gets.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header       { return n.header }
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) WriteHeader(int)             {}
