// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
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
		return wait.TransientAfter(e, min(transport.RetryAfter(a.Header, time.Now()), maxRetryAfter))
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
		if s.lacks(c.dialects) {
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
