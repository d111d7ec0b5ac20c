// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

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

	f.err = transport.Inner(f.err) // it would say method and URL again

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
	cause := transport.CauseOf(f.err)

	var slow net.Error

	switch {
	case cause == transport.Untrusted:
		return "the certificate is not trusted: " + f.err.Error(), false
	case cause == transport.Alerted:
		return "the far side ended the TLS handshake: " + f.err.Error(), false
	case cause == transport.NoTLS:
		return "the endpoint says https, but the far side does not speak TLS", false
	case errors.As(f.err, &slow) && slow.Timeout() && f.began, errors.Is(f.err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %s", f.limit), true
	case cause == transport.Ended:
		return "the connection ended before the answer", true
	default:
		return f.err.Error(), true
	}
}

// neverSent says that the far side surely saw nothing of the request.
func neverSent(err error) bool {
	if transport.Unconnected(err) {
		return true
	}

	var op *net.OpError

	switch transport.CauseOf(err) {
	case transport.Untrusted, transport.NoTLS:
		return true
	default:
		return errors.As(err, &op) && op.Op == "proxyconnect"
	}
}

// GivenUp is the end of a caller who waited for a turn, and sent nothing yet.
func GivenUp(op string, err error) error {
	return &Error{Op: op, Kind: ErrUnsent, Message: "given up: " + err.Error(), Err: err}
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
