// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package token

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// farFuture bounds lifetimes: mocks sign tokens until the year 3000, which a duration cannot hold.
const farFuture = 365 * 24 * time.Hour

// grant is what the token service answers.
type grant struct {
	access  string
	kind    string
	refresh string

	expiresIn        fabric.Number
	refreshExpiresIn fabric.Number
}

// readGrant reads an answer. The second result says what is wrong with it, without quoting it.
func readGrant(body []byte) (grant, string) {
	var in struct {
		AccessToken      fabric.Text   `json:"access_token"`
		TokenType        fabric.Text   `json:"token_type"`
		RefreshToken     fabric.Text   `json:"refresh_token"`
		ExpiresIn        fabric.Number `json:"expires_in"`
		RefreshExpiresIn fabric.Number `json:"refresh_expires_in"`
	}

	if json.Unmarshal(body, &in) != nil {
		return grant{}, "the answer is no JSON object"
	}

	g := grant{in.AccessToken.Trim(), in.TokenType.Trim(), in.RefreshToken.Trim(), in.ExpiresIn, in.RefreshExpiresIn}

	switch {
	case g.access == "":
		return grant{}, "the answer holds no access_token"
	case !oneWord(g.access):
		return grant{}, "the access_token has characters that a header cannot hold"
	case !oneWord(g.kind):
		return grant{}, "the token_type has characters that a header cannot hold"
	}

	return g, ""
}

// oneWord reports whether a text is made of visible ASCII.
func oneWord(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// token is the grant as it counts from a moment on.
func (g grant) token(now time.Time) *oauth2.Token {
	return &oauth2.Token{AccessToken: g.access, TokenType: g.kind, Expiry: ends(now, g.expiresIn, g.access)}
}

// refreshUntil is when the refresh token ends; zero: not known.
func (g grant) refreshUntil(now time.Time) time.Time { return ends(now, g.refreshExpiresIn, g.refresh) }

// ends is the earlier of what the answer and the token itself say; zero: neither does. An end
// that has passed already is that of another clock, where the answer knows better.
func ends(now time.Time, seconds fabric.Number, token string) time.Time {
	var byAnswer time.Time
	if seconds.Known && seconds.Int > 0 {
		byAnswer = now.Add(min(time.Duration(min(seconds.Int, int(farFuture/time.Second)))*time.Second, farFuture))
	}

	byToken := expOf(token)
	if byToken.After(now.Add(farFuture)) {
		byToken = now.Add(farFuture)
	}

	switch {
	case byToken.IsZero(), !byToken.After(now) && !byAnswer.IsZero():
		return byAnswer
	case byAnswer.IsZero() || byToken.Before(byAnswer):
		return byToken
	default:
		return byAnswer
	}
}

// expOf is the end that a token carries if it is a JWT; zero otherwise. The signature is the
// manager's to check.
func expOf(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) < 2 {
		return time.Time{}
	}

	// Padding and the other alphabet do not belong there, and are met.
	payload := strings.NewReplacer("+", "-", "/", "_", "=", "", "\n", "", "\r", "").Replace(parts[1])

	raw, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return time.Time{}
	}

	var claims struct {
		Exp fabric.Number `json:"exp"`
	}

	if json.Unmarshal(raw, &claims) != nil || !claims.Exp.Known || claims.Exp.Int <= 0 {
		return time.Time{}
	}

	return time.Unix(int64(claims.Exp.Int), 0)
}
