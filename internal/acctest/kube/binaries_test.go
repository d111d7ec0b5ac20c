// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube_test

import (
	"os"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/kube"
)

// TestRelease holds the release of the tests against the one that is built.
func TestRelease(t *testing.T) {
	t.Parallel()

	mod, err := os.ReadFile("../../../test/kube/go.mod")
	if err != nil {
		t.Fatal(err)
	}

	if !strings.Contains(string(mod)+" ", "k8s.io/kubernetes "+kube.Release+" ") {
		t.Errorf("test/kube/go.mod does not build %s", kube.Release)
	}
}
