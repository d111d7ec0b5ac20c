// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package archtest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// linter returns the path of golangci-lint. It takes minutes to build, so
// that a desk without it skips; continuous integration has it and must.
func linter(t *testing.T) string {
	t.Helper()

	bin := os.Getenv("METAL3_GOLANGCI_LINT")
	if bin == "" {
		out, err := exec.CommandContext(t.Context(), "bash", filepath.Join(repo(t), "scripts", "tool.sh"), "--path", "golangci-lint").Output()
		if err != nil {
			t.Fatalf("where is golangci-lint: %v", err)
		}

		bin = strings.TrimSpace(string(out))
	}

	if _, err := os.Stat(bin); err != nil {
		if os.Getenv("CI") == "true" && !testing.Short() {
			t.Fatalf("missing part: golangci-lint is not built: %v", err)
		}

		t.Skipf("missing part: golangci-lint is not built (make lint builds it): %v", err)
	}

	return bin
}

// repo returns the root of the checkout.
func repo(t *testing.T) string {
	t.Helper()

	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}

	return root
}

// house is a module with the path of ours in which each import to be judged
// is the only one of its package. The packages that are imported are empty,
// those that import are in folders of their own: so no two cases make a cycle.
type house struct {
	dir, bin string
	cases    int
}

func newHouse(t *testing.T, bin string) *house {
	t.Helper()

	h := &house{dir: t.TempDir(), bin: bin}

	config, err := os.ReadFile(filepath.Join(repo(t), ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}

	h.write(t, ".golangci.yml", string(config))

	mod := "module " + ours + "\n\ngo 1.26.0\n"
	for _, library := range libraries() {
		mod += fmt.Sprintf("\nrequire %[1]s %[2]s\nreplace %[1]s => ./ext/%[1]s\n", library, version(library))
		h.write(t, path.Join("ext", library, "go.mod"), "module "+library+"\n")
	}

	h.write(t, "go.mod", mod)

	return h
}

// libraries are stood in for by empty modules, so that nothing is fetched.
func libraries() []string {
	return []string{
		"github.com/ceph/go-ceph",
		"github.com/gophercloud/gophercloud/v2",
		"github.com/hashicorp/terraform-plugin-framework",
		"github.com/hashicorp/terraform-plugin-go",
		"github.com/hashicorp/terraform-plugin-log",
		"github.com/hashicorp/terraform-plugin-testing",
		"github.com/stmcginnis/gofish",
		"golang.org/x/crypto",
		"k8s.io/client-go",
	}
}

func version(library string) string {
	if path.Base(library) == "v2" {
		return "v2.0.0"
	}

	return "v1.0.0"
}

// add writes the file of one case and the package that it imports, and
// returns the file's name. The rules match on folders, so that a folder more
// changes nothing, except for the files right below a row.
func (h *house) add(t *testing.T, name string, a arrow) string {
	t.Helper()

	h.cases++

	dir, base := path.Split(a.from)
	file := path.Join(dir, fmt.Sprintf("case%d", h.cases), base)

	switch {
	case a.from == "main.go":
		file = fmt.Sprintf("case%d.go", h.cases)
	case base == "drive.go" || base == "types.go":
		file = path.Join(dir, fmt.Sprintf("case%d.go", h.cases))
	}

	target := a.to
	if strings.HasPrefix(target, "internal/") {
		h.write(t, path.Join(target, "target.go"), "package "+path.Base(target)+"\n")
		target = path.Join(ours, target)
	}

	for _, library := range libraries() {
		if rest, ok := strings.CutPrefix(target, library); ok {
			h.write(t, path.Join("ext", library, rest, "target.go"), "package target\n")
		}
	}

	h.write(t, file, fmt.Sprintf("// Case: %s.\npackage %s\n\nimport _ %q\n", name, packageOf(file), target))

	return file
}

// packageOf names the package of a file after its folder.
func packageOf(file string) string {
	if dir := path.Dir(file); dir != "." {
		return path.Base(dir)
	}

	return "main"
}

func (h *house) write(t *testing.T, name, content string) {
	t.Helper()

	full := filepath.Join(h.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// lint returns what depguard says, by file.
func (h *house) lint(t *testing.T) map[string][]string {
	t.Helper()

	cmd := exec.CommandContext(t.Context(), h.bin, "run", "--enable-only=depguard", "--allow-parallel-runners",
		"--max-same-issues=0", "--max-issues-per-linter=0", "--output.json.path=stdout", "--output.text.path=stderr", "--show-stats=false", "./...")
	cmd.Dir = h.dir

	var stderr strings.Builder

	cmd.Stderr = &stderr

	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("golangci-lint: %v\n%s", err, stderr.String())
	}

	var result struct {
		Issues []struct {
			FromLinter, Text string
			Pos              struct{ Filename string }
		}
	}
	if err := json.Unmarshal(out, &result); err != nil {
		t.Fatalf("golangci-lint's report: %v\n%s\n%s", err, out, stderr.String())
	}

	reports := map[string][]string{}

	for _, issue := range result.Issues {
		if issue.FromLinter != "depguard" {
			t.Errorf("%s: %s (%s)", issue.Pos.Filename, issue.Text, issue.FromLinter)

			continue
		}

		reports[issue.Pos.Filename] = append(reports[issue.Pos.Filename], issue.Text)
	}

	return reports
}
