// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package cputime

import (
	"testing"
	"time"
)

// Of is how long a function took.
func Of(t *testing.T, do func()) time.Duration {
	t.Helper()

	before := time.Now()

	do()

	return time.Since(before)
}
