// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
)

// Cause is why a request got no answer.
type Cause int

// The causes that errors of net/http tell for certain.
const (
	Other     Cause = iota // a time-out, a host that is not found, …
	Untrusted              // the certificate is refused: so it will be at the next try
	Alerted                // the far side ended the TLS handshake: it wants a certificate, or speaks another version
	NoTLS                  // the far side does not speak TLS
	Ended                  // the connection ended before the answer
)

// CauseOf finds out why a request got no answer.
func CauseOf(err error) Cause {
	var (
		untrusted *tls.CertificateVerificationError
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		alert     tls.AlertError
		record    tls.RecordHeaderError
		failed    *net.OpError
	)

	switch {
	case errors.As(err, &untrusted), errors.As(err, &authority), errors.As(err, &name):
		return Untrusted
	case errors.As(err, &alert), errors.As(err, &failed) && failed.Op == "remote error":
		return Alerted // on TCP an alert has no type that crypto/tls exports
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return NoTLS
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Ended
	default:
		return Other
	}
}

// Unconnected reports whether there surely was no connection to send a request on.
func Unconnected(err error) bool {
	var op *net.OpError

	return errors.Is(err, syscall.ECONNREFUSED) ||
		(errors.As(err, &op) && op.Op == "dial") ||
		strings.Contains(err.Error(), "TLS handshake timeout") // net/http exports no value for it
}

// Inner takes from an error of net/http the method and the URL that it repeats.
func Inner(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		return outer.Err
	}

	return err
}
