// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package token logs in at the token service of FTI's managers (a Keycloak, "id_manager").
//
// A [Source] holds one token for everybody who asks, gets a new one shortly before the old
// one ends, and is told when a manager refuses one. No message holds a part of a token.
package token

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

const (
	// maxLeeway is how long before its end a token is not used any more. The vendor's tokens
	// live a minute, so it is at most a quarter of the life.
	maxLeeway = 30 * time.Second

	// held is how long a failed login answers for those who come after it: many resources at a
	// time must not lock the account.
	held = 5 * time.Second
)

// Source gives tokens. It is safe for concurrent use.
type Source struct {
	caller *fabric.Caller
	auth   fabric.Auth
	path   string

	turn wait.Places // who holds it may look at, and change, what is below

	token   *oauth2.Token
	from    time.Time // when the last grant was asked for
	refresh string
	until   time.Time // when refresh ends; zero: not known
	failed  error     // of the last login
	since   time.Time // when it failed
}

var (
	_ fabric.Authorizer  = (*Source)(nil)
	_ fabric.TokenSource = (*Source)(nil)
)

// New makes a source that logs in when the first token is needed.
func New(cfg fabric.Config) (*Source, error) {
	auth := cfg.Auth
	if auth.Realm == "" {
		auth.Realm = cfg.TenantID
	}

	if auth.ClientID == "" {
		auth.ClientID = fabric.DefaultClientID
	}

	for option, value := range map[string]string{"auth.realm": auth.Realm, "auth.username": auth.Username, "auth.password": auth.Password} {
		if strings.TrimSpace(value) == "" {
			return nil, &fabric.ConfigError{Option: option, Err: errors.New("missing, and the manager's token service needs it")}
		}
	}

	caller, err := fabric.NewCaller(cfg, cfg.Endpoint, nil)
	if err != nil {
		return nil, err
	}

	return &Source{
		caller: caller, auth: auth, turn: make(wait.Places, 1),
		path: "/id_manager/realms/" + url.PathEscape(auth.Realm) + "/protocol/openid-connect/token",
	}, nil
}

// Authorize implements fabric.Authorizer.
func (s *Source) Authorize(ctx context.Context, r *http.Request) error {
	t, err := s.get(ctx)
	if err != nil {
		return err
	}

	if p := fabric.ProofOf(ctx); p != nil {
		p.Value = t.AccessToken
	}

	t.SetAuthHeader(r)

	return nil
}

// Refused implements fabric.Authorizer: the token of the request is not given out again.
func (s *Source) Refused(ctx context.Context) bool {
	if p := fabric.ProofOf(ctx); p != nil {
		s.Drop(ctx, p.Value)
	}

	return true
}

// Drop forgets a token that was refused, unless another took its place already.
func (s *Source) Drop(ctx context.Context, access string) {
	leave, err := s.turn.Enter(ctx)
	if err != nil {
		return
	}
	defer leave()

	if s.token != nil && s.token.AccessToken == access {
		s.token = nil
	}
}

// Token returns a token that is good for now.
func (s *Source) Token(ctx context.Context) (fabric.Token, error) {
	t, err := s.get(ctx)
	if err != nil {
		return fabric.Token{}, err
	}

	return fabric.Token{AccessToken: t.AccessToken, Type: t.Type(), Expiry: t.Expiry}, nil
}

// get returns the token, or logs in for all who wait.
func (s *Source) get(ctx context.Context) (*oauth2.Token, error) {
	leave, err := s.turn.Enter(ctx)
	if err != nil {
		return nil, fabric.GivenUp("log in", err)
	}
	defer leave()

	now := time.Now()

	if s.token != nil && good(s.token.Expiry, s.from, now) {
		return s.token, nil
	}

	if s.failed != nil && now.Sub(s.since) < held {
		return nil, s.failed
	}

	s.token, s.failed = nil, nil

	g, err := s.login(ctx)
	if err != nil {
		// An interrupt of one request is no failure of the login of the others.
		if ctx.Err() == nil {
			s.failed, s.since = err, time.Now()
		}

		return nil, err
	}

	// The life counts from before the request: a slow answer has used up some of it.
	t := g.token(now)
	s.refresh, s.until, s.from = g.refresh, g.refreshUntil(now), now

	if good(t.Expiry, now, time.Now()) {
		s.token = t
	}

	return t, nil
}

// good reports whether a token may still be used: its end is known, and not near.
func good(expiry, from, now time.Time) bool {
	return !expiry.IsZero() && now.Before(expiry.Add(-min(maxLeeway, expiry.Sub(from)/4)))
}

// login gets a new token: by the refresh token where there is one, else by the password.
func (s *Source) login(ctx context.Context) (grant, error) {
	if s.refresh != "" && (s.until.IsZero() || good(s.until, s.from, time.Now())) {
		g, err := s.ask(ctx, "renew the token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {s.refresh}})
		s.refresh = ""

		// Whatever the service says of a refresh token, the password is the better proof. One
		// that cannot be reached is not asked a second time.
		if err == nil || unreachable(err) {
			return g, err
		}
	}

	return s.ask(ctx, "log in", url.Values{
		"grant_type": {"password"}, "username": {s.auth.Username}, "password": {s.auth.Password},
		"scope": {"openid"}, "response_type": {"id_token token"},
	})
}

func unreachable(err error) bool {
	var e *fabric.Error

	return !errors.As(err, &e) || e.Status == 0
}

func (s *Source) ask(ctx context.Context, op string, form url.Values) (grant, error) {
	form.Set("client_id", s.auth.ClientID)

	if s.auth.ClientSecret != "" {
		form.Set("client_secret", s.auth.ClientSecret)
	}

	r := fabric.Request{Op: op, Method: http.MethodPost, Path: s.path, Form: form}

	a, err := s.caller.Do(ctx, r)
	if err != nil {
		return grant{}, err
	}

	g, why := readGrant(a.Body)
	if why != "" {
		return grant{}, s.caller.Unusable(r, fabric.Answer{Status: a.Status}, why)
	}

	return g, nil
}
