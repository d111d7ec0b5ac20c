// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpukill_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// verbLimit is how long one Terraform command may take.
const verbLimit = 3 * time.Minute

// workspace is a folder with a configuration in which Terraform runs, with the built provider
// in the place of a released one.
type workspace struct {
	t       *testing.T
	far     *far
	dir     string
	journal string // journal_dir
	cli     string
	env     []string
}

// newWorkspace makes a folder whose provider block points at a lab, through one of its faces.
func newWorkspace(t *testing.T, f *far, face string) *workspace {
	t.Helper()

	w := &workspace{t: t, far: f, dir: t.TempDir(), journal: filepath.Join(t.TempDir(), "journal"), cli: terraform(t)}

	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); !strings.HasPrefix(name, "TF_") && !strings.HasPrefix(name, "METAL3_") && name != "SSH_AUTH_SOCK" {
			w.env = append(w.env, entry)
		}
	}

	w.env = append(w.env, "TF_CLI_CONFIG_FILE="+filepath.Join(w.dir, "terraformrc"), "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "TF_INPUT=0", "HOME="+w.dir)
	w.write("terraformrc", fmt.Sprintf("provider_installation {\n  dev_overrides { \"terraform-metal3/metal3\" = %q }\n  direct {}\n}\n", providerDir(t)))
	w.block(face, w.journal)

	return w
}

// block writes the provider block.
func (w *workspace) block(face, journal string) {
	w.t.Helper()
	w.write("provider.tf", fmt.Sprintf(`terraform {
  required_providers {
    metal3 = { source = "terraform-metal3/metal3" }
  }
}

provider "metal3" {
  fabric = {
    type             = %q
    endpoint         = %q
    allow_plain_http = true
    tenant_id        = %q
    cluster_id       = %q
    journal_dir      = %q
    poll_interval    = "500ms"
    auth             = { realm = %q, client_id = %q, client_secret = %q, username = %q, password = %q }
  }
}
`, face, w.far.endpoint, fabric.Tenant, fabric.Cluster, journal, fabric.Realm, fabric.ClientID, fabric.ClientSecret, fabric.Username, fabric.Password))
}

func (w *workspace) write(name, content string) {
	w.t.Helper()

	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
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

func (w *workspace) apply() string {
	w.t.Helper()

	return w.must("apply", "-auto-approve")
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

// object is one resource of the state as it is on disk.
type object struct {
	Status     string `json:"status"` // "tainted" or empty
	Attributes struct {
		Size    int    `json:"size"`
		State   string `json:"state"`
		Devices []struct {
			ID       string `json:"fabric_device_id"`
			DeviceID string `json:"device_id"`
			BusID    string `json:"pci_bus_id"`
			State    string `json:"state"`
		} `json:"devices"`
		Hosts []struct {
			Name string `json:"name"`
		} `json:"hosts"`
	} `json:"attributes"`
}

// state returns the resources in the state file by the name of their first host.
func (w *workspace) state() map[string]object {
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

	all := map[string]object{}

	for _, r := range file.Resources {
		for _, o := range r.Instances {
			all[o.Attributes.Hosts[0].Name] = o
		}
	}

	return all
}

// ids are the fabric's ids of a resource's devices, sorted; Redfish has them at the end of a path.
func (o object) ids() []string {
	var ids []string
	for _, d := range o.Attributes.Devices {
		ids = append(ids, path.Base(d.ID))
	}

	slices.Sort(ids)

	return ids
}

// online reports whether all devices are usable.
func (o object) online() bool {
	for _, d := range o.Attributes.Devices {
		if d.State != "Online" {
			return false
		}
	}

	return o.Attributes.State == "Running" && o.Status == ""
}

// open are the files of the journal.
func (w *workspace) open() []string {
	w.t.Helper()

	files, err := filepath.Glob(filepath.Join(w.journal, "*.json"))
	if err != nil {
		w.t.Fatal(err)
	}

	return files
}
