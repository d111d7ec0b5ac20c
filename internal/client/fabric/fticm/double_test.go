// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fticm_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/fticm"
)

// The ids of the doubles.
const (
	tenant  = "c0000000-0000-4000-8000-000000000001"
	cluster = "b0000000-0000-4000-8000-000000000001"
	mach    = "a0000000-0000-4000-8000-000000000001"
	mach2   = "a0000000-0000-4000-8000-000000000002"
)

// reply is what a double says to one request.
type reply struct {
	status int // 200 where 0
	body   string
}

// double is a manager that knows some requests ("GET /path?query") and fails the test of who
// sends another, or one without the token.
type double struct {
	t       *testing.T
	replies map[string]reply

	mu   sync.Mutex
	seen []string // requests but logins, orders with their bodies
}

// ServeHTTP implements http.Handler.
func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/id_manager/realms/"+tenant+"/protocol/openid-connect/token" {
		_, _ = io.WriteString(w, `{"access_token":"s3cr3t-token","expires_in":60,"token_type":"Bearer"}`)

		return
	}

	body, _ := io.ReadAll(r.Body)
	what := r.Method + " " + r.URL.RequestURI()

	d.mu.Lock()
	defer d.mu.Unlock()

	answer, ok := d.replies[what]
	if !ok || r.Header.Get("Authorization") != "Bearer s3cr3t-token" {
		d.t.Errorf("unexpected %s with %v", what, r.Header)
	}

	if len(body) > 0 {
		what += " " + string(body)

		if r.Header.Get("Content-Type") != "application/json" {
			d.t.Errorf("a body of %q", r.Header.Get("Content-Type"))
		}
	}

	d.seen = append(d.seen, what)

	if answer.status == 0 {
		answer.status = http.StatusOK
	}

	w.WriteHeader(answer.status)
	_, _ = io.WriteString(w, answer.body)
}

// RoundTrip implements http.RoundTripper, for fuzzing.
func (d *double) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}

	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)

	return w.Result(), nil
}

// start makes a driver for a double.
func start(t *testing.T, replies map[string]reply) (fabric.Fabric, *double) {
	t.Helper()

	d := &double{t: t, replies: replies}
	far := httptest.NewTLSServer(d)
	t.Cleanup(far.Close)

	return driver(t, far.URL, far.Client().Transport), d
}

func driver(t *testing.T, endpoint string, transport http.RoundTripper) fabric.Fabric {
	t.Helper()

	cfg := fabric.Config{
		Endpoint: endpoint, TenantID: tenant, ClusterID: cluster, Transport: transport,
		Auth: fabric.Auth{Username: "u", Password: "hunter2!"},
	}
	f, err := fticm.New(cfg)
	if err != nil {
		t.Fatal(err)
	}

	return f
}
