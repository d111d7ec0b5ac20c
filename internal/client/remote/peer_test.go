// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote_test

import (
	"context"
	"errors"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/node"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// silent is a connection whose far side can go without a word.
type silent struct {
	net.Conn

	gone   chan struct{}
	closed chan struct{}
	once   sync.Once
}

func (s *silent) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)

	select {
	case <-s.gone:
		<-s.closed

		return 0, net.ErrClosed
	default:
		return n, err
	}
}

func (s *silent) Write(p []byte) (int, error) {
	select {
	case <-s.gone:
		return len(p), nil
	default:
		return s.Conn.Write(p)
	}
}

func (s *silent) Close() error {
	s.once.Do(func() { close(s.closed) })

	return s.Conn.Close()
}

func TestConnection_aPeerThatDies(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		l, err := lab.Open(lab.Options{Machines: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()

		gone := make(chan struct{})

		h, err := remote.New(remote.Config{
			Host: "node-0.lab", HostKey: l.HostKey("node-0.lab"),
			Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := l.Dial(ctx, network, addr)

				select {
				case <-gone:
					return conn, err
				default:
					return &silent{Conn: conn, gone: gone, closed: make(chan struct{})}, err
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()

		err = l.Store.Update(func(tx store.Tx) error {
			return node.Change(tx, "node-0", func(s *node.State) { s.Hang = "sleep" })
		})
		if err != nil {
			t.Fatal(err)
		}

		time.AfterFunc(time.Minute, func() { close(gone) })

		began := time.Now()

		_, err = h.Run(t.Context(), remote.Command{Args: []string{"sleep", "3600"}, Limit: time.Hour})
		if took := time.Since(began); !errors.Is(err, remote.ErrLost) || took < time.Minute || took > 91*time.Second {
			t.Errorf("after %s: %v", took, err)
		}

		if _, err := h.Run(t.Context(), remote.Command{Args: []string{"true"}}); err != nil {
			t.Errorf("a new connection: %v", err)
		}
	})
}

// Who gives up does not wait for a peer that is gone.
func TestRun_givenUpOnAPeerThatDied(t *testing.T) {
	t.Parallel()

	s := sshd(t)
	died := make(chan struct{})
	h := open(t, s.config(func(c *remote.Config) {
		c.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)

			return &silent{Conn: conn, gone: died, closed: make(chan struct{})}, err
		}
	}))

	spoken := talk(t, h, remote.Command{Args: []string{"cat"}})

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()

	var (
		all   sync.WaitGroup
		began time.Time
	)

	m := mark(t)

	// The sign that the peer is gone comes after 20 s at the earliest.
	const limit = 20 * time.Second

	err := struck(ctx, t, h, remote.Command{Script: `exec sleep "$1"`, Params: []string{m}}, func() {
		began = time.Now()

		close(died)
		cancel()

		all.Go(func() {
			took(t, limit, "a session", func() {
				if err := spoken.Close(); err == nil || !strings.Contains(err.Error(), "may still run") {
					t.Errorf("the session: %v", err)
				}
			})
		})
	}, "sleep "+m)
	if d := time.Since(began); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "may still run") || d > limit {
		t.Errorf("the command, after %s: %v", d, err)
	}

	all.Wait()

	// The host lives in truth, and hears of the end now.
	if err := h.Close(); err != nil {
		t.Error(err)
	}

	ended, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()

	if !gone(ended, "sleep "+m) {
		t.Error("something still runs")
	}
}

func TestRun_noPlaceForAnother(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		l, err := lab.Open(lab.Options{Machines: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()

		h, err := remote.New(remote.Config{Host: "node-0.lab", HostKey: l.HostKey("node-0.lab"), Dial: l.Dial})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()

		err = l.Store.Update(func(tx store.Tx) error {
			return node.Change(tx, "node-0", func(s *node.State) { s.Hang = "sleep" })
		})
		if err != nil {
			t.Fatal(err)
		}

		var all sync.WaitGroup

		for range 8 {
			all.Go(func() {
				if _, err := h.Run(t.Context(), remote.Command{Args: []string{"sleep", "3600"}, Limit: 10 * time.Minute}); !errors.Is(err, remote.ErrTimeout) {
					t.Error(err)
				}
			})
		}

		time.Sleep(time.Second)

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()

		if _, err := h.Run(ctx, remote.Command{Args: []string{"true"}}); !errors.Is(err, remote.ErrTimeout) || !strings.Contains(err.Error(), "sessions") {
			t.Errorf("the ninth: %v", err)
		}

		// A place that becomes free is taken.
		if _, err := h.Run(t.Context(), remote.Command{Args: []string{"true"}}); err != nil {
			t.Errorf("the tenth: %v", err)
		}

		all.Wait()
	})
}

// A server with keyboard-interactive alone is how many hosts with PAM ask for a password.
func TestLogin_keyboardInteractive(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		password string
		question []string
		echo     []bool
		want     error // nil: it gets in, and finds that there are no sessions
	}{
		"the password":         {password, []string{"Password: "}, []bool{false}, nil},
		"no question":          {password, nil, nil, nil},
		"a wrong password":     {"falsch", []string{"Password: "}, []bool{false}, remote.ErrAuth},
		"a question of ours":   {password, []string{"Who are you? "}, []bool{true}, remote.ErrAuth},
		"more than a password": {password, []string{"Password: ", "Code: "}, []bool{false, true}, remote.ErrAuth},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			config := &ssh.ServerConfig{KeyboardInteractiveCallback: func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
				answers, err := ask("", "", c.question, c.echo)
				if err != nil {
					return nil, err
				}

				for _, a := range answers {
					if a != password {
						return nil, errors.New("no")
					}
				}

				return &ssh.Permissions{}, nil
			}}

			private, public := newKey(t, "")

			key, err := ssh.ParsePrivateKey([]byte(private))
			if err != nil {
				t.Fatal(err)
			}

			config.AddHostKey(key)

			h := open(t, remote.Config{Host: "h", Password: c.password, HostKey: public, Dial: serve(t, config)})

			_, err = h.Run(t.Context(), remote.Command{Args: []string{"true"}})
			if c.want != nil && !errors.Is(err, c.want) || c.want == nil && !strings.Contains(err.Error(), "no more sessions") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// serve is a server that lets in who may, and opens no sessions.
func serve(t *testing.T, config *ssh.ServerConfig) func(context.Context, string, string) (net.Conn, error) {
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

			go func() {
				defer conn.Close()

				_, channels, requests, err := ssh.NewServerConn(conn, config)
				if err != nil {
					return
				}

				go ssh.DiscardRequests(requests)

				for c := range channels {
					_ = c.Reject(ssh.Prohibited, "none")
				}
			}()
		}
	}()

	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr().String())
	}
}

func TestSudoRefused(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		result remote.Result
		want   bool
	}{
		"sudo 1.9":           {remote.Result{Exit: 1, Stderr: []byte("sudo: a password is required\n")}, true},
		"with a lecture":     {remote.Result{Exit: 1, Stderr: []byte("sudo: unable to resolve host h: no address\nsudo: a password is required\n")}, true},
		"a terminal":         {remote.Result{Exit: 1, Stderr: []byte("sudo: sorry, you must have a tty to run sudo\n")}, true},
		"sudo-rs":            {remote.Result{Exit: 1, Stderr: []byte("sudo: interactive authentication is required\n")}, true},
		"not in the list":    {remote.Result{Exit: 1, Stderr: []byte("m3user is not in the sudoers file.\n")}, true},
		"not this command":   {remote.Result{Exit: 1, Stderr: []byte("Sorry, user m3user is not allowed to execute '/usr/bin/env' as root on h.\n")}, true},
		"no sudo":            {remote.Result{Exit: 127, Stderr: []byte("env: 'sudo': No such file or directory\n")}, true},
		"the command's own":  {remote.Result{Exit: 1, Stderr: []byte("mount: only root can do that\n")}, false},
		"another status":     {remote.Result{Exit: 2, Stderr: []byte("sudo: a password is required\n")}, false},
		"a quoted complaint": {remote.Result{Exit: 1, Stderr: []byte("ssh: a password is required\n")}, false},
		"nothing":            {remote.Result{Exit: 1}, false},
		"it worked":          {remote.Result{Stderr: []byte("sudo: a password is required\n")}, false},
	}

	for name, c := range cases {
		if _, got := remote.SudoRefused(c.result); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func FuzzParseHostKeys(f *testing.F) {
	f.Add("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1d1PqG2kq3wYqk8nLx0gE3w0Y5n0v1mJq0yq0Zq0Zq host\n")
	f.Add("|1|abc=|def= ssh-rsa AAAA\n# comment\n@revoked * ssh-rsa AAAA")
	f.Add(rsaKey)

	f.Fuzz(func(t *testing.T, text string) {
		keys, err := remote.ParseHostKeys(text)
		if (err == nil) != (len(keys) > 0) {
			t.Errorf("%d keys, %v", len(keys), err)
		}
	})
}

func FuzzAuthorities(f *testing.F) {
	f.Add([]byte("@cert-authority * " + rsaKey + "\nhost " + rsaKey + "\n@revoked * " + rsaKey))
	f.Add([]byte("@cert-authority\n@cert-authority *\n# comment\n@cert-authority * ssh-rsa AAAA"))

	f.Fuzz(func(t *testing.T, raw []byte) {
		if got, most := len(remote.Authorities(raw)), strings.Count(string(raw), "@cert-authority"); got > most {
			t.Errorf("%d authorities in %d lines", got, most)
		}
	})
}

// A real shell gives back every word as it was.
func FuzzLine(f *testing.F) {
	for _, word := range []string{"", "a b", "'", "a'b''c", `\`, `"`, "$x`id`", "\n", "A=b'c", "=", "-n", "*", "~", "#"} {
		f.Add(word)
	}

	f.Fuzz(func(t *testing.T, word string) {
		if strings.ContainsRune(word, 0) {
			t.Skip("no argument holds a NUL byte")
		}

		out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", remote.Line([]string{"printf", "%s|", word, word})).Output()
		if err != nil || string(out) != word+"|"+word+"|" {
			t.Errorf("%q became %q, %v", word, out, err)
		}
	})
}
