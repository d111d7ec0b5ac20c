// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets many machines live at a time, whatever the number of cores: a
// test here mostly waits for Ironic. More than this, and Ironic does not get on
// for all the looks and heartbeats.
func TestMain(m *testing.M) {
	flag.Parse()

	if os.Getenv("METAL3_TEST_PARALLEL") == "" {
		_ = flag.Set("test.parallel", "14")
	} else {
		_ = flag.Set("test.parallel", os.Getenv("METAL3_TEST_PARALLEL"))
	}

	os.Exit(m.Run())
}
