// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package figures_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// proxy stands before an Ironic: it notes the requests, adds latency, and can answer what
// it saw before from memory.
type proxy struct {
	*httptest.Server

	target string

	mu       sync.Mutex
	latency  time.Duration
	memory   bool
	answers  map[string]*stored
	requests []request
}

type stored struct {
	status int
	header http.Header
	body   []byte
}

// request is one that came: when it came, and what it was.
type request struct {
	at     time.Time
	method string
	uri    string
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()

	p := &proxy{target: target, answers: map[string]*stored{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)

	return p
}

// behave sets what the proxy does, and forgets the requests so far.
func (p *proxy) behave(latency time.Duration, memory bool) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.latency, p.memory, p.requests = latency, memory, nil
}

// seen are the requests since the last call of behave.
func (p *proxy) seen() []request {
	p.mu.Lock()
	defer p.mu.Unlock()

	return slices.Clone(p.requests)
}

var ids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}`)

// kinds counts requests by what they are.
func kinds(all []request) map[string]int {
	out := map[string]int{}

	for _, r := range all {
		uri, query, _ := strings.Cut(r.uri, "?")
		if strings.Contains(query, "last_error") {
			uri += " (glance)"
		}

		out[r.method+" "+ids.ReplaceAllString(uri, "ID")]++
	}

	return out
}

// lists are the looks at all nodes.
func lists(all []request) []request {
	return slices.DeleteFunc(slices.Clone(all), func(r request) bool { return !strings.HasPrefix(r.uri, "/v1/nodes?") })
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.Method + " " + r.URL.RequestURI()

	p.mu.Lock()
	p.requests = append(p.requests, request{time.Now(), r.Method, r.URL.RequestURI()})
	latency, known := p.latency, p.answers[key]
	memory := p.memory
	p.mu.Unlock()

	time.Sleep(latency)

	if !memory || known == nil {
		fresh, err := p.forward(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)

			return
		}

		known = fresh
	}

	if r.Method == http.MethodGet && known.status == http.StatusOK {
		p.mu.Lock()
		p.answers[key] = known
		p.mu.Unlock()
	}

	for name, values := range known.header {
		w.Header()[name] = values
	}

	w.WriteHeader(known.status)
	_, _ = w.Write(known.body)
}

func (p *proxy) forward(r *http.Request) (*stored, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}

	req, err := http.NewRequestWithContext(r.Context(), r.Method, p.target+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}

	req.Header = r.Header.Clone()

	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()

	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}

	header := resp.Header.Clone()
	for _, name := range []string{"Content-Length", "Transfer-Encoding", "Content-Encoding", "Connection"} {
		header.Del(name)
	}

	return &stored{resp.StatusCode, header, answer}, nil
}
