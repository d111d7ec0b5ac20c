// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/conf"
)

// Layout is where the cluster is on a host. Daemons run as ceph where commands run as root
// and there is that user; else as who runs the commands.
func (w *Wanted) Layout(fsid string, f Facts) Layout {
	l := Layout{Name: w.Name, FSID: fsid, Dir: w.Dir, Supervision: w.Supervision}

	if f.Root && f.CephUser {
		l.User = "ceph"
	}

	if l.Supervision == SupervisionAuto || l.Supervision == "" {
		l.Supervision = SupervisionDaemon
		if f.Systemd && f.Root { // only root writes units
			l.Supervision = SupervisionSystemd
		}
	}

	return l
}

// filesOf are the files that a host should have and has not, or has otherwise. Without a
// quorum nothing that is there is rewritten: which monitors there are is not known then.
func (v *view) filesOf(h HostSpec, have Facts) []File {
	var out []File

	id := v.s.Identity
	l := v.w.Layout(id.FSID, have)
	settled := !id.Established || v.s.Cluster != nil

	keeps := v.keeps(h.Name)

	// The identity comes first: without it nothing proves that what was written is ours.
	if keeps && (have.Identity == nil || !have.Identity.equal(*id)) {
		out = append(out, File{Path: l.IdentityFile(), Data: id.encode(), Mode: 0o600})
	}

	if text := v.conf(h); have.ConfSum == "" || settled && have.ConfSum != sum(text) {
		out = append(out, File{Path: l.Conf(), Data: text, Mode: 0o644})
	}

	if keyring := v.w.keyring(id.AdminKey); keeps && have.AdminSum != sum(keyring) {
		out = append(out, File{Path: l.AdminKeyring(), Data: keyring, Mode: 0o600})
	}

	return out
}

// keyring is what is asked with: that of client.admin, or of who an external cluster lets in.
func (w *Wanted) keyring(key Secret) []byte {
	if w.External != nil {
		return Keyring(Entry{Entity: w.entity(), Key: key})
	}

	return AdminKeyring(key)
}

func (w *Wanted) entity() string {
	if w.External != nil && w.External.User != "" {
		return w.External.User
	}

	return EntityAdmin
}

// keeps reports whether a host keeps the keys of the cluster: those that have a monitor, or
// may have one.
func (v *view) keeps(host string) bool {
	return slices.Contains(v.w.Mon.Hosts, host) || v.w.External != nil
}

// conf is the ceph.conf of a host.
func (v *view) conf(h HostSpec) []byte { return v.w.conf(v.s.Identity.FSID, v.monHost(), h.Address) }

func (w *Wanted) conf(fsid, monHost, addr string) []byte {
	return conf.Render(conf.Input{
		Name: w.Name, FSID: fsid, Dir: w.Dir, MonHost: monHost,
		Public: w.Network.Public, Cluster: w.Network.Cluster, PublicAddr: addr, ClusterAddr: clusterAddr(w.Network, addr),
		RequireMsgr2:  w.Network.RequireMsgr2 || w.Network.Encryption || w.Network.Compression,
		FailureDomain: w.PoolDefaults.FailureDomain, Size: w.PoolDefaults.Size, MinSize: w.PoolDefaults.MinSize, PGNum: w.PoolDefaults.PGNum,
	})
}

// clusterAddr is the host's address in a cluster network that is none of its own: where there
// is none, OSDs talk to each other where they talk to clients.
func clusterAddr(n NetworkSpec, addr string) string {
	if len(n.Cluster) == 0 {
		return addr
	}

	return ""
}

func sum(data []byte) string {
	s := sha256.Sum256(data)

	return hex.EncodeToString(s[:])
}

func (i Identity) encode() []byte {
	i.Version = 1

	text, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		panic("an identity is plain data: " + err.Error())
	}

	return append(text, '\n')
}

func (i Identity) equal(o Identity) bool {
	o.Version = 1

	return bytes.Equal(i.encode(), o.encode())
}
