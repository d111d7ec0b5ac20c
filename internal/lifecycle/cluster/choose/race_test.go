// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

//go:build race

package choose_test

func init() { slack = 10 }
