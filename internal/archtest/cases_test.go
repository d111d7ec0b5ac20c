// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package archtest_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCases_haveTests: each case of the corpus that a cluster must stand, and each row of its catalogue
// of tests, has a test that carries its number, so that none is lost when tests are moved.
func TestCases_haveTests(t *testing.T) {
	t.Parallel()

	in := func(folders ...string) string {
		var all strings.Builder
		for _, folder := range folders {
			all.WriteString(tests(t, filepath.Join(repo(t), "internal", filepath.FromSlash(folder))))
		}

		return all.String()
	}

	cluster := in("lifecycle/cluster", "resources/cluster", "lab/contract")

	for i := 1; i <= 14; i++ {
		if id := fmt.Sprintf("TestOCL%02d_", i); !strings.Contains(cluster, "func "+id) {
			t.Errorf("no test of a cluster is called %s…", id)
		}
	}

	for i := 1; i <= 7; i++ {
		row := regexp.MustCompile(fmt.Sprintf(`Run\((fmt\.Sprintf\()?"11\.%[1]d |\n\t\t"11\.%[1]d |func Test11_%[1]d_`, i))
		if !row.MatchString(cluster) {
			t.Errorf(`no test of a cluster is called "11.%d …"`, i)
		}
	}

	room := in("resources/cluster")

	for i := 1; i <= 5; i++ {
		if id := fmt.Sprintf("TestOTF%02d_", i); !strings.Contains(room, "func "+id) {
			t.Errorf("no test of metal3_cluster is called %s…", id)
		}
	}
}

// tests is the text of all tests below a folder, and of what they are made of in internal/lab/contract.
func tests(t *testing.T, folder string) string {
	t.Helper()

	var all strings.Builder

	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}

		if !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(folder, "contract") {
			return nil
		}

		content, err := os.ReadFile(path)
		all.Write(content)

		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	return all.String()
}
