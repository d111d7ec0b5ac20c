// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package token_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/token"
)

// renewing gives tokens of a minute with refresh tokens of five.
func renewing(refuse bool) func(int, url.Values) (int, string) {
	return func(n int, form url.Values) (int, string) {
		if refuse && form.Get("grant_type") == "refresh_token" {
			return http.StatusBadRequest, `{"error":"invalid_grant","error_description":"Token is not active"}`
		}

		return http.StatusOK, fmt.Sprintf(`{"access_token":"tok-%d","expires_in":60,"refresh_token":"ref-%d","refresh_expires_in":300}`, n, n)
	}
}

func TestToken_refresh(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		wait   time.Duration
		refuse bool
		grants string
	}{
		"a refresh token that lives is used":     {time.Minute, false, "password refresh_token"},
		"one that ended is not":                  {5 * time.Minute, false, "password password"},
		"after one that is refused the password": {time.Minute, true, "password refresh_token password"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &service{grant: renewing(tc.refuse)}
				src, _ := source(t, s)

				for _, pause := range []time.Duration{0, tc.wait} {
					time.Sleep(pause)

					if _, err := src.Token(t.Context()); err != nil {
						t.Fatal(err)
					}
				}

				var grants []string
				for _, form := range s.logins {
					grants = append(grants, form.Get("grant_type"))

					if form.Get("grant_type") == "refresh_token" && (form.Get("refresh_token") != "ref-1" || form.Has("password") || form.Get("client_secret") == "") {
						t.Errorf("renewed with %v", form)
					}
				}

				if got := strings.Join(grants, " "); got != tc.grants {
					t.Errorf("asked %s, want %s", got, tc.grants)
				}
			})
		})
	}
}

func TestSource_aRevokedTokenIsReplacedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		revoked := "tok-1"
		s := &service{grant: access("tok-#", `,"expires_in":60`), api: func(bearer string) int {
			time.Sleep(time.Second)

			if bearer == revoked {
				return http.StatusUnauthorized
			}

			return http.StatusOK
		}}
		src, cfg := source(t, s)

		c, err := fabric.NewCaller(cfg, "manager.example", src)
		if err != nil {
			t.Fatal(err)
		}

		var all sync.WaitGroup

		for range 50 {
			all.Go(func() {
				if _, err := c.Do(t.Context(), fabric.Request{Op: "read", Path: "/api"}); err != nil {
					t.Error(err)
				}
			})
		}

		all.Wait()

		if s.count() != 2 {
			t.Errorf("%d logins", s.count())
		}
	})
}

// A login that fails must never look like an answer about the object of the request.
func TestSource_loginFailures(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		status int
		body   string
		kind   error
		calls  int
	}{
		"wrong password":     {http.StatusUnauthorized, `{"error":"invalid_grant"}`, fabric.ErrAuth, 1},
		"unknown user":       {http.StatusBadRequest, `{"error":"invalid_grant"}`, fabric.ErrAuth, 1},
		"unknown realm":      {http.StatusNotFound, `{"error":"Realm does not exist"}`, fabric.ErrAuth, 1},
		"HTML":               {http.StatusOK, `<html><title>Welcome</title>`, fabric.ErrAuth, 1},
		"no JSON":            {http.StatusOK, `tok-s3cret`, fabric.ErrAuth, 1},
		"no token":           {http.StatusOK, `{"refresh_token":"tok-s3cret"}`, fabric.ErrAuth, 1},
		"a list":             {http.StatusOK, `[{"access_token":"tok-s3cret"}]`, fabric.ErrAuth, 1},
		"a token of two":     {http.StatusOK, `{"access_token":"tok-s3cret\r\nX: y"}`, fabric.ErrAuth, 1},
		"a redirect":         {http.StatusFound, ``, fabric.ErrAuth, 1},
		"down for a while":   {http.StatusServiceUnavailable, `<html>`, fabric.ErrUnsent, 4},
		"failing":            {http.StatusInternalServerError, `{"access_token":"tok-s3cret"}`, fabric.ErrAuth, 1},
		"cut, with a token":  {http.StatusBadRequest, `{"access_token":"tok-s3cret`, fabric.ErrAuth, 1},
		"echo of the secret": {http.StatusBadRequest, `client cl1ent-s3cret is unknown`, fabric.ErrAuth, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &service{grant: func(int, url.Values) (int, string) { return tc.status, tc.body }}
				src, cfg := source(t, s)

				c, err := fabric.NewCaller(cfg, "manager.example", src)
				if err != nil {
					t.Fatal(err)
				}

				for _, mutates := range []bool{true, false} {
					_, err = c.Do(t.Context(), fabric.Request{Op: "attach", Method: http.MethodPatch, Path: "/api", Mutates: mutates})
					if !errors.Is(err, tc.kind) || !fabric.NothingDone(err) || errors.Is(err, fabric.ErrNotFound) || s.count() != tc.calls {
						t.Errorf("%d calls, %v", s.count(), err)
					}

					if strings.Contains(err.Error(), "s3cret") {
						t.Errorf("it tells: %v", err)
					}
				}
			})
		})
	}
}

func TestToken_anInterruptFailsOnlyItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{slow: time.Second, grant: access("tok-#", `,"expires_in":60`)}
		src, _ := source(t, s)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()

		if _, err := src.Token(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}

		if _, err := src.Token(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestNew_whatIsMissing(t *testing.T) {
	t.Parallel()

	full := fabric.Config{Endpoint: "x", TenantID: "t", Auth: fabric.Auth{Username: "u", Password: "p"}}

	for option, cut := range map[string]func(*fabric.Config){
		"auth.realm":    func(c *fabric.Config) { c.TenantID = "" },
		"auth.username": func(c *fabric.Config) { c.Auth.Username = "" },
		"auth.password": func(c *fabric.Config) { c.Auth.Password = " " },
		"endpoint":      func(c *fabric.Config) { c.Endpoint = "https://" },
	} {
		t.Run(option, func(t *testing.T) {
			t.Parallel()

			cfg := full
			cut(&cfg)

			var wrong *fabric.ConfigError
			if _, err := token.New(cfg); !errors.As(err, &wrong) || wrong.Option != option {
				t.Errorf("got %v", err)
			}
		})
	}

	if _, err := token.New(full); err != nil {
		t.Error(err)
	}
}

// FuzzToken reads any answer: no panic, no part of it in an error.
func FuzzToken(f *testing.F) {
	for _, seed := range []string{
		`{"access_token":"a.b.c","expires_in":60,"refresh_token":"r"}`, `{"access_token":1}`, `{"access_token":{},"expires_in":[]}`,
		`{"access_token":"` + jwt(`{"exp":1.7e9}`) + `"}`, `null`, `[]`, `<html>`, ``, `{"access_token":"x","expires_in":1e300}`,
	} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, body string) {
		s := &service{grant: func(int, url.Values) (int, string) { return http.StatusOK, body }}
		src, _ := source(t, s)

		got, err := src.Token(t.Context())
		if err == nil && (got.AccessToken == "" || got.Type == "") {
			t.Errorf("an empty token of %q", body)
		}
	})
}
