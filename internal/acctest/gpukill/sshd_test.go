// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpukill_test

import (
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
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/tfrun"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// The users of the host, beside root.
const (
	sudoer = "m3gpu"  // sudo without a password
	plain  = "m3none" // no sudo at all
)

// host is a GPU host behind a real sshd. It lives in a mount namespace of its own, in which
// PCI bus, driver and /dev are the test's, so that all scripts run for real.
type host struct {
	*kernel

	dir     string
	port    int
	key     string // file of the private key, taken for all users
	hostKey string // public
	cmd     *exec.Cmd
	log     *tfrun.Output
}

// namespace makes the host: $1 is its folder.
const namespace = `set -e
mkdir -p /run/sshd
mount --make-rprivate /
for f in passwd shadow sudoers; do mount --bind "$1/$f" "/etc/$f"; done
mount --bind "$1/bin" /usr/local/bin
mount --bind "$1/proc" /proc/driver
mount --bind "$1/pci" /sys/bus/pci
mount --bind "$1/cpuinfo" /proc/cpuinfo
mkdir "$1/dev.$$"
mount -t tmpfs tmpfs "$1/dev.$$"
for d in null:3 zero:5 full:7 random:8 urandom:9; do mknod -m 666 "$1/dev.$$/${d%:*}" c 1 "${d#*:}"; done
ln -s /proc/self/fd "$1/dev.$$/fd"
mount --move "$1/dev.$$" /dev
exec /usr/sbin/sshd -D -e -f "$1/sshd_config"`

// newHost starts a GPU host that is the first machine of a lab; it ends with the test.
func newHost(t *testing.T, f *far) *host {
	t.Helper()

	for _, program := range []string{"/usr/sbin/sshd", "/usr/bin/unshare", "/usr/bin/sudo"} {
		if _, err := os.Stat(program); err != nil {
			acctest.Missing(t, program+" (Debian: openssh-server, util-linux, sudo)")
		}
	}

	if os.Getuid() != 0 || exec.CommandContext(t.Context(), "unshare", "-m", "true").Run() != nil {
		acctest.Missing(t, "root who may make a mount namespace")
	}

	h := &host{dir: t.TempDir(), port: acctest.FreePort(t, "127.0.0.1"), log: &tfrun.Output{}}
	h.kernel = boot(t, f, h.dir)

	private, public := newKey(t)
	hostPrivate, hostPublic := newKey(t)
	h.key, h.hostKey = h.file("key", private, 0o600), hostPublic

	h.file("host_key", hostPrivate, 0o600)
	h.file("authorized_keys", public, 0o644)
	h.file("passwd", h.users("/etc/passwd", "%s:x:%d:%d::/:/bin/sh\n"), 0o644)
	h.file("shadow", h.users("/etc/shadow", "%s:*:19000:0:99999:7:::\n"), 0o640)
	h.file("sudoers", "root ALL=(ALL) ALL\n"+sudoer+" ALL=(ALL) NOPASSWD: ALL\n", 0o440)
	h.file("sshd_config", fmt.Sprintf("ListenAddress 127.0.0.1\nPort %d\nHostKey %s/host_key\nAuthorizedKeysFile %s/authorized_keys\nPidFile none\n"+
		"StrictModes no\nUsePAM no\nPermitRootLogin yes\nMaxStartups 100\nLogLevel VERBOSE\nSubsystem sftp internal-sftp\n", h.port, h.dir, h.dir), 0o644)

	// A machine of metal: in a virtual one the driver's own way to remove a GPU is not tried.
	cpu, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Fatal(err)
	}

	h.file("cpuinfo", strings.ReplaceAll(string(cpu), " hypervisor", ""), 0o644)
	h.tools()

	// Users have to get to the authorized keys.
	for dir := h.dir; strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		_ = os.Chmod(dir, 0o755)
	}

	h.start()

	return h
}

// tools installs what the host's administrator would: the driver's tool, and stand-ins for
// those of the system that would touch this machine.
func (h *host) tools() {
	h.t.Helper()

	if err := os.MkdirAll(filepath.Join(h.dir, "bin"), 0o755); err != nil {
		h.t.Fatal(err)
	}

	for name, from := range map[string]string{
		"nvidia-smi": "nvidia-smi", "systemctl": "systemctl", "modinfo": "module", "lsmod": "module", "modprobe": "module", "rmmod": "module",
	} {
		text, err := os.ReadFile(filepath.Join("testdata/host", from))
		if err != nil {
			h.t.Fatal(err)
		}

		h.file("bin/"+name, strings.ReplaceAll(string(text), "@ROOT@", h.dir), 0o755)
	}
}

// users are the system's users and the test's.
func (h *host) users(file, format string) string {
	h.t.Helper()

	raw, err := os.ReadFile(file)
	if err != nil {
		h.t.Fatal(err)
	}

	text := string(raw)

	for i, name := range []string{sudoer, plain} {
		if strings.Contains(format, "%d") {
			text += fmt.Sprintf(format, name, 7100+i, 7100+i)
		} else {
			text += fmt.Sprintf(format, name)
		}
	}

	return text
}

func (h *host) file(name, text string, mode os.FileMode) string {
	h.t.Helper()

	path := filepath.Join(h.dir, name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		h.t.Fatal(err)
	}

	return path
}

// start starts the server and waits until it listens.
func (h *host) start() {
	h.t.Helper()

	h.cmd = exec.Command("unshare", "-m", "sh", "-c", namespace, "sh", h.dir) //nolint:noctx // the test ends it
	h.cmd.Stdout, h.cmd.Stderr, h.cmd.WaitDelay = h.log, h.log, time.Second

	if err := h.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}

	h.t.Cleanup(h.stop)

	for range 200 {
		conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(h.port))) //nolint:noctx // it waits for nothing
		if err == nil {
			_ = conn.Close()

			return
		}

		time.Sleep(25 * time.Millisecond)
	}

	h.t.Fatalf("sshd does not listen: %s", h.log)
}

// stop ends the server and its connections, by their numbers.
func (h *host) stop() {
	if h.cmd == nil {
		return
	}

	pid := h.cmd.Process.Pid
	connections, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	_ = h.cmd.Process.Kill()

	for text := range strings.FieldsSeq(string(connections)) {
		if n, err := strconv.Atoi(text); err == nil {
			if p, err := os.FindProcess(n); err == nil {
				_ = p.Kill()
			}
		}
	}

	_ = h.cmd.Wait()
	h.cmd = nil
}

// open is a connection of root's, for the test itself.
func (h *host) open() remote.Host {
	h.t.Helper()

	c, err := remote.New(remote.Config{Host: "127.0.0.1", Port: h.port, PrivateKeyFile: h.key, HostKey: h.hostKey})
	if err != nil {
		h.t.Fatal(err)
	}

	h.t.Cleanup(func() { _ = c.Close() })

	return c
}

// deviceFiles are the files of GPUs in the host's /dev.
func (h *host) deviceFiles(c remote.Host) string {
	h.t.Helper()

	res, err := c.Run(h.t.Context(), remote.Command{Script: "cd /dev; for f in nvidia*; do [ ! -c $f ] || echo $f; done"})
	if err != nil {
		h.t.Fatal(err)
	}

	return strings.Join(strings.Fields(string(res.Stdout)), " ")
}

// train wants devices on the host. The connection is the default one where node is empty.
func (w *workspace) train(h *host, size int, node string) {
	w.T.Helper()

	if node == "" {
		node = fmt.Sprintf("user = %q, sudo = true, port = %d, private_key_file = %q, host_key = %q", sudoer, h.port, h.key, h.hostKey)
	}

	w.Write("main.tf", fmt.Sprintf(`resource "metal3_composable_gpu" "train" {
  model = %q
  size  = %d
  hosts = [{ machine_id = %q, name = %q, node = { host = "127.0.0.1", %s } }]
}
`, kind, size, machine.ID(0), gpuHost, node))
}

// newKey returns a private key in OpenSSH form and its public line.
func newKey(t *testing.T) (private, public string) {
	t.Helper()

	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	block, err := ssh.MarshalPrivateKey(priv, "test")
	if err != nil {
		t.Fatal(err)
	}

	key, err := ssh.NewPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}

	return string(pem.EncodeToMemory(block)), strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}
