// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

const (
	someNode = "00000000-0000-4000-8000-00000000000a"
	noRoute  = `{"error_message":"{\"code\": 404, \"title\": \"Not Found\", \"description\": \"\"}"}`
)

// TestOBMH22_onlyIronicsOwnWordIsGone reads a node whose answer is everything but the node.
func TestOBMH22_onlyIronicsOwnWordIsGone(t *testing.T) {
	t.Parallel()

	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	page := "<html><head><title>404 Not Found</title></head><body>nginx</body></html>"

	for name, tc := range map[string]struct {
		status    int
		body      string
		broken    error
		kind      error
		transient bool
		says      string
	}{
		"Ironic's 404 is gone":            {404, fault("Node X could not be found."), nil, ironic.ErrNotFound, false, "could not be found"},
		"404 of a proxy is not":           {404, page, nil, ironic.ErrNotIronic, false, "is this Ironic?"},
		"404 of another API is not":       {404, `{"detail":"not found"}`, nil, ironic.ErrNotIronic, false, ""},
		"404 of an unknown route is not":  {404, noRoute, nil, nil, false, "Not Found"},
		"404 of a conductor is not":       {404, fault("Conductor c1 could not be found."), nil, nil, false, "Conductor"},
		"404 without a body is not":       {404, "", nil, ironic.ErrNotIronic, false, ""},
		"401":                             {401, `{"error":{"message":"Incorrect username or password","code":401}}`, nil, ironic.ErrAuth, false, "Incorrect username"},
		"403":                             {403, fault("Forbidden by policy"), nil, ironic.ErrAuth, false, "policy"},
		"503 of a proxy":                  {503, "<html><title>503</title></html>", nil, nil, true, "503"},
		"503 of Ironic":                   {503, fault("Requested action could not be performed"), nil, nil, true, "Requested"},
		"502 without a body":              {502, "", nil, nil, true, "bad gateway"},
		"429":                             {429, "", nil, nil, true, ""},
		"500 without JSON":                {500, "Internal Server Error", nil, nil, true, ""},
		"500 with Ironic's words":         {500, fault("unexpected keyword argument"), nil, nil, false, "keyword"},
		"500 of a busy SQLite":            {500, fault("(sqlite3.OperationalError) database is locked"), nil, nil, true, "locked"},
		"connection refused":              {0, "", refused, ironic.ErrUnreachable, true, "connection refused"},
		"connection lost":                 {0, "", io.ErrUnexpectedEOF, ironic.ErrUnreachable, true, "connection ended"},
		"a certificate that is not known": {0, "", x509.UnknownAuthorityError{}, ironic.ErrUnreachable, false, "not trusted"},
		"200 with HTML":                   {200, "<!DOCTYPE html><title>Log in</title>", nil, ironic.ErrNotIronic, false, "Log in"},
		"200 with an empty body":          {200, "", nil, ironic.ErrNotIronic, false, "nothing"},
		"200 with JSON that is no node":   {200, `{"kind":"Status"}`, nil, ironic.ErrNotIronic, false, "is this Ironic?"},
		"200 with another node":           {200, `{"uuid":"00000000-0000-4000-8000-00000000000b"}`, nil, ironic.ErrNotIronic, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.answer("GET", "/nodes/"+someNode, -1, tc.status, tc.body)

				if tc.broken != nil {
					f.drop = func(r *http.Request) error {
						if strings.Contains(r.URL.Path, "/nodes/") {
							return tc.broken
						}

						return nil
					}
				}

				_, err := f.client(t).Node(t.Context(), someNode)
				if err == nil || (tc.kind != nil && !errors.Is(err, tc.kind)) || !strings.Contains(err.Error(), tc.says) {
					t.Fatalf("got %v", err)
				}

				if gone := errors.Is(err, ironic.ErrNotFound); gone != (name == "Ironic's 404 is gone") || ironic.IsGone(err) != gone {
					t.Errorf("gone is %v: %v", gone, err)
				}

				if wait.IsTransient(err) != tc.transient {
					t.Errorf("transient is %v: %v", wait.IsTransient(err), err)
				}

				tries := map[bool]int{true: 6, false: 1}[tc.transient]
				if n := f.count("GET /v1/nodes/"); n != tries {
					t.Errorf("%d tries", n)
				}
			})
		})
	}
}

func TestOBMH22_aMissingPartIsNotAMissingNode(t *testing.T) {
	t.Parallel()

	f := newFake()
	f.add(someNode, nil)
	f.answer("GET", someNode+"/inventory", -1, 404, fault("Node inventory record for node 3 could not be found."))

	_, err := f.client(t).Inventory(t.Context(), someNode)

	var missing *ironic.NotFoundError
	if !errors.As(err, &missing) || missing.What != "inventory" || ironic.IsGone(err) {
		t.Errorf("got %v", err)
	}

	if _, err := f.client(t).Inventory(t.Context(), "00000000-0000-4000-8000-00000000000b"); !ironic.IsGone(err) {
		t.Errorf("got %v", err)
	}
}

func TestRead_obeysRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.add(someNode, nil)
		f.answers = []rule{{
			method: "GET", part: "/nodes/", times: 1, status: 503, header: http.Header{"Retry-After": {"7"}},
		}}

		start := time.Now()
		if _, err := f.client(t).Node(t.Context(), someNode); err != nil || time.Since(start) != 7*time.Second {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

func TestRead_endsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.answer("GET", "/nodes/", -1, 503, "")

		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()

		start := time.Now()

		_, err := f.client(t).Node(ctx, someNode)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "503") || time.Since(start) != 2*time.Second {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

func TestRead_aSilentServerIsNotAskedForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.drop = func(r *http.Request) error {
			if !strings.Contains(r.URL.Path, "/nodes/") {
				return nil
			}
			<-r.Context().Done()

			return r.Context().Err()
		}

		start := time.Now()

		_, err := f.client(t, func(cfg *ironic.Config) { cfg.Timeout = 30 * time.Second }).Node(t.Context(), someNode)
		if !errors.Is(err, ironic.ErrUnreachable) || !wait.IsTransient(err) || time.Since(start) > time.Minute {
			t.Errorf("got %v after %s", err, time.Since(start))
		}

		if !strings.Contains(err.Error(), "no answer within 30s") || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the timeout of a request looks like the end of the verb: %v", err)
		}
	})
}

func TestRedirects_areErrorsThatNameThePlace(t *testing.T) {
	t.Parallel()

	f := newFake()
	f.answers = []rule{{
		method: "GET", part: "/nodes/", times: -1, status: 302,
		header: http.Header{"Location": {"https://sso.example/login?token=abc"}},
	}}

	_, err := f.client(t).Node(t.Context(), someNode)
	if !errors.Is(err, ironic.ErrNotIronic) || !strings.Contains(err.Error(), "https://sso.example/login") || strings.Contains(err.Error(), "abc") {
		t.Errorf("got %v", err)
	}
}

func TestNode_idsThatLeadElsewhereAreRefused(t *testing.T) {
	t.Parallel()

	f := newFake()
	c := f.client(t)

	for _, id := range []string{"", ".", "..", "a/b", "a\\b", "a\nb"} {
		if _, err := c.Node(t.Context(), id); err == nil || errors.Is(err, ironic.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}

		if err := c.DeleteNode(t.Context(), id); err == nil {
			t.Errorf("%q was sent", id)
		}
	}

	if n := f.count(""); n != 0 {
		t.Errorf("%s", f.log())
	}
}
