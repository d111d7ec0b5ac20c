// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/document"
)

// login is who we are: a session, or user name and password where the service has no sessions
// (or has none left). It is safe for concurrent use; one login serves all who wait for it.
type login struct {
	alone              *fabric.Caller // without a proof
	username, password string

	turn chan struct{} // held by the one who logs in

	mu    sync.Mutex
	token string
	basic bool
}

func newLogin(alone *fabric.Caller, a fabric.Auth) *login {
	return &login{alone: alone, username: a.Username, password: a.Password, turn: make(chan struct{}, 1)}
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

	if l.token == p.Value { // nobody has logged in again meanwhile
		l.token = ""
	}

	return true
}

func (l *login) proof() (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.token, l.basic
}

func (l *login) begin(ctx context.Context) (string, bool, error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return "", false, context.Cause(ctx)
	}

	if token, basic := l.proof(); token != "" || basic {
		return token, basic, nil
	}

	token, err := l.session(ctx)
	if err != nil {
		return "", false, err
	}

	l.mu.Lock()
	defer l.mu.Unlock()

	l.token, l.basic = token, token == ""

	return l.token, l.basic, nil
}

// session opens a session. An empty token says that there are none to be had here.
func (l *login) session(ctx context.Context) (string, error) {
	root, err := readRoot(ctx, l.alone, "log in")

	switch {
	case errors.Is(err, fabric.ErrAuth):
		return "", nil // even the root wants a proof
	case err != nil:
		return "", err
	}

	path := link(root.Object("Links"), "Sessions")
	if path == "" {
		return "", nil
	}

	a, err := l.alone.Do(ctx, fabric.Request{
		Op: "log in", Method: http.MethodPost, Path: path, Mutates: true,
		Body: map[string]string{"UserName": l.username, "Password": l.password},
	})

	var e *fabric.Error

	switch {
	case err == nil:
		return a.Header.Get("X-Auth-Token"), nil
	case errors.Is(err, fabric.ErrAuth), !errors.As(err, &e), e.Status == 0:
		return "", err
	default: // 404, 405, 400: sessions are not made this way here; 503: all are taken
		return "", nil
	}
}

// rootPath is where every service begins.
const rootPath = "/redfish/v1"

// readRoot reads the service root. With a slash at the end is how the specification spells
// it; services that store documents by path (Sunfish) may know it only without.
func readRoot(ctx context.Context, c *fabric.Caller, op string) (document.Object, error) {
	r := fabric.Request{Op: op, Path: rootPath + "/"}
	a, err := c.Do(ctx, r)

	var e *fabric.Error
	if errors.As(err, &e) && (e.Status == http.StatusNotFound || e.Status/100 == 3) {
		r.Path = rootPath
		a, err = c.Do(ctx, r)
	}

	if errors.Is(err, fabric.ErrNotFound) && errors.As(err, &e) { // not of a machine, as callers would read it
		own := *e
		own.Kind = fabric.ErrNotFabric

		return nil, &own
	}

	if err != nil {
		return nil, err
	}

	doc, ok := document.Parse(a.Body)
	if !ok || (doc.Text("@odata.id") == "" && doc.Text("RedfishVersion") == "") {
		return nil, c.Unusable(r, a, "no Redfish service root")
	}

	return doc, nil
}
