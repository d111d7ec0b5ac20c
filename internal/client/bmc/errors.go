// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// The kinds of failure that a caller can tell apart with errors.Is.
var (
	ErrAuth        = errors.New("not authorised")       // user name, password or privileges are not accepted
	ErrUnreachable = errors.New("no answer")            // no connection, it broke, or there was no answer in time
	ErrNotFound    = errors.New("not found")            // the BMC says that it has no such resource
	ErrAmbiguous   = errors.New("more than one system") // and nothing says which one is meant
	ErrConflict    = errors.New("precondition refused") // the BMC took no ETag
	ErrTask        = errors.New("the task failed")      // accepted, and then not done
	ErrClosed      = errors.New("the client is closed") // a mistake of the caller
)

// errNoSessions says that the BMC gives no session, which is not the end of the story.
var errNoSessions = errors.New("no session")

// RequestError is a request that the BMC refused, or that got no answer.
type RequestError struct {
	Op     string // what was being done
	Status int    // of HTTP; 0 where there was no answer
	Text   string // the BMC's words, without secrets

	kind   error // one of the Err… values, or nil
	cause  error // what the network said, or the context
	unsent bool  // the request surely did not arrive
}

func (e *RequestError) Error() string {
	if e.Status == 0 {
		return e.Op + ": " + e.Text
	}

	return fmt.Sprintf("%s: the BMC answered %d: %s", e.Op, e.Status, e.Text)
}

// Unwrap returns the kind and the cause.
func (e *RequestError) Unwrap() []error {
	var list []error

	for _, err := range []error{e.kind, e.cause} {
		if err != nil {
			list = append(list, err)
		}
	}

	return list
}

// sort turns an error of the library or of the network into one of ours.
func (c *Client) sort(ctx context.Context, op string, err error) error {
	var (
		own      *RequestError
		answered *schemas.Error
	)

	switch {
	case errors.As(err, &own):
		return err
	case errors.As(err, &answered) && answered.HTTPReturnedStatusCode != 0:
		failed := c.refused(op, answered)
		if retryable(failed.Status) {
			return wait.Transient(failed)
		}

		return failed
	}

	failed := &RequestError{Op: op, Text: c.secrets.clean(reason(err)), kind: ErrUnreachable, cause: ending(ctx)}

	switch {
	case errors.Is(failed.cause, context.Canceled):
		failed.kind = nil

		return failed
	case failed.cause != nil || transport.CauseOf(err) == transport.Untrusted:
		return failed // no time left, or a certificate that stays as it is
	case foreign(err):
		failed.Text = "what answers there does not speak Redfish"

		return failed
	}

	failed.unsent = strings.Contains(err.Error(), "connect: ") || strings.Contains(err.Error(), "no such host")

	return wait.Transient(failed)
}

// ending says why a context ended. Errors of the HTTP library wrap the same values for a
// time-out of one request, which is another thing.
func ending(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}

	return context.Cause(ctx)
}

// reason takes method and URL away from an error of the HTTP library.
func reason(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		if u.Timeout() {
			return "no answer in time"
		}

		err = u.Err
	}

	return err.Error()
}

// foreign reports whether the answer was no JSON, or none that a service root can be.
func foreign(err error) bool {
	var (
		syntax *json.SyntaxError
		kind   *json.UnmarshalTypeError
	)

	return errors.As(err, &syntax) || errors.As(err, &kind)
}

// refused makes an error of an answer that is no success.
func (c *Client) refused(op string, e *schemas.Error) *RequestError {
	failed := &RequestError{Op: op, Status: e.HTTPReturnedStatusCode, Text: c.secrets.clean(words(e))}

	switch failed.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		failed.kind = ErrAuth
	case http.StatusNotFound, http.StatusGone:
		failed.kind = ErrNotFound
	case http.StatusPreconditionFailed, http.StatusPreconditionRequired:
		failed.kind = ErrConflict
	}

	return failed
}

// retryable reports whether the same read may be answered a moment later.
func retryable(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}

	return false
}

// words are the BMC's own words: its messages, else its summary.
func words(e *schemas.Error) string {
	var said []string

	for _, info := range e.ExtendedInfos {
		if info.Message != "" {
			said = append(said, info.Message)
		}
	}

	if len(said) > 0 {
		return strings.Join(said, " ")
	}

	text := strings.TrimSpace(e.Message)

	switch {
	case text == "" || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "["):
		return http.StatusText(e.HTTPReturnedStatusCode)
	case strings.HasPrefix(text, "<"):
		return "a page that is no Redfish answer"
	case len(text) > 400:
		return text[:400] + " …"
	}

	return text
}
