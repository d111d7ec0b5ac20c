// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package token_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
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

const path = "/id_manager/realms/t1/protocol/openid-connect/token"

// service is a token service and a manager behind it.
type service struct {
	t     *testing.T
	slow  time.Duration
	grant func(n int, form url.Values) (int, string) // n counts from 1

	mu     sync.Mutex
	logins []url.Values
	api    func(bearer string) int
}

// RoundTrip implements http.RoundTripper: virtual time knows no sockets.
func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := http.StatusNotFound, "{}"

	switch {
	case r.URL.Path == "/api":
		status = s.api(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	case r.Method == http.MethodPost && r.URL.Path == path && r.URL.RawQuery == "":
		raw, _ := io.ReadAll(r.Body)

		form, err := url.ParseQuery(string(raw))
		if err != nil || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" || r.Header.Get("Authorization") != "" {
			s.t.Errorf("asked %q with %v", raw, r.Header)
		}

		time.Sleep(s.slow)
		s.mu.Lock()
		s.logins = append(s.logins, form)
		n := len(s.logins)
		s.mu.Unlock()

		status, body = s.grant(n, form)
	default:
		s.t.Errorf("unexpected %s %s", r.Method, r.URL)
	}

	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func (s *service) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return len(s.logins)
}

func source(t *testing.T, s *service) (*token.Source, fabric.Config) {
	t.Helper()

	s.t = t
	cfg := fabric.Config{
		Endpoint: "id.example", TenantID: "t1", Transport: s,
		Auth: fabric.Auth{ClientID: "cdi", ClientSecret: "cl1ent-s3cret", Username: "admin", Password: "pa55 w&rd"},
	}

	src, err := token.New(cfg)
	if err != nil {
		t.Fatal(err)
	}

	return src, cfg
}

func jwt(payload string) string {
	return "eyJhbGciOiJub25lIn0." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + ".c2ln"
}

func access(tok string, more string) func(int, url.Values) (int, string) {
	return func(n int, _ url.Values) (int, string) {
		return http.StatusOK, fmt.Sprintf(`{"access_token":%q,"token_type":"bearer"%s}`, strings.ReplaceAll(tok, "#", fmt.Sprint(n)), more)
	}
}

func TestToken_asksAsTheServiceWants(t *testing.T) {
	t.Parallel()

	s := &service{grant: access("tok-#", `,"expires_in":60`)}
	src, _ := source(t, s)

	got, err := src.Token(t.Context())
	if err != nil || got.AccessToken != "tok-1" || got.Type != "Bearer" || time.Until(got.Expiry) > time.Minute {
		t.Fatalf("got %v, %v", got, err)
	}

	want := url.Values{
		"grant_type": {"password"}, "client_id": {"cdi"}, "client_secret": {"cl1ent-s3cret"}, "username": {"admin"},
		"password": {"pa55 w&rd"}, "scope": {"openid"}, "response_type": {"id_token token"},
	}
	if s.logins[0].Encode() != want.Encode() {
		t.Errorf("asked %v", s.logins[0])
	}

	if out := fmt.Sprintf("%v %+v %#v %s", got, got, got, got); strings.Contains(out, "tok-1") {
		t.Errorf("printed %s", out)
	}
}

// TestOGPU08_tokenAnswers asks twice within a second: a token with a known end serves both.
func TestOGPU08_tokenAnswers(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		tok, more string
		life      time.Duration // 0: not known
	}{
		"opaque with expires_in":       {"opaque-#", `,"expires_in":300`, 300 * time.Second},
		"expires_in as string":         {"opaque-#", `,"expires_in":"300"`, 300 * time.Second},
		"expires_in null":              {"opaque-#", `,"expires_in":null`, 0},
		"expires_in 0":                 {"opaque-#", `,"expires_in":0`, 0},
		"neither":                      {"opaque-#", ``, 0},
		"two parts":                    {"a#.b", `,"expires_in":60`, 60 * time.Second},
		"JWT alone":                    {jwt(`{"exp":946684920}`), ``, 120 * time.Second},
		"JWT ends first":               {jwt(`{"exp":946684920}`), `,"expires_in":300`, 120 * time.Second},
		"expires_in ends first":        {jwt(`{"exp":946684920}`), `,"expires_in":60`, 60 * time.Second},
		"exp in exponent form":         {jwt(`{"exp":9.4668492e8}`), ``, 120 * time.Second},
		"exp as a fraction":            {jwt(`{"exp":946684920.75}`), ``, 120 * time.Second},
		"exp as string":                {jwt(`{"exp":"946684920"}`), ``, 120 * time.Second},
		"payload and newline":          {jwt(`{"exp":946684920}` + "\n"), ``, 120 * time.Second},
		"padding":                      {"eyJh.eyJleHAiOjk0NjY4NDkyMH0K==.c2ln", ``, 120 * time.Second},
		"exp passed, clocks differ":    {jwt(`{"exp":946684000}`), `,"expires_in":60`, 60 * time.Second},
		"exp passed, nothing else":     {jwt(`{"exp":946684000}`), ``, 0},
		"exp in the year 3000":         {jwt(`{"exp":32503680000}`), ``, 365 * 24 * time.Hour},
		"payload not JSON":             {jwt(`nothing`), `,"expires_in":60`, 60 * time.Second},
		"payload not base64":           {"eyJh.!!!.c2ln", `,"expires_in":60`, 60 * time.Second},
		"newline after the token":      {"opaque-#\n", `,"expires_in":60`, 60 * time.Second},
		"odd fields that nobody needs": {"opaque-#", `,"expires_in":60,"not-before-policy":"x","scope":["a"],"refresh_token":null`, 60 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // the clock starts at 946684800
				s := &service{grant: access(tc.tok, tc.more)}
				src, _ := source(t, s)

				got, err := src.Token(t.Context())
				if err != nil {
					t.Fatal(err)
				}

				life := time.Duration(0)
				if !got.Expiry.IsZero() {
					life = time.Until(got.Expiry)
				}

				if tc.life != life && (tc.life != 0 || life > 0) {
					t.Errorf("lives %s, want %s", life, tc.life)
				}

				time.Sleep(time.Second)

				if _, err := src.Token(t.Context()); err != nil {
					t.Fatal(err)
				}

				if want := map[bool]int{true: 1, false: 2}[tc.life > 0]; s.count() != want {
					t.Errorf("%d logins, want %d", s.count(), want)
				}
			})
		})
	}
}

func TestToken_leeway(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		life string
		good time.Duration
	}{
		"a token of a minute is good for 45 s":      {"60", 45 * time.Second},
		"one of five minutes for all but 30 s":      {"300", 270 * time.Second},
		"one of four seconds for three of the four": {"4", 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &service{grant: access("tok-#", `,"expires_in":`+tc.life)}
				src, _ := source(t, s)

				for _, step := range []time.Duration{0, tc.good - time.Millisecond, 2 * time.Millisecond} {
					time.Sleep(step)

					if _, err := src.Token(t.Context()); err != nil {
						t.Fatal(err)
					}
				}

				if s.count() != 2 {
					t.Errorf("%d logins", s.count())
				}
			})
		})
	}
}

func TestToken_oneLoginForAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{slow: time.Second, grant: access("tok-#", `,"expires_in":60`)}
		src, _ := source(t, s)

		var all sync.WaitGroup

		for range 50 {
			all.Go(func() {
				if got, err := src.Token(t.Context()); err != nil || got.AccessToken != "tok-1" {
					t.Errorf("got %v, %v", got, err)
				}
			})
		}

		all.Wait()

		if s.count() != 1 {
			t.Errorf("%d logins", s.count())
		}
	})
}

func TestToken_aFailedLoginIsHeld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{grant: func(int, url.Values) (int, string) {
			return http.StatusUnauthorized, `{"error":"invalid_grant","error_description":"Invalid user credentials for pa55 w&rd / pa55+w%26rd"}`
		}}
		src, _ := source(t, s)

		var all sync.WaitGroup

		for range 50 {
			all.Go(func() {
				_, err := src.Token(t.Context())
				if !errors.Is(err, fabric.ErrAuth) || !strings.Contains(err.Error(), "Invalid user credentials") || strings.Contains(err.Error(), "pa55") {
					t.Errorf("got %v", err)
				}
			})
		}

		all.Wait()

		if s.count() != 1 {
			t.Errorf("%d logins at once", s.count())
		}

		time.Sleep(5*time.Second + time.Millisecond)

		if _, err := src.Token(t.Context()); err == nil || s.count() != 2 {
			t.Errorf("%d logins after 5 s, %v", s.count(), err)
		}
	})
}
