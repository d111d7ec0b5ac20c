// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// One is a real Ceph cluster on this machine, for one test: a monitor "mon.a", a manager
// "mgr.x" with few modules, OSDs "osd.0" and so on, all as plain processes.
type One struct {
	Dir     string // short; all of it is below
	Conf    string
	Keyring string // of client.admin
	FSID    string
	Port    int // of the monitor

	script string
	env    []string
}

// The ports of clusters of tests: each has a hundred, and the last is held by the test, so that
// tests of several packages do not meet.
const (
	cephPorts  = 22300
	cephBlocks = 16
	cephBlock  = 100
)

// CephOne starts a cluster with as many OSDs, and ends it with the test, even where the test
// process is killed. It takes a quarter of a minute.
func CephOne(t *testing.T, osds int) *One {
	t.Helper()

	realCeph(t)

	// Not t.TempDir: its name is too long for sockets.
	base, err := os.MkdirTemp("/tmp", "m3c") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = os.RemoveAll(base) })

	one := &One{Dir: filepath.Join(base, "c"), Port: cephPort(t), script: script(t, "lab/ceph-one.sh")}
	one.Conf, one.Keyring = filepath.Join(one.Dir, "ceph.conf"), filepath.Join(one.Dir, "admin.keyring")
	one.env = append(os.Environ(), "PORT="+strconv.Itoa(one.Port), "OSDS="+strconv.Itoa(osds))

	one.hold(t)

	fsid, err := os.ReadFile(filepath.Join(one.Dir, "fsid"))
	if err != nil {
		t.Fatal(err)
	}

	one.FSID = strings.TrimSpace(string(fsid))

	return one
}

// hold starts the script that keeps the cluster up as long as it has an input.
func (o *One) hold(t *testing.T) {
	t.Helper()

	var said lockedBuffer

	cmd := exec.Command(o.script, "hold", o.Dir) //nolint:noctx // Cleanup ends it
	cmd.Env, cmd.Stderr = o.env, &said

	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}

	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)

		if err := cmd.Wait(); err != nil && !t.Failed() {
			t.Errorf("end the cluster: %v: %s", err, said.String())
		}
	})

	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		_ = in.Close()
		_ = cmd.Wait() // with its last words
		t.Fatalf("no Ceph cluster in %s: %s", o.Dir, said.String())
	}
}

// Stop ends daemons and waits for that.
func (o *One) Stop(t *testing.T, names ...string) {
	t.Helper()
	o.run(t, "stop", names)
}

// Start starts daemons. It does not wait for what the cluster makes of that.
func (o *One) Start(t *testing.T, names ...string) {
	t.Helper()
	o.run(t, "start", names)
}

func (o *One) run(t *testing.T, verb string, names []string) {
	t.Helper()

	cmd := exec.Command(o.script, append([]string{verb, o.Dir}, names...)...) //nolint:noctx // it ends by itself
	cmd.Env = o.env

	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v: %s", verb, names, err, out)
	}
}

// cephPort returns a block of ports that nobody uses, and holds it until the test ends.
func cephPort(t *testing.T) int {
	t.Helper()

	for n := range cephBlocks {
		port := cephPorts + (os.Getpid()+n)%cephBlocks*cephBlock

		held, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port+cephBlock-1)) //nolint:noctx // at once
		if err != nil {
			continue
		}

		if !portFree(port) || !portFree(port+1) {
			_ = held.Close()

			continue
		}

		t.Cleanup(func() { _ = held.Close() })

		return port
	}

	t.Fatalf("no block of free ports from %d on", cephPorts)

	return 0
}

func portFree(port int) bool {
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)) //nolint:noctx // at once
	if err != nil {
		return false
	}

	return l.Close() == nil
}

// lockedBuffer is written by one goroutine and read by another.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.buf.Write(p) //nolint:wrapcheck // it never fails
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.buf.String()
}
