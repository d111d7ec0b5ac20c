// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// credential is what goes with a request: a session, or user name and password.
type credential struct {
	token    string
	session  string // path of the session, to end it
	username string
	password string
}

func (c *Client) basic() *credential {
	return &credential{username: c.cfg.Username, password: c.cfg.Password}
}

// login is one login under way, shared by all who need it.
type login struct {
	done chan struct{}
	cred *credential
	err  error
}

// gaveUp reports whether the login ended because the one who began it gave up.
func (l *login) gaveUp() bool {
	return errors.Is(l.err, context.Canceled) || errors.Is(l.err, context.DeadlineExceeded)
}

// refusals is the rhythm of logins that the BMC refuses because all its sessions are taken.
var refusals = wait.Cadence{First: time.Second, Factor: 2, Max: 4 * time.Second, Errors: 4}

// credential returns what to authenticate with. The first caller logs in for all.
func (c *Client) credential(ctx context.Context) (*credential, error) {
	for {
		c.mu.Lock()

		switch {
		case c.closed:
			c.mu.Unlock()

			return nil, ErrClosed
		case c.cred == nil && (c.cfg.Username == "" || c.cfg.Auth == AuthBasic):
			c.cred = c.basic()
		}

		if cred := c.cred; cred != nil {
			c.mu.Unlock()

			return cred, nil
		}

		l := c.pending
		mine := l == nil

		if mine {
			l = &login{done: make(chan struct{})}
			c.pending = l

			go c.run(ctx, l)
		}

		c.mu.Unlock()

		select {
		case <-ctx.Done():
			return nil, c.sort(ctx, "log in to the BMC", context.Cause(ctx))
		case <-l.done:
		}

		// A login that failed because its first caller gave up says nothing to the others.
		if !mine && l.gaveUp() && ctx.Err() == nil {
			continue
		}

		return l.cred, l.err
	}
}

// run logs in, and keeps what it got. When the client was closed meanwhile, it ends the
// session again: nobody else knows of it.
func (c *Client) run(ctx context.Context, l *login) {
	l.cred, l.err = c.login(ctx)

	c.mu.Lock()
	c.pending = nil
	late := c.closed

	if !late {
		c.cred = l.cred
	}

	c.mu.Unlock()

	if late {
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), logoutTimeout)
		c.logout(short, l.cred)
		cancel()

		l.cred, l.err = nil, ErrClosed
	}

	close(l.done)
}

// login opens a session. A BMC without sessions, or one whose sessions are all taken for
// longer than some seconds, is spoken to with HTTP Basic, if that is allowed.
func (c *Client) login(ctx context.Context) (*credential, error) {
	for n := 0; ; n++ {
		cred, err := c.newSession(ctx)
		if !errors.Is(err, errNoSessions) {
			return cred, err
		}

		if wait.IsTransient(err) && n < refusals.Errors {
			if cause := wait.Sleep(ctx, refusals.Jittered(refusals.Delay(n))); cause != nil {
				return nil, c.sort(ctx, "log in to the BMC", cause)
			}

			continue
		}

		if c.cfg.Auth == AuthAuto {
			return c.basic(), nil
		}

		return nil, err
	}
}

// newSession asks once for a session.
//
// The request has a context of its own, which ends late: with the answer of a request that
// is broken off, the only way to end its session would be lost.
func (c *Client) newSession(ctx context.Context) (*credential, error) {
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*c.cfg.Timeout) // each request ends earlier
	defer cancel()

	api, err := c.connect(own)
	if err != nil {
		return nil, err
	}

	const op = "log in to the BMC"

	auth, err := api.Service.CreateSession(c.cfg.Username, c.cfg.Password)
	if err == nil && auth.Token != "" {
		c.secrets.learn(auth.Token)

		return &credential{token: auth.Token, session: auth.Session}, nil
	}

	var answered *schemas.Error

	switch {
	case err == nil: // accepted, but without a token there is no session to use
		return nil, &RequestError{Op: op, Text: "the BMC gave no token", kind: errNoSessions}
	case !errors.As(err, &answered):
		if strings.Contains(err.Error(), "no target provided") { // the service root names no place for sessions
			return nil, &RequestError{Op: op, Text: "the BMC has no sessions", kind: errNoSessions}
		}

		return nil, c.sort(own, op, err)
	}

	failed := c.refused(op, answered)

	switch status := answered.HTTPReturnedStatusCode; {
	case status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests || full(answered):
		failed.kind = errNoSessions

		return nil, wait.Transient(failed)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		failed.kind = ErrAuth
	case status < http.StatusInternalServerError: // 400, 404, 405: sessions are not made this way here
		failed.kind = errNoSessions
	}

	return nil, failed
}

// full reports whether the BMC says that all its sessions are taken. Dell's RAC0218 comes
// with several status codes (gofish 75).
func full(e *schemas.Error) bool {
	words := []string{"RAC0218", "SessionLimitExceeded", "CreateLimitReached"}
	said := []string{e.Code, e.Message}

	for _, info := range e.ExtendedInfos {
		said = append(said, info.MessageID, info.Message)
	}

	return slices.ContainsFunc(said, func(s string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
	})
}

// forget drops a credential that the BMC no longer takes, unless somebody did so already.
func (c *Client) forget(cred *credential) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.cred == cred {
		c.cred = nil
	}
}

// logout ends a session, if there is one. Errors are of no use to anybody.
func (c *Client) logout(ctx context.Context, cred *credential) {
	c.mu.Lock()
	api := c.api
	c.mu.Unlock()

	if cred == nil || cred.token == "" || cred.session == "" || api == nil {
		return
	}

	_ = api.WithContext(withCredential(ctx, cred)).Service.DeleteSession(cred.session)
}

type credentialKey struct{}

// withCredential lets the requests below a context carry a credential.
func withCredential(ctx context.Context, cred *credential) context.Context {
	return context.WithValue(ctx, credentialKey{}, cred)
}

// authorize adds the credential of the request's context to its header.
func authorize(r *http.Request) {
	cred, _ := r.Context().Value(credentialKey{}).(*credential)

	switch {
	case cred == nil:
	case cred.token != "":
		r.Header.Set("X-Auth-Token", cred.token)
	case cred.username != "":
		r.SetBasicAuth(cred.username, cred.password)
	}
}

// nameSession adds the Location that the answer to a login should have, from its body:
// some BMCs name the session only there.
func nameSession(r *http.Response, body []byte) {
	var doc struct {
		ID string `json:"@odata.id"`
	}

	if r.Header.Get("X-Auth-Token") != "" && r.Header.Get("Location") == "" && json.Unmarshal(body, &doc) == nil && doc.ID != "" {
		r.Header.Set("Location", doc.ID)
	}
}
