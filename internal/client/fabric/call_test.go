// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// caller starts a far side and makes a caller for it.
func caller(t *testing.T, auth fabric.Authorizer, h http.HandlerFunc) *fabric.Caller {
	t.Helper()

	far := httptest.NewTLSServer(h)
	t.Cleanup(far.Close)

	return callerOf(t, fabric.Config{Transport: far.Client().Transport}, far.URL, auth)
}

func callerOf(t *testing.T, cfg fabric.Config, base string, auth fabric.Authorizer) *fabric.Caller {
	t.Helper()

	cfg.Auth = fabric.Auth{Username: "u", Password: "hunter2!", ClientSecret: "cl1ent"}

	c, err := fabric.NewCaller(cfg, base, auth)
	if err != nil {
		t.Fatal(err)
	}

	return c
}

// answers says the same at every request.
func answers(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

var (
	read  = fabric.Request{Op: "get machine m", Path: "/machines/m"}
	order = fabric.Request{Op: "attach", Method: http.MethodPatch, Path: "/machines/m", Body: map[string]int{"n": 1}, Mutates: true}
)

func TestDo_sendsWhatItIsTold(t *testing.T) {
	t.Parallel()

	c := caller(t, nil, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodDelete || r.URL.EscapedPath() != "/a/b%2Fc" || r.URL.RawQuery != "q=1+2" ||
			string(body) != `{"n":1}` || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("X-Own") != "1" {
			t.Errorf("got %s %s %q %v", r.Method, r.URL, body, r.Header)
		}

		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "{}")
	})

	a, err := c.Do(t.Context(), fabric.Request{
		Method: http.MethodDelete, Path: "/a/b%2Fc", Query: url.Values{"q": {"1 2"}}, Header: http.Header{"x-own": {"1"}},
		Body: map[string]int{"n": 1}, Mutates: true,
	})
	if err != nil || a.Status != http.StatusAccepted || string(a.Body) != "{}" {
		t.Errorf("got %+v, %v", a, err)
	}
}

// token is an authorizer that counts.
type token struct{ given, refused atomic.Int32 }

func (a *token) Authorize(ctx context.Context, r *http.Request) error {
	a.given.Add(1)
	fabric.ProofOf(ctx).Value = "proof"
	r.Header.Set("Authorization", "Bearer s3cr3t-token")

	return nil
}

func (a *token) Refused(ctx context.Context) bool {
	a.refused.Add(1)

	return fabric.ProofOf(ctx).Value == "proof"
}

func TestDo_refusedProof(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		request fabric.Request
		refuse  int32
		kind    error
		calls   int32
	}{
		"a read is repeated once":          {read, 1, nil, 2},
		"an order is repeated once":        {order, 1, nil, 2},
		"a second refusal ends a read":     {read, 9, fabric.ErrAuth, 2},
		"a second refusal ends the order":  {order, 9, fabric.ErrAuth, 2},
		"where none is refused there is 1": {order, 0, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var calls atomic.Int32

			c := caller(t, &token{}, func(w http.ResponseWriter, r *http.Request) {
				if calls.Add(1) <= tc.refuse {
					w.WriteHeader(http.StatusUnauthorized)
					_, _ = io.WriteString(w, `{"error":"bad token `+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+`"}`)
				}
			})

			_, err := c.Do(t.Context(), tc.request)
			if (tc.kind == nil) != (err == nil) || (tc.kind != nil && !errors.Is(err, tc.kind)) || calls.Load() != tc.calls {
				t.Errorf("%d calls, %v", calls.Load(), err)
			}

			if err != nil && (strings.Contains(err.Error(), "s3cr3t") || wait.IsTransient(err)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestDo_redirectsAreNotFollowed(t *testing.T) {
	t.Parallel()

	for name, r := range map[string]fabric.Request{"a read": read, "an order": order} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var calls atomic.Int32

			c := caller(t, nil, func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				http.Redirect(w, r, "https://elsewhere.example/login?password=x", http.StatusFound)
			})

			_, err := c.Do(t.Context(), r)
			if !errors.Is(err, fabric.ErrNotFabric) || calls.Load() != 1 || !strings.Contains(err.Error(), "elsewhere.example") || strings.Contains(err.Error(), "password") {
				t.Errorf("%d calls, %v", calls.Load(), err)
			}
		})
	}
}

// slowLogin takes its time, as a token service under load does.
type slowLogin struct{ takes time.Duration }

func (s slowLogin) Authorize(context.Context, *http.Request) error {
	time.Sleep(s.takes)

	return nil
}

func (slowLogin) Refused(context.Context) bool { return false }

func TestDo_aSlowLoginTakesNoTimeFromTheRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		far := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if end, ok := r.Context().Deadline(); !ok || time.Until(end) != 10*time.Second {
				t.Errorf("the request ends in %s", time.Until(end))
			}

			w.WriteHeader(http.StatusNoContent)
		})
		c := callerOf(t, fabric.Config{Transport: inProcess{far}, RequestTimeout: 10 * time.Second}, "h", slowLogin{time.Minute})

		if _, err := c.Do(t.Context(), read); err != nil {
			t.Error(err)
		}
	})
}
