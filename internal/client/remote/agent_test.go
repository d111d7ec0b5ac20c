// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

// agentAt starts an agent and returns its socket. One that serves nobody hangs.
func agentAt(t *testing.T, serve func(net.Conn)) string {
	t.Helper()

	socket := filepath.Join(t.TempDir(), "agent")

	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = l.Close() })

	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}

			go serve(conn)
		}
	}()

	return socket
}

// strangers are so many keys that no host knows.
func strangers(t *testing.T, n int) agent.Agent {
	t.Helper()

	ring := agent.NewKeyring()

	for range n {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}

		if err := ring.Add(agent.AddedKey{PrivateKey: key}); err != nil {
			t.Fatal(err)
		}
	}

	return ring
}

// An agent with more keys than a host allows attempts is no reason to take the host for gone,
// nor to lock out who has another right key or password.
func TestLogin_anAgentWithManyKeys(t *testing.T) {
	s := sshd(t)
	ring := strangers(t, 8)

	t.Setenv("SSH_AUTH_SOCK", agentAt(t, func(conn net.Conn) { _ = agent.ServeAgent(ring, conn) }))

	wrong, _ := newKey(t, "")

	cases := map[string]struct {
		change func(*remote.Config)
		want   error
		words  []string
	}{
		"the agent alone": {
			func(c *remote.Config) { c.PrivateKey = "" }, remote.ErrAuth, []string{"agent (5 of 8 keys)", "the first 5 only", "private_key"},
		},
		"and a right key":                 {func(*remote.Config) {}, nil, nil},
		"and a right password":            {func(c *remote.Config) { c.PrivateKey, c.Password, c.User = "", password, plain }, nil, nil},
		"a wrong key and the password":    {func(c *remote.Config) { c.PrivateKey, c.Password, c.User = wrong, password, plain }, nil, nil},
		"a wrong key and no other":        {func(c *remote.Config) { c.PrivateKey = wrong }, remote.ErrAuth, []string{"private key SHA256:", "no more attempts"}},
		"a wrong key and wrong passwords": {func(c *remote.Config) { c.PrivateKey, c.Password = wrong, "falsch" }, remote.ErrAuth, []string{"password", "agent (4 of 8 keys)"}},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := open(t, s.config(func(r *remote.Config) { r.Agent = true }, c.change)).Run(t.Context(), remote.Command{Args: []string{"true"}})
			if !errors.Is(err, c.want) || errors.Is(err, remote.ErrUnreachable) {
				t.Errorf("got %v, want %v", err, c.want)
			}

			for _, w := range c.words {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("no %q in: %v", w, err)
				}
			}
		})
	}
}

// mute is an agent that signs nothing, for ever.
type mute struct {
	agent.Agent

	end <-chan struct{}
}

func (m mute) Sign(ssh.PublicKey, []byte) (*ssh.Signature, error) {
	<-m.end

	return nil, errors.New("late")
}

func TestLogin_anAgentThatHangs(t *testing.T) {
	s := sshd(t)

	end := make(chan struct{})
	t.Cleanup(func() { close(end) })

	ring := agent.NewKeyring()

	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	if err := ring.Add(agent.AddedKey{PrivateKey: key}); err != nil {
		t.Fatal(err)
	}

	public, err := ssh.NewPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}

	_, own := newKey(t, "")
	private, given := newKey(t, "")
	s.file("authorized_keys", own+given+string(ssh.MarshalAuthorizedKey(public)), 0o644)

	names, signs := func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }, func(conn net.Conn) { _ = agent.ServeAgent(mute{ring, end}, conn) }

	cases := map[string]struct {
		agent  func(net.Conn)
		change func(*remote.Config)
		want   error
		words  string
	}{
		"it names no keys":                  {names, func(*remote.Config) {}, remote.ErrAuth, "no SSH agent: it did not answer within 4s"},
		"it names no keys, and a password":  {names, func(c *remote.Config) { c.Password, c.User = password, plain }, nil, ""},
		"it names no keys, and a right key": {names, func(c *remote.Config) { c.PrivateKey = private }, nil, ""},
		"it does not sign":                  {signs, func(*remote.Config) {}, remote.ErrAuth, "the SSH agent did not answer within 8s"},
		"it does not sign, and a right key": {signs, func(c *remote.Config) { c.PrivateKey = private }, nil, ""},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("SSH_AUTH_SOCK", agentAt(t, c.agent))

			h := open(t, s.config(func(r *remote.Config) { r.PrivateKey, r.Agent, r.Timeout = "", true, 8*time.Second }, c.change))
			began := time.Now()

			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()

			_, err := h.Run(ctx, remote.Command{Args: []string{"true"}})
			if !errors.Is(err, c.want) || errors.Is(err, remote.ErrUnreachable) || (err != nil && !strings.Contains(err.Error(), c.words)) {
				t.Errorf("got %v, want %v", err, c.want)
			}

			if took := time.Since(began); took > 16*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}
