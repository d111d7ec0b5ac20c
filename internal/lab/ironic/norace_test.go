// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package ironic_test

// raceDetector makes everything ten times slower.
const raceDetector = false
