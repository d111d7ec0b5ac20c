// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"bufio"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// inProcess is a far side without sockets.
type inProcess struct{ h http.Handler }

// RoundTrip implements http.RoundTripper.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	p.h.ServeHTTP(w, r)

	if err := r.Context().Err(); err != nil {
		return nil, err
	}

	return w.Result(), nil
}

// hangUp takes a request and ends the connection.
func hangUp(w http.ResponseWriter, _ *http.Request) {
	conn, _, _ := w.(http.Hijacker).Hijack()
	_ = conn.Close()
}

// TestDo_withoutAnAnswer says of each failure whether the order may have been carried out.
func TestDo_withoutAnAnswer(t *testing.T) {
	t.Parallel()

	closed := httptest.NewServer(nil)
	closed.Close()

	plain := httptest.NewServer(answers(200, "{}"))
	t.Cleanup(plain.Close)

	untrusted := httptest.NewUnstartedServer(answers(200, "{}"))
	untrusted.Config.ErrorLog = nobodyReads
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)

	ends := httptest.NewServer(http.HandlerFunc(hangUp))
	t.Cleanup(ends.Close)

	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, `{"da`)
	}))
	t.Cleanup(cut.Close)

	garbage := listen(t, func(c net.Conn) {
		_, _ = bufio.NewReader(c).ReadString('\n')
		_, _ = io.WriteString(c, "SSH-2.0-OpenSSH\r\n\r\n")
	})

	for name, tc := range map[string]struct {
		base   string
		kind   error
		passes bool
		words  string
	}{
		"nobody listens":              {closed.URL, fabric.ErrUnsent, true, "refused"},
		"no such name":                {"https://nobody.invalid", fabric.ErrUnsent, true, "nobody.invalid"},
		"the certificate is a wrong":  {untrusted.URL, fabric.ErrUnsent, false, "not trusted"},
		"no TLS there":                {strings.Replace(plain.URL, "http:", "https:", 1), fabric.ErrUnsent, false, "does not speak TLS"},
		"the connection ends":         {ends.URL, fabric.ErrUnknown, true, "ended before the answer"},
		"the answer is cut":           {cut.URL, fabric.ErrUnknown, true, "ended before the answer"},
		"something else than HTTP is": {"http://" + garbage, fabric.ErrUnknown, true, "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := callerOf(t, fabric.Config{AllowPlainHTTP: true, RequestTimeout: 5 * time.Second}, tc.base, nil)

			_, err := c.Do(t.Context(), order)
			if !errors.Is(err, tc.kind) || wait.IsTransient(err) || !strings.Contains(err.Error(), tc.words) {
				t.Errorf("an order: %v", err)
			}

			if fabric.NothingDone(err) != (tc.kind == fabric.ErrUnsent) { //nolint:errorlint // the kind itself
				t.Errorf("nothing done: %v", fabric.NothingDone(err))
			}

			if tc.passes && tc.base != ends.URL && tc.base != closed.URL {
				return // repeating takes 2 s, and two of a kind are enough
			}

			if _, err := c.Do(t.Context(), read); err == nil || wait.IsTransient(err) != tc.passes {
				t.Errorf("a read: %v (transient: %v)", err, wait.IsTransient(err))
			}
		})
	}
}

// listen serves raw connections.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()

	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = l.Close() })

	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}

			serve(c)
			_ = c.Close()
		}
	}()

	return l.Addr().String()
}

func TestDo_timeouts(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		request fabric.Request
		kind    error
		after   time.Duration
		calls   int32
	}{
		"a read is bounded by the one":           {read, fabric.ErrUnknown, 10 * time.Second, 3}, // three: after 20 s patience ends
		"an order by the other, and never again": {order, fabric.ErrUnknown, 100 * time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int32

				c := callerOf(t, fabric.Config{
					RequestTimeout: 10 * time.Second, MutateTimeout: 100 * time.Second,
					Transport: inProcess{http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
						calls.Add(1)
						<-r.Context().Done()
					})},
				}, "h", nil)
				start := time.Now()

				_, err := c.Do(t.Context(), tc.request)
				if !errors.Is(err, tc.kind) || calls.Load() > tc.calls || !strings.Contains(err.Error(), "no answer within "+tc.after.String()) {
					t.Errorf("%d calls in %s, %v", calls.Load(), time.Since(start), err)
				}

				if time.Since(start) > time.Duration(tc.calls)*tc.after+5*time.Second || wait.IsTransient(err) == tc.request.Mutates {
					t.Errorf("took %s, transient %v", time.Since(start), wait.IsTransient(err))
				}
			})
		})
	}
}

func TestDo_givenUp(t *testing.T) {
	t.Parallel()

	why := errors.New("asked to stop")

	for name, before := range map[string]bool{"before the request": true, "during the request": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				for _, r := range []fabric.Request{read, order} {
					ctx, cancel := context.WithCancelCause(t.Context())
					c := callerOf(t, fabric.Config{Transport: inProcess{http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
						if before {
							t.Error("it was sent")
						}

						cancel(why)
						<-r.Context().Done()
					})}}, "h", nil)

					if before {
						cancel(why)
					}

					_, err := c.Do(ctx, r)
					if !errors.Is(err, why) || wait.IsTransient(err) || errors.Is(err, fabric.ErrUnsent) != before {
						t.Errorf("%s: %v", r.Op, err)
					}
				}
			})
		})
	}
}

func TestDo_certificates(t *testing.T) {
	t.Parallel()

	far := httptest.NewUnstartedServer(answers(200, "{}"))
	far.Config.ErrorLog = nobodyReads
	far.StartTLS()
	t.Cleanup(far.Close)

	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: far.Certificate().Raw}))
	for name, tc := range map[string]struct {
		cfg    fabric.Config
		option string // that the error names; empty: it works
		fails  bool
	}{
		"given as PEM":                {cfg: fabric.Config{CACertPEM: ca}},
		"given as file":               {cfg: fabric.Config{CACertFile: "ca.pem"}},
		"with the name that it holds": {cfg: fabric.Config{CACertPEM: ca, TLSServerName: "example.com"}},
		"with another name":           {cfg: fabric.Config{CACertPEM: ca, TLSServerName: "other.example"}, fails: true},
		"not verified":                {cfg: fabric.Config{Insecure: true}},
		"not given":                   {fails: true},
		"no PEM":                      {cfg: fabric.Config{CACertPEM: "x"}, option: "ca_cert_pem"},
		"no file":                     {cfg: fabric.Config{CACertFile: "not.pem"}, option: "ca_cert_file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			dir := t.TempDir()
			if tc.cfg.CACertFile != "" {
				tc.cfg.CACertFile = filepath.Join(dir, tc.cfg.CACertFile)
			}

			c := callerOf(t, tc.cfg, far.URL, nil) // reads nothing yet

			if err := os.WriteFile(filepath.Join(dir, "ca.pem"), []byte(ca), 0o600); err != nil {
				t.Fatal(err)
			}

			_, err := c.Do(t.Context(), order)

			var wrong *fabric.ConfigError

			switch {
			case tc.option != "" && (!errors.As(err, &wrong) || wrong.Option != tc.option || !fabric.NothingDone(err)):
				t.Errorf("got %v", err)
			case tc.option == "" && (err != nil) != tc.fails:
				t.Errorf("got %v", err)
			}
		})
	}
}
