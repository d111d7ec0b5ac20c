// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import "context"

// Meta is what a daemon tells of itself.
type Meta struct {
	Version  Version // with only its text, where that cannot be read
	Hostname string
	Devices  string // kernel names, separated by commas
	Addrs    string
}

// Metadata asks what the daemons of a type (mon, mgr, osd, mds) tell of themselves, by their
// name; OSDs by their number. Those that never ran have a name only.
func (c *Cluster) Metadata(ctx context.Context, kind string) (map[string]Meta, error) {
	doc, err := query[metaDocs](ctx, c, command{"prefix": kind + " metadata"})
	if err != nil {
		return nil, err
	}

	all := make(map[string]Meta, len(doc))
	for _, d := range doc {
		all[string(d.Name+d.ID)] = d.meta()
	}

	return all, nil
}

type metaDocs []metaDoc

type metaDoc struct {
	Name      text `json:"name"`
	ID        text `json:"id"` // OSDs
	Version   text `json:"ceph_version"`
	Hostname  text `json:"hostname"`
	Devices   text `json:"devices"`
	Addrs     text `json:"addrs"`
	Addr      text `json:"addr"`
	FrontAddr text `json:"front_addr"` // OSDs
}

func (d *metaDocs) fits() bool {
	for _, m := range *d {
		if m.Name+m.ID == "" {
			return false
		}
	}

	return *d != nil
}

func (d *metaDoc) meta() Meta {
	m := Meta{Hostname: string(d.Hostname), Devices: string(d.Devices)}

	v, err := ParseVersion(string(d.Version))
	if err != nil {
		v = Version{Text: string(d.Version)}
	}

	m.Version = v

	for _, a := range []text{d.Addrs, d.FrontAddr, d.Addr} {
		if m.Addrs == "" {
			m.Addrs = string(a)
		}
	}

	return m
}
