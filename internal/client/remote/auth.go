// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/crypto/ssh"
)

// login is how to log in: key, agent, password, in this order. The agent is asked only when
// the key was not taken: one that hangs is no trouble to who does not need it.
type login struct {
	cfg   Config
	ctx   context.Context // of the handshake
	key   ssh.Signer
	steps []step
	empty bool // there is nothing to try
	asked *agentConn

	// What the error tells.
	kinds   []string // what was tried
	notes   []string // what could not be tried, and why
	allowed []string // what the host takes
}

// step is something to try, and the method's name.
type step struct {
	method string
	do     func() ssh.AuthMethod
}

func (c Config) login(ctx context.Context) (*login, error) {
	key, err := c.signer()
	if err != nil {
		return nil, err
	}

	l := &login{cfg: c, ctx: ctx, key: key}

	if key != nil {
		l.steps = append(l.steps, step{"publickey", func() ssh.AuthMethod {
			l.kinds = append(l.kinds, "private key "+ssh.FingerprintSHA256(key.PublicKey()))

			return ssh.PublicKeys(key)
		}})
	}

	if c.Agent {
		l.steps = append(l.steps, step{"publickey", func() ssh.AuthMethod { return ssh.PublicKeysCallback(l.agentKeys) }})
	}

	if c.Password != "" {
		l.steps = append(l.steps, step{"password", func() ssh.AuthMethod {
			l.kinds = append(l.kinds, "password")

			return ssh.Password(c.Password)
		}}, step{"keyboard-interactive", func() ssh.AuthMethod {
			if !slices.Contains(l.kinds, "password") {
				l.kinds = append(l.kinds, "password")
			}

			return ssh.KeyboardInteractive(c.answers)
		}})
	}

	l.empty = len(l.steps) == 0

	return l, nil
}

// next is what to try next: the first of what is left that the host takes. A host that wants
// several takes others after each.
func (l *login) next(asked *ssh.ClientAuthContext) (ssh.AuthMethod, error) {
	l.allowed = asked.AllowedMethods

	i := slices.IndexFunc(l.steps, func(s step) bool { return slices.Contains(asked.AllowedMethods, s.method) })
	if i < 0 {
		return nil, nil //nolint:nilnil // the library's word for nothing
	}

	s := l.steps[i]
	l.steps = slices.Delete(l.steps, i, i+1)

	return s.do(), nil
}

// signer is the private key of the configuration, nil where there is none.
func (c Config) signer() (ssh.Signer, error) {
	pem, from := []byte(c.PrivateKey), "private_key"

	switch {
	case c.PrivateKey != "":
	case c.PrivateKeyFile != "":
		from = "private key file " + c.PrivateKeyFile

		raw, err := os.ReadFile(home(c.PrivateKeyFile))
		if err != nil {
			return nil, fmt.Errorf("%w: private key: %w", ErrConfig, err)
		}

		pem = raw
	default:
		return nil, nil //nolint:nilnil // no key is a way to log in as well
	}

	key, err := ssh.ParsePrivateKey(pem)

	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		if c.Passphrase == "" {
			return nil, fmt.Errorf("%w: %s is encrypted: give its passphrase, or use an agent", ErrConfig, from)
		}

		key, err = ssh.ParsePrivateKeyWithPassphrase(pem, []byte(c.Passphrase))
		if err != nil {
			return nil, fmt.Errorf("%w: %s: the passphrase does not open it", ErrConfig, from)
		}
	}

	if err != nil {
		// The parser's words could quote what it parsed.
		return nil, fmt.Errorf("%w: %s is not a private key in PEM or OpenSSH form", ErrConfig, from)
	}

	return key, nil
}

var errMore = errors.New("the server asks for more than a password")

// answers gives the password to every question that is not to be echoed.
func (c Config) answers(_, _ string, questions []string, echos []bool) ([]string, error) {
	all := make([]string, len(questions))

	for i := range questions {
		if i < len(echos) && echos[i] {
			return nil, errMore
		}

		all[i] = c.Password
	}

	return all, nil
}
