// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package clusterreal holds the tests of clusters whose hosts are in a real Ironic: the built
// provider under Terraform, several of them at once, and killed at random moments.
package clusterreal
