// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package value holds the types of our own that stand in schemas, the validators and plan
// modifiers that go with them, and the conversions between Go values and framework values.
//
// It knows nothing of hosts, clusters or clients.
package value
