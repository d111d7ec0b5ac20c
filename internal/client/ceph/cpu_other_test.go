// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package ceph_test

import (
	"testing"
	"time"
)

// cpu is how long a function took.
func cpu(t *testing.T, do func()) time.Duration {
	t.Helper()

	before := time.Now()

	do()

	return time.Since(before)
}
