// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// process is a server that ends with its test.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string
	over chan struct{}
}

// run starts a server. It is killed, never asked: an API server drains its watches for many
// seconds, and nothing of it is kept. A shell between us and it kills it where the test process dies.
func run(tb testing.TB, dir, name string, argv ...string) *process {
	tb.Helper()

	p := &process{name: name, log: filepath.Join(dir, name+".log"), over: make(chan struct{})}

	out, err := os.Create(p.log)
	if err != nil {
		tb.Fatal(err)
	}

	// The pipe is our life line: its end comes when we are gone, however that happened.
	life, ours, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}

	const script = `"$@" </dev/null & child=$!; { cat <&3 >/dev/null; kill -9 $child; } 2>/dev/null & exec 3<&-; wait $child`

	p.cmd = exec.Command("/bin/sh", append([]string{"-c", script, "sh"}, argv...)...) //nolint:noctx // Cleanup ends it
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.ExtraFiles = []*os.File{life}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}

	err = p.cmd.Start()
	_, _ = life.Close(), out.Close()

	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}

	go func() {
		_ = p.cmd.Wait()
		close(p.over)
	}()

	tb.Cleanup(func() {
		_ = ours.Close()

		p.kill()

		if tb.Failed() {
			tb.Logf("the end of what %s said:\n%s", name, p.tail())
		}
	})

	return p
}

func (p *process) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it and what it started
	<-p.over
}

func (p *process) tail() string {
	said, _ := os.ReadFile(p.log)
	lines := bytes.Split(bytes.TrimSpace(said), []byte("\n"))

	return string(bytes.Join(lines[max(0, len(lines)-8):], []byte("\n")))
}

// await polls until something is so; it fails the test where the server ends before, or after the limit.
func (p *process) await(tb testing.TB, limit time.Duration, look func() error) {
	tb.Helper()

	var err error

	for end := time.Now().Add(limit); time.Now().Before(end); {
		if err = look(); err == nil {
			return
		}

		select {
		case <-p.over:
			tb.Fatalf("%s ended: %s", p.name, p.tail())
		default:
		}

		if err := wait.Sleep(tb.Context(), 50*time.Millisecond); err != nil {
			tb.Fatal(err)
		}
	}

	tb.Fatalf("%s is not there after %s: %v\n%s", p.name, limit, err, p.tail())
}

// ports returns free ports of an address.
func ports(tb testing.TB, address string, count int) []string {
	tb.Helper()

	found := make([]string, 0, count)

	for range count {
		found = append(found, strconv.Itoa(acctest.FreePort(tb, address)))
	}

	return found
}

// command runs a program to its end and fails the test with what it said.
func command(tb testing.TB, argv ...string) {
	tb.Helper()

	cmd := exec.CommandContext(tb.Context(), argv[0], argv[1:]...)

	said, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("%v: %v\n%s", argv, err, said)
	}
}

var errNotYet = errors.New("not yet")

func notYet(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errNotYet}, args...)...)
}
