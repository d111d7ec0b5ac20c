// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// login is how to log in: key, agent, password, in this order. release ends the use of the
// agent. The kinds name what is tried, for the error.
type login struct {
	methods []ssh.AuthMethod
	kinds   []string
	notes   []string // what could not be tried, and why
	release func()
}

func (c Config) login() (login, error) {
	l := login{release: func() {}}

	var signers []ssh.Signer

	key, err := c.signer()
	if err != nil {
		return l, err
	}

	if key != nil {
		signers = append(signers, key)
		l.kinds = append(l.kinds, "private key "+ssh.FingerprintSHA256(key.PublicKey()))
	}

	if c.Agent {
		l.agent(&signers)
	}

	// One method for all keys: the SSH library tries each method of a name only once.
	if len(signers) > 0 {
		l.methods = append(l.methods, ssh.PublicKeys(signers...))
	}

	if c.Password != "" {
		l.kinds = append(l.kinds, "password")
		l.methods = append(l.methods, ssh.Password(c.Password), ssh.KeyboardInteractive(c.answers))
	}

	return l, nil
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

// agent adds the keys of the SSH agent. An agent that is not there is no error: others may do.
func (l *login) agent(signers *[]ssh.Signer) {
	socket := os.Getenv("SSH_AUTH_SOCK")
	if socket == "" {
		l.notes = append(l.notes, "no SSH agent: SSH_AUTH_SOCK is not set")

		return
	}

	conn, err := net.Dial("unix", socket) //nolint:noctx,gosec // the user's own socket; it answers at once or never
	if err != nil {
		l.notes = append(l.notes, "no SSH agent: "+err.Error())

		return
	}

	keys, err := agent.NewClient(conn).Signers()
	if err != nil {
		_ = conn.Close()

		l.notes = append(l.notes, "no SSH agent: "+err.Error())

		return
	}

	l.release = func() { _ = conn.Close() }
	*signers = append(*signers, keys...)
	l.kinds = append(l.kinds, fmt.Sprintf("agent (%d keys)", len(keys)))
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
