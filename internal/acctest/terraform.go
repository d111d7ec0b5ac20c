// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
)

// Main is TestMain of a package that runs Terraform.
func Main(m *testing.M) {
	cleanup, err := emptyCLIConfig()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}

	rc := m.Run()

	cleanup()
	os.Exit(rc)
}

// emptyCLIConfig points Terraform to a configuration file that says nothing, so that the
// person's own does not matter. A missing file would make OpenTofu warn.
func emptyCLIConfig() (cleanup func(), err error) {
	dir, err := os.MkdirTemp("", "metal3-acctest-")
	if err != nil {
		return nil, err //nolint:wrapcheck // for TestMain
	}

	file := filepath.Join(dir, "empty.tfrc")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return nil, err //nolint:wrapcheck // for TestMain
	}

	for name, value := range map[string]string{"TF_CLI_CONFIG_FILE": file, "CHECKPOINT_DISABLE": "1"} {
		if err := os.Setenv(name, value); err != nil {
			return nil, err //nolint:wrapcheck // for TestMain
		}
	}

	return func() { _ = os.RemoveAll(dir) }, nil
}

// OnlyAcc skips a test with Terraform where none is asked for.
func OnlyAcc(t *testing.T) {
	t.Helper()

	if os.Getenv("TF_ACC") == "" {
		t.Skip("acceptance tests run with TF_ACC=1")
	}
}

// Acc runs steps with Terraform. Write-only values need 1.11.
func Acc(t *testing.T, factories map[string]func() (tfprotov6.ProviderServer, error), steps ...resource.TestStep) {
	t.Helper()

	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: factories,
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_11_0)},
		Steps:                    steps,
	})
}

// NewAcc is a fast lab for a test with Terraform; see [OnlyAcc].
func NewAcc(t *testing.T) Lab {
	t.Helper()

	OnlyAcc(t)

	return NewLab(t, lab.Options{Pace: 5 * time.Millisecond})
}

// Acc is [Acc] on this lab.
func (l Lab) Acc(t *testing.T, steps ...resource.TestStep) {
	t.Helper()

	Acc(t, l.Factories(), steps...)
}
