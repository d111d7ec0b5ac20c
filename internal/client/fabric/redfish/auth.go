// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/document"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// held is how long a failed login answers for those who come after it: many resources at a
// time must not lock the account.
const held = 5 * time.Second

// login is who we are: a session, or user name and password where the service has no sessions
// (or has none left). It is safe for concurrent use; one login serves all who wait for it, and
// there is never more than one session.
type login struct {
	alone              *fabric.Caller // without a proof
	username, password string

	turn wait.Places // held by the one who logs in or out, who may change failed and since

	failed error     // of the last login
	since  time.Time // when it failed

	mu    sync.Mutex
	now   session // without a token there is none
	old   session // that was refused, and not ended yet
	basic bool
}

// session is a session of the service; path is its own, where the service told it.
type session struct{ token, path string }

func newLogin(alone *fabric.Caller, a fabric.Auth) *login {
	return &login{alone: alone, username: a.Username, password: a.Password, turn: make(wait.Places, 1)}
}

// Authorize implements [fabric.Authorizer].
func (l *login) Authorize(ctx context.Context, r *http.Request) error {
	token, basic := l.proof()

	if token == "" && !basic {
		var err error
		if token, basic, err = l.begin(ctx); err != nil {
			return err
		}
	}

	if basic {
		r.SetBasicAuth(l.username, l.password)

		return nil
	}

	if p := fabric.ProofOf(ctx); p != nil {
		p.Value = token
	}

	r.Header.Set("X-Auth-Token", token)

	return nil
}

// Refused implements [fabric.Authorizer]: a session may have ended, a password does not.
func (l *login) Refused(ctx context.Context) bool {
	p := fabric.ProofOf(ctx)
	if p == nil || p.Value == "" {
		return false
	}

	l.mu.Lock()
	defer l.mu.Unlock()

	if l.now.token == p.Value { // nobody has logged in again meanwhile
		l.now, l.old = session{}, l.now
	}

	return true
}

func (l *login) proof() (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.now.token, l.basic
}

func (l *login) begin(ctx context.Context) (string, bool, error) {
	leave, err := l.turn.Enter(ctx)
	if err != nil {
		return "", false, err
	}
	defer leave()

	if token, basic := l.proof(); token != "" || basic {
		return token, basic, nil
	}

	if l.failed != nil && time.Since(l.since) < held {
		return "", false, l.failed
	}

	s, err := l.open(ctx)
	if l.failed = nil; err != nil {
		// An interrupt of one request is no failure of the login of the others.
		if ctx.Err() == nil {
			l.failed, l.since = err, time.Now()
		}

		return "", false, err
	}

	l.mu.Lock()
	old := l.old
	l.now, l.old, l.basic = s, session{}, s.token == ""
	l.mu.Unlock()

	if old.path != "" && old.path != s.path && s.token != "" {
		_ = l.end(ctx, session{s.token, old.path}) // it may live on all the same
	}

	return s.token, s.token == "", nil
}

// open opens a session. One without a token says that there are none to be had here.
func (l *login) open(ctx context.Context) (session, error) {
	root, err := readRoot(ctx, l.alone, "log in")

	switch {
	case errors.Is(err, fabric.ErrAuth):
		return session{}, nil // even the root wants a proof
	case err != nil:
		return session{}, err
	}

	path := link(root.Object("Links"), "Sessions")
	if path == "" {
		return session{}, nil
	}

	a, err := l.alone.Do(ctx, fabric.Request{
		Op: "log in", Method: http.MethodPost, Path: path, Mutates: true,
		Body: map[string]string{"UserName": l.username, "Password": l.password},
	})

	switch {
	case err == nil:
		doc, _ := document.Parse(a.Body)

		return session{a.Header.Get("X-Auth-Token"), cmp.Or(local(a.Header.Get("Location")), local(doc.Text("@odata.id")))}, nil
	case noSessions(err):
		return session{}, nil
	default:
		return session{}, passing(ctx, err)
	}
}

// passing marks a failed login that says nothing of the service, such as a gateway's 502: the
// next login is another one.
func passing(ctx context.Context, err error) error {
	var e *fabric.Error
	if !errors.As(err, &e) || ctx.Err() != nil || wait.IsTransient(err) {
		return err
	}

	switch e.Status {
	case 0, http.StatusBadGateway, http.StatusGatewayTimeout:
		return wait.Transient(e)
	default:
		return err
	}
}

// noSessions reports whether a service makes no sessions, or has none left: then user name and
// password go with each request.
func noSessions(err error) bool {
	var e *fabric.Error
	if !errors.As(err, &e) {
		return false
	}

	switch e.Status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	default:
		return strings.HasSuffix(e.Code, ".SessionLimitExceeded")
	}
}

// end ends a session.
func (l *login) end(ctx context.Context, s session) error {
	_, err := l.alone.Do(ctx, fabric.Request{
		Op: "log out", Method: http.MethodDelete, Path: s.path, Mutates: true, Header: http.Header{"X-Auth-Token": {s.token}},
	})

	return err
}

// close ends the session, if there is one. The next request logs in again.
func (l *login) close(ctx context.Context) error {
	leave, err := l.turn.Enter(ctx)
	if err != nil {
		return err
	}
	defer leave()

	l.mu.Lock()
	s := l.now
	l.now, l.old = session{}, session{}
	l.mu.Unlock()

	if s.token == "" || s.path == "" {
		return nil
	}

	err = l.end(ctx, s)

	var e *fabric.Error
	if errors.As(err, &e) && (e.Status == http.StatusUnauthorized || e.Status == http.StatusNotFound) {
		return nil // it has ended by itself
	}

	return err
}

// Close implements [fabric.Closer].
func (d *driver) Close(ctx context.Context) error {
	if d.login == nil {
		return nil
	}

	return d.login.close(ctx)
}

var _ fabric.Closer = (*driver)(nil)
