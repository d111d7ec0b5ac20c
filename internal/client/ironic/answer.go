// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// textLimit bounds what is shown of a far side's words; tracebacks are longer.
const textLimit = 1500

// body shapes of a refusal.
type shape int

const (
	foreign shape = iota // no JSON, or JSON of somebody else
	page                 // HTML
	fault                // Ironic's own: {"error_message": …} with words in it
	bare                 // Ironic's own without words: an unknown route
	keyless              // {"error": {"message": …}}: the basic authentication's and Keystone's
)

// failure sorts what went wrong with a request. Everything that leaves the package went through it.
func (c *Client) failure(ctx context.Context, k call, err error) error {
	err = innermost(err)

	var code gophercloud.ErrUnexpectedResponseCode
	if errors.As(err, &code) {
		if c.keystone != nil && strings.Contains(code.URL, "/auth/tokens") {
			k.who = "Keystone"
		}

		return c.refusal(k, code.Actual, code.ResponseHeader, code.Body)
	}

	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", k.op, context.Cause(ctx))
	}

	return c.unreached(k, err)
}

// innermost unwraps the errors of gophercloud that have no Unwrap method.
func innermost(err error) error {
	var (
		again *gophercloud.ErrUnableToReauthenticate
		after *gophercloud.ErrErrorAfterReauthentication
	)

	switch {
	case errors.As(err, &again) && again.ErrReauth != nil:
		return innermost(again.ErrReauth)
	case errors.As(err, &after) && after.ErrOriginal != nil:
		return innermost(after.ErrOriginal)
	}

	return err
}

// refusal sorts an answer whose status says no.
func (c *Client) refusal(k call, status int, header http.Header, body []byte) error {
	text, form := words(body)
	if text == "" {
		text = strings.ToLower(http.StatusText(status))
	}

	switch {
	case form == page:
		text = "answered HTML, is this Ironic? (" + text + ")"
	case status/100 == 3:
		text = "redirects to " + place(header.Get("Location")) + ", is this Ironic?"
	}

	text = c.secrets.clean(text, k.passing...)
	if len(text) > textLimit {
		text = strings.ToValidUTF8(text[:textLimit], "") + " …"
	}

	if what := missing(text); status == http.StatusNotFound && form == fault && what != "" {
		return &NotFoundError{What: what, ID: k.id, Op: k.op, Text: text}
	}

	e := &RequestError{Op: k.op, Status: status, Text: text, who: k.who, kind: kindOf(status, form, text)}
	if m := lockedBy.FindStringSubmatch(text); m != nil {
		e.Reservation = m[1]
	}

	if forTheMoment(status, form, text) {
		return wait.TransientAfter(e, transport.RetryAfter(header, time.Now()))
	}

	return e
}

var (
	lockedBy = regexp.MustCompile(`locked by host ([^\s,]+)`)
	absent   = regexp.MustCompile(`(?i)^(node inventory|inventory|node|port|allocation) .*could not be found`)
)

// missing names what Ironic does not find, "" where the words are about something else:
// a conductor that could not be found does not make a node disappear.
func missing(text string) string {
	m := absent.FindStringSubmatch(text)

	switch {
	case m == nil:
		return ""
	case strings.Contains(strings.ToLower(m[1]), "inventory"):
		// "Node inventory record for node 3 could not be found."
		return "inventory"
	default:
		return strings.ToLower(m[1])
	}
}

// kindOf gives a refusal its kind. Words count more than numbers where Ironic uses one
// number for several things.
func kindOf(status int, form shape, text string) error {
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(text, part) {
				return true
			}
		}

		return false
	}

	switch {
	case status == http.StatusUnauthorized:
		return ErrAuth
	case status == http.StatusForbidden && has("is protected"):
		return ErrProtected
	case status == http.StatusForbidden:
		return ErrAuth
	case form == page && status < http.StatusInternalServerError, form == foreign && status == http.StatusNotFound, status/100 == 3:
		return ErrNotIronic
	case status != http.StatusBadRequest && status != http.StatusConflict && status != http.StatusLocked:
		return nil
	case has("can not be performed on node", "in maintenance mode"):
		return ErrRefused
	case status == http.StatusBadRequest:
		return nil
	case has("state transition is in progress"):
		return ErrTransition
	case status == http.StatusLocked, has("is locked by host", "presently locked"):
		return ErrBusy
	case has("already exists", "already been", "is associated with", "already associated", "in provision state"):
		return ErrConflict
	default:
		return errUnsorted
	}
}

// forTheMoment says whether a refusal may be gone at the next look.
func forTheMoment(status int, form shape, text string) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusRequestTimeout,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	case http.StatusInternalServerError:
		// With words of its own Ironic means it, except where its SQLite file was busy.
		return (form != fault && form != bare) || strings.Contains(text, "database is locked")
	default:
		return false
	}
}

// place shows where a redirect leads without what it may carry.
func place(location string) string {
	u, err := url.Parse(location)
	if err != nil {
		return "somewhere"
	}

	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// words finds what a refusal says. Ironic's bodies are JSON inside of JSON.
func words(body []byte) (string, shape) {
	body = bytes.TrimSpace(body)

	if len(body) > 0 && body[0] == '<' {
		return title(body), page
	}

	outer, ok := parseObject(body)
	if !ok {
		return shorten(body), foreign
	}

	if inner, ok := parseObject(outer["error"]); ok {
		return inner.text("message"), keyless
	}

	message, ok := outer["error_message"]
	if !ok {
		return shorten(body), foreign
	}

	var packed string
	if json.Unmarshal(message, &packed) == nil {
		message = json.RawMessage(packed)
	}

	inner, ok := parseObject(message)
	if !ok {
		// Some releases put plain words there.
		return strings.TrimSpace(packed), fault
	}

	for _, key := range []string{"faultstring", "description", "title"} {
		if text := strings.TrimSpace(inner.text(key)); text != "" && key != "title" {
			return text, fault
		} else if text != "" {
			return text, bare
		}
	}

	return "", bare
}

var titleTag = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

func title(body []byte) string {
	if m := titleTag.FindSubmatch(body); m != nil {
		return shorten(m[1])
	}

	return "no title"
}

func shorten(body []byte) string {
	text := strings.ToValidUTF8(strings.Join(strings.Fields(string(body[:min(len(body), 4*textLimit)])), " "), "?")
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + " …"
	}

	return text
}
