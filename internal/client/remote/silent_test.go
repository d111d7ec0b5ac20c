// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote_test

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

// TestSilent_whoAnswered: only where nothing at all came back may a host be taken for dead.
func TestSilent_whoAnswered(t *testing.T) {
	t.Parallel()

	dial := func(number syscall.Errno) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", number)}
	}
	bastion := func(words string) error {
		return fmt.Errorf("%w: through bastion b: %w", remote.ErrUnreachable, &ssh.OpenChannelError{Reason: ssh.ConnectionFailed, Message: words})
	}
	unreached := func(err error) error { return fmt.Errorf("connect: %w: %w", remote.ErrUnreachable, err) }

	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"no answer in time":          {fmt.Errorf("%w: connect: no answer within 30s", remote.ErrUnreachable), true},
		"the system gave up":         {unreached(dial(syscall.ETIMEDOUT)), true},
		"nobody has the address":     {unreached(dial(syscall.EHOSTUNREACH)), true},
		"it refuses":                 {unreached(dial(syscall.ECONNREFUSED)), false},
		"it resets":                  {unreached(dial(syscall.ECONNRESET)), false},
		"no way to the network":      {unreached(dial(syscall.ENETUNREACH)), false},
		"no such name":               {unreached(&net.DNSError{Err: "no such host", IsNotFound: true}), false},
		"a name server in no hurry":  {unreached(&net.DNSError{Err: "i/o timeout", IsTimeout: true}), false},
		"the bastion, late":          {bastion("Connection timed out"), true},
		"a bastion on BSD or musl":   {bastion("Operation timed out"), true},
		"the bastion, no neighbour":  {bastion("No route to host"), true},
		"the bastion with musl":      {bastion("Host is unreachable"), true},
		"a bastion in Go":            {bastion("dial tcp 192.0.2.1:22: i/o timeout"), true},
		"the bastion, refused":       {bastion("Connection refused"), false},
		"a bastion in Go, refused":   {bastion("dial tcp 192.0.2.1:22: connect: connection refused"), false},
		"the bastion, no network":    {bastion("Network is unreachable"), false},
		"the bastion, no such name":  {bastion("Name or service not known"), false},
		"a bastion of few words":     {bastion(""), false},
		"the bastion is not reached": {fmt.Errorf("%w: no answer within 30s", remote.ErrBastion), false},
		"a mistake":                  {remote.ErrConfig, false},
		"nothing":                    {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := remote.Silent(c.err); got != c.want {
				t.Errorf("%v: silent is %t", c.err, got)
			}
		})
	}
}

// TestSilent_behindARealBastion: what OpenSSH says of a host that refuses is no silence, though nobody listens.
func TestSilent_behindARealBastion(t *testing.T) {
	t.Parallel()

	b := sshd(t)
	bastion := b.config()
	direct := remote.Config{Host: "127.0.0.1", Port: deafPort(t), PrivateKey: b.key, HostKey: b.hostKey}
	through, nameless := direct, direct
	through.Bastion, nameless.Bastion = &bastion, &bastion
	nameless.Host = "no-such-host.invalid"

	for name, c := range map[string]remote.Config{"nobody listens": direct, "nobody listens behind it": through, "it knows no such name": nameless} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := open(t, c).Run(t.Context(), remote.Command{Args: []string{"true"}})
			if err == nil || remote.Silent(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}
