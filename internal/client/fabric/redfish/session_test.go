// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/redfish"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// inside carries requests to a service in the process, so that time may be virtual.
type inside struct{ http.Handler }

func (i inside) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}

	w := httptest.NewRecorder()
	i.ServeHTTP(w, r)

	return w.Result(), nil
}

func (s *service) inside() fabric.Fabric {
	s.t.Helper()

	f, err := redfish.New(fabric.Config{Endpoint: "redfish.example", Transport: inside{s}, Auth: known})
	if err != nil {
		s.t.Fatal(err)
	}

	return f
}

func TestLogin_aFailureIsHeldForAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := composable(t)
		s.login = "session"
		s.answers["POST "+sessions] = refusing(http.StatusUnauthorized, "NoValidSession")
		f := s.inside()

		var all sync.WaitGroup

		for range 10 {
			all.Go(func() {
				if _, err := f.Machine(t.Context(), "1"); !errors.Is(err, fabric.ErrAuth) {
					t.Error(err)
				}
			})
		}

		all.Wait()

		if n := s.count("POST " + sessions); n != 1 {
			t.Errorf("%d logins with a wrong password", n)
		}

		delete(s.answers, "POST "+sessions)
		time.Sleep(4 * time.Second)

		if _, err := f.Machine(t.Context(), "1"); !errors.Is(err, fabric.ErrAuth) {
			t.Errorf("after 4 seconds: %v", err)
		}

		time.Sleep(time.Second)

		if _, err := f.Machine(t.Context(), "1"); err != nil || s.count("POST "+sessions) != 2 {
			t.Errorf("after 5 seconds: %v", err)
		}
	})
}

func TestLogin_aFailureThatPassesIsNoReasonForPasswords(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		say       func(http.ResponseWriter)
		kind      error
		transient bool
	}{
		"a gateway":       {raw(502, "text/html", "<html>bad gateway"), fabric.ErrUnsent, true},
		"a slow gateway":  {raw(504, "text/html", "<html>"), fabric.ErrUnsent, true},
		"an overload":     {raw(503, "text/html", "<html>"), fabric.ErrUnsent, true},
		"a broken one":    {refusing(500, "InternalError"), fabric.ErrAuth, false},
		"a wrong request": {refusing(400, "PropertyMissing"), fabric.ErrAuth, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := composable(t)
				s.login = "session"
				s.answers["POST "+sessions] = c.say
				f := s.inside()

				if _, err := f.Machine(t.Context(), "1"); !errors.Is(err, c.kind) || wait.IsTransient(err) != c.transient {
					t.Errorf("%v (transient: %t)", err, wait.IsTransient(err))
				}

				delete(s.answers, "POST "+sessions)
				time.Sleep(5 * time.Second)

				if _, err := f.Machine(t.Context(), "1"); err != nil || s.sessions() != 1 {
					t.Errorf("afterwards: %v with %d sessions", err, s.sessions())
				}
			})
		})
	}
}

func TestClose_endsTheSession(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(*service){
		"as the header names it": func(*service) {},
		"as the body names it":   func(s *service) { s.shy = true },
	} {
		s := composable(t)
		s.login = "session"
		change(s)

		f := s.serveAs(known)

		door, ok := f.(fabric.Closer)
		if !ok {
			t.Fatal("it cannot be closed")
		}

		for range 2 { // it may be used again
			if _, err := f.Machine(t.Context(), "1"); err != nil || s.sessions() != 1 {
				t.Errorf("%s: %d sessions, %v", name, s.sessions(), err)
			}

			for range 2 {
				if err := door.Close(t.Context()); err != nil || s.sessions() != 0 {
					t.Errorf("%s: %d sessions after the end, %v", name, s.sessions(), err)
				}
			}
		}
	}
}

func TestClose_isWellWhereThereIsNothingToEnd(t *testing.T) {
	t.Parallel()

	gone := composable(t)
	gone.login = "session"

	one := gone.serveAs(known)
	if _, err := one.Machine(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}

	gone.tokens = map[string]bool{} // the service was started again

	for name, f := range map[string]fabric.Fabric{"an open service": composable(t).serve(), "never used": composable(t).serveAs(known), "ended by itself": one} {
		if door, ok := f.(fabric.Closer); !ok || door.Close(t.Context()) != nil {
			t.Errorf("%s: it cannot be closed", name)
		}
	}
}

// TestLogin_aRefusedSessionIsEnded: a service may refuse a session that lives on.
func TestLogin_aRefusedSessionIsEnded(t *testing.T) {
	t.Parallel()

	s := composable(t)
	s.login = "session"
	f := s.serveAs(known)

	for range 3 {
		action := "POST " + sys1 + "/Actions/ComputerSystem.AddResourceBlock"
		s.answers[action] = refusing(http.StatusUnauthorized, "InsufficientPrivilege")

		if err := do(t, f, "attach", blockDir+"/g2"); !errors.Is(err, fabric.ErrAuth) || s.sessions() != 1 {
			t.Errorf("%d sessions: %v", s.sessions(), err)
		}
	}
}
