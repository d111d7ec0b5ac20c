// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

const defaultKnownHosts = "~/.ssh/known_hosts"

// keyCheck verifies the key of one host, and keeps what it found: the SSH library wraps it.
type keyCheck struct {
	callback   ssh.HostKeyCallback
	algorithms []string // to ask for; empty: any
	failure    error
}

// hostKeys is how the keys of the host are verified.
func (c Config) hostKeys() (*keyCheck, error) {
	switch {
	case c.InsecureHostKey:
		//nolint:gosec // it is asked for by name, and the user is warned
		return &keyCheck{callback: ssh.InsecureIgnoreHostKey()}, nil
	case strings.TrimSpace(c.HostKey) != "":
		return c.givenKeys()
	default:
		return c.knownKeys()
	}
}

// givenKeys takes the keys of the configuration; names in the lines are not looked at.
func (c Config) givenKeys() (*keyCheck, error) {
	keys, err := parseHostKeys(c.HostKey)
	if err != nil {
		return nil, err
	}

	k := &keyCheck{algorithms: algorithms(keys)}
	k.callback = func(_ string, _ net.Addr, key ssh.PublicKey) error {
		for _, want := range keys {
			if want.Type() == key.Type() && string(want.Marshal()) == string(key.Marshal()) {
				return nil
			}
		}

		k.failure = fmt.Errorf("%w: the host shows %s, and host_key says %s: if the host was installed anew, put its new key there; "+
			"else somebody else answers in its place", ErrHostKey, fingerprint(key), fingerprints(keys))

		return k.failure
	}

	return k, nil
}

// parseHostKeys reads lines of known_hosts or authorized_keys.
func parseHostKeys(text string) ([]ssh.PublicKey, error) {
	var keys []ssh.PublicKey

	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}

		if strings.HasPrefix(line, "@") {
			return nil, fmt.Errorf("%w: host_key: lines with %s are for a known_hosts file", ErrConfig, strings.Fields(line)[0])
		}

		// It takes what is before the type of a key for options, so host names do no harm.
		key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line))
		if err != nil {
			return nil, fmt.Errorf("%w: host_key: a line is not like \"ssh-ed25519 AAAA…\"", ErrConfig)
		}

		keys = append(keys, key)
	}

	if len(keys) == 0 {
		return nil, fmt.Errorf("%w: host_key holds no key", ErrConfig)
	}

	return keys, nil
}

// named is an address that is a name: a lab's connections have no other.
type named string

func (named) Network() string  { return "tcp" }
func (n named) String() string { return string(n) }

// knownKeys takes the keys of a known_hosts file. A file that is not there knows nobody.
func (c Config) knownKeys() (*keyCheck, error) {
	file := c.KnownHostsFile
	if file == "" {
		file = defaultKnownHosts
	}

	check, err := knownhosts.New(home(file))
	if errors.Is(err, fs.ErrNotExist) && c.KnownHostsFile == "" {
		check, err = knownhosts.New(os.DevNull)
	}

	if err != nil {
		return nil, fmt.Errorf("%w: known_hosts: %w", ErrConfig, err)
	}

	addr := named(c.addr())
	k := &keyCheck{algorithms: algorithms(wanted(check, addr))}
	k.callback = func(_ string, _ net.Addr, key ssh.PublicKey) error {
		err := check(string(addr), addr, key)
		if err == nil {
			return nil
		}

		k.failure = knownFailure(err, file, c.addr(), key)

		return k.failure
	}

	return k, nil
}

func knownFailure(err error, file, addr string, key ssh.PublicKey) error {
	var (
		other   *knownhosts.KeyError
		revoked *knownhosts.RevokedError
	)

	switch {
	case errors.As(err, &revoked):
		return fmt.Errorf("%w: the host shows %s, which %s says is revoked", ErrHostKey, fingerprint(key), file)
	case errors.As(err, &other) && len(other.Want) > 0:
		where := fmt.Sprintf("%s:%d", other.Want[0].Filename, other.Want[0].Line)

		return fmt.Errorf("%w: the host shows %s, and %s says %s: if the host was installed anew, remove the old line "+
			"(ssh-keygen -R) and add the new key; else somebody else answers in its place",
			ErrHostKey, fingerprint(key), where, fingerprints(known(other)))
	case errors.As(err, &other):
		return fmt.Errorf("%w: the host shows %s, and %s has no key of %s: compare it with the host's own "+
			"(ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub, on the host), then add it there or set host_key",
			ErrHostKey, fingerprint(key), file, addr)
	default:
		return fmt.Errorf("%w: the host shows %s: %w", ErrHostKey, fingerprint(key), err)
	}
}

// wanted asks a known_hosts file which keys it has for an address: with a key that nobody has,
// the refusal lists them. Without this a host with several keys shows one the file lacks.
func wanted(check ssh.HostKeyCallback, addr named) []ssh.PublicKey {
	var other *knownhosts.KeyError
	if errors.As(check(string(addr), addr, nobody{}), &other) {
		return known(other)
	}

	return nil
}

func known(e *knownhosts.KeyError) []ssh.PublicKey {
	keys := make([]ssh.PublicKey, 0, len(e.Want))
	for _, k := range e.Want {
		keys = append(keys, k.Key)
	}

	return keys
}

// nobody is a key that no host has.
type nobody struct{}

func (nobody) Type() string                        { return "nobody" }
func (nobody) Marshal() []byte                     { return []byte("nobody") }
func (nobody) Verify([]byte, *ssh.Signature) error { return errors.New("nobody's key") }

// algorithms are what to ask a host for that has these keys.
func algorithms(keys []ssh.PublicKey) []string {
	var all []string

	for _, k := range keys {
		names := []string{k.Type()}
		if k.Type() == ssh.KeyAlgoRSA {
			names = []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256, ssh.KeyAlgoRSA}
		}

		for _, n := range names {
			if !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}

	return all
}

func fingerprint(k ssh.PublicKey) string { return k.Type() + " " + ssh.FingerprintSHA256(k) }

func fingerprints(keys []ssh.PublicKey) string {
	all := make([]string, len(keys))
	for i, k := range keys {
		all[i] = fingerprint(k)
	}

	return strings.Join(all, " or ")
}
