// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package images_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/images"
)

func get(t *testing.T, path string) (int, []byte) {
	t.Helper()

	w := httptest.NewRecorder()
	images.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))

	return w.Code, w.Body.Bytes()
}

func TestHandler_checksumsAreTrue(t *testing.T) {
	t.Parallel()

	_, list := get(t, "/SHA256SUMS")

	for line := range strings.Lines(string(list)) {
		want, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		code, content := get(t, "/"+name)
		got := sha256.Sum256(content)

		if code != http.StatusOK || hex.EncodeToString(got[:]) != want {
			t.Errorf("%s: status %d, sum %x, listed %s", name, code, got, want)
		}
	}

	if !strings.Contains(string(list), "debian-12.qcow2") {
		t.Error("debian-12.qcow2 is not listed")
	}

	_, one := get(t, "/live.iso.sha256sum")
	if !strings.HasPrefix(string(one), images.Sum("live.iso", "sha256")) {
		t.Errorf("the checksum of one image: %s", one)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()

	for url, want := range map[string]error{
		"http://images.lab/debian-12.qcow2":  nil,
		"http://images.lab/anything.raw":     nil,
		"http://127.0.0.1:8080/live.iso":     nil,
		"http://images.lab/missing.qcow2":    images.ErrNotFound,
		"http://images.lab/debian-12.tar.gz": images.ErrNotFound,
		"http://images.lab/a/b.qcow2":        images.ErrNotFound,
		"http://elsewhere.example/a.qcow2":   images.ErrUnreachable,
		"file:///a.qcow2":                    images.ErrUnreachable,
	} {
		if _, err := images.Resolve(url); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", url, err, want)
		}
	}
}
