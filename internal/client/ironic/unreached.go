// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// unreached sorts a request that got no answer. Without a valid certificate there will
// be none at the next try either; everything else may be better then.
func (c *Client) unreached(k call, err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err // the URL is known, and the method is in Op
	}

	e := &RequestError{Op: k.op, kind: ErrUnreachable, unsent: isUnsent(err)}

	var (
		slow      net.Error
		untrusted *tls.CertificateVerificationError
		authority x509.UnknownAuthorityError
		alert     tls.AlertError
		record    tls.RecordHeaderError
	)

	switch {
	case errors.As(err, &untrusted), errors.As(err, &authority):
		e.Text = "the certificate of Ironic is not trusted: " + err.Error()
	case errors.As(err, &alert):
		e.Text = "Ironic ended the TLS handshake: " + err.Error()
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		e.Text = "the endpoint says https, but the server does not speak TLS"
	case errors.As(err, &slow) && slow.Timeout() && !e.unsent:
		e.Text = fmt.Sprintf("no answer within %s", c.timeout)

		return wait.Transient(e)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Text = "the connection ended before the answer"

		return wait.Transient(e)
	default:
		e.Text = c.secrets.clean(err.Error(), k.passing...)

		return wait.Transient(e)
	}

	e.Text = c.secrets.clean(e.Text)

	return e
}

// isUnsent says that the far side surely saw nothing of the request.
func isUnsent(err error) bool {
	var op *net.OpError

	return errors.Is(err, syscall.ECONNREFUSED) ||
		(errors.As(err, &op) && op.Op == "dial") ||
		strings.Contains(err.Error(), "TLS handshake timeout") // net/http exports no value for it
}
