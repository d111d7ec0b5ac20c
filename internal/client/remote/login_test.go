// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

func TestLogin_whoGetsIn(t *testing.T) {
	t.Parallel()

	s := sshd(t)
	stranger, strangerPublic := newKey(t, "")
	known := s.file("known_hosts", "[127.0.0.1]:"+strings.Split(s.addr(), ":")[1]+" "+s.hostKey+"\n", 0o644)
	other := s.file("known_hosts_other", "[127.0.0.1]:"+strings.Split(s.addr(), ":")[1]+" "+strangerPublic, 0o644)
	empty := s.file("known_hosts_empty", "", 0o644)
	keyFile := s.file("key", s.key, 0o600)
	shown := fingerprint(t, s.hostKey)

	cases := map[string]struct {
		change func(*remote.Config)
		want   error
		words  []string
	}{
		"a key":                         {change: func(*remote.Config) {}},
		"a key file":                    {change: func(c *remote.Config) { c.PrivateKey, c.PrivateKeyFile = "", keyFile }},
		"a password":                    {change: func(c *remote.Config) { c.PrivateKey, c.Password, c.User = "", password, plain }},
		"a password, after a wrong key": {change: func(c *remote.Config) { c.PrivateKey, c.Password, c.User = stranger, password, plain }},
		"a wrong password": {
			change: func(c *remote.Config) { c.PrivateKey, c.Password, c.User = "", "falsch-hier", plain },
			want:   remote.ErrAuth, words: []string{plain, "password"},
		},
		"a wrong key": {change: func(c *remote.Config) { c.PrivateKey = stranger }, want: remote.ErrAuth, words: []string{"private key SHA256:"}},
		"nothing":     {change: func(c *remote.Config) { c.PrivateKey = "" }, want: remote.ErrAuth, words: []string{"nothing"}},
		"a user who is not there": {
			change: func(c *remote.Config) { c.User = "nobody-knows-her" }, want: remote.ErrAuth,
			words: []string{"nobody-knows-her"},
		},
		"a key that is no key": {change: func(c *remote.Config) { c.PrivateKey = "geheimnis" }, want: remote.ErrConfig},
		"a key file that is not there": {
			change: func(c *remote.Config) { c.PrivateKey, c.PrivateKeyFile = "", keyFile+"x" },
			want:   remote.ErrConfig, words: []string{keyFile + "x"},
		},

		"a known host":      {change: func(c *remote.Config) { c.HostKey, c.KnownHostsFile = "", known }},
		"a line of a scan":  {change: func(c *remote.Config) { c.HostKey = "# a comment\n127.0.0.1 " + s.hostKey + "\n" }},
		"one of two keys":   {change: func(c *remote.Config) { c.HostKey = strangerPublic + s.hostKey }},
		"any key, if asked": {change: func(c *remote.Config) { c.HostKey, c.InsecureHostKey = strangerPublic, true }},
		"another host key": {
			change: func(c *remote.Config) { c.HostKey = strangerPublic }, want: remote.ErrHostKey,
			words: []string{shown, fingerprint(t, strangerPublic), "installed anew"},
		},
		"another kind of host key": {change: func(c *remote.Config) { c.HostKey = rsaKey }, want: remote.ErrHostKey, words: []string{"rsa"}},
		"a host that changed": {
			change: func(c *remote.Config) { c.HostKey, c.KnownHostsFile = "", other }, want: remote.ErrHostKey,
			words: []string{shown, fingerprint(t, strangerPublic), other + ":1", "ssh-keygen -R"},
		},
		"a host that nobody knows": {
			change: func(c *remote.Config) { c.HostKey, c.KnownHostsFile = "", empty }, want: remote.ErrHostKey,
			words: []string{shown, empty, "host_key"},
		},
		"a file of hosts that is not there": {
			change: func(c *remote.Config) { c.HostKey, c.KnownHostsFile = "", known+"x" },
			want:   remote.ErrConfig, words: []string{known + "x"},
		},
		"a host key that is none": {change: func(c *remote.Config) { c.HostKey = "ssh-ed25519 AAAA" }, want: remote.ErrConfig},

		"a port where nobody listens": {
			change: func(c *remote.Config) { c.Port = deafPort(t) }, want: remote.ErrUnreachable,
			words: []string{"refused"},
		},
		"a name that nobody has": {change: func(c *remote.Config) { c.Host = "no-such-host.invalid" }, want: remote.ErrUnreachable},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := open(t, s.config(c.change))

			r, err := h.Run(t.Context(), remote.Command{Args: []string{"echo", "in"}})
			if !errors.Is(err, c.want) || c.want == nil && (err != nil || string(r.Stdout) != "in\n") {
				t.Fatalf("%q %v, want %v", r.Stdout, err, c.want)
			}

			if err == nil {
				return
			}

			for _, w := range append(c.words, h.Name()) {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("no %q in: %v", w, err)
				}
			}

			for _, secret := range []string{password, "falsch-hier", "geheimnis", "PRIVATE KEY"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("a secret in: %v", err)
				}
			}
		})
	}
}

// rsaKey is an RSA key that no host has.
const rsaKey = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQCm4MSJHf+ovvlkucGIPLlGy9cuaZ3YSJysr/pD3rCjhj0naqHzHgvDts9CzvtER7OcF2V6xChuIwdK6FHqP+S4AVbPhYWFIGO3lcyOvw7WkYT/YQUbQUCYZFVK555G7adQhYIBAlPrrwDwJfoCnCOMCqrmIWJ7pqPQkYz+jRgEQdaeduuz2b0e6Pud3lblW96UR1nOG7Z9K7uStrrlzlotcASiXR/yABlg0Fj9aXFIEPznkvGmyDfenu5EM+VvMZvvRbqVl/vidQWPxQn1alz3x48S/9ADOkEE5r1K26QnCIMX0/dQq0kUT4HstsZgEei0aAmuvXguSBTZgyfLBwa7"

func fingerprint(t *testing.T, line string) string {
	t.Helper()

	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line))
	if err != nil {
		t.Fatal(err)
	}

	return ssh.FingerprintSHA256(key)
}

func TestLogin_encryptedKeys(t *testing.T) {
	t.Parallel()

	s := sshd(t)
	private, public := newKey(t, "die Phrase")
	s.file("authorized_keys", public, 0o644)

	for phrase, words := range map[string]string{"die Phrase": "", "": "is encrypted", "falsch": "does not open"} {
		h := open(t, s.config(func(c *remote.Config) { c.PrivateKey, c.Passphrase = private, phrase }))

		_, err := h.Run(t.Context(), remote.Command{Args: []string{"true"}})
		if words == "" && err != nil || words != "" && (!errors.Is(err, remote.ErrConfig) || !strings.Contains(err.Error(), words)) {
			t.Errorf("passphrase %q: %v", phrase, err)
		}
	}
}

func TestLogin_anAgent(t *testing.T) {
	s := sshd(t)

	keyFile := s.file("key", s.key, 0o600)
	socket := filepath.Join(t.TempDir(), "agent")

	cmd := exec.CommandContext(t.Context(), "ssh-agent", "-D", "-a", socket)
	if err := cmd.Start(); err != nil {
		acctest.Missing(t, "ssh-agent (Debian: openssh-client)")
	}

	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	t.Setenv("SSH_AUTH_SOCK", socket)

	agent := func(c *remote.Config) { c.PrivateKey, c.Agent = "", true }

	_, err := open(t, s.config(agent)).Run(t.Context(), remote.Command{Args: []string{"true"}})
	if !errors.Is(err, remote.ErrAuth) {
		t.Errorf("an agent without keys: %v", err)
	}

	if out, err := exec.CommandContext(t.Context(), "ssh-add", keyFile).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}

	if _, err := open(t, s.config(agent)).Run(t.Context(), remote.Command{Args: []string{"true"}}); err != nil {
		t.Error(err)
	}

	t.Setenv("SSH_AUTH_SOCK", socket+"x")

	_, err = open(t, s.config(agent)).Run(t.Context(), remote.Command{Args: []string{"true"}})
	if !errors.Is(err, remote.ErrAuth) || !strings.Contains(err.Error(), "no SSH agent") {
		t.Errorf("no agent: %v", err)
	}
}

func TestLogin_throughABastion(t *testing.T) {
	t.Parallel()

	s, b := sshd(t), sshd(t)
	bastion := b.config(as(plain, false))
	h := open(t, s.config(func(c *remote.Config) { c.Bastion = &bastion }))

	r, err := h.Run(t.Context(), remote.Command{Script: "echo $SSH_CONNECTION; id -un"})
	if err != nil || !strings.HasSuffix(string(r.Stdout), "root\n") {
		t.Fatalf("%q %v", r.Stdout, err)
	}

	if !strings.Contains(b.log.String(), "direct-tcpip") && !strings.Contains(b.log.String(), plain) {
		t.Errorf("the bastion saw nobody: %s", b.log)
	}

	// The bastion's own failure names the bastion.
	wrong := bastion
	wrong.PrivateKey, _ = newKey(t, "")
	h = open(t, s.config(func(c *remote.Config) { c.Bastion = &wrong }))

	if _, err := h.Run(t.Context(), remote.Command{Args: []string{"true"}}); !errors.Is(err, remote.ErrAuth) || !strings.Contains(err.Error(), "bastion "+plain+"@") {
		t.Errorf("a bastion that refuses: %v", err)
	}

	closed := s.config(func(c *remote.Config) { c.Bastion, c.Port = &bastion, deafPort(t) })
	if _, err := open(t, closed).Run(t.Context(), remote.Command{Args: []string{"true"}}); !errors.Is(err, remote.ErrUnreachable) {
		t.Errorf("a port behind the bastion where nobody listens: %v", err)
	}
}

func TestSudo(t *testing.T) {
	t.Parallel()

	s := sshd(t)

	for name, c := range map[string]struct {
		user string
		sudo bool
		who  string
		want error
	}{
		"with sudo":             {sudoer, true, "root", nil},
		"without":               {sudoer, false, sudoer, nil},
		"root needs none":       {"root", true, "root", nil},
		"sudo wants a password": {plain, true, "", remote.ErrSudo},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := open(t, s.config(as(c.user, c.sudo)))

			r, err := h.Run(t.Context(), remote.Command{Args: []string{"id", "-un"}})
			if !errors.Is(err, c.want) || strings.TrimSpace(string(r.Stdout)) != c.who {
				t.Errorf("%q %v", r.Stdout, err)
			}
		})
	}
}

func TestConnection_comesBack(t *testing.T) {
	t.Parallel()

	s := sshd(t)
	h := open(t, s.config())

	run := func() error {
		_, err := h.Run(t.Context(), remote.Command{Args: []string{"true"}})

		return err
	}

	if err := run(); err != nil {
		t.Fatal(err)
	}

	// While a command runs, a loss is a loss.
	m := mark(t)
	if err := struck(t.Context(), t, h, remote.Command{Script: `exec sleep "$1"`, Params: []string{m}}, s.kill, "sleep "+m); !errors.Is(err, remote.ErrLost) {
		t.Errorf("sshd died while a command ran: %v", err)
	}

	if err := run(); !errors.Is(err, remote.ErrUnreachable) {
		t.Errorf("no sshd: %v", err)
	}

	s.start()

	if err := run(); err != nil {
		t.Errorf("sshd is back: %v", err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
	defer cancel()

	if !gone(ctx, "sleep "+m) {
		t.Error("what ran when the connection was lost still runs")
	}
}

func TestConnection_aServerThatSaysNothing(t *testing.T) {
	t.Parallel()

	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()

	h := open(t, remote.Config{
		Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, InsecureHostKey: true, Timeout: 200 * time.Millisecond,
	})

	if _, err := h.Run(t.Context(), remote.Command{Args: []string{"true"}}); !errors.Is(err, remote.ErrUnreachable) || !strings.Contains(err.Error(), "200ms") {
		t.Errorf("got %v", err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()

	if _, err := h.Run(ctx, remote.Command{Args: []string{"true"}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the caller's deadline: %v", err)
	}
}

func TestPool_oneConnectionForEach(t *testing.T) {
	t.Parallel()

	s := sshd(t)
	p := remote.NewPool()

	for _, user := range []string{"root", "root", plain, "root"} {
		h, err := p.Host(s.config(as(user, false)))
		if err != nil {
			t.Fatal(err)
		}

		if _, err := h.Run(t.Context(), remote.Command{Args: []string{"true"}}); err != nil {
			t.Fatal(err)
		}

		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}

	if n := strings.Count(s.log.String(), "Accepted publickey"); n != 2 {
		t.Errorf("%d logins, want 2: %s", n, s.log)
	}

	if err := p.Close(); err != nil {
		t.Error(err)
	}

	if _, err := p.Host(s.config()); !errors.Is(err, remote.ErrPoolClosed) {
		t.Errorf("after the end: %v", err)
	}
}

func TestNew_refuses(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]remote.Config{
		"no host":              {},
		"a kind of its own":    {Type: "telnet", Host: "h"},
		"a URL":                {Host: "ssh://h"},
		"a user in the host":   {Host: "root@h"},
		"a port out of range":  {Host: "h", Port: 70000},
		"a bastion of no host": {Host: "h", Bastion: &remote.Config{}},
		"a local bastion":      {Host: "h", Bastion: &remote.Config{Type: remote.Local}},
	} {
		if _, err := remote.New(c); !errors.Is(err, remote.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}

	for host, name := range map[string]string{"h": "root@h:22", "2001:db8::1": "root@[2001:db8::1]:22", "[2001:db8::1]": "root@[2001:db8::1]:22"} {
		if h, err := remote.New(remote.Config{Host: host}); err != nil || h.Name() != name {
			t.Errorf("%s: %v", host, err)
		}
	}

	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("no /proc")
	}
}
