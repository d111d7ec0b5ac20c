// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kubetest

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Request is one that the server has seen.
type Request struct {
	Method, Path, Query string
	Kind                string // Content-Type
	User                string
	Body                string
	Status              int // 0 where none was sent
}

// Requests are those that the server has seen so far, without those that ask for health, versions and kinds.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()

	return append([]Request(nil), s.log...)
}

// Writes are the requests that were to change something, as "PATCH /api/v1/nodes/a".
func (s *Server) Writes() []string {
	var writes []string

	for _, r := range s.Requests() {
		if r.Method != http.MethodGet {
			writes = append(writes, r.Method+" "+r.Path)
		}
	}

	return writes
}

// Fault is what goes wrong with a request. Without Method and Path it is about every request, also
// about those for health and versions.
type Fault struct {
	Method string // "" means all
	Path   string // a part of the path; "" means all
	Times  int    // how many requests it is about; 0 means all from now on

	Status     int    // answer this, with a Status body
	Message    string // in that answer
	RetryAfter int    // seconds, in that answer
	Body       string // instead of the Status, as it is

	Hang  bool // never answer
	Close bool // end the connection instead of an answer
	After bool // do what is asked for first: only the answer is lost

	Do func(r *http.Request) // called before the request is looked at
}

type fault struct {
	Fault

	left int
}

// OnRequest has requests go wrong from now on; of several faults that are about a request the
// first has it. It returns how to end that.
func (s *Server) OnRequest(f Fault) (undo func()) {
	s.mu.Lock()
	defer s.mu.Unlock()

	one := &fault{f, f.Times}
	if f.Times <= 0 {
		one.left = -1
	}

	s.faults = append(s.faults, one)

	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()

		one.left = 0
	}
}

func (s *Server) faultFor(r *http.Request) *fault {
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, f := range s.faults {
		if f.left == 0 || (f.Method != "" && f.Method != r.Method) || !strings.Contains(r.URL.Path, f.Path) {
			continue
		}

		if f.left > 0 {
			f.left--
		}

		return f
	}

	return nil
}

// handle logs a request and gives it to its fault or to serve.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))

	seen := &watched{ResponseWriter: w}
	user, known := s.user(r)

	defer func() {
		if healthOrKinds(r.URL.Path) {
			return
		}

		s.mu.Lock()
		defer s.mu.Unlock()

		s.log = append(s.log, Request{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("Content-Type"), user, string(body), seen.status})
	}()

	if f := s.faultFor(r); f != nil && s.fail(seen, r, f, user, known) {
		return
	}

	s.serve(seen, r, body, user, known)
}

// fail carries a fault out and says whether the request ends with it.
func (s *Server) fail(w *watched, r *http.Request, f *fault, user string, known bool) bool {
	if f.Do != nil {
		f.Do(r)
	}

	if f.After {
		body, _ := io.ReadAll(r.Body)
		s.serve(&unsent{header: http.Header{}}, r, body, user, known)
	}

	switch {
	case f.Hang:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case f.Close:
		panic(http.ErrAbortHandler)
	case f.Body != "":
		w.WriteHeader(max(f.Status, http.StatusOK))
		_, _ = io.WriteString(w, f.Body)
	case f.Status != 0:
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(f.RetryAfter))
		}

		refuse(w, problem{code: f.Status, message: f.Message, after: f.RetryAfter})
	default:
		return f.After
	}

	return true
}

// healthOrKinds are paths that say nothing of objects.
func healthOrKinds(path string) bool {
	switch path {
	case "/version", "/readyz", "/livez", "/healthz":
		return true
	default:
		return strings.HasPrefix(path, "/apis/") && strings.Count(path, "/") < 4
	}
}

// watched remembers the status of an answer.
type watched struct {
	http.ResponseWriter

	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *watched) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// unsent is an answer that nobody gets.
type unsent struct{ header http.Header }

func (u *unsent) Header() http.Header         { return u.header }
func (u *unsent) Write(p []byte) (int, error) { return len(p), nil }
func (u *unsent) WriteHeader(int)             {}
