// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package archtest holds the test of the house's arrows: it writes a wrong
// import of each kind and sees the linter refuse it; and the test that no case
// of the corpus is without a test. It serves nothing.
package archtest
