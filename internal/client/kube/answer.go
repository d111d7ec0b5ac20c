// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// textLimit bounds what is shown of a far side's words.
const textLimit = 1000

// unanswered sorts a request that got no answer.
func (c *Client) unanswered(ctx context.Context, k call, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", k.op, context.Cause(ctx))
	}

	err = transport.Inner(err)
	e := &RequestError{Op: k.op, kind: ErrUnreachable, cause: err}

	var slow net.Error

	switch transport.CauseOf(err) {
	case transport.Untrusted:
		return c.untrusted(e, err)
	case transport.Alerted:
		e.Text = "the API server ended the TLS handshake: " + err.Error()

		return e
	case transport.NoTLS:
		e.Text = c.base + " does not speak TLS"

		return e
	case transport.Ended:
		e.Text, e.broken = "the connection ended before the answer", true
	case transport.Other:
		e.broken = !transport.Unconnected(err)
		e.Text = c.clean(err.Error())

		if errors.As(err, &slow) && slow.Timeout() && e.broken {
			e.Text, e.broken = fmt.Sprintf("no answer within %s", c.timeout), false
		}
	}

	return wait.Transient(e)
}

// untrusted sorts a certificate that is not accepted.
func (c *Client) untrusted(e *RequestError, err error) error {
	var (
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		name      x509.HostnameError
	)

	switch {
	case errors.As(err, &authority):
		foreign := &ForeignCAError{Server: c.base}

		if shown := certificateIn(err); shown != nil {
			foreign.Issuer = shown.Issuer.String()
		}

		return fmt.Errorf("%s: %w", e.Op, foreign)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil && time.Now().Before(invalid.Cert.NotBefore):
		// a new control plane whose clock is ahead
		e.Text = "the certificate of the API server is not valid yet: a clock is wrong"

		return wait.Transient(e)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		e.Text = "the certificate of the API server has expired: renew it on the control plane (kubeadm certs renew apiserver)"
	case errors.As(err, &name):
		e.Text = "the certificate of the API server is for other names: " + err.Error()
	default:
		e.Text = "the certificate of the API server is not trusted: " + err.Error()
	}

	return e
}

// certificateIn returns the certificate that a failed verification was about.
func certificateIn(err error) *x509.Certificate {
	var failed *tls.CertificateVerificationError
	if errors.As(err, &failed) && len(failed.UnverifiedCertificates) > 0 {
		return failed.UnverifiedCertificates[0]
	}

	return nil
}

// broken says whether a read is worth another try at once.
func broken(err error) bool {
	var e *RequestError

	return errors.As(err, &e) && e.broken && wait.IsTransient(err)
}

// refusal sorts an answer whose status says no.
func (c *Client) refusal(k call, a answer) error {
	said, own := statusIn(a.body)
	e := &RequestError{Op: k.op, Status: a.status, Reason: said.str("reason"), Causes: causesIn(said)}

	if e.Text = said.str("message"); e.Text == "" {
		e.Text = words(a)
	}

	e.Text = c.clean(e.Text, k.passing...)
	for i := range e.Causes {
		e.Causes[i].Message = c.clean(e.Causes[i].Message, k.passing...)
	}

	e.kind = kindOf(a.status, own)
	if errors.Is(e.kind, ErrAuth) {
		e.Text += hint(a.status)
	}

	if forTheMoment(a.status) {
		e.broken = a.status == http.StatusBadGateway || a.status == http.StatusServiceUnavailable || a.status == http.StatusInternalServerError

		return wait.TransientAfter(e, transport.RetryAfter(a.header, time.Now()))
	}

	return e
}

func hint(status int) string {
	if status == http.StatusUnauthorized {
		return " (the credentials are not accepted: they may have expired, or be of another cluster)"
	}

	return " (the credentials lack this right)"
}

// kindOf gives a refusal its kind.
func kindOf(status int, own bool) error {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return ErrAuth
	case !own && (status/100 == 3 || status == http.StatusNotFound):
		// a path that the API server does not know is answered without a Status, too
		return ErrForeign
	case status == http.StatusNotFound, status == http.StatusGone:
		return ErrNotFound
	case status == http.StatusConflict:
		return ErrConflict
	case status == http.StatusBadRequest, status == http.StatusUnprocessableEntity:
		return ErrInvalid
	default:
		return nil
	}
}

// forTheMoment says whether a refusal may be gone at the next look.
func forTheMoment(status int) bool {
	switch status {
	case http.StatusConflict, http.StatusTooManyRequests, http.StatusRequestTimeout:
		return true
	default:
		return status >= http.StatusInternalServerError && status != http.StatusNotImplemented
	}
}

// statusIn reads a Status of the API server; own says whether it is one.
func statusIn(body []byte) (object, bool) {
	said, ok := parse(body)

	return said, ok && said.str("kind") == "Status"
}

// words are what an answer says that is no Status.
func words(a answer) string {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(a.body[:min(len(a.body), 4*textLimit)]), "?")), " ")

	switch {
	case a.status/100 == 3:
		return "redirects elsewhere; is this an API server?"
	case strings.HasPrefix(text, "<"):
		return "answers HTML; is this an API server?"
	case text == "":
		return strings.ToLower(http.StatusText(a.status))
	default:
		return text
	}
}

// clean removes secrets from a far side's words and shortens them.
func (c *Client) clean(text string, passing ...string) string {
	for _, form := range c.secrets {
		text = strings.ReplaceAll(text, form, "***")
	}

	for _, secret := range passing {
		for _, form := range transport.Spellings(secret) {
			text = strings.ReplaceAll(text, form, "***")
		}
	}

	if len(text) > textLimit {
		text = strings.ToValidUTF8(text[:textLimit], "") + " …"
	}

	return text
}
