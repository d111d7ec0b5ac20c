// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc_test

import (
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/bmc"
)

// TestClient_tls goes over a real socket: a certificate that nobody vouches for is refused,
// unless its authority is given or the user gave up verification.
func TestClient_tls(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		authority, insecure bool
		want                error
	}{
		"verification by default": {false, false, bmc.ErrUnreachable},
		"the authority is given":  {true, false, nil},
		"verification is off":     {false, true, nil},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFake()
			address, authority := overTLS(t, f)
			start := time.Now()

			cfg := bmc.Config{Address: address, SystemPath: systemOne, Username: username, Password: secret, Insecure: tc.insecure}
			if tc.authority {
				cfg.VerifyCA = authority
			}

			client := bmc.New(cfg)
			if err := client.Check(t.Context()); !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}

			client.Close(t.Context())

			if n := f.sessionsOpen(); n != 0 {
				t.Errorf("%d sessions left open", n)
			}

			if time.Since(start) > 5*time.Second {
				t.Errorf("a certificate that stays as it is was tried for %s", time.Since(start))
			}
		})
	}
}

// overTLS serves a BMC, and returns its address and the file of its authority.
func overTLS(t *testing.T, f *fake) (address, authority string) {
	t.Helper()

	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = f.serve(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the refused handshakes
	server.StartTLS()
	t.Cleanup(server.Close)

	authority = filepath.Join(t.TempDir(), "ca.pem")

	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(authority, block, 0o600); err != nil {
		t.Fatal(err)
	}

	return server.URL, authority
}
