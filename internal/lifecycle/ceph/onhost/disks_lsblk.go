// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// node is a device as lsblk prints it. Which columns there are, and whether numbers and booleans
// are strings, depends on its release.
type node map[string]json.RawMessage

// lsblk takes in the document of lsblk --json.
func (p *inventory) lsblk(doc string) {
	var all struct {
		Devices []node `json:"blockdevices"`
	}

	if json.Unmarshal([]byte(doc), &all) != nil {
		return
	}

	for _, n := range all.Devices {
		p.node(n)
	}
}

// node takes in a device with all that is on it, and returns where these are mounted.
func (p *inventory) node(n node) []string {
	d := n.disk()
	at := len(p.disks)

	_, known := p.at[d.Path]
	p.add(d, n.text("maj:min"))

	mounts := d.Mounts

	for _, child := range n.children() {
		if c := child.text("name"); c != "" && !slices.Contains(d.Children, c) {
			d.Children = append(d.Children, c)
		}

		for _, m := range p.node(child) {
			if !slices.Contains(mounts, m) {
				mounts = append(mounts, m)
			}
		}
	}

	// What is mounted at any depth is mounted from this device, too.
	if !known && d.Path != "" {
		p.disks[at].Children, p.disks[at].Mounts = d.Children, mounts
	}

	return mounts
}

// disk makes a device of what lsblk says of it alone.
func (n node) disk() ceph.Disk {
	name := n.text("kname")
	if name == "" {
		name = n.text("name")
	}

	name = strings.ReplaceAll(name, "!", "/") // cciss!c0d0

	d := ceph.Disk{
		Name: name, Path: n.text("path"), Type: n.text("type"), Size: n.number("size"),
		Rotational: n.truth("rota"), ReadOnly: n.truth("ro"), Removable: n.truth("rm"),
		Model: n.text("model"), Serial: n.text("serial"), WWN: n.text("wwn"),
		Mounts: n.mounts(), Signature: n.text("fstype"),
	}

	if d.Path == "" && name != "" {
		d.Path = "/dev/" + name
	}

	if d.Path != "/dev/"+name && name != "" {
		d.Links = append(d.Links, "/dev/"+name) // a mapped device: /dev/mapper/x is /dev/dm-0
	}

	if t := n.text("pttype"); d.Signature == "" && t != "" && d.Type != "part" {
		d.Signature = "a partition table (" + t + ")"
	}

	// Every partition has a type; a whole disk with one is nothing that we know.
	if t := n.text("parttype"); d.Signature == "" && t != "" && d.Type != "part" {
		d.Signature = "a partition of the type " + t
	}

	return d
}

func (n node) children() []node {
	var out []node

	if json.Unmarshal(n["children"], &out) != nil {
		return nil
	}

	return out
}

// mounts reads both forms: one place, and a list that may hold null.
func (n node) mounts() []string {
	var list []json.RawMessage

	_ = json.Unmarshal(n["mountpoints"], &list)

	var out []string

	for _, raw := range append(list, n["mountpoint"]) {
		if at := text(raw); at != "" && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}

	return out
}

func (n node) text(key string) string { return text(n[key]) }

// text is a string, or the words of any other scalar; null and what is no scalar is empty.
func text(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}

	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case float64, bool:
		return string(raw)
	default:
		return ""
	}
}

// number is a size in bytes; what is none, or does not fit, is 0.
func (n node) number(key string) int64 {
	s := n.text(key)

	if v, err := strconv.ParseInt(s, 10, 64); err == nil && v > 0 {
		return v
	}

	if v, err := strconv.ParseFloat(s, 64); err == nil && v > 0 && v < 1<<62 {
		return int64(v)
	}

	return 0
}

func (n node) truth(key string) bool {
	s := n.text(key)

	return s == "true" || s == "1"
}
