// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// UUIDLabel is the label by which a machine says who it is: kubelet sets it from user data.
const UUIDLabel = "metal3.io/uuid"

// reserved are the domains whose labels belong to the cluster itself.
var reserved = []string{"kubernetes.io", "k8s.io"}

// CheckSyncPrefixes returns the prefixes of the labels that are synchronised, each once and
// in order, and what is wrong with the others. Empty ones are ignored.
func CheckSyncPrefixes(prefixes []string) (good []string, bad []error) {
	for _, given := range prefixes {
		prefix := strings.TrimSpace(given)

		switch problems := validation.IsDNS1123Subdomain(prefix); {
		case prefix == "":
		case isReserved(prefix):
			bad = append(bad, fmt.Errorf("label prefix %q: labels of kubernetes.io, k8s.io and what is below them belong to the cluster and are never synchronised; "+
				"single ones can be set by node_labels", given))
		case len(problems) > 0:
			bad = append(bad, fmt.Errorf("label prefix %q: %s", given, strings.Join(problems, "; ")))
		default:
			good = append(good, prefix)
		}
	}

	slices.Sort(good)

	return slices.Compact(good), bad
}

// isReserved also knows a reserved domain by another spelling: a closing dot, capitals.
func isReserved(prefix string) bool {
	prefix = strings.ToLower(strings.TrimSuffix(prefix, "."))

	return slices.ContainsFunc(reserved, func(r string) bool { return prefix == r || strings.HasSuffix(prefix, "."+r) })
}

// synced is what label synchronisation says of a Node: the host's labels of the managed
// prefixes, and those keys of the Node that the host does not have. own are the labels that
// the user asked for: they win, and are not dropped.
func synced(prefixes []string, host, node, own map[string]string) (set map[string]string, drop []string) {
	set = map[string]string{}

	for key, value := range host {
		if _, mine := own[key]; !mine && managed(prefixes, key) {
			set[key] = value
		}
	}

	for key := range node {
		_, wanted := set[key]
		_, mine := own[key]

		if !wanted && !mine && key != UUIDLabel && managed(prefixes, key) {
			drop = append(drop, key)
		}
	}

	slices.Sort(drop)

	return set, drop
}

// managed reports whether the part of a key before its slash is one of the prefixes: exactly
// that, so that "example.com" has nothing to say of "sub.example.com/a" or "example.community/a".
func managed(prefixes []string, key string) bool {
	prefix, _, ok := strings.Cut(key, "/")

	return ok && slices.Contains(prefixes, prefix) && !isReserved(prefix)
}

// checkLabels says which labels no API server would take, each with where it comes from.
func checkLabels(from string, labels map[string]string) []error {
	var bad []error

	for _, key := range slices.Sorted(maps.Keys(labels)) {
		problems := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(labels[key])...)
		if len(problems) > 0 {
			bad = append(bad, fmt.Errorf("%s %s = %q is no label of a Node: %s", from, key, labels[key], strings.Join(problems, "; ")))
		}
	}

	return bad
}
