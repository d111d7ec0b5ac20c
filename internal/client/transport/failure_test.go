// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"syscall"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
)

func TestCauseOf(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		err         error
		cause       transport.Cause
		unconnected bool
	}{
		"a certificate that is refused":        {&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, transport.Untrusted, false},
		"an authority that nobody knows":       {x509.UnknownAuthorityError{}, transport.Untrusted, false},
		"a certificate of another host":        {x509.HostnameError{Certificate: &x509.Certificate{}}, transport.Untrusted, false},
		"an alert":                             {&net.OpError{Op: "remote error", Err: tls.AlertError(42)}, transport.Alerted, false},
		"no TLS":                               {tls.RecordHeaderError{}, transport.NoTLS, false},
		"HTTP where HTTPS was asked for":       {http.ErrSchemeMismatch, transport.NoTLS, false},
		"the end":                              {io.EOF, transport.Ended, false},
		"the end in the middle":                {io.ErrUnexpectedEOF, transport.Ended, false},
		"a port that nobody listens on":        {syscall.ECONNREFUSED, transport.Other, true},
		"a host that nobody knows":             {&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host"}}, transport.Other, true},
		"a handshake that takes too long":      {errors.New("net/http: TLS handshake timeout"), transport.Other, true},
		"an answer that takes too long":        {context.DeadlineExceeded, transport.Other, false},
		"a connection that broke when reading": {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, transport.Other, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for _, err := range []error{tt.err, fmt.Errorf("sent: %w", &url.Error{Op: "Get", URL: "https://far.example", Err: tt.err})} {
				if got := transport.CauseOf(err); got != tt.cause {
					t.Errorf("%v: cause %d, want %d", err, got, tt.cause)
				}

				if got := transport.Unconnected(err); got != tt.unconnected {
					t.Errorf("%v: unconnected %t", err, got)
				}
			}
		})
	}
}

// A server that refuses a client without a certificate says so in an alert, whose type on TCP is not
// the exported one.
func TestCauseOf_aServerThatWantsACertificate(t *testing.T) {
	t.Parallel()

	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(tls.VersionName(version), func(t *testing.T) {
			t.Parallel()

			s := httptest.NewUnstartedServer(http.NotFoundHandler())
			s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: version, MaxVersion: version}
			s.Config.ErrorLog = log.New(io.Discard, "", 0)
			s.StartTLS()
			t.Cleanup(s.Close)

			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}

			resp, err := s.Client().Do(req)
			if err == nil {
				_ = resp.Body.Close()
			}

			if err == nil || transport.CauseOf(err) != transport.Alerted {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestInner(t *testing.T) {
	t.Parallel()

	if got := transport.Inner(&url.Error{Op: "Get", URL: "https://far.example", Err: io.EOF}); got != io.EOF { //nolint:errorlint // the value itself
		t.Errorf("got %v", got)
	}

	if got := transport.Inner(io.EOF); got != io.EOF { //nolint:errorlint // the value itself
		t.Errorf("got %v", got)
	}
}
