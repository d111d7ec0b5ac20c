// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// FileSums are the checksums of the files that a host should hold.
func FileSums(w *Wanted, s *Seen, host string) (conf, admin string) {
	v := newView(w, s)
	h, _ := v.host(host)

	return sum(v.conf(h)), sum(w.keyring(s.Identity.AdminKey))
}

// PlaceHost brings a host to its place in the CRUSH map.
func PlaceHost(ctx context.Context, c *api.Cluster, host string, place map[string]string, osds []api.OSD) error {
	return placeHost(ctx, c, Setting{What: setPlace, Name: host, Place: rooted(place)}, osds)
}
