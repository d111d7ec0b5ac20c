// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic_test

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

func TestNew_endpoint(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct{ in, want string }{
		"as it is":                   {"http://127.0.0.1:6385", "http://127.0.0.1:6385"},
		"slash and version go":       {"http://127.0.0.1:6385/v1/", "http://127.0.0.1:6385"},
		"a path stays":               {"https://Cloud.Example/baremetal/v1", "https://cloud.example/baremetal"},
		"a port of the scheme goes":  {"https://ironic.example:443/", "https://ironic.example"},
		"IPv6 stays in its brackets": {"http://[2001:db8::1]:6385", "http://[2001:db8::1]:6385"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c, err := ironic.New(ironic.Config{Endpoint: tc.in})
			if err != nil || c.Endpoint() != tc.want {
				t.Errorf("got %v, %v", c, err)
			}
		})
	}
}

func TestNew_refuses(t *testing.T) {
	t.Parallel()

	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}

	for name, tc := range map[string]struct {
		cfg    ironic.Config
		option string
		says   string
	}{
		"no endpoint":              {ironic.Config{}, "endpoint", "missing"},
		"no scheme":                {ironic.Config{Endpoint: "127.0.0.1:6385"}, "endpoint", ""},
		"another scheme":           {ironic.Config{Endpoint: "ftp://x"}, "endpoint", "http"},
		"credentials in the URL":   {ironic.Config{Endpoint: "http://user:hunter2hunter2@x"}, "endpoint", "username"},
		"a bad URL with a secret":  {ironic.Config{Endpoint: "http://user:hunter2hunter2%zz@x"}, "endpoint", "not a URL"},
		"unknown authentication":   {ironic.Config{Endpoint: "http://x", Auth: "magic"}, "auth", "noauth"},
		"basic without a user":     {ironic.Config{Endpoint: "http://x", Auth: ironic.HTTPBasic, Password: "p"}, "username", ""},
		"basic without a password": {ironic.Config{Endpoint: "http://x", Auth: ironic.HTTPBasic, Username: "u"}, "password", ""},
		"a CA that is missing":     {ironic.Config{Endpoint: "http://x", CACertFile: "/no/ca.pem"}, "ca_cert_file", "/no/ca.pem"},
		"a CA that holds nothing":  {ironic.Config{Endpoint: "http://x", CACertFile: empty}, "ca_cert_file", "empty.pem"},
		"a certificate, no key":    {ironic.Config{Endpoint: "http://x", ClientCertFile: empty}, "client_key_file", ""},
		"a key that is missing":    {ironic.Config{Endpoint: "http://x", ClientCertFile: empty, ClientKeyFile: "/no/key"}, "client_key_file", "/no/key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := ironic.New(tc.cfg)

			var wrong *ironic.ConfigError
			if !errors.As(err, &wrong) || wrong.Option != tc.option || !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("got %v", err)
			}

			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
}

func TestConfig_doesNotPrintItsPassword(t *testing.T) {
	t.Parallel()

	cfg := ironic.Config{Endpoint: "http://x", Password: "hunter2"}
	if s := fmt.Sprintf("%v %+v %#v", cfg, cfg, cfg); strings.Contains(s, "hunter2") {
		t.Error(s)
	}
}

// TestTLS runs on a real socket: a server with a certificate of its own.
func TestTLS(t *testing.T) {
	t.Parallel()

	f := newFake()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, err := f.RoundTrip(r)
		if err != nil {
			return
		}
		defer answer.Body.Close()

		for k, v := range answer.Header {
			w.Header()[k] = v
		}

		w.WriteHeader(answer.StatusCode)
		_, _ = io.Copy(w, answer.Body)
	}))
	t.Cleanup(server.Close)

	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}

	t.Run("a CA that signed it is trusted", func(t *testing.T) {
		t.Parallel()

		c, err := ironic.New(ironic.Config{Endpoint: server.URL, CACertFile: ca})
		if err != nil {
			t.Fatal(err)
		}

		if v, err := c.Version(t.Context()); v != 96 || err != nil {
			t.Errorf("got %d, %v", v, err)
		}
	})

	t.Run("without it the error is at once and names the certificate", func(t *testing.T) {
		t.Parallel()

		c, err := ironic.New(ironic.Config{Endpoint: server.URL})
		if err != nil {
			t.Fatal(err)
		}

		start := time.Now()

		_, err = c.Version(t.Context())
		if !errors.Is(err, ironic.ErrUnreachable) || wait.IsTransient(err) || time.Since(start) > 5*time.Second {
			t.Errorf("got %v after %s", err, time.Since(start))
		}

		if !strings.Contains(err.Error(), "not trusted") {
			t.Errorf("got %v", err)
		}
	})

	t.Run("insecure is a choice", func(t *testing.T) {
		t.Parallel()

		c, err := ironic.New(ironic.Config{Endpoint: server.URL, Insecure: true})
		if err != nil {
			t.Fatal(err)
		}

		if _, err := c.Version(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
