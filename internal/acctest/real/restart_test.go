// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// own is an Ironic of one test, which may stop and kill it. The machines are
// those of the main one.
type own struct {
	acctest.Real

	dir, scripts string
	env          []string
}

func newOwn(t *testing.T) *own {
	t.Helper()

	main := acctest.Ironic(t)

	mod, err := exec.CommandContext(t.Context(), "go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()
	suite := os.Getenv("METAL3_MAIN_SUITE")
	if suite == "" {
		suite = "trixie"
	}

	api, files := acctest.FreePort(t, "127.0.0.1"), acctest.FreePort(t, "127.0.0.1")
	o := &own{dir: dir, scripts: filepath.Join(filepath.Dir(string(mod)), "scripts", "lab")}
	o.env = append(os.Environ(), "IRONIC_SUITE="+suite, fmt.Sprintf("IRONIC_PORT=%d", api), fmt.Sprintf("IRONIC_HTTP_PORT=%d", files), "IRONIC_AUTH=noauth", "IRONIC_TLS=0")
	o.Real = acctest.Real{Endpoint: fmt.Sprintf("http://127.0.0.1:%d", api), HTTPURL: fmt.Sprintf("http://127.0.0.1:%d", files), HTTPDir: filepath.Join(dir, "http"), BMC: main.BMC}

	t.Cleanup(func() { o.script(t, "ironic-down.sh", dir, "--purge") })
	o.script(t, "ironic-up.sh", dir)
	o.ImageURL, o.ImageSHA256 = o.Image(t, "own.raw")

	return o
}

func (o *own) script(t *testing.T, name string, args ...string) {
	t.Helper()

	// Also called when the test has ended.
	ctx, cancel := context.WithTimeout(context.Background(), verbLimit)
	defer cancel()

	cmd := exec.CommandContext(ctx, filepath.Join(o.scripts, name), args...)
	cmd.Env = o.env

	log, err := os.Create(filepath.Join(o.dir, name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()

	cmd.Stdout, cmd.Stderr = log, log // a file: what the script leaves running must not hold a pipe

	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(log.Name())
		t.Fatalf("%s: %v\n%s", name, err, said)
	}
}

// kill ends conductor and API as a power cut does.
func (o *own) kill(t *testing.T) {
	t.Helper()

	content, err := os.ReadFile(filepath.Join(o.dir, "pid.ironic"))
	if err != nil {
		t.Fatal(err)
	}

	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatal(err)
	}

	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}

	o.script(t, "ironic-down.sh", o.dir)
}

// TestReal_ironicIsKilledAndRestarted takes conductor and API away from many
// hosts in different phases: the apply goes on when they are back.
func TestReal_ironicIsKilledAndRestarted(t *testing.T) {
	t.Parallel()

	o := newOwn(t)
	f := newMany(t, o.Real, acctest.Ironic(t), "restart", 6)
	first := full(f.hosts[0].name)

	// outage kills Ironic during a command and starts it again some seconds later.
	outage := func(when func(node) bool, args ...string) {
		run := f.start(t, args...)
		if !f.far.watch().until(first, run.Done, verbLimit, when) {
			t.Fatalf("the moment did not come:\n%s", run.Wait().Out)
		}

		t.Logf("%v: killed at %s", args, f.phases(t))
		o.kill(t)
		time.Sleep(3 * time.Second)
		o.script(t, "ironic-up.sh", o.dir)

		if run.Wait(); run.Code != 0 {
			t.Errorf("%v: exit %d\n%s", args, run.Code, run.Out)
		}
	}

	outage(at("inspecting", "inspect wait"), "apply", "-auto-approve")
	f.apply(t)
	f.reached(t, o.ImageURL)

	url, sum := o.Image(t, "own-2.raw")
	for i := range f.hosts {
		f.hosts[i].image = raw(url, sum)
	}

	f.configure(t, f.hosts...)
	outage(at("wait call-back"), "apply", "-auto-approve")
	f.apply(t)
	f.reached(t, url)

	outage(at("clean wait"), "destroy", "-auto-approve")
	f.over(t)
}
