// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cephtest holds tests alone: one table for all transports, on one real cluster. What
// one of them answers, the others answer, too. The linked transport takes part with the build
// tag ceph.
package cephtest
