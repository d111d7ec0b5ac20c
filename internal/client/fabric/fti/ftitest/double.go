// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package ftitest is a double of FTI's managers, for the tests of both drivers.
package ftitest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Double is a manager that knows some requests ("GET /path?query") and fails the test of who
// sends another, or one without the token.
type Double struct {
	T      *testing.T
	Tenant string
	Answer func(what string) (status int, body string, known bool) // a status of 0 is 200

	mu   sync.Mutex
	Seen []string // requests but logins, orders with their bodies
}

// ServeHTTP implements http.Handler.
func (d *Double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/id_manager/realms/"+d.Tenant+"/protocol/openid-connect/token" {
		_, _ = io.WriteString(w, `{"access_token":"s3cr3t-token","expires_in":60,"token_type":"Bearer"}`)

		return
	}

	body, _ := io.ReadAll(r.Body)
	what := r.Method + " " + r.URL.RequestURI()

	d.mu.Lock()
	defer d.mu.Unlock()

	status, text, known := d.Answer(what)
	if !known || r.Header.Get("Authorization") != "Bearer s3cr3t-token" {
		d.T.Errorf("unexpected %s with %v", what, r.Header)
	}

	if len(body) > 0 {
		what += " " + string(body)

		if r.Header.Get("Content-Type") != "application/json" {
			d.T.Errorf("a body of %q", r.Header.Get("Content-Type"))
		}
	}

	d.Seen = append(d.Seen, what)

	if status == 0 {
		status = http.StatusOK
	}

	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// RoundTrip implements http.RoundTripper, for fuzzing.
func (d *Double) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}

	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)

	return w.Result(), nil
}

// Start serves a double until the test ends, and returns its address and a way to it.
func Start(t *testing.T, d *Double) (endpoint string, transport http.RoundTripper) {
	t.Helper()

	far := httptest.NewTLSServer(d)
	t.Cleanup(far.Close)

	return far.URL, far.Client().Transport
}
