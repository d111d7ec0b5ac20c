// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"maps"
	"slices"
	"strings"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// bucketTypes are the kinds of places in the CRUSH map, from the inside out.
var bucketTypes = []string{"chassis", "rack", "row", "pdu", "pod", "room", "datacenter", "zone", "region", bucketRoot}

const (
	bucketRoot  = "root"
	defaultRoot = "default"
)

// rooted is a place with its root: a rack that was made without one would hold hosts whose
// OSDs no rule finds, and all data would be without a place.
func rooted(place map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, place)

	if out[bucketRoot] == "" {
		out[bucketRoot] = defaultRoot
	}

	return out
}

// crushMove makes a bucket, where a kind is given and there is none, and moves it.
type crushMove struct {
	kind, name string
	below      map[string]string
}

// moves are what brings a host to its place: from the root down, so that no bucket that holds data
// ever stands outside of it. A bucket that has its place in the map already is left alone: people may
// have put it below others that nothing here names.
func moves(s Setting, osds []api.OSD) []crushMove {
	var (
		out   []crushMove
		above = map[string]string{} // the bucket that is next, from the inside out
		outer = map[string]string{} // all that a bucket is to stand in
	)

	for _, kind := range slices.Backward(bucketTypes) {
		name := s.Place[kind]
		if name == "" {
			continue
		}

		if !stands(kind, name, outer, osds) {
			out = append(out, crushMove{kind, name, maps.Clone(above)})
		}

		clear(above)
		above[kind], outer[kind] = name, name
	}

	return append(out, crushMove{name: s.Name, below: above})
}

// stands reports whether the map shows a bucket where it should be.
func stands(kind, name string, outer map[string]string, osds []api.OSD) bool {
	return slices.ContainsFunc(osds, func(o api.OSD) bool { return o.Place[kind] == name && within(outer, o.Place) })
}

// places compares where hosts stand in the CRUSH map with their crush_location.
func (v *view) places() []Setting {
	var out []Setting

	for _, h := range v.w.Hosts {
		if len(h.Place) == 0 {
			continue
		}

		place := rooted(h.Place)

		for _, o := range v.s.Cluster.OSDMap.OSDs {
			if o.Host == crushHost(h.Name) && !within(place, o.Place) {
				out = append(out, Setting{What: setPlace, Name: crushHost(h.Name), Place: place})

				break
			}
		}
	}

	return out
}

func within(want, have map[string]string) bool {
	for kind, name := range want {
		if have[kind] != name {
			return false
		}
	}

	return true
}

// crushHost is a host's name in the CRUSH map: without dots, as Rook has it.
func crushHost(name string) string { return strings.ReplaceAll(name, ".", "-") }
