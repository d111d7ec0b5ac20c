// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// userData is what a machine finds in its cloud-config.
type userData struct {
	WriteFiles []struct {
		Path, Permissions, Encoding, Content string
		Append                               bool
	} `json:"write_files"`
	RunCmd []any `json:"runcmd"`
}

// read reads a cloud-config, and fails the test where cloud-init would not take it for one.
func read(tb testing.TB, raw []byte) userData {
	tb.Helper()

	if !strings.HasPrefix(string(raw), "#cloud-config\n") {
		tb.Fatal("the user data are no cloud-config")
	}

	var data userData
	if err := yaml.Unmarshal(raw, &data); err != nil {
		tb.Fatalf("the user data are no YAML: %v", err)
	}

	return data
}

// runs says whether one of the commands contains a text.
func (d userData) runs(text string) bool {
	for _, command := range d.RunCmd {
		if line, ok := command.(string); ok && strings.Contains(line, text) {
			return true
		}
	}

	return false
}

// content returns the content of a file, "" where the machine does not get it.
func (d userData) content(tb testing.TB, path string) string {
	tb.Helper()

	for _, file := range d.WriteFiles {
		if file.Path == path {
			return decoded(tb, file.Encoding, file.Content)
		}
	}

	return ""
}

func decoded(tb testing.TB, encoding, content string) string {
	tb.Helper()

	switch encoding {
	case "":
		return content
	case "b64", "base64":
		raw, err := base64.StdEncoding.DecodeString(content)
		if err != nil {
			tb.Fatal(err)
		}

		return string(raw)
	default:
		tb.Fatalf("a file is encoded as %q", encoding)

		return ""
	}
}

// write writes the files below a folder, as cloud-init writes them below /.
func (d userData) write(tb testing.TB, root string) {
	tb.Helper()

	for _, file := range d.WriteFiles {
		path := filepath.Join(root, filepath.Clean("/"+file.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}

		mode, err := strconv.ParseUint(file.Permissions, 8, 32)
		if err != nil {
			tb.Fatalf("%s: its permissions: %v", file.Path, err)
		}

		if err := os.WriteFile(path, []byte(decoded(tb, file.Encoding, file.Content)), os.FileMode(mode)); err != nil {
			tb.Fatal(err)
		}
	}
}
