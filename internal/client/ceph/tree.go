// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import "slices"

// typeHost is the type of CRUSH bucket that stands for a host.
const typeHost = "host"

// maxDepth is deeper than any CRUSH tree; one with a loop ends there.
const maxDepth = 32

type treeDoc struct {
	Nodes []nodeDoc `json:"nodes"`
	Stray []nodeDoc `json:"stray"`
}

type nodeDoc struct {
	ID       *nodeID  `json:"id"`
	Name     text     `json:"name"`
	Type     text     `json:"type"`
	Class    text     `json:"device_class"`
	Weight   fraction `json:"crush_weight"`
	Children []nodeID `json:"children"`
}

func (d *treeDoc) fits() bool { return d.Nodes != nil }

// place tells the OSDs of a map their class, weight and place, and finds those without a place.
func (d *treeDoc) place(m *OSDMap) {
	nodes, parents := d.index()

	for i := range d.Nodes {
		if d.Nodes[i].Type == typeHost && d.Nodes[i].Name != "" {
			m.Hosts[string(d.Nodes[i].Name)] = 0
		}
	}

	for i := range m.OSDs {
		o := &m.OSDs[i]

		if n := nodes[nodeID(o.ID)]; n != nil {
			o.Class, o.Weight = string(n.Class), float64(n.Weight)
		}

		if parents[nodeID(o.ID)] == nil {
			m.Strays = append(m.Strays, o.ID)

			continue
		}

		o.settle(parents)

		if o.Host != "" {
			m.Hosts[o.Host]++
		}
	}

	slices.Sort(m.Strays)
}

// index finds nodes by their id, and the parent of each node.
func (d *treeDoc) index() (nodes, parents map[nodeID]*nodeDoc) {
	nodes = make(map[nodeID]*nodeDoc, len(d.Nodes)+len(d.Stray))
	parents = make(map[nodeID]*nodeDoc, len(d.Nodes))

	for _, list := range [][]nodeDoc{d.Nodes, d.Stray} {
		for i := range list {
			if n := &list[i]; n.ID != nil {
				nodes[*n.ID] = n
			}
		}
	}

	for i := range d.Nodes {
		for _, child := range d.Nodes[i].Children {
			if parents[child] == nil {
				parents[child] = &d.Nodes[i]
			}
		}
	}

	return nodes, parents
}

// settle climbs from an OSD to the root.
func (o *OSD) settle(parents map[nodeID]*nodeDoc) {
	o.Place = map[string]string{}

	at := nodeID(o.ID)
	for range maxDepth {
		n := parents[at]
		if n == nil || n.ID == nil {
			return
		}

		if n.Type == typeHost {
			o.Host = string(n.Name)
		} else {
			o.Place[string(n.Type)] = string(n.Name)
		}

		at = *n.ID
	}
}
