// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"fmt"
	"net/http"
	"os"
)

// tracer appends a line for each request to a file: "host METHOD path?query status". One
// write a line to a file opened for appending, so that several processes can share it.
type tracer struct{ path string }

func newTracer(path string) *tracer { return &tracer{path: path} }

func (t *tracer) wrap(h http.Handler) http.Handler {
	if t.path == "" {
		return h
	}

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &status{ResponseWriter: w, code: http.StatusOK}
		line := fmt.Sprintf("%s %s %s", r.Host, r.Method, r.URL.RequestURI())

		dropped := true

		defer func() {
			if dropped {
				t.append(line + " dropped\n")
			} else {
				t.append(fmt.Sprintf("%s %d\n", line, seen.code))
			}
		}()

		h.ServeHTTP(seen, r)

		dropped = false
	})
}

// line writes one line of a protocol other than HTTP.
func (t *tracer) line(text string) {
	if t.path != "" {
		t.append(text)
	}
}

// append writes one line. A trace that cannot be written must not stop the work: the lab has
// no log, and whoever reads the trace will miss it.
func (t *tracer) append(line string) {
	f, err := os.OpenFile(t.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()

	_, _ = f.WriteString(line)
}

type status struct {
	http.ResponseWriter

	code int
}

func (s *status) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

// Unwrap lets an http.ResponseController through.
func (s *status) Unwrap() http.ResponseWriter { return s.ResponseWriter }
