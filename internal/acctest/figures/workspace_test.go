// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package figures_test

import (
	"bytes"
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

// workspace is a folder in which Terraform runs with a provider whose use of the machine is noted.
type workspace struct {
	dir string
	env []string
	cli string
}

// outcome is what one Terraform command took.
type outcome struct {
	elapsed   time.Duration
	code      int
	said      string
	providers []usage
}

// most is the use of the provider process that used most: the one that worked. The others
// answer for the schema.
func (o outcome) most() usage {
	var m usage
	for _, u := range o.providers {
		m.CPU, m.MaxKB = max(m.CPU, u.CPU), max(m.MaxKB, u.MaxKB)
	}

	return m
}

// hostConfig is a configuration of hosts of fake hardware.
func hostConfig(endpoint, image string) string {
	return fmt.Sprintf(`
terraform {
  required_providers {
    metal3 = { source = "terraform-metal3/metal3" }
  }
}

variable "hosts" { type = number }
variable "prefix" { default = "h" }

provider "metal3" {
  ironic = { endpoint = %q, auth = "noauth" }
}

resource "metal3_baremetal_host" "h" {
  count = var.hosts
  name  = "${var.prefix}-${count.index}"

  bmc = {
    address             = "fake-hardware://${var.prefix}-${count.index}"
    username            = "admin"
    password_wo         = "password"
    password_wo_version = 1
  }

  inspection_mode         = "disabled"
  automated_cleaning_mode = "disabled"
  boot_mac_address        = format("52:54:00:00:%%02x:%%02x", floor(count.index / 256), count.index %% 256)
  labels                  = { rack = "r1", role = "worker" }

  image = {
    url           = %q
    checksum      = "b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c"
    checksum_type = "sha256"
    format        = "raw"
  }

  user_data = "#cloud-config\npackages: [vim]\n"
}
`, endpoint, image)
}

// newWorkspace makes a folder with a configuration.
func newWorkspace(t *testing.T, config string) *workspace {
	t.Helper()

	cli := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if cli == "" {
		cli = "terraform"
	}

	cli, err := exec.LookPath(cli)
	if err != nil {
		t.Fatalf("missing part: %v", err)
	}

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}

	w := &workspace{dir: t.TempDir(), cli: cli}
	w.write(t, "main.tf", config, 0o600)
	w.write(t, "terraform-provider-metal3", fmt.Sprintf("#!/bin/sh\nexec env %s=%q %s=%q %q \"$@\"\n",
		wrapVariable, acctest.Binary(t), usageVariable, filepath.Join(w.dir, "usage"), self), 0o700)
	w.write(t, "terraformrc", fmt.Sprintf("provider_installation {\n  dev_overrides { \"terraform-metal3/metal3\" = %q }\n  direct {}\n}\n", w.dir), 0o600)

	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); !strings.HasPrefix(name, "TF_") && !strings.HasPrefix(name, "IRONIC_") && !strings.HasPrefix(name, "OS_") {
			w.env = append(w.env, entry)
		}
	}

	w.env = append(w.env, "TF_CLI_CONFIG_FILE="+filepath.Join(w.dir, "terraformrc"), "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "TF_INPUT=0")

	return w
}

func (w *workspace) write(t *testing.T, name, content string, mode os.FileMode) {
	t.Helper()

	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// run runs a command that has to succeed.
func (w *workspace) run(t *testing.T, args ...string) outcome {
	t.Helper()

	notes := filepath.Join(w.dir, "usage")
	_ = os.Remove(notes)

	var said bytes.Buffer

	cmd := exec.CommandContext(t.Context(), w.cli, append(args, "-no-color")...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.dir, w.env, &said, &said

	start := time.Now()
	err := cmd.Run()
	o := outcome{elapsed: time.Since(start), code: cmd.ProcessState.ExitCode(), said: said.String()}

	if o.code != 0 {
		t.Fatalf("terraform %v: exit %d, %v\n%s", args, o.code, err, o.said[max(0, len(o.said)-4000):])
	}

	content, err := os.ReadFile(notes)
	if err != nil {
		t.Fatal(err)
	}

	for line := range bytes.Lines(content) {
		var u usage
		if err := json.Unmarshal(line, &u); err != nil {
			t.Fatal(err)
		}

		o.providers = append(o.providers, u)
	}

	return o
}
