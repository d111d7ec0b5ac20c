// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package choose decides which host becomes which machine of a cluster: selectors,
// eligibility with reasons, and the matching of all missing machines with hosts at once. It
// is pure: hosts, time and randomness come in as arguments.
package choose
