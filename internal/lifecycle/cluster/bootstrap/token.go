// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"regexp"
)

// Token lets one machine join for a while.
type Token struct {
	ID     string
	Secret string
}

const (
	tokenIDLength     = 6
	tokenSecretLength = 16
	tokenLetters      = "abcdefghijklmnopqrstuvwxyz0123456789"
)

// tokenGroup is the group of whoever joins with a token, to which kubeadm gives the rights for it.
const tokenGroup = "system:bootstrappers:kubeadm:default-node-token"

var tokenPattern = regexp.MustCompile(`^([a-z0-9]{6})\.([a-z0-9]{16})$`)

// NewToken makes a token.
func NewToken() (Token, error) {
	const length = tokenIDLength + tokenSecretLength

	out := make([]byte, length)

	for i := range out {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(tokenLetters))))
		if err != nil {
			return Token{}, fmt.Errorf("make a bootstrap token: %w", err)
		}

		out[i] = tokenLetters[n.Int64()]
	}

	return Token{string(out[:tokenIDLength]), string(out[tokenIDLength:])}, nil
}

// Reveal is the token as kubeadm takes it.
func (t Token) Reveal() string { return t.ID + "." + t.Secret }

// String shows which token it is and keeps its secret.
func (t Token) String() string { return t.ID + ".***" }

// GoString is [Token.String].
func (t Token) GoString() string { return t.String() }

func (t Token) valid() bool { return tokenPattern.MatchString(t.Reveal()) }
