// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package acctest helps tests that look at the provider from outside: it
// makes provider factories and hands out the real parts of a run (Ironic, its
// machines, IPMI). Nothing that is served imports it.
package acctest
