// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import "maps"

// bucketTypes are the kinds of places in the CRUSH map, from the inside out.
var bucketTypes = []string{"chassis", "rack", "row", "pdu", "pod", "room", "datacenter", "zone", "region", bucketRoot}

const (
	bucketRoot  = "root"
	defaultRoot = "default"
)

// rooted is a place with its root: a rack that was made without one would hold hosts whose
// OSDs no rule finds, and all data would be without a place.
func rooted(place map[string]string) map[string]string {
	out := maps.Clone(place)
	if out[bucketRoot] == "" {
		out[bucketRoot] = defaultRoot
	}

	return out
}

// moves are the steps that bring a host to its place: the host first, which makes what is not
// there yet, then what was there in another place.
func moves(s Setting) []Setting {
	out := []Setting{s}

	for i, kind := range bucketTypes {
		above := map[string]string{}

		for _, outer := range bucketTypes[i+1:] {
			if name := s.Place[outer]; name != "" {
				above[outer] = name
			}
		}

		if name := s.Place[kind]; name != "" && len(above) > 0 {
			out = append(out, Setting{What: setPlace, Name: name, Place: above})
		}
	}

	return out
}
