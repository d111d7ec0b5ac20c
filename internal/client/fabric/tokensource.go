// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"context"
	"time"
)

// Token is a proof of who we are, as the manager's token service gave it.
type Token struct {
	AccessToken string
	Type        string    // "Bearer"
	Expiry      time.Time // zero: not known
}

// String hides the token.
func (t Token) String() string { return t.Type + " " + blank }

// GoString hides the token.
func (t Token) GoString() string { return t.String() }

// TokenSource is what a [Fabric] is as well where its manager works with tokens.
type TokenSource interface {
	// Token returns a token that counts now, and logs in for one where there is none.
	Token(ctx context.Context) (Token, error)
}
