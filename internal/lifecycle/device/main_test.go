// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain collects garbage less often: thousands of short lives make it, and keep none.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}
