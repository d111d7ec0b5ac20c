// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephkill_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain has one cluster at a time: it wants the machine for itself.
func TestMain(m *testing.M) {
	flag.Parse()

	_ = flag.Set("test.parallel", "1")

	os.Exit(m.Run())
}
