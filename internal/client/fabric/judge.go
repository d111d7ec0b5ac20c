// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// outOfDevices are the words of managers for an empty pool (seen in public mocks of FM), with
// blanks as the only separator.
var outOfDevices = []string{"insufficient resources", "no available resources"}

// maxRetryAfter bounds what a far side may ask us to wait.
const maxRetryAfter = 5 * time.Minute

// judge sorts an answer that is no success.
func (c *Caller) judge(r Request, a Answer, secret redactor) error {
	s := readError(a.Body)
	e := c.failed(r, a.Status)
	e.Code, e.Message = secret.clean(clip(s.code, 128)), secret.clean(s.text)
	e.Kind = c.kind(r, a, s)

	if a.Status < 400 {
		e.Message = secret.clean("redirects to " + place(a.Header) + ", which is not followed: is the endpoint right?")
	}

	if e.Message == "" {
		e.Message = e.Kind.Error()
	}

	if passes(r, a.Status, e.Kind) {
		return wait.TransientAfter(e, retryAfter(a.Header, time.Now()))
	}

	return e
}

// kind tells what an answer means. Of an order only a clear word means that nothing was done.
func (c *Caller) kind(r Request, a Answer, s said) error {
	switch {
	case a.Status < 400:
		return ErrNotFabric
	case listed(c.cfg.BusyCodes, s.code):
		return ErrBusy
	case listed(c.cfg.CapacityCodes, s.code), a.Status < 500 && s.ours && outOf(s):
		return ErrCapacity
	}

	switch a.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return ErrAuth
	case http.StatusConflict, http.StatusLocked, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return ErrBusy
	case http.StatusRequestTimeout, http.StatusTooEarly:
		return ErrUnknown
	case http.StatusNotFound:
		if s.ours {
			return ErrNotFound
		}

		return ErrNotFabric
	}

	switch {
	case a.Status >= 500:
		return ErrUnknown
	case s.ours:
		return ErrRefused
	case r.Mutates:
		return ErrUnknown
	default:
		return ErrNotFabric
	}
}

// passes reports whether the same request may succeed later. Of an order only "busy" does:
// everything else that may pass has to be looked at first.
func passes(r Request, status int, kind error) bool {
	if kind == ErrBusy { //nolint:errorlint // a kind is one of the values themselves
		return true
	}

	switch status {
	case http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusRequestTimeout, http.StatusTooEarly:
		return !r.Mutates
	default:
		return false
	}
}

func listed(codes []string, code string) bool {
	for _, c := range codes {
		if code != "" && strings.EqualFold(strings.TrimSpace(c), code) {
			return true
		}
	}

	return false
}

func outOf(s said) bool {
	words := strings.NewReplacer("_", " ", "-", " ").Replace(strings.ToLower(s.code + " " + s.text))

	for _, word := range outOfDevices {
		if strings.Contains(words, word) {
			return true
		}
	}

	return false
}

// place is where a redirect leads, without what may be secret in its query.
func place(h http.Header) string {
	u, err := url.Parse(h.Get("Location"))

	switch {
	case err != nil || h.Get("Location") == "":
		return "nowhere"
	case u.Host == "":
		return u.EscapedPath()
	default:
		return u.Scheme + "://" + u.Host
	}
}

func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))

	if seconds, err := strconv.Atoi(value); err == nil {
		return min(max(time.Duration(min(seconds, 3600))*time.Second, 0), maxRetryAfter)
	}

	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}

	return 0
}

// Unusable is the error for an answer that is good by its status and bad by its body: of an
// order the outcome is unknown, and what answers a read is no fabric manager.
func (c *Caller) Unusable(r Request, a Answer, why string) error {
	e := c.failed(r, a.Status)
	e.Message, e.Kind = c.secret.clean(why), ErrNotFabric

	if r.Mutates {
		e.Kind = ErrUnknown
	} else {
		e.Message += "; is this the fabric manager?"
	}

	return e
}

func (c *Caller) failed(r Request, status int) *Error {
	if r.Method == "" {
		r.Method = http.MethodGet
	}

	path := r.Path
	if u, err := url.Parse(c.base); err == nil {
		path = u.EscapedPath() + r.Path
	}

	return &Error{Op: r.Op, Method: r.Method, Path: path, Status: status}
}

// failure is a request without an answer.
type failure struct {
	err    error
	limit  time.Duration
	began  bool // it had a connection, so it may have arrived
	secret redactor
}

// unreached sorts a request that got no answer.
func (c *Caller) unreached(ctx context.Context, r Request, f failure) error {
	unsent := !f.began || neverSent(f.err)

	if ctx.Err() != nil {
		return c.ended(ctx, r, unsent)
	}

	e := c.failed(r, 0)
	e.Kind = ErrUnknown

	if unsent {
		e.Kind = ErrUnsent
	}

	var outer *url.Error
	if errors.As(f.err, &outer) {
		f.err = outer.Err // it would say method and URL again
	}

	text, passing := words(f)
	e.Message = f.secret.clean(text)

	if passing && !r.Mutates {
		return wait.Transient(e)
	}

	return e
}

// words tells a failure to people, and whether it may pass: without a valid certificate
// there will be no answer at the next try either.
func words(f failure) (string, bool) {
	var (
		untrusted *tls.CertificateVerificationError
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		alert     tls.AlertError
		record    tls.RecordHeaderError
		slow      net.Error
	)

	switch {
	case errors.As(f.err, &untrusted), errors.As(f.err, &authority), errors.As(f.err, &name):
		return "the certificate is not trusted: " + f.err.Error(), false
	case errors.As(f.err, &alert):
		return "the far side ended the TLS handshake: " + f.err.Error(), false
	case errors.As(f.err, &record), errors.Is(f.err, http.ErrSchemeMismatch):
		return "the endpoint says https, but the far side does not speak TLS", false
	case errors.As(f.err, &slow) && slow.Timeout() && f.began, errors.Is(f.err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %s", f.limit), true
	case errors.Is(f.err, io.EOF), errors.Is(f.err, io.ErrUnexpectedEOF):
		return "the connection ended before the answer", true
	default:
		return f.err.Error(), true
	}
}

// neverSent says that the far side surely saw nothing of the request.
func neverSent(err error) bool {
	var (
		op        *net.OpError
		untrusted *tls.CertificateVerificationError
		record    tls.RecordHeaderError
	)

	return errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &untrusted) || errors.As(err, &record) ||
		errors.Is(err, http.ErrSchemeMismatch) ||
		(errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect")) ||
		strings.Contains(err.Error(), "TLS handshake timeout") // net/http exports no value for it
}

// ended is a request that its caller gave up.
func (c *Caller) ended(ctx context.Context, r Request, unsent bool) error {
	e := c.failed(r, 0)
	e.Kind, e.Err = ErrUnknown, context.Cause(ctx)
	e.Message = c.secret.clean("given up: " + e.Err.Error())

	if unsent {
		e.Kind = ErrUnsent
	}

	return e
}

// loginFailed is a request that was not sent, as there is no proof for it.
func (c *Caller) loginFailed(r Request, err error) error {
	var (
		of    *Error
		wrong *ConfigError
	)

	if errors.As(err, &wrong) {
		return err
	}

	if !errors.As(err, &of) {
		e := c.failed(r, 0)
		e.Kind, e.Err, e.Message, e.login = ErrAuth, err, "log in: "+c.secret.clean(err.Error()), true

		return e
	}

	e := *of
	e.login = true
	e.Op = r.Op + ": " + of.Op

	// What the token service has not found or refuses is no word on the object of the request.
	switch {
	case wait.IsTransient(err) || errors.Is(err, ErrUnsent) || ctxEnded(err):
		e.Kind = ErrUnsent
	case !errors.Is(err, ErrConfig):
		e.Kind = ErrAuth
	}

	return remark(&e, err)
}

func ctxEnded(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Unsent is the error of a question that an order needed an answer to, as the error of the
// order: it was not sent, whatever became of the question.
func Unsent(err error) error {
	var of *Error
	if !errors.As(err, &of) || NothingDone(err) {
		return err
	}

	e := *of
	e.Kind, e.Err = ErrUnsent, nil

	return remark(&e, err)
}

// remark marks an error as its origin is marked.
func remark(e *Error, origin error) error {
	if wait.IsTransient(origin) {
		return wait.TransientAfter(e, wait.RetryAfter(origin))
	}

	return e
}
