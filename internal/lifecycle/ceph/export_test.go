// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

// FileSums are the checksums of the files that a host should hold.
func FileSums(w *Wanted, s *Seen, host string) (conf, admin string) {
	v := newView(w, s)
	h, _ := v.host(host)

	return sum(v.conf(h)), sum(w.keyring(s.Identity.AdminKey))
}
