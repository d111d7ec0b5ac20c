// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

// listen is a server that does with each connection what it is told; it returns its port.
func listen(t *testing.T, serve func(net.Conn)) int {
	t.Helper()

	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
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

	return l.Addr().(*net.TCPAddr).Port
}

// TestReach_whoIsGone: only a host that gave no sign of life is unreachable. Whoever takes
// another for gone pulls devices out of a machine that works with them.
func TestReach_whoIsGone(t *testing.T) {
	t.Parallel()

	s := sshd(t)
	strange, closed, restricted, b := sshd(t), sshd(t), sshd(t), sshd(t)

	strange.add("KexAlgorithms sntrup761x25519-sha512@openssh.com\nCiphers aes256-cbc\n")
	closed.add("AllowTcpForwarding no\n")
	restricted.add("MaxSessions 0\n")

	mute := listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }) // dropped, it would be closed some time
	hangsUp := listen(t, func(c net.Conn) { _ = c.Close() })
	web := listen(t, func(c net.Conn) {
		_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n" + strings.Repeat("x", 1<<16)))
	})

	via := func(port int) func(*remote.Config) {
		bastion := b.config()
		bastion.Port, bastion.InsecureHostKey = port, true

		return func(c *remote.Config) { c.Bastion = &bastion }
	}
	to := func(port int) func(*remote.Config) {
		return func(c *remote.Config) { c.Port, c.InsecureHostKey = port, true }
	}
	both := func(all ...func(*remote.Config)) func(*remote.Config) {
		return func(c *remote.Config) {
			for _, f := range all {
				f(c)
			}
		}
	}
	quick := func(c *remote.Config) { c.Timeout = 300 * time.Millisecond }

	cases := map[string]struct {
		change func(*remote.Config)
		want   error
	}{
		"nobody listens":                  {to(deafPort(t)), remote.ErrUnreachable},
		"nobody has the name":             {func(c *remote.Config) { c.Host = "no-such-host.invalid" }, remote.ErrUnreachable},
		"nobody answers":                  {both(to(mute), quick), remote.ErrUnreachable},
		"nobody listens behind a bastion": {both(to(deafPort(t)), via(b.port)), remote.ErrUnreachable},
		"nobody answers behind a bastion": {both(to(mute), via(b.port), func(c *remote.Config) { c.Timeout = 10 * time.Second }), remote.ErrUnreachable},

		"no algorithm in common":                      {to(strange.port), remote.ErrHandshake},
		"it hangs up":                                 {to(hangsUp), remote.ErrHandshake},
		"it is no SSH server":                         {to(web), remote.ErrHandshake},
		"it lets nobody in":                           {func(c *remote.Config) { c.PrivateKey, _ = newKey(t, "") }, remote.ErrAuth},
		"it opens no sessions":                        {both(to(restricted.port), func(c *remote.Config) { c.PrivateKey = restricted.key }), remote.ErrRefused},
		"nobody listens at the bastion":               {via(deafPort(t)), remote.ErrBastion},
		"the bastion does not answer":                 {both(via(mute), quick), remote.ErrBastion},
		"the bastion does not answer in its own time": {via2(b, mute), remote.ErrBastion},
		"the bastion hangs up":                        {via(hangsUp), remote.ErrHandshake},
		"the bastion lets nobody through":             {func(c *remote.Config) { bastion := closed.config(); c.Bastion = &bastion }, remote.ErrBastion},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := open(t, s.config(c.change)).Run(t.Context(), remote.Command{Args: []string{"true"}})
			if !errors.Is(err, c.want) || errors.Is(err, remote.ErrUnreachable) != errors.Is(c.want, remote.ErrUnreachable) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// via2 reaches the host through a bastion whose own time is shorter than the host's.
func via2(b *server, port int) func(*remote.Config) {
	bastion := b.config()
	bastion.Port, bastion.InsecureHostKey, bastion.Timeout = port, true, 200*time.Millisecond

	return func(c *remote.Config) { c.Bastion = &bastion }
}

// A bastion that dies says nothing of the host behind it, nor does a login that never ends.
func TestReach_lateDeaths(t *testing.T) {
	t.Parallel()

	s, b := sshd(t), sshd(t)

	t.Run("the bastion stops while the host is asked", func(t *testing.T) {
		t.Parallel()

		stopped := make(chan struct{})
		bastion := b.config()
		bastion.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)

			return &silent{Conn: conn, gone: stopped, closed: make(chan struct{})}, err
		}

		h := open(t, s.config(func(c *remote.Config) { c.Bastion = &bastion }))
		if _, err := h.Run(t.Context(), remote.Command{Args: []string{"true"}}); err != nil {
			t.Fatal(err)
		}

		close(stopped)

		other := s.config(func(c *remote.Config) { c.Bastion, c.Timeout = &bastion, time.Second })

		_, err := open(t, other).Run(t.Context(), remote.Command{Args: []string{"true"}})
		if !errors.Is(err, remote.ErrBastion) || errors.Is(err, remote.ErrUnreachable) {
			t.Errorf("got %v", err)
		}
	})

	t.Run("the login does not end", func(t *testing.T) {
		t.Parallel()

		end := make(chan struct{})
		config := &ssh.ServerConfig{PasswordCallback: func(ssh.ConnMetadata, []byte) (*ssh.Permissions, error) {
			<-end

			return nil, errors.New("late")
		}}

		t.Cleanup(func() { close(end) })

		public := hostKeyOf(t, config)
		h := open(t, remote.Config{Host: "h", Password: "x", HostKey: public, Dial: serve(t, config), Timeout: 500 * time.Millisecond})

		_, err := h.Run(t.Context(), remote.Command{Args: []string{"true"}})
		if !errors.Is(err, remote.ErrHandshake) || errors.Is(err, remote.ErrUnreachable) || !strings.Contains(err.Error(), "500ms") {
			t.Errorf("got %v", err)
		}
	})
}

// hostKeyOf gives a server a key.
func hostKeyOf(t *testing.T, config *ssh.ServerConfig) string {
	t.Helper()

	private, public := newKey(t, "")

	key, err := ssh.ParsePrivateKey([]byte(private))
	if err != nil {
		t.Fatal(err)
	}

	config.AddHostKey(key)

	return public
}

// A server that refuses a command says so in few words: the library's repeat the command.
func TestReach_aCommandThatIsRefused(t *testing.T) {
	t.Parallel()

	config := &ssh.ServerConfig{NoClientAuth: true}
	public := hostKeyOf(t, config)

	port := listen(t, func(conn net.Conn) {
		_, channels, requests, err := ssh.NewServerConn(conn, config)
		if err != nil {
			return
		}

		go ssh.DiscardRequests(requests)

		for c := range channels {
			if _, requests, err := c.Accept(); err == nil {
				go ssh.DiscardRequests(requests)
			}
		}
	})

	h := open(t, remote.Config{Host: "127.0.0.1", Port: port, HostKey: public})

	_, err := h.Run(t.Context(), remote.Command{Args: []string{"echo", "ein-Argument"}})
	if !errors.Is(err, remote.ErrRefused) || errors.Is(err, remote.ErrLost) || len(err.Error()) > 250 || strings.Contains(err.Error(), "ein-Argument") {
		t.Errorf("got %v", err)
	}
}

// Hosts with certificates are known by the authority that signed them.
func TestReach_hostCertificates(t *testing.T) {
	t.Parallel()

	s := sshd(t)
	ca, caPublic := newKey(t, "")
	_, otherPublic := newKey(t, "")

	s.certify(t, ca, "127.0.0.1")

	wrong := sshd(t)
	wrong.certify(t, ca, "somebody.else")

	bare := sshd(t)
	port := func(s *server) string { return strings.Split(s.addr(), ":")[1] }

	cases := map[string]struct {
		s     *server
		lines string
		want  error
		words string
	}{
		"an authority of all":           {s, "@cert-authority * " + caPublic, nil, ""},
		"of the host and its port":      {s, "@cert-authority [127.0.0.1]:" + port(s) + " " + caPublic, nil, ""},
		"of other hosts":                {s, "@cert-authority *.example.com " + caPublic, remote.ErrHostKey, "has no key of"},
		"another authority":             {s, "@cert-authority * " + otherPublic, remote.ErrHostKey, "wants a certificate"},
		"a certificate of another name": {wrong, "@cert-authority * " + caPublic, remote.ErrHostKey, "somebody.else"},
		"no certificate":                {bare, "@cert-authority * " + caPublic, remote.ErrHostKey, "wants a certificate"},
		"no certificate, but a key":     {bare, "@cert-authority * " + caPublic + "[127.0.0.1]:" + port(bare) + " " + bare.hostKey + "\n", nil, ""},
		"another authority, but a key":  {s, "@cert-authority * " + otherPublic + "[127.0.0.1]:" + port(s) + " " + s.hostKey + "\n", nil, ""},
		"a revoked authority":           {s, "@cert-authority * " + caPublic + "@revoked * " + caPublic, remote.ErrHostKey, "revoked"},
		"a revoked key":                 {s, "@cert-authority * " + caPublic + "@revoked * " + s.hostKey + "\n", remote.ErrHostKey, "revoked"},
		"a key alone":                   {s, "[127.0.0.1]:" + port(s) + " " + s.hostKey + "\n", nil, ""},
		"another key and an authority":  {bare, "@cert-authority * " + caPublic + "[127.0.0.1]:" + port(bare) + " " + otherPublic, remote.ErrHostKey, ":2 says"},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			file := s.file("known_"+strings.ReplaceAll(name, " ", "_"), c.lines, 0o644)
			h := open(t, c.s.config(func(r *remote.Config) { r.HostKey, r.KnownHostsFile = "", file }))

			_, err := h.Run(t.Context(), remote.Command{Args: []string{"true"}})
			if !errors.Is(err, c.want) || (err != nil && !strings.Contains(err.Error(), c.words)) {
				t.Errorf("got %v, want %v and %q", err, c.want, c.words)
			}
		})
	}
}
