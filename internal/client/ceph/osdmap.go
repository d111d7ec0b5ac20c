// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// OSDMap asks for the map of the OSDs and their place in the CRUSH tree.
func (c *Cluster) OSDMap(ctx context.Context) (OSDMap, error) {
	answers, err := c.all(ctx, osdDump, osdTree)
	if err != nil {
		return OSDMap{}, err
	}

	return readOSDMap(answers[0], answers[1])
}

func readOSDMap(dump, tree result) (OSDMap, error) {
	d, err := readResult[osdDumpDoc](dump)
	if err != nil {
		return OSDMap{}, err
	}

	t, err := readResult[treeDoc](tree)
	if err != nil {
		return OSDMap{}, err
	}

	m := d.osdMap()
	t.place(&m)

	return m, nil
}

type osdDumpDoc struct {
	Epoch        *num                    `json:"epoch"`
	Full         fraction                `json:"full_ratio"`
	BackfillFull fraction                `json:"backfillfull_ratio"`
	NearFull     fraction                `json:"nearfull_ratio"`
	Release      text                    `json:"require_osd_release"`
	MinCompat    text                    `json:"require_min_compat_client"`
	Flags        text                    `json:"flags"`
	FlagsSet     []text                  `json:"flags_set"`
	OSDs         []osdDoc                `json:"osds"`
	Pools        []poolDoc               `json:"pools"`
	NodeFlags    map[string]nodeFlagsDoc `json:"crush_node_flags"`
}

type nodeFlagsDoc []text

type osdDoc struct {
	ID    *osdID `json:"osd"`
	UUID  text   `json:"uuid"`
	Up    flag   `json:"up"`
	In    flag   `json:"in"`
	State []text `json:"state"`
}

type poolDoc struct {
	ID           *num                `json:"pool"`
	Name         text                `json:"pool_name"`
	Flags        text                `json:"flags_names"`
	Size         num                 `json:"size"`
	MinSize      num                 `json:"min_size"`
	Rule         num                 `json:"crush_rule"`
	PGNum        num                 `json:"pg_num"`
	Target       *num                `json:"pg_num_target"`
	Autoscale    text                `json:"pg_autoscale_mode"`
	Profile      text                `json:"erasure_code_profile"`
	QuotaBytes   num                 `json:"quota_max_bytes"`
	QuotaObjects num                 `json:"quota_max_objects"`
	Options      map[string]text     `json:"options"`
	Applications map[string]struct{} `json:"application_metadata"`
}

// fits wants the lists of OSDs and pools: a document without them must never read as "none".
func (d *osdDumpDoc) fits() bool { return d.Epoch != nil && d.OSDs != nil && d.Pools != nil }

func (d *osdDumpDoc) osdMap() OSDMap {
	m := OSDMap{
		Epoch: int(*d.Epoch), Full: ratio(d.Full), BackfillFull: ratio(d.BackfillFull), NearFull: ratio(d.NearFull),
		RequireRelease: string(d.Release), MinCompat: string(d.MinCompat), Flags: texts(d.FlagsSet),
		OSDs: make([]OSD, 0, len(d.OSDs)), Pools: make([]Pool, 0, len(d.Pools)), Hosts: map[string]int{},
	}

	if d.FlagsSet == nil {
		m.Flags = commas(d.Flags)
	}

	seen := make(map[osdID]bool, len(d.OSDs))

	for _, o := range d.OSDs {
		if o.ID != nil && *o.ID >= 0 && !seen[*o.ID] {
			seen[*o.ID] = true
			m.OSDs = append(m.OSDs, OSD{
				ID: int(*o.ID), UUID: string(o.UUID), Up: bool(o.Up), In: bool(o.In), New: slices.Contains(o.State, "new"),
			})
		}
	}

	for _, p := range d.Pools {
		if p.ID != nil && p.Name != "" {
			m.Pools = append(m.Pools, p.pool())
		}
	}

	for _, node := range slices.Sorted(maps.Keys(d.NodeFlags)) {
		if slices.Contains(d.NodeFlags[node], "noout") {
			m.NoOutHosts = append(m.NoOutHosts, node)
		}
	}

	return m
}

func (p *poolDoc) pool() Pool {
	pool := Pool{
		ID: int(*p.ID), Name: string(p.Name), Size: int(p.Size), MinSize: int(p.MinSize), PGNum: int(p.PGNum),
		PGAutoscaleMode: string(p.Autoscale), CrushRule: int(p.Rule), ErasureProfile: string(p.Profile),
		Applications: slices.Sorted(maps.Keys(p.Applications)), QuotaBytes: int64(p.QuotaBytes),
		QuotaObjects: int64(p.QuotaObjects), Compression: string(p.Options["compression_mode"]), Flags: commas(p.Flags),
	}

	if p.Target != nil {
		pool.PGNum = int(*p.Target) // what was asked for; the groups follow one by one
	}

	return pool
}

// ratio undoes Ceph's single precision: it tells 0.94999998807907104 for 0.95.
func ratio(r fraction) float64 { return float64(int64(float64(max(min(r, 1e6), 0))*1e6+0.5)) / 1e6 }

func commas(t text) []string {
	return strings.FieldsFunc(string(t), func(r rune) bool { return r == ',' || r == ' ' })
}
