// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package tfrun

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// Workspace is a folder with a configuration in which Terraform runs, with the built provider
// in the place of a released one.
type Workspace struct {
	T     *testing.T
	Dir   string
	CLI   string        // path of the Terraform command
	Env   []string      // what it gets to see of the environment
	Limit time.Duration // for one command; 0 is three minutes
}

// New makes a folder with a provider block. It skips the test where there is no Terraform.
func New(t *testing.T, block string) *Workspace {
	t.Helper()
	terraform(t) // before a provider is built for nothing

	return NewOf(t, filepath.Dir(acctest.Binary(t)), block)
}

// NewOf is [New] with the folder of a provider that is built already.
func NewOf(t *testing.T, provider, block string) *Workspace {
	t.Helper()

	w := &Workspace{T: t, Dir: t.TempDir(), CLI: terraform(t)}

	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); !strings.HasPrefix(name, "TF_") && !strings.HasPrefix(name, "METAL3_") && name != "SSH_AUTH_SOCK" {
			w.Env = append(w.Env, entry)
		}
	}

	w.Env = append(w.Env, "TF_CLI_CONFIG_FILE="+filepath.Join(w.Dir, "terraformrc"), "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "TF_INPUT=0", "HOME="+w.Dir)
	w.Write("terraformrc", fmt.Sprintf("provider_installation {\n  dev_overrides { \"terraform-metal3/metal3\" = %q }\n  direct {}\n}\n", provider))
	w.Block(block)

	return w
}

func terraform(t *testing.T) string {
	t.Helper()

	name := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if name == "" {
		name = "terraform"
	}

	cli, err := exec.LookPath(name)
	if err != nil {
		acctest.Missing(t, err.Error())
	}

	return cli
}

// Block puts another provider block in the place of the one that is there.
func (w *Workspace) Block(block string) {
	w.T.Helper()
	w.Write("provider.tf", "terraform {\n  required_providers {\n    metal3 = { source = \"terraform-metal3/metal3\" }\n  }\n}\n\n"+block)
}

// Write writes a file of the folder.
func (w *Workspace) Write(name, content string) {
	w.T.Helper()

	if err := os.WriteFile(filepath.Join(w.Dir, name), []byte(content), 0o600); err != nil {
		w.T.Fatal(err)
	}
}

// Do runs a command to its end, whatever that is.
func (w *Workspace) Do(args ...string) *Run {
	w.T.Helper()

	return w.Start(args...).Wait()
}

// Must runs a command that has to end well, and returns what it said, as [Flat] has it.
func (w *Workspace) Must(args ...string) string {
	w.T.Helper()

	r := w.Do(args...)
	if r.Code != 0 {
		w.T.Fatalf("terraform %v: exit %d\n%s", args, r.Code, r.Out)
	}

	return Flat(r.Out.String())
}

// Fails runs a command that has to end with an error that has some words, and returns what it
// said, as [Flat] has it.
func (w *Workspace) Fails(words []string, args ...string) string {
	w.T.Helper()

	r := w.Do(args...)
	if r.Code != 1 {
		w.T.Fatalf("terraform %v should have failed: exit %d\n%s", args, r.Code, r.Out)
	}

	said := Flat(r.Out.String())
	for _, word := range words {
		if !strings.Contains(said, word) {
			w.T.Errorf("%q is not said in:\n%s", word, r.Out)
		}
	}

	return said
}

// Empty asks for a plan that has to be empty.
func (w *Workspace) Empty() {
	w.T.Helper()

	if r := w.Do("plan", "-detailed-exitcode"); r.Code != 0 {
		w.T.Errorf("the plan is not empty: exit %d\n%s", r.Code, r.Out)
	}
}

// Flat undoes Terraform's line breaks and frames in messages.
func Flat(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(s)), " ")
}

// Instances are the objects of all resources in the state as it is on disk, in a shape of the
// caller's; none where there is no file.
func Instances[O any](w *Workspace) []O {
	w.T.Helper()
	acctest.RescueState(w.T, w.Dir)

	content, err := os.ReadFile(filepath.Join(w.Dir, "terraform.tfstate"))
	if err != nil || len(content) == 0 {
		return nil
	}

	var file struct {
		Resources []struct {
			Instances []O
		}
	}
	if err := json.Unmarshal(content, &file); err != nil {
		w.T.Fatalf("state: %v", err)
	}

	var all []O
	for _, r := range file.Resources {
		all = append(all, r.Instances...)
	}

	return all
}
