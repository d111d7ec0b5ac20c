// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package contract_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

const newImage = "http://images.lab/ubuntu-24.04.qcow2"

// TestAccContract_hostLab makes three hosts, applies the changes that the configuration's
// first lines name, forgets one host and imports it as host-import says, and destroys all.
func TestAccContract_hostLab(t *testing.T) {
	t.Parallel()

	w := newWorkspace(t, "host-lab")
	w.run("apply", "-auto-approve")
	w.empty()
	w.outputs(map[string]any{
		"states": []any{"provisioned", "provisioned", "provisioned"}, "power": []any{true, true, true},
	})

	w.applies("", "-var=online=false")
	w.outputs(map[string]any{"power": []any{false, false, false}})
	w.applies("", "-var=online=true")
	w.outputs(map[string]any{"power": []any{true, true, true}})
	w.applies("Disk of host node-2 will be overwritten", "-var=image="+newImage)

	w.importsNode0()
	w.run("destroy", "-auto-approve", "-var=image="+newImage)
	w.left()
}

// importsNode0 forgets the first host and imports it into a workspace of its own.
func (w *workspace) importsNode0() {
	w.t.Helper()
	w.run("apply", "-auto-approve") // the first image again
	w.run("state", "rm", "metal3_baremetal_host.node[0]")

	other := newWorkspace(w.t, "host-import")
	if err := os.Symlink(filepath.Join(w.dir, ".metal3-lab"), filepath.Join(other.dir, ".metal3-lab")); err != nil {
		w.t.Fatal(err)
	}

	said := other.run("apply", "-auto-approve")
	for _, line := range other.requests() {
		if parts := strings.Fields(line); parts[1] != "GET" && parts[1] != "PATCH" || strings.Contains(line, "/states/") {
			w.t.Errorf("the import sent %s", line)
		}
	}

	if !strings.Contains(said, "1 imported") {
		w.t.Errorf("it says\n%s", said)
	}

	other.empty()
	other.outputs(map[string]any{"rack0": []any{"node-0", "node-2"}})
	other.run("destroy", "-auto-approve")
}

// TestAccContract_fleet makes many hosts; a plan afterwards costs pages of nodes, pages of
// ports and one request.
func TestAccContract_fleet(t *testing.T) {
	t.Parallel()

	w := newWorkspace(t, "fleet")
	w.run("apply", "-auto-approve")
	w.forget()
	w.empty()

	if all := w.requests(); len(all) != 3 {
		t.Errorf("a plan of 300 hosts costs %d requests:\n%s", len(all), strings.Join(all[:min(len(all), 10)], "\n"))
	}

	w.run("destroy", "-auto-approve")
	w.left()
}

// workspace is a folder in which Terraform runs with the built provider.
type workspace struct {
	t     *testing.T
	dir   string
	trace string
	env   []string
}

func newWorkspace(t *testing.T, name string) *workspace {
	t.Helper()

	acctest.OnlyAcc(t)

	w := &workspace{t: t, dir: t.TempDir()}
	w.trace = filepath.Join(w.dir, "trace.log")

	configuration, err := os.ReadFile(filepath.Join("testdata", name, "main.tf"))
	if err != nil {
		t.Fatal(err)
	}

	w.write("main.tf", string(configuration))
	w.write("versions.tf", "terraform {\n  required_providers {\n    metal3 = { source = \"terraform-metal3/metal3\" }\n  }\n}\n")

	bin := filepath.Join(w.dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}

	if err := os.Symlink(acctest.Binary(t), filepath.Join(bin, "terraform-provider-metal3")); err != nil {
		t.Fatal(err)
	}

	w.write("cli.tfrc", fmt.Sprintf("provider_installation {\n  dev_overrides { \"terraform-metal3/metal3\" = %q }\n  direct {}\n}\n", bin))

	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "TF_") && !strings.HasPrefix(entry, "METAL3_") && !strings.HasPrefix(entry, "IRONIC_") && !strings.HasPrefix(entry, "OS_") {
			w.env = append(w.env, entry)
		}
	}

	w.env = append(w.env, "TF_CLI_CONFIG_FILE="+filepath.Join(w.dir, "cli.tfrc"), "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "METAL3_LAB_TRACE="+w.trace)

	return w
}

func (w *workspace) write(name, content string) {
	w.t.Helper()

	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func cli() string {
	if path := os.Getenv("TF_ACC_TERRAFORM_PATH"); path != "" {
		return path
	}

	return "terraform"
}

// command runs Terraform and returns what it said and its exit code.
func (w *workspace) command(args ...string) (string, int) {
	w.t.Helper()

	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Minute)
	defer cancel()

	c := exec.CommandContext(ctx, cli(), append(args, "-no-color")...)
	if args[0] == "state" || args[0] == "output" {
		c = exec.CommandContext(ctx, cli(), args...)
	}

	c.Dir, c.Env = w.dir, w.env
	said, err := c.CombinedOutput()

	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}

	return string(said), c.ProcessState.ExitCode()
}

// run runs a command that must succeed.
func (w *workspace) run(args ...string) string {
	w.t.Helper()

	said, code := w.command(args...)
	if code != 0 {
		w.t.Fatalf("terraform %s:\n%s", strings.Join(args, " "), said)
	}

	return said
}

// empty wants a plan without changes.
func (w *workspace) empty(args ...string) {
	w.t.Helper()

	said, code := w.command(append([]string{"plan", "-detailed-exitcode"}, args...)...)
	if code != 0 {
		w.t.Errorf("the plan is not empty:\n%s", said)
	}
}

// applies applies with variables, wants its plan to say something, and an empty one after it.
func (w *workspace) applies(says string, args ...string) {
	w.t.Helper()

	if said := w.run(append([]string{"apply", "-auto-approve"}, args...)...); !strings.Contains(said, says) {
		w.t.Errorf("nothing says %q:\n%s", says, said)
	}

	w.empty(args...)
}

func (w *workspace) outputs(want map[string]any) {
	w.t.Helper()

	var all map[string]struct{ Value any }
	if err := json.Unmarshal([]byte(w.run("output", "-json")), &all); err != nil {
		w.t.Fatal(err)
	}

	for name, value := range want {
		if got := fmt.Sprint(all[name].Value); got != fmt.Sprint(value) {
			w.t.Errorf("output %s = %s, want %v", name, got, value)
		}
	}
}

// left wants nothing in the state.
func (w *workspace) left() {
	w.t.Helper()

	var state struct{ Resources []any }

	doc, err := os.ReadFile(filepath.Join(w.dir, "terraform.tfstate"))
	if err == nil {
		err = json.Unmarshal(doc, &state)
	}

	if err != nil || len(state.Resources) != 0 {
		w.t.Errorf("%d resources are left (%v)", len(state.Resources), err)
	}
}

// requests are the lines of the lab's trace since forget.
func (w *workspace) requests() []string {
	w.t.Helper()

	doc, err := os.ReadFile(w.trace)
	if err != nil {
		w.t.Fatal(err)
	}

	return strings.Split(strings.TrimSpace(string(doc)), "\n")
}

func (w *workspace) forget() {
	w.t.Helper()

	if err := os.Remove(w.trace); err != nil {
		w.t.Fatal(err)
	}
}
