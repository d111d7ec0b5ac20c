// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephkill_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// verbLimit is how long one Terraform command may take.
const verbLimit = 3 * time.Minute

// workspace is a folder with a configuration in which Terraform runs, with the built provider
// in the place of a released one.
type workspace struct {
	t   *testing.T
	dir string
	cli string
	env []string
}

// newWorkspace makes a folder with a provider block.
func newWorkspace(t *testing.T, block string) *workspace {
	t.Helper()

	name := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if name == "" {
		name = "terraform"
	}

	cli, err := exec.LookPath(name)
	if err != nil {
		acctest.Missing(t, err.Error())
	}

	w := &workspace{t: t, dir: t.TempDir(), cli: cli}

	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); !strings.HasPrefix(name, "TF_") && !strings.HasPrefix(name, "METAL3_") && name != "SSH_AUTH_SOCK" {
			w.env = append(w.env, entry)
		}
	}

	w.env = append(w.env, "TF_CLI_CONFIG_FILE="+filepath.Join(w.dir, "terraformrc"), "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "TF_INPUT=0", "HOME="+w.dir)
	w.write("terraformrc", fmt.Sprintf("provider_installation {\n  dev_overrides { \"terraform-metal3/metal3\" = %q }\n  direct {}\n}\n", filepath.Dir(acctest.Binary(t))))
	w.write("provider.tf", "terraform {\n  required_providers {\n    metal3 = { source = \"terraform-metal3/metal3\" }\n  }\n}\n\n"+block)

	return w
}

func (w *workspace) write(name, content string) {
	w.t.Helper()

	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// output is what a command says; it is read while it is written.
type output struct {
	mu  sync.Mutex
	buf strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()

	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()

	return o.buf.String()
}

// run is one Terraform command that was started.
type run struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  *output
	done chan struct{}
	code int
}

// start begins a command in a process group of its own, as a shell does, so that a signal to
// the group is what Ctrl-C is.
func (w *workspace) start(args ...string) *run {
	w.t.Helper()
	acctest.RescueState(w.t, w.dir)

	r := &run{t: w.t, out: &output{}, done: make(chan struct{}), cmd: exec.Command(w.cli, append(args, "-no-color")...)} //nolint:noctx // the test ends it
	r.cmd.Dir, r.cmd.Env, r.cmd.Stdout, r.cmd.Stderr = w.dir, w.env, r.out, r.out
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}

	if err := r.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}

	go func() {
		_ = r.cmd.Wait()
		r.code = r.cmd.ProcessState.ExitCode()
		close(r.done)
	}()

	w.t.Cleanup(func() {
		if !r.ended() {
			_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
		}
	})

	return r
}

// wait returns when the command has ended, and fails the test when it does not.
func (r *run) wait() *run {
	r.t.Helper()

	select {
	case <-r.done:
	case <-time.After(verbLimit):
		_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
		r.t.Fatalf("%v did not end in %s:\n%s", r.cmd.Args[1:], verbLimit, r.out)
	}

	return r
}

func (r *run) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// do runs a command to its end, whatever that is.
func (w *workspace) do(args ...string) *run {
	w.t.Helper()

	return w.start(args...).wait()
}

// must runs a command that has to end well, and returns what it said.
func (w *workspace) must(args ...string) string {
	w.t.Helper()

	r := w.do(args...)
	if r.code != 0 {
		w.t.Fatalf("terraform %v: exit %d\n%s", args, r.code, r.out)
	}

	return flat(r.out.String())
}

// fails runs a command that has to end with an error that has some words.
func (w *workspace) fails(words []string, args ...string) string {
	w.t.Helper()

	r := w.do(args...)
	if r.code != 1 {
		w.t.Fatalf("terraform %v should have failed: exit %d\n%s", args, r.code, r.out)
	}

	said := flat(r.out.String())
	for _, word := range words {
		if !strings.Contains(said, word) {
			w.t.Errorf("%q is not said in:\n%s", word, r.out)
		}
	}

	return said
}

// empty asks for a plan that has to be empty.
func (w *workspace) empty() {
	w.t.Helper()

	if r := w.do("plan", "-detailed-exitcode"); r.code != 0 {
		w.t.Errorf("the plan is not empty: exit %d\n%s", r.code, r.out)
	}
}

// flat undoes Terraform's line breaks and frames in messages.
func flat(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(s)), " ")
}

// object is the cluster in the state as it is on disk.
type object struct {
	Status     string `json:"status"` // "tainted" or empty
	Attributes struct {
		ID           string         `json:"id"`
		FSID         string         `json:"fsid"`
		Phase        string         `json:"phase"`
		Ready        bool           `json:"is_ready"`
		OSDs         map[string]any `json:"osds"`
		AdminKeyring string         `json:"admin_keyring"`
		MonSecret    string         `json:"mon_secret"`
	} `json:"attributes"`
}

// state returns the cluster in the state file; nil where there is none.
func (w *workspace) state() *object {
	w.t.Helper()

	content, err := os.ReadFile(filepath.Join(w.dir, "terraform.tfstate"))
	if err != nil || len(content) == 0 {
		return nil
	}

	var file struct {
		Resources []struct {
			Instances []object
		}
	}
	if err := json.Unmarshal(content, &file); err != nil {
		w.t.Fatalf("state: %v", err)
	}

	for _, r := range file.Resources {
		for _, o := range r.Instances {
			return &o
		}
	}

	return nil
}
