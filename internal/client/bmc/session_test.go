// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/bmc"
)

func TestOBMH17_sessionsAreClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()

		for i := range 10 {
			ctx, cancel := context.WithCancel(t.Context())
			client := f.client(t)

			switch i % 4 {
			case 0: // to the end
				if err := client.SetPower(ctx, bmc.TurnOn); err != nil {
					t.Error(err)
				}
			case 1: // cancelled right after the login
				if err := client.Check(ctx); err != nil {
					t.Error(err)
				}
			case 2: // cancelled in the middle of the wait
				f.docs[systemOne]["PowerState"] = "Unknown"

				go func() {
					time.Sleep(time.Second)
					cancel()
				}()

				if err := client.SetPower(ctx, bmc.TurnOff); !errors.Is(err, context.Canceled) || errors.Is(err, bmc.ErrUnreachable) {
					t.Errorf("error %v, want the cancellation", err)
				}
			case 3: // failing half-way
				f.docs[systemOne]["PowerState"] = "Off"
				f.script("POST "+resetPath, func(int, call) *reply { a := failed(400, "no"); return &a })

				if err := client.SetPower(ctx, bmc.TurnOn); err == nil {
					t.Error("no error of a refused reset")
				}

				delete(f.scripts, "POST "+resetPath)
			}

			cancel()
			client.Close(ctx)

			if n := f.sessionsOpen(); n != 0 {
				t.Fatalf("run %d left %d sessions open", i, n)
			}
		}

		if n := f.count("POST " + sessions); n != 10 {
			t.Errorf("%d logins in 10 runs, want one each", n)
		}
	})
}

func TestOBMH17_cancelledDuringLogin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.hold["POST "+sessions] = make(chan bool)
		client := f.client(t)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()

		if err := client.Check(ctx); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, bmc.ErrUnreachable) {
			t.Errorf("error %v, want the deadline", err)
		}

		if f.sessionsOpen() != 1 {
			t.Fatal("the BMC should have opened a session by now")
		}

		go func() {
			time.Sleep(2 * time.Second) // the answer arrives late, while the client is being closed
			close(f.hold["POST "+sessions])
		}()

		client.Close(ctx)
		synctest.Wait()

		if n := f.sessionsOpen(); n != 0 {
			t.Errorf("%d sessions left open", n)
		}
	})
}

func TestClient_cancelIsNoSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.hold["GET "+systemOne] = make(chan bool)
		client := f.client(t)

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)

		if err := client.Check(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, bmc.ErrUnreachable) {
			t.Errorf("error %v, want the cancellation and nothing about the BMC", err)
		}
	})
}

// Some BMCs answer 401 for missing privileges: the session is still open then.
func TestOBMH17_refusedWithASession(t *testing.T) {
	t.Parallel()

	f := newFake()
	f.script("GET "+systemOne, func(int, call) *reply { a := failed(401, "no privilege"); return &a })

	client := f.client(t)
	if err := client.Check(t.Context()); !errors.Is(err, bmc.ErrAuth) {
		t.Errorf("error %v, want ErrAuth", err)
	}

	client.Close(t.Context())

	if n := f.sessionsOpen(); n != 0 || f.count("POST "+sessions) != 2 {
		t.Errorf("%d sessions left open after %d logins, want 0 after 2", n, f.count("POST "+sessions))
	}
}

func TestOBMH17_noSessionFree(t *testing.T) {
	t.Parallel()

	taken := func(f *fake) {
		for i := range f.limit {
			f.open[strings.Repeat("x", i+1)] = true
		}
	}

	cases := map[string]struct {
		auth   string
		free   bool // a session becomes free after three seconds
		logins int
		basic  bool
		fails  bool
	}{
		"a login is tried again":             {bmc.AuthAuto, true, 3, false, false},
		"HTTP Basic after some tries":        {bmc.AuthAuto, false, 5, true, false},
		"no HTTP Basic where it is unwanted": {bmc.AuthSession, false, 5, false, true},
		"no login where Basic is wanted":     {bmc.AuthBasic, false, 0, true, false},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				taken(f)

				if tc.free {
					time.AfterFunc(2500*time.Millisecond, func() {
						f.mu.Lock()
						defer f.mu.Unlock()

						delete(f.open, "x")
					})
				}

				client := f.client(t, func(c *bmc.Config) { c.Auth = tc.auth })

				err := client.Check(t.Context())
				if (err != nil) != tc.fails || errors.Is(err, bmc.ErrAuth) {
					t.Errorf("error %v, want one: %v", err, tc.fails)
				}

				if n := f.count("POST " + sessions); n != tc.logins {
					t.Errorf("%d logins, want %d", n, tc.logins)
				}

				last := f.calls[len(f.calls)-1]
				if got := last.header.Get("Authorization") != ""; got != tc.basic {
					t.Errorf("the last request %s %s used Basic: %v, want %v", last.method, last.path, got, tc.basic)
				}
			})
		})
	}
}

func TestClient_noSessionService(t *testing.T) {
	t.Parallel()

	f := newFake()
	delete(f.docs["/redfish/v1/"], "Links")

	if err := f.client(t).Check(t.Context()); err != nil {
		t.Errorf("error %v, want HTTP Basic to be used", err)
	}
}

func TestClient_sessionNamedInBody(t *testing.T) {
	t.Parallel()

	f := newFake()
	f.script("POST "+sessions, func(_ int, c call) *reply {
		a := f.login(c)
		a.body = ref(a.header["Location"])
		delete(a.header, "Location")

		return &a
	})

	client := f.client(t)
	if err := client.Check(t.Context()); err != nil {
		t.Fatal(err)
	}

	client.Close(t.Context())

	if n := f.sessionsOpen(); n != 0 {
		t.Errorf("%d sessions left open", n)
	}
}

func TestClient_sessionEnds(t *testing.T) {
	t.Parallel()

	f := newFake()
	client := f.client(t)

	if err := client.Check(t.Context()); err != nil {
		t.Fatal(err)
	}

	clear(f.open) // the BMC was restarted

	if _, err := client.Power(t.Context()); err != nil {
		t.Errorf("error %v, want a new session", err)
	}

	client.Close(t.Context())

	if n := f.sessionsOpen(); n != 0 {
		t.Errorf("%d sessions left open", n)
	}

	if _, err := client.Power(t.Context()); !errors.Is(err, bmc.ErrClosed) {
		t.Errorf("error %v after Close, want ErrClosed", err)
	}
}

func TestClient_oneSessionFewRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		gate, door := make(chan bool), make(chan bool)
		f.hold["GET "+systemOne], f.hold["POST "+sessions] = gate, door

		var (
			pool  bmc.Pool
			users sync.WaitGroup
		)

		cfg := bmc.Config{Address: "https://bmc.example", SystemPath: systemOne, Username: username, Password: secret, Transport: f}

		for range 20 {
			users.Go(func() {
				client := pool.Get(cfg)
				defer client.Close(t.Context())

				if _, err := client.Power(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}

		synctest.Wait()
		close(door)
		synctest.Wait()
		close(gate)
		users.Wait()

		if n := f.count("POST " + sessions); n != 1 {
			t.Errorf("%d logins for 20 users, want 1", n)
		}

		if f.peak > 4 {
			t.Errorf("%d requests at a time, want at most 4", f.peak)
		}

		if n := f.sessionsOpen(); n != 0 {
			t.Errorf("%d sessions left open", n)
		}

		again := pool.Get(cfg)
		defer again.Close(t.Context())

		if err := again.Check(t.Context()); err != nil {
			t.Errorf("a client after the last one was closed: %v", err)
		}
	})
}

func TestClient_Check(t *testing.T) {
	t.Parallel()

	wrong := func(c *bmc.Config) { c.Password = "wrong" }
	basicAuth := func(c *bmc.Config) { c.Auth = bmc.AuthBasic }

	cases := map[string]struct {
		change []func(*bmc.Config)
		fault  func(f *fake)
		want   error
	}{
		"right":                        {nil, nil, nil},
		"right with Basic":             {[]func(*bmc.Config){basicAuth}, nil, nil},
		"wrong password":               {[]func(*bmc.Config){wrong}, nil, bmc.ErrAuth},
		"wrong password with Basic":    {[]func(*bmc.Config){wrong, basicAuth}, nil, bmc.ErrAuth},
		"wrong password, no system":    {[]func(*bmc.Config){wrong, basicAuth, withoutSystem}, nil, bmc.ErrAuth},
		"no system that is configured": {nil, func(f *fake) { delete(f.docs, systemOne) }, bmc.ErrNotFound},
		"nobody there":                 {nil, func(f *fake) { f.down = errors.New("dial tcp: connect: connection refused") }, bmc.ErrUnreachable},
		"something that is no BMC": {nil, func(f *fake) {
			f.script("GET /redfish/v1/", func(int, call) *reply { return &reply{status: 200, body: "<html>"} })
		}, bmc.ErrUnreachable},
		"a password that must change": {nil, func(f *fake) {
			f.script("GET "+systemOne, func(int, call) *reply { a := failed(403, "PasswordChangeRequired"); return &a })
		}, bmc.ErrAuth},
		"a redirect to another machine": {nil, func(f *fake) {
			f.script("GET "+systemOne, func(int, call) *reply {
				return &reply{302, map[string]string{"Location": "https://evil.example/"}, nil}
			})
		}, errAny},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				if tc.fault != nil {
					tc.fault(f)
				}

				start := time.Now()
				client := f.client(t, tc.change...)

				err := client.Check(t.Context())
				if !errors.Is(err, tc.want) && (!errors.Is(tc.want, errAny) || err == nil) {
					t.Errorf("error %v, want %v", err, tc.want)
				}

				if other := map[error]error{bmc.ErrAuth: bmc.ErrUnreachable, bmc.ErrUnreachable: bmc.ErrAuth}[tc.want]; other != nil && errors.Is(err, other) {
					t.Errorf("error %v is both %v and %v", err, tc.want, other)
				}

				if time.Since(start) > time.Second {
					t.Errorf("the check took %s", time.Since(start))
				}

				client.Close(t.Context())

				if n := f.sessionsOpen(); n != 0 {
					t.Errorf("%d sessions left open", n)
				}

				for _, c := range f.calls {
					if c.host != "bmc.example" {
						t.Error("the redirect was followed")
					}
				}
			})
		})
	}
}

var errAny = errors.New("any error")

func TestClient_configuration(t *testing.T) {
	t.Parallel()

	for name, cfg := range map[string]bmc.Config{
		"no URL":                {Address: "bmc.example"},
		"another scheme":        {Address: "ftp://bmc.example"},
		"a password inside":     {Address: "https://user:" + "S3cret@bmc.example"},
		"certificates missing":  {Address: "https://bmc.example", VerifyCA: "/nonexistent/ca.pem"},
		"no certificate in PEM": {Address: "https://bmc.example", VerifyCA: "session_test.go"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			client := bmc.New(cfg)
			defer client.Close(t.Context())

			err := client.Check(t.Context())
			if err == nil {
				t.Fatal("no error")
			}

			checkNoSecret(t, err.Error())
		})
	}
}

func TestOBMH18_secretsStayOut(t *testing.T) {
	t.Parallel()

	echo := func(status int) func(int, call) *reply {
		return func(_ int, c call) *reply {
			a := failed(status, "request was "+c.body+" "+c.header.Get("Authorization")+" "+c.header.Get("X-Auth-Token")+" S3cret%26%2B%25 "+secret)

			return &a
		}
	}

	cases := map[string]struct {
		key    string
		status int
		auth   string
		do     func(ctx context.Context, c *bmc.Client) error
	}{
		"login 401":                   {"POST " + sessions, http.StatusUnauthorized, bmc.AuthAuto, check},
		"login 400 without sessions":  {"POST " + sessions, http.StatusBadRequest, bmc.AuthSession, check},
		"read with Basic 403":         {"GET " + systemOne, http.StatusForbidden, bmc.AuthBasic, check},
		"read with a session 500":     {"GET " + systemOne, http.StatusInternalServerError, bmc.AuthAuto, check},
		"change that is refused":      {"PATCH " + systemOne, http.StatusBadRequest, bmc.AuthAuto, patch},
		"an answer that is no object": {"GET " + systemOne, http.StatusOK, bmc.AuthAuto, check},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var trace strings.Builder

			f := newFake()
			f.script(tc.key, echo(tc.status))

			if tc.status == http.StatusOK {
				f.script(tc.key, func(_ int, c call) *reply { return &reply{200, nil, `"` + c.header.Get("X-Auth-Token") + `"`} })
			}

			client := f.client(t, func(c *bmc.Config) {
				c.Auth = tc.auth
				c.Trace = func(_ context.Context, method, url string, _ int, _ time.Duration) { trace.WriteString(method + url) }
			})

			err := tc.do(t.Context(), client)
			if err == nil {
				t.Fatal("no error")
			}

			checkNoSecret(t, err.Error())
			checkNoSecret(t, trace.String())
		})
	}
}

func check(ctx context.Context, c *bmc.Client) error { return c.Check(ctx) }

func patch(ctx context.Context, c *bmc.Client) error {
	return c.Patch(ctx, systemOne, map[string]any{"AssetTag": "x"})
}
