// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpu

// SameUUID compares UUIDs of GPUs in any spelling: with "GPU-" in front or without, in any case.
func SameUUID(a, b string) bool { return sameUUID(a, b) }

// LooksLikeUUID reports whether an id has the form of a GPU's UUID. Some fabrics tell a serial
// number of their own instead.
func LooksLikeUUID(id string) bool { return looksLikeUUID(id) }

// BareUUID is a UUID in lower case without "GPU-" in front.
func BareUUID(id string) string { return bareUUID(id) }
