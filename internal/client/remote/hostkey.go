// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"
)

// keyCheck verifies the key of one host, and keeps what it found: the SSH library wraps it.
type keyCheck struct {
	judge      func(ssh.PublicKey) error
	algorithms []string // to ask for; empty: any

	mu      sync.Mutex
	seen    bool
	failure error
}

func (k *keyCheck) callback(_ string, _ net.Addr, key ssh.PublicKey) error {
	err := k.judge(key)

	k.mu.Lock()
	defer k.mu.Unlock()

	k.seen, k.failure = true, err

	return err
}

// shown tells whether a host has shown a key: it is alive.
func (k *keyCheck) shown() bool {
	k.mu.Lock()
	defer k.mu.Unlock()

	return k.seen
}

// refusal is why the key was not taken.
func (k *keyCheck) refusal() error {
	k.mu.Lock()
	defer k.mu.Unlock()

	return k.failure
}

// hostKeys is how the keys of the host are verified.
func (c Config) hostKeys() (*keyCheck, error) {
	switch {
	case c.InsecureHostKey:
		return &keyCheck{judge: func(ssh.PublicKey) error { return nil }}, nil
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

	judge := func(key ssh.PublicKey) error {
		if slices.ContainsFunc(keys, func(want ssh.PublicKey) bool { return sameKey(want, key) }) {
			return nil
		}

		return fmt.Errorf("%w: the host shows %s, and host_key says %s: if the host was installed anew, put its new key there; "+
			"else somebody else answers in its place", ErrHostKey, fingerprint(key), fingerprints(keys))
	}

	return &keyCheck{judge: judge, algorithms: algorithms(keys)}, nil
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

func sameKey(a, b ssh.PublicKey) bool {
	return a.Type() == b.Type() && string(a.Marshal()) == string(b.Marshal())
}

func fingerprint(k ssh.PublicKey) string {
	if cert, ok := k.(*ssh.Certificate); ok {
		return "a certificate of " + fingerprint(cert.Key)
	}

	return k.Type() + " " + ssh.FingerprintSHA256(k)
}

func fingerprints(keys []ssh.PublicKey) string {
	all := make([]string, len(keys))
	for i, k := range keys {
		all[i] = fingerprint(k)
	}

	return strings.Join(all, " or ")
}
