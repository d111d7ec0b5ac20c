// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package trouble

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/version"
)

// Far is the service that a script plays with.
type Far struct {
	Serve     http.HandlerFunc           // serves a request that meets no trouble
	Pattern   func(*http.Request) string // the route that a request takes; "" for none
	Newest    int                        // the newest API version is 1.newest
	Conductor string
}

// Serve serves a request with whatever trouble is due for it.
func Serve(s *Script, f Far, w http.ResponseWriter, r *http.Request) {
	seen := &recorder{ResponseWriter: w, status: http.StatusOK}
	body := s.observe(r)
	t := s.strike(r)

	defer func() { s.note(f.Pattern(r), r, body, seen.status) }()

	if t == nil {
		f.Serve(seen, r)

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
		f.Serve(nowhere{http.Header{}}, r)
		panic(http.ErrAbortHandler)
	case t.Locked, t.Status != 0, t.HTML != "":
		t.answer(f, seen, r)
	default:
		f.Serve(seen, r)
	}
}

func (t *Trouble) answer(f Far, w http.ResponseWriter, r *http.Request) {
	for k, v := range t.Header {
		w.Header().Set(k, v)
	}

	if t.HTML != "" {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(max(t.Status, http.StatusOK))
		_, _ = io.WriteString(w, t.HTML) // whoever asked has gone away

		return
	}

	if _, ok := version.Negotiate(w, r, f.Newest); !ok {
		return
	}

	if t.Locked {
		node := "node"
		if parts := strings.Split(r.URL.Path, "/"); len(parts) > 3 {
			node = parts[3]
		}

		fault.Write(w, http.StatusConflict, fault.Locked(node, f.Conductor).Error())

		return
	}

	text := t.Text
	if text == "" {
		text = http.StatusText(t.Status)
	}

	fault.Write(w, t.Status, text)
}

// observe reads the body for the record, and puts it back.
func (s *Script) observe(r *http.Request) string {
	s.mu.Lock()
	keep := s.keep
	s.mu.Unlock()

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

func (s *Script) note(pattern string, r *http.Request, body string, status int) {
	if pattern == "" {
		pattern = r.Method + " " + strings.TrimSuffix(r.URL.Path, "/")
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	if s.counts == nil {
		s.counts = map[string]int{}
	}

	s.counts[pattern]++

	if s.keep {
		s.requests = append(s.requests, Request{
			Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Body: body, Minor: r.Header.Get(version.Header), Status: status,
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

// strike takes the trouble that meets a request, if any.
func (s *Script) strike(r *http.Request) *Trouble {
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, t := range s.troubles {
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
