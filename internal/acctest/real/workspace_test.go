// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/tfrun"
)

// verbLimit is how long one Terraform command may take before a test fails
// and says what was seen: longer than any life of a machine on a loaded one.
const verbLimit = 10 * time.Minute

// workspace is a folder with a configuration in which Terraform runs, with
// the built provider in the place of a released one.
type workspace struct {
	dir string
	env []string
	cli string
}

// newWorkspace makes a folder whose provider block points at an Ironic.
func newWorkspace(t *testing.T, r acctest.Real) *workspace {
	t.Helper()

	w := &workspace{dir: t.TempDir(), cli: terraform(t)}
	override := filepath.Dir(providerBinary(t))

	w.write(t, "terraformrc", fmt.Sprintf("provider_installation {\n  dev_overrides { \"terraform-metal3/metal3\" = %q }\n  direct {}\n}\n", override))
	w.write(t, "versions.tf", "terraform {\n  required_providers {\n    metal3 = { source = \"terraform-metal3/metal3\" }\n  }\n}\n")

	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); !strings.HasPrefix(name, "TF_") && !strings.HasPrefix(name, "IRONIC_") && !strings.HasPrefix(name, "OS_") {
			w.env = append(w.env, entry)
		}
	}

	w.env = append(w.env, "TF_CLI_CONFIG_FILE="+filepath.Join(w.dir, "terraformrc"), "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "TF_INPUT=0")
	w.write(t, "provider.tf", providerBlock(r))

	if r.Password != "" {
		w.set("TF_VAR_ironic_password", r.Password)
	}

	return w
}

// providerBlock is the configuration of the provider for an Ironic.
func providerBlock(r acctest.Real) string {
	if r.Username == "" {
		return fmt.Sprintf("provider \"metal3\" {\n  ironic = { endpoint = %q, auth = \"noauth\" }\n}\n", r.Endpoint)
	}

	return fmt.Sprintf("variable \"ironic_password\" { sensitive = true }\nprovider \"metal3\" {\n  ironic = { endpoint = %q, auth = \"http_basic\", username = %q, password = var.ironic_password, ca_cert_file = %q }\n}\n",
		r.Endpoint, r.Username, r.CAFile)
}

// providerBinary is the built provider under the name that Terraform looks for.
var providerBinary = func() func(t *testing.T) string {
	var (
		once sync.Once
		bin  string
	)

	return func(t *testing.T) string {
		t.Helper()
		once.Do(func() {
			built := acctest.Binary(t)

			dir, err := os.MkdirTemp(os.Getenv("METAL3_TEST_DIR"), "provider-") //nolint:usetesting // for all tests of the run
			if err != nil {
				t.Fatal(err)
			}

			content, err := os.ReadFile(built)
			if err != nil {
				t.Fatal(err)
			}

			bin = filepath.Join(dir, "terraform-provider-metal3")
			if err := os.WriteFile(bin, content, 0o755); err != nil {
				t.Fatal(err)
			}
		})

		return bin
	}
}()

// terraform is the command to run. A desk without one skips.
func terraform(t *testing.T) string {
	t.Helper()

	name := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if name == "" {
		name = "terraform"
	}

	cli, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("missing part: %v", err)
		}

		t.Skipf("missing part: %v", err)
	}

	return cli
}

// set changes a variable of the environment for the commands that follow.
func (w *workspace) set(name, value string) { w.env = append(w.env, name+"="+value) }

func (w *workspace) write(t *testing.T, name, content string) {
	t.Helper()

	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start begins a command.
func (w *workspace) start(t *testing.T, args ...string) *tfrun.Run {
	t.Helper()

	in := tfrun.Workspace{T: t, Dir: w.dir, CLI: w.cli, Env: w.env, Limit: verbLimit}

	return in.Start(args...)
}

// do runs a command to its end, whatever that is.
func (w *workspace) do(t *testing.T, args ...string) *tfrun.Run {
	t.Helper()

	return w.start(t, args...).Wait()
}

// must runs a command that has to end well.
func (w *workspace) must(t *testing.T, args ...string) string {
	t.Helper()

	r := w.do(t, args...)
	if r.Code != 0 {
		t.Fatalf("terraform %v: exit %d\n%s", args, r.Code, r.Out)
	}

	return r.Out.String()
}

func (w *workspace) apply(t *testing.T) string {
	t.Helper()

	return w.must(t, "apply", "-auto-approve")
}

func (w *workspace) destroy(t *testing.T) {
	t.Helper()
	w.must(t, "destroy", "-auto-approve")
}

// fails runs an apply that has to end with an error, and returns what was said.
func (w *workspace) fails(t *testing.T, words ...string) string {
	t.Helper()

	r := w.do(t, "apply", "-auto-approve")
	said := tfrun.Flat(r.Out.String())

	if r.Code != 1 {
		t.Fatalf("apply should have failed: exit %d\n%s", r.Code, r.Out)
	}

	for _, word := range words {
		if !strings.Contains(said, word) {
			t.Errorf("%q is not said in:\n%s", word, r.Out)
		}
	}

	return said
}

// empty asks for a plan that has to be empty.
func (w *workspace) empty(t *testing.T) string {
	t.Helper()

	r := w.do(t, "plan", "-detailed-exitcode")
	if r.Code != 0 {
		t.Fatalf("the plan is not empty: exit %d\n%s", r.Code, r.Out)
	}

	return r.Out.String()
}

// plans asks for a plan that has to have changes and to say some words.
func (w *workspace) plans(t *testing.T, words ...string) {
	t.Helper()

	r := w.do(t, "plan", "-detailed-exitcode")
	if r.Code != 2 {
		t.Fatalf("the plan has no changes: exit %d\n%s", r.Code, r.Out)
	}

	said := tfrun.Flat(r.Out.String())
	for _, word := range words {
		if !strings.Contains(said, word) {
			t.Errorf("%q is not said in:\n%s", word, r.Out)
		}
	}
}

// instance is one object of the state as it is on disk.
type instance struct {
	Status     string         `json:"status"` // "tainted" or empty
	Key        any            `json:"index_key"`
	Attributes map[string]any `json:"attributes"`
}

// state returns the hosts in the state file, by name; a lost file has none.
func (w *workspace) state(t *testing.T) map[string]instance {
	t.Helper()

	content, err := os.ReadFile(filepath.Join(w.dir, "terraform.tfstate"))
	if err != nil || len(content) == 0 {
		return nil
	}

	var file struct {
		Resources []struct {
			Type      string
			Instances []instance
		}
	}
	if err := json.Unmarshal(content, &file); err != nil {
		t.Fatalf("state: %v", err)
	}

	all := map[string]instance{}

	for _, r := range file.Resources {
		for _, i := range r.Instances {
			if name, ok := i.Attributes["name"].(string); ok && r.Type == "metal3_baremetal_host" {
				all[name] = i
			}
		}
	}

	return all
}
