// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets many machines live at a time: a test here mostly waits for
// Ironic, whatever the number of cores.
func TestMain(m *testing.M) {
	flag.Parse()

	if os.Getenv("METAL3_TEST_PARALLEL") == "" {
		_ = flag.Set("test.parallel", "24")
	} else {
		_ = flag.Set("test.parallel", os.Getenv("METAL3_TEST_PARALLEL"))
	}

	os.Exit(m.Run())
}
