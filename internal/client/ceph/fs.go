// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
)

// FS is a file system with the names of its pools.
type FS struct {
	Name string
	Meta string
	Data []string
}

// MDSMap says which metadata servers there are.
type MDSMap struct {
	Standbys    []string // those that could take any rank
	FileSystems map[string]FSRanks
}

// FSRanks says who serves a file system.
type FSRanks struct {
	ID            int
	MaxMDS        int
	Active        []string
	Replay        []string          // standbys that follow an active one
	Other         map[string]string // those in any other state: which
	Failed        int               // ranks that nobody has
	Damaged       int
	StandbyReplay bool // allow_standby_replay
	Joinable      bool
}

// The flags of a file system, as bits (allow_standby_replay, not joinable).
const (
	fsNotJoinable   = 1 << 0
	fsStandbyReplay = 1 << 5
)

// FSList returns the file systems.
func (c *Cluster) FSList(ctx context.Context) ([]FS, error) {
	doc, err := query[fsDocs](ctx, c, command{"prefix": "fs ls"})
	if err != nil {
		return nil, err
	}

	list := make([]FS, 0, len(doc))
	for _, d := range doc {
		list = append(list, FS{Name: string(d.Name), Meta: string(d.Meta), Data: texts(d.Data)})
	}

	return list, nil
}

// FSStatus asks who serves the file systems.
func (c *Cluster) FSStatus(ctx context.Context) (MDSMap, error) {
	doc, err := query[fsDumpDoc](ctx, c, command{"prefix": "fs dump"})
	if err != nil {
		return MDSMap{}, err
	}

	return doc.mdsMap(), nil
}

// FSNew makes a file system on two empty pools. One of that name that is there is ErrExists,
// as is one that uses one of these pools.
func (c *Cluster) FSNew(ctx context.Context, name, meta, data string) error {
	return c.create(ctx, command{"prefix": "fs new", "fs_name": name, "metadata": meta, "data": data})
}

// FSSet sets a property of a file system.
func (c *Cluster) FSSet(ctx context.Context, name, key, value string) error {
	return c.tell(ctx, command{"prefix": "fs set", "fs_name": name, "var": key, "val": value})
}

// FSAddDataPool gives a file system one more pool for data. One that it has is no error.
func (c *Cluster) FSAddDataPool(ctx context.Context, name, pool string) error {
	return c.tell(ctx, command{"prefix": "fs add_data_pool", "fs_name": name, "pool": pool})
}

// FSRemoveDataPool takes a pool for data from a file system. The first one stays for ever.
func (c *Cluster) FSRemoveDataPool(ctx context.Context, name, pool string) error {
	return except(c.tell(ctx, command{"prefix": "fs rm_data_pool", "fs_name": name, "pool": pool}), ErrNotFound)
}

// FSFail stops all service of a file system. One that is not there is no error.
func (c *Cluster) FSFail(ctx context.Context, name string) error {
	cmd := command{"prefix": "fs fail", "fs_name": name}

	err := c.tell(ctx, cmd)
	if errors.Is(err, errNotPermitted) {
		err = c.tell(ctx, cmd.meant())
	}

	return except(err, ErrNotFound)
}

// FSRemove removes a file system that failed; its pools stay. One that is not there is no error.
func (c *Cluster) FSRemove(ctx context.Context, name string) error {
	return except(c.tell(ctx, command{"prefix": "fs rm", "fs_name": name, "yes_i_really_mean_it": true}), ErrNotFound)
}

type fsDocs []struct {
	Name text   `json:"name"`
	Meta text   `json:"metadata_pool"`
	Data []text `json:"data_pools"`
}

func (d *fsDocs) fits() bool {
	for _, f := range *d {
		if f.Name == "" {
			return false
		}
	}

	return *d != nil
}

type fsDumpDoc struct {
	Epoch    *num     `json:"epoch"`
	Standbys []mdsDoc `json:"standbys"`
	List     []struct {
		ID  num `json:"id"`
		Map struct {
			Name    text              `json:"fs_name"`
			Max     num               `json:"max_mds"`
			Flags   num               `json:"flags"`
			Failed  []num             `json:"failed"`
			Damaged []num             `json:"damaged"`
			Info    map[string]mdsDoc `json:"info"`
		} `json:"mdsmap"`
	} `json:"filesystems"`
}

type mdsDoc struct {
	Name  text `json:"name"`
	State text `json:"state"`
}

func (d *fsDumpDoc) fits() bool { return d.Epoch != nil && d.List != nil }

func (d *fsDumpDoc) mdsMap() MDSMap {
	m := MDSMap{FileSystems: make(map[string]FSRanks, len(d.List))}

	for _, s := range d.Standbys {
		if s.Name != "" {
			m.Standbys = append(m.Standbys, string(s.Name))
		}
	}

	slices.Sort(m.Standbys)

	for _, fs := range d.List {
		if fs.Map.Name == "" {
			continue
		}

		ranks := FSRanks{
			ID: int(fs.ID), MaxMDS: int(fs.Map.Max), Failed: len(fs.Map.Failed), Damaged: len(fs.Map.Damaged),
			Other: map[string]string{}, StandbyReplay: fs.Map.Flags&fsStandbyReplay != 0,
			Joinable: fs.Map.Flags&fsNotJoinable == 0,
		}

		for _, mds := range slices.SortedFunc(maps.Values(fs.Map.Info), byName) {
			ranks.add(mds)
		}

		m.FileSystems[string(fs.Map.Name)] = ranks
	}

	return m
}

func byName(a, b mdsDoc) int { return cmp.Compare(a.Name, b.Name) }

func (r *FSRanks) add(mds mdsDoc) {
	switch state := strings.TrimPrefix(string(mds.State), "up:"); state {
	case "active":
		r.Active = append(r.Active, string(mds.Name))
	case "standby-replay":
		r.Replay = append(r.Replay, string(mds.Name))
	default:
		r.Other[string(mds.Name)] = state
	}
}
