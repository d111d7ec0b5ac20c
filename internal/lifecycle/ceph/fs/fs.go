// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package fs is the life of a file system of a Ceph cluster: its pools, the file system on
// them, and the metadata servers (MDS) that serve it.
//
// Reading order: fs.go (what is asked for and what is seen), create.go, update.go, mds.go, delete.go.
package fs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/pool"
)

// The kinds of failure that a caller can tell apart with errors.Is.
var (
	// ErrNoFS says that the cluster answered, and has no such file system.
	ErrNoFS = errors.New("the cluster has no such file system")
	// ErrExists says that a file system of the name is there already.
	ErrExists = errors.New("the cluster has a file system of this name")
	// ErrForeign says that MDS cannot be made on the hosts of this cluster.
	ErrForeign = errors.New("the resource metal3_ceph_cluster did not make this cluster, and MDS are put on hosts of its clusters only")
)

// Wanted is a file system as it is configured.
type Wanted struct {
	Name    string
	Meta    pool.Wanted
	Data    []pool.Wanted // the first stays for ever
	Drop    []string      // pools for data that go
	Active  int           // ranks
	Standby bool          // a standby follows each active MDS
	Hosts   []ceph.Host   // one MDS on each
	Former  []ceph.Host   // that have an MDS and shall not
}

// Seen is a file system as it was found.
type Seen struct {
	Name     string
	ID       int
	Meta     pool.Seen
	Data     []pool.Seen
	Active   int
	Standby  bool
	Joinable bool // MDS may take its ranks
	MDS      map[string]MDS
	Warnings []string
}

// MDS is a metadata server of a file system.
type MDS struct {
	Host  string // uname -n; empty: not known
	State string // active, standby-replay, standby, …; empty: nobody has heard of it
}

// Look finds a file system, its pools and its MDS. ErrNoFS is a definite no.
func Look(ctx context.Context, c *api.Cluster, name string) (Seen, error) {
	all, err := c.FSList(ctx)
	if err != nil {
		return Seen{}, fmt.Errorf("look for file system %s: %w", name, err)
	}

	at := slices.IndexFunc(all, func(f api.FS) bool { return f.Name == name })
	if at < 0 {
		return Seen{}, fmt.Errorf("%w: %s", ErrNoFS, name)
	}

	seen, err := describe(ctx, c, all[at])
	if err != nil {
		return Seen{}, err
	}

	return seen[0], nil
}

// List finds all file systems.
func List(ctx context.Context, c *api.Cluster) ([]Seen, error) {
	all, err := c.FSList(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the file systems: %w", err)
	}

	if len(all) == 0 {
		return []Seen{}, nil
	}

	return describe(ctx, c, all...)
}

// describe asks once for the pools and the MDS of all that it is given.
func describe(ctx context.Context, c *api.Cluster, all ...api.FS) ([]Seen, error) {
	pools, err := pool.List(ctx, c)
	if err != nil {
		return nil, err
	}

	status, err := c.FSStatus(ctx)
	if err != nil {
		return nil, fmt.Errorf("look at the MDS of file system %s: %w", all[0].Name, err)
	}

	out := make([]Seen, 0, len(all))
	for _, f := range all {
		out = append(out, see(f, pools, status))
	}

	if !slices.ContainsFunc(out, func(s Seen) bool { return len(s.MDS) > 0 }) {
		return out, nil
	}

	metas, err := c.Metadata(ctx, ceph.RoleMDS)
	if err != nil {
		return nil, fmt.Errorf("look at the MDS: %w", err)
	}

	for _, s := range out {
		for name, m := range s.MDS {
			m.Host = metas[name].Hostname
			s.MDS[name] = m
		}
	}

	return out, nil
}

func see(f api.FS, pools []pool.Seen, status api.MDSMap) Seen {
	ranks := status.FileSystems[f.Name]
	s := Seen{Name: f.Name, ID: ranks.ID, Active: ranks.MaxMDS, Standby: ranks.StandbyReplay, Joinable: ranks.Joinable, MDS: map[string]MDS{}}

	for _, p := range pools {
		if p.Name == f.Meta {
			s.Meta = p
		}
	}

	for _, name := range f.Data {
		for _, p := range pools {
			if p.Name == name {
				s.Data = append(s.Data, p)
			}
		}
	}

	s.servers(status, ranks)

	return s
}

// servers finds the MDS that are there for this file system, as their names say, and those
// that serve it.
func (s *Seen) servers(status api.MDSMap, ranks api.FSRanks) {
	note := func(names []string, state string) {
		for _, name := range names {
			s.MDS[name] = MDS{State: state}
		}
	}

	note(slices.DeleteFunc(slices.Clone(status.Standbys), func(name string) bool { return !strings.HasPrefix(name, s.Name+"-") }), "standby")
	note(ranks.Active, "active")
	note(ranks.Replay, "standby-replay")

	for name, state := range ranks.Other {
		s.MDS[name] = MDS{State: state}
	}
}
