// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cputime measures work by the processor that it took: how busy the machine is with other
// things does not count. Only tests import it.
package cputime
