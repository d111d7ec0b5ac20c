// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
)

// secure is a far side with a certificate of its own, in PEM form.
func secure(t *testing.T) (*httptest.Server, []byte) {
	t.Helper()

	far := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			http.Redirect(w, r, "https://other.example/", http.StatusFound)
		}
	}))
	t.Cleanup(far.Close)

	return far, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: far.Certificate().Raw})
}

func get(t *testing.T, client *http.Client, address string) (int, error) {
	t.Helper()

	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}

	answer, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()

	return answer.StatusCode, nil
}

func TestNew(t *testing.T) {
	t.Parallel()

	far, ca := secure(t)
	file := filepath.Join(t.TempDir(), "ca.pem")

	if err := os.WriteFile(file, ca, 0o600); err != nil {
		t.Fatal(err)
	}

	for name, tt := range map[string]struct {
		insecure bool
		pem      []byte
		file     string
		refused  bool
	}{
		"a certificate that nobody vouches for is refused": {refused: true},
		"an authority in PEM is trusted":                   {pem: ca},
		"an authority in a file is trusted":                {file: file},
		"both may be given":                                {pem: ca, file: file},
		"insecure takes everything":                        {insecure: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			conf := transport.TLS(tt.insecure)

			if tt.pem != nil {
				if err := transport.Trust(conf, tt.pem); err != nil {
					t.Fatal(err)
				}
			}

			if tt.file != "" {
				if err := transport.TrustFile(conf, tt.file); err != nil {
					t.Fatal(err)
				}
			}

			next := transport.New(conf, 2)
			t.Cleanup(next.CloseIdleConnections)

			status, err := get(t, &http.Client{Transport: next, CheckRedirect: transport.NoRedirect}, far.URL+"/elsewhere")

			switch {
			case tt.refused && transport.CauseOf(err) != transport.Untrusted:
				t.Errorf("not refused: %v", err)
			case !tt.refused && (err != nil || status != http.StatusFound):
				t.Errorf("want the redirect itself, got %d, %v", status, err)
			}
		})
	}
}

func TestTrust_whatIsNoCertificate(t *testing.T) {
	t.Parallel()

	if err := transport.Trust(transport.TLS(false), []byte("x")); !errors.Is(err, transport.ErrNoPEM) {
		t.Errorf("got %v", err)
	}

	dir := t.TempDir()
	if err := transport.TrustFile(transport.TLS(false), filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}

	file := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}

	err := transport.TrustFile(transport.TLS(false), file)
	if !errors.Is(err, transport.ErrNoPEM) || err.Error() != file+" holds no certificate in PEM form" {
		t.Errorf("got %v", err)
	}
}

func TestTrace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		type told struct {
			method, url string
			status      int
			elapsed     time.Duration
		}

		var got []told

		trace := transport.Trace(func(_ context.Context, method, url string, status int, elapsed time.Duration) {
			got = append(got, told{method, url, status, elapsed})
		})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://u:hunter2@far.example/x", nil)
		began := time.Now()

		time.Sleep(time.Second)
		trace.Tell(t.Context(), r, nil, began)
		trace.Tell(t.Context(), r, &http.Response{StatusCode: http.StatusTeapot}, began)
		transport.Trace(nil).Tell(t.Context(), r, nil, began) // nobody listens

		want := []told{
			{http.MethodGet, "https://u:xxxxx@far.example/x", 0, time.Second},
			{http.MethodGet, "https://u:xxxxx@far.example/x", http.StatusTeapot, time.Second},
		}
		if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
			t.Errorf("told %v", got)
		}
	})
}

func TestReadBody(t *testing.T) {
	t.Parallel()

	broken := errors.New("broken")

	for name, tt := range map[string]struct {
		body io.Reader
		want string
		err  error
	}{
		"nothing":           {strings.NewReader(""), "", nil},
		"just short enough": {strings.NewReader("1234"), "1234", nil},
		"too long":          {strings.NewReader("12345"), "1234", transport.ErrTooLong},
		"broken half-way":   {io.MultiReader(strings.NewReader("12"), failing{broken}), "12", broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := transport.ReadBody(tt.body, 4)
			if string(got) != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
