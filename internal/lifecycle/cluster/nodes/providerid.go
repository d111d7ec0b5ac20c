// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"strings"
	"unicode/utf8"
)

// scheme begins the providerIDs that are ours.
const scheme = "metal3"

// Identity is what a providerID of ours says: metal3://<namespace>/<host>/<machine>.
type Identity struct {
	Namespace, Host, Machine string
}

// ProviderID is the providerID of a machine on a host.
func ProviderID(namespace, host, machine string) string {
	return scheme + "://" + namespace + "/" + host + "/" + machine
}

// ParseProviderID reads a providerID of ours. Those of others, and the old form that was the
// host's UUID alone, are none.
func ParseProviderID(id string) (Identity, bool) {
	before, path, ok := strings.Cut(normalise(id), "://")
	if !ok || before != scheme {
		return Identity{}, false
	}

	parts := strings.Split(path, "/")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return Identity{}, false
	}

	return Identity{parts[0], parts[1], parts[2]}, true
}

// normalise writes a providerID in the one way in which it is compared, as a whole: "worker1" is no
// part of "worker10". The letter case of the scheme and of UUIDs says nothing, that of names does.
func normalise(id string) string {
	id = strings.TrimSpace(id)

	before, path, ok := strings.Cut(id, "://")
	if !ok || !utf8.ValidString(id) {
		return id
	}

	parts := strings.Split(path, "/")
	for i, part := range parts {
		if isUUID(part) {
			parts[i] = strings.ToLower(part)
		}
	}

	return strings.ToLower(before) + "://" + strings.Join(parts, "/")
}

// isUUID reports whether s has the form of a UUID, 8-4-4-4-12 hexadecimal digits.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}

	for i, c := range []byte(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23

		switch {
		case dash && c == '-':
		case !dash && (c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'):
		default:
			return false
		}
	}

	return true
}
