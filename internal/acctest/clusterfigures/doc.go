// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package clusterfigures holds the figures of clusters, on the lab and in virtual time, as tests
// that fail where a figure is missed.
package clusterfigures
