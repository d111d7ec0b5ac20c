// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Binary returns the path of the built provider, for tests that start and
// kill it as Terraform does. scripts/gotest.sh builds it once for all
// packages; a test that is run alone builds it for itself.
func Binary(t *testing.T) string {
	t.Helper()

	if built := os.Getenv("METAL3_TEST_PROVIDER"); built != "" {
		return built
	}

	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatalf("where is the module: %v", err)
	}

	bin := filepath.Join(t.TempDir(), "terraform-provider-metal3")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", bin, ".")
	build.Dir = filepath.Dir(string(out))

	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the provider: %v\n%s", err, said)
	}

	return bin
}
