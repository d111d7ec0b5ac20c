// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// maxBody bounds what is read of a request.
const maxBody = 1 << 20

// ServeHTTP answers a request with whatever fault is due for it.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	seen := Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(), At: time.Now()}

	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)

		return
	}

	r.Body = io.NopCloser(bytes.NewReader(raw))
	seen.Body = string(raw)

	noted := false
	note := func() {
		if !noted {
			noted, seen.Done = true, time.Now()
			s.note(seen)
		}
	}

	defer note() // of a request that got no answer

	f := s.strike(r, raw)

	a, err := s.struck(f, r)
	if err != nil {
		a = answer{status: http.StatusInternalServerError, body: []byte("the lab: " + err.Error())}
	}

	if !face.Wait(r, f.Delay) {
		panic(http.ErrAbortHandler)
	}

	seen.Status = a.status

	note() // before the answer leaves: whoever has it finds its request in the list
	a.send(w, r, f.Drip)
}

// struck serves a request that a fault meets, up to the answer.
func (s *Service) struck(f Fault, r *http.Request) (answer, error) {
	if f.DropBefore {
		panic(http.ErrAbortHandler)
	}

	if f.Late > 0 {
		time.Sleep(f.Late) //nolint:forbidigo // a far side that works on, though nobody waits
	}

	if err := s.happen(f.First); err != nil {
		return answer{}, err
	}

	a := answer{status: f.Status, header: http.Header{"Content-Type": {"application/json"}}}

	if f.Status == 0 || f.AfterWork {
		a = serve(s.route, r)
	}

	if err := s.happen(f.Then); err != nil {
		return answer{}, err
	}

	if f.DropAfter {
		panic(http.ErrAbortHandler)
	}

	if f.Status != 0 || f.Body != "" {
		a.status, a.body = max(f.Status, http.StatusOK), []byte(f.Body)
	}

	for k, v := range f.Header {
		a.header.Set(k, v)
	}

	return a, a.edit(f)
}

func (s *Service) happen(f func(store.Tx, time.Time) error) error {
	if f == nil {
		return nil
	}

	return s.env.Update(f)
}

// answer is an answer that has not left yet.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) Write(b []byte) (int, error) {
	a.body = append(a.body, b...)

	return len(b), nil
}

func (a *answer) WriteHeader(status int) { a.status = status }

func serve(h http.HandlerFunc, r *http.Request) answer {
	a := answer{status: http.StatusOK, header: http.Header{}}
	h(&a, r)

	return a
}

// edit does what a fault does to the answer.
func (a *answer) edit(f Fault) error {
	if f.Edit != nil && len(a.body) > 0 {
		var doc any
		if err := json.Unmarshal(a.body, &doc); err != nil {
			return fmt.Errorf("an answer that is no JSON cannot be edited: %w", err)
		}

		raw, err := json.Marshal(f.Edit(doc))
		if err != nil {
			return fmt.Errorf("edited answer: %w", err)
		}

		a.body = raw
	}

	if f.Raw != nil {
		a.body = f.Raw(a.body)
	}

	return nil
}

func (a *answer) send(w http.ResponseWriter, r *http.Request, drip time.Duration) {
	maps.Copy(w.Header(), a.header)

	if a.status != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	}

	w.WriteHeader(a.status)

	if drip <= 0 {
		_, _ = w.Write(a.body) // whoever asked has gone away

		return
	}

	out := http.NewResponseController(w)

	for _, b := range a.body {
		if _, err := w.Write([]byte{b}); err != nil || out.Flush() != nil || !face.Wait(r, drip) {
			panic(http.ErrAbortHandler)
		}
	}
}
