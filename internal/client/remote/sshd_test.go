// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

// server is a real sshd with users of its own: it runs in a mount namespace where /etc/passwd,
// /etc/shadow and /etc/sudoers are the test's.
type server struct {
	t       *testing.T
	dir     string
	shell   string // what /bin/sh is; empty: the system's
	port    int
	key     string // private, taken for all users
	hostKey string // public
	cmd     *exec.Cmd
	log     *locked
}

// The users of the server. All take the key and the password.
const (
	sudoer   = "m3sudo" // sudo without a password
	plain    = "m3user" // sudo asks for one
	password = "geheim"
	// shadow is the password's SHA-512 crypt.
	shadow = "$6$metal3test$ZlX/jzl6verX05ktcZ3Sz08hu3KdjYiymkeB/FyWPI3UKbKephkqKI0/pHfZPyZxwyD4DdyGyd1wlGFFl3Ygd/"
)

// sshd starts a server; it ends with the test. /bin/sh may be another shell there.
func sshd(t *testing.T, shell ...string) *server {
	t.Helper()

	if testing.Short() {
		t.Skip("this is the short run")
	}

	for _, program := range []string{"/usr/sbin/sshd", "/usr/bin/unshare", "/usr/bin/sudo"} {
		if _, err := os.Stat(program); err != nil {
			acctest.Missing(t, program+" (Debian: openssh-server, util-linux, sudo)")
		}
	}

	if os.Getuid() != 0 || exec.CommandContext(t.Context(), "unshare", "-m", "true").Run() != nil {
		acctest.Missing(t, "root who may make a mount namespace")
	}

	s := &server{t: t, dir: t.TempDir(), port: acctest.FreePort(t, "127.0.0.1"), log: &locked{}, shell: strings.Join(shell, "")}

	var public string

	s.key, public = newKey(t, "")
	host, hostPublic := newKey(t, "")
	s.hostKey = strings.TrimSpace(hostPublic)

	s.file("host_key", host, 0o600)
	s.file("authorized_keys", public, 0o644)
	s.file("passwd", s.users("/etc/passwd", "%s:x:%d:%d::%s:/bin/sh\n"), 0o644)
	s.file("shadow", s.users("/etc/shadow", "%s:"+strings.ReplaceAll(shadow, "%", "%%")+":19000:0:99999:7:::\n"), 0o640)
	s.file("sudoers", "root ALL=(ALL) ALL\n"+sudoer+" ALL=(ALL) NOPASSWD: ALL\n"+plain+" ALL=(ALL) ALL\n", 0o440)
	s.file("sshd_config", fmt.Sprintf(`ListenAddress 127.0.0.1
Port %d
HostKey %s/host_key
AuthorizedKeysFile %s/authorized_keys
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication yes
MaxStartups 100
LogLevel VERBOSE
Subsystem sftp internal-sftp
SetEnv HOME=/run/sshd
`, s.port, s.dir, s.dir), 0o644) // that folder is empty: the start-up files of the machine's root speak

	// Users have to get to the authorized keys.
	for dir := s.dir; strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		_ = os.Chmod(dir, 0o755)
	}

	s.start()

	return s
}

// users are the system's users and the test's.
func (s *server) users(file, format string) string {
	s.t.Helper()

	raw, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}

	text := string(raw)

	for i, name := range []string{sudoer, plain} {
		if strings.Count(format, "%d") > 0 {
			text += fmt.Sprintf(format, name, 7000+i, 7000+i, s.dir)
		} else {
			text += fmt.Sprintf(format, name)
		}
	}

	return text
}

func (s *server) file(name, text string, mode os.FileMode) string {
	s.t.Helper()

	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		s.t.Fatal(err)
	}

	return path
}

// start starts the server and waits until it listens.
func (s *server) start() {
	s.t.Helper()

	const script = `set -e
mkdir -p /run/sshd
mount --make-rprivate /
for f in passwd shadow sudoers; do mount --bind "$1/$f" "/etc/$f"; done
[ -z "$2" ] || mount --bind "$2" "$(readlink -f /bin/sh)"
exec /usr/sbin/sshd -D -e -f "$1/sshd_config"`

	// Not until the test's context ends: hosts are closed after that.
	s.cmd = exec.CommandContext(context.WithoutCancel(s.t.Context()), "unshare", "-m", "sh", "-c", script, "sh", s.dir, s.shell)
	s.cmd.Stderr = s.log
	s.cmd.WaitDelay = time.Second // what a connection left may hold it open

	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}

	s.t.Cleanup(s.kill)

	for range 200 {
		conn, err := (&net.Dialer{}).DialContext(s.t.Context(), "tcp", s.addr())
		if err == nil {
			_ = conn.Close()

			return
		}

		time.Sleep(25 * time.Millisecond)
	}

	s.t.Fatalf("sshd does not listen: %s", s.log)
}

func (s *server) addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// add starts the server anew with more lines in its configuration: of several the first counts.
func (s *server) add(lines string) {
	s.t.Helper()

	raw, err := os.ReadFile(filepath.Join(s.dir, "sshd_config"))
	if err != nil {
		s.t.Fatal(err)
	}

	s.kill()
	s.file("sshd_config", lines+string(raw), 0o644)
	s.start()
}

// certify gives the server's key a certificate.
func (s *server) certify(t *testing.T, authority, name string) {
	t.Helper()

	ca, key := s.file("ca", authority, 0o600), s.file("host_key.pub", s.hostKey+"\n", 0o644)

	out, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-s", ca, "-I", "test", "-h", "-n", name, key).CombinedOutput()
	if err != nil {
		t.Fatalf("%v %s", err, out)
	}

	s.add("HostCertificate " + s.dir + "/host_key-cert.pub\n")
}

// kill ends the server and its connections: all of sshd that came from this one.
func (s *server) kill() {
	if s.cmd == nil {
		return
	}

	connections := children(s.cmd.Process.Pid)
	_ = s.cmd.Process.Kill()

	for _, pid := range connections {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}

	_ = s.cmd.Wait()
	s.cmd = nil
}

// children are the direct children of a process.
func children(pid int) []int {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))

	var all []int

	for _, f := range strings.Fields(string(raw)) {
		if n, err := strconv.Atoi(f); err == nil {
			all = append(all, n)
		}
	}

	return all
}

// config reaches the server as root.
func (s *server) config(change ...func(*remote.Config)) remote.Config {
	c := remote.Config{Host: "127.0.0.1", Port: s.port, PrivateKey: s.key, HostKey: s.hostKey}
	for _, f := range change {
		f(&c)
	}

	return c
}

func as(user string, sudo bool) func(*remote.Config) {
	return func(c *remote.Config) { c.User, c.Sudo = user, sudo }
}

// open is a host that is closed with the test.
func open(t *testing.T, c remote.Config) remote.Host {
	t.Helper()

	h, err := remote.New(c)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})

	return h
}

// deafPort is a port where nobody listens as long as the test runs: a socket is bound to it that does not.
func deafPort(t *testing.T) int {
	t.Helper()

	syscall.ForkLock.RLock()

	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(socket)
	}

	syscall.ForkLock.RUnlock()

	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = syscall.Close(socket) })

	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}

	bound, err := syscall.Getsockname(socket)
	if err != nil {
		t.Fatal(err)
	}

	return bound.(*syscall.SockaddrInet4).Port
}

// newKey returns a private key in OpenSSH form and its public line.
func newKey(t *testing.T, passphrase string) (private, public string) {
	t.Helper()

	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	var block *pem.Block
	if passphrase == "" {
		block, err = ssh.MarshalPrivateKey(priv, "test")
	} else {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(priv, "test", []byte(passphrase))
	}

	if err != nil {
		t.Fatal(err)
	}

	key, err := ssh.NewPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}

	return string(pem.EncodeToMemory(block)), string(ssh.MarshalAuthorizedKey(key))
}

// locked is a buffer for a program's complaints.
type locked struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.buf.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.buf.String()
}

// running tells whether a process of this machine has the words in its arguments.
func running(words string) bool {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err == nil && strings.Contains(strings.ReplaceAll(string(raw), "\x00", " "), words) {
			return true
		}
	}

	return false
}

// struck runs a command, strikes once processes with all the words run, and returns how the command ended.
func struck(ctx context.Context, t *testing.T, h remote.Host, cmd remote.Command, strike func(), words ...string) error {
	t.Helper()

	end := make(chan error, 1)

	go func() {
		_, err := h.Run(ctx, cmd)
		end <- err
	}()

	for _, w := range words {
		for !running(w) {
			select {
			case err := <-end:
				t.Fatalf("it ended before %q ran: %v", w, err)
			case <-time.After(20 * time.Millisecond):
			}
		}
	}

	strike()

	return <-end
}

// gone waits a little for the processes with the words to end.
func gone(ctx context.Context, words string) bool {
	for ctx.Err() == nil {
		if !running(words) {
			return true
		}

		time.Sleep(20 * time.Millisecond)
	}

	return false
}
