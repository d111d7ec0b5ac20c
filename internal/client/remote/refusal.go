// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"syscall"

	"golang.org/x/crypto/ssh"
)

// failure is what the error of a handshake means. Somebody has answered, so it is never that
// the host is unreachable.
func (a *attempt) failure(err error) error {
	var negotiation *ssh.AlgorithmNegotiationError

	hostKey := a.keys.refusal()

	switch {
	case hostKey != nil:
		return hostKey
	case errors.As(err, &negotiation) && len(a.keys.algorithms) > 0 && strings.Contains(err.Error(), "host key"):
		return fmt.Errorf("%w: the host has no key of the expected kind (%s): %w", ErrHostKey, strings.Join(a.keys.algorithms, ", "), err)
	case negotiation != nil:
		return fmt.Errorf("%w: the host speaks no algorithm of ours: %w", ErrHandshake, err)
	case a.through != nil && !a.through.alive():
		return fmt.Errorf("%w: %s: its connection was lost: %w", ErrBastion, a.bastion.name(), err)
	case !a.keys.shown():
		return fmt.Errorf("%w: something answers at the address: %w", ErrHandshake, err)
	case errors.Is(err, errMore):
		return fmt.Errorf("%w: user %q: %w", ErrAuth, a.cfg.User, errMore)
	case hungUp(err):
		return fmt.Errorf("%w: the host hung up during the login of user %q: %w", ErrHandshake, a.cfg.User, err)
	default:
		return fmt.Errorf("%w: user %q, tried %s", ErrAuth, a.cfg.User, a.login.tried(err))
	}
}

// disconnected finds the reason in the library's words for a disconnect: its type is not ours
// to see.
var disconnected = regexp.MustCompile(`ssh: disconnect, reason ([0-9]+): `)

// hungUp tells whether an error of a login is the end of the connection and no refusal.
// OpenSSH refuses with reason 2 (protocol error) and "Too many authentication failures";
// RFC 4253, section 11.1 has 14 (no more methods) and 15 (illegal user name) for it.
func hungUp(err error) bool {
	if found := disconnected.FindStringSubmatch(err.Error()); found != nil {
		return found[1] != "2" && found[1] != "14" && found[1] != "15"
	}

	var network net.Error

	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.As(err, &network)
}

// tried tells people what a login tried, and what the last refusal said beyond a refusal.
func (l *login) tried(err error) string {
	all := l.kinds

	switch {
	case len(all) > 0:
	case l.empty:
		all = []string{"nothing: there is no private key, agent or password"}
	default:
		all = []string{"nothing: the host takes " + strings.Join(l.allowed, ", ")}
	}

	text := strings.Join(append([]string{strings.Join(all, ", ")}, l.notes...), "; ")

	switch said := err.Error(); {
	case disconnected.MatchString(said):
		return text + "; the host allows no more attempts"
	// The second is what the library makes of a server that refuses keyboard-interactive at once.
	case strings.Contains(said, "unable to authenticate"), strings.Contains(said, "unexpected message type 51"):
		return text
	default:
		return text + "; " + said
	}
}
