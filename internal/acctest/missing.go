// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"os"
	"testing"
)

// Missing says that a real part is not there: a reason to skip at a desk and in a short run,
// a failure in continuous integration.
func Missing(t *testing.T, why string) {
	t.Helper()

	if os.Getenv("CI") == "true" && !testing.Short() {
		t.Fatalf("missing part: %s", why)
	}

	t.Skipf("missing part: %s", why)
}
