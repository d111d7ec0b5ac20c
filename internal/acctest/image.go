// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
)

// imageSize is small, but more than one block of everything.
const imageSize = 1 << 20

// Image puts an image of that name on Ironic's file server, unless it is
// there, and returns its address and its SHA-256. Each name has a content of
// its own, and the same one in every process of the run.
func (r Real) Image(t *testing.T, name string) (url, sha string) {
	t.Helper()

	content := make([]byte, imageSize)
	block := sha256.Sum256([]byte(name))

	for at := 0; at < len(content); at += len(block) {
		copy(content[at:], block[:])
		block = sha256.Sum256(block[:])
	}

	file := filepath.Join(r.HTTPDir, name)
	if _, err := os.Stat(file); err != nil {
		publish(t, file, content)
	}

	sum := sha256.Sum256(content)

	return r.HTTPURL + "/" + name, hex.EncodeToString(sum[:])
}

// publish writes a file beside its place and moves it there: another process
// of the run may write, and Ironic may read, the same one.
func publish(t *testing.T, file string, content []byte) {
	t.Helper()

	tmp, err := os.CreateTemp(filepath.Dir(file), ".new-*")
	if err != nil {
		t.Fatalf("image: %v", err)
	}

	_, err = tmp.Write(content)
	if closed := tmp.Close(); err == nil {
		err = closed
	}

	if err == nil {
		err = os.Chmod(tmp.Name(), 0o644)
	}

	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}

	if err != nil {
		t.Fatalf("image: %v", err)
	}
}
