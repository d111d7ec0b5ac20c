// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpukill_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// built is the folder of what is built once for all tests of the run.
var built string

// TestMain lets lives go on at a time, whatever the number of cores: they mostly wait.
func TestMain(m *testing.M) {
	flag.Parse()

	_ = flag.Set("test.parallel", "8")

	dir, err := os.MkdirTemp("", "gpukill-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}

	built = dir
	code := m.Run()
	_ = os.RemoveAll(dir)

	os.Exit(code)
}

// long skips a test in the short run.
func long(t *testing.T) {
	t.Helper()

	if testing.Short() {
		t.Skip("this is the short run")
	}
}

// once does a thing for the first test that needs it; the others get what came of it.
func once(f func(t *testing.T) string) func(t *testing.T) string {
	var (
		mu   sync.Mutex
		done bool
		path string
	)

	return func(t *testing.T) string {
		t.Helper()

		mu.Lock()
		defer mu.Unlock()

		if !done {
			path, done = f(t), true
		}

		return path
	}
}

// providerDir is the folder of the built provider, under the name that Terraform looks for.
var providerDir = once(func(t *testing.T) string {
	t.Helper()

	content, err := os.ReadFile(acctest.Binary(t))
	if err != nil {
		t.Fatal(err)
	}

	dir := filepath.Join(built, "provider")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(filepath.Join(dir, "terraform-provider-metal3"), content, 0o700); err != nil {
		t.Fatal(err)
	}

	return dir
})

// labBinary is the built lab.
var labBinary = once(func(t *testing.T) string {
	t.Helper()

	bin := filepath.Join(built, "metal3-lab")

	said, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", bin,
		"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/cmd/metal3-lab").CombinedOutput()
	if err != nil {
		t.Fatalf("build the lab: %v\n%s", err, said)
	}

	return bin
})
