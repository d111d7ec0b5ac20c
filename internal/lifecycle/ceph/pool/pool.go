// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package pool is the life of a pool of a Ceph cluster: made, changed, deleted.
//
// Reading order: pool.go (what is asked for and what is seen), look.go, create.go, update.go,
// place.go (CRUSH rules), permit.go (options of the monitors that forbid), delete.go.
package pool

import (
	"errors"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// The types of pools.
const (
	Replicated = "replicated"
	Erasure    = "erasure"
)

// The kinds of failure that a caller can tell apart with errors.Is.
var (
	// ErrNoPool says that the cluster answered, and has no such pool.
	ErrNoPool = errors.New("the cluster has no such pool")
	// ErrExists says that a pool of the name is there already.
	ErrExists = errors.New("the cluster has a pool of this name")
	// ErrHoldsData says that objects are in a pool that is to be deleted.
	ErrHoldsData = errors.New("the pool holds data")
	// ErrUnsure says that nobody answered whether a pool was made.
	ErrUnsure = errors.New("it is not known whether the pool was made")
)

// Wanted is a pool as it is configured. What is empty is left to Ceph, but for quotas and
// compression: empty, there is none.
type Wanted struct {
	Name          string
	Type          string
	Size, MinSize int
	PGNum         int
	Autoscale     string // on, off, warn
	Place         Place
	Code          Code // of an erasure coded pool
	Application   string
	QuotaBytes    int64
	QuotaObjects  int64
	Compression   string
	Parameters    map[string]string
	Unset         []string // parameters that are no longer configured
	AllowSizeOne  bool
}

// Place is where the copies lie. All of it empty: as the cluster's first rule has it.
type Place struct {
	Domain string // CRUSH type of which each copy lies in another one
	Class  string // device class
	Root   string // CRUSH bucket
}

// What counts where a place says only a part.
const (
	DefaultDomain = "host"
	DefaultRoot   = "default"
)

// Code is an erasure code.
type Code struct {
	K, M      int
	Plugin    string
	Technique string
}

// What Ceph takes where a code says only k and m.
const (
	DefaultPlugin    = "jerasure"
	DefaultTechnique = "reed_sol_van"
)

// Which names a pool. The number counts where there is one: names can move.
type Which struct {
	ID   int
	Name string
}

// Rule is the CRUSH rule of a pool.
type Rule struct {
	Name  string
	Place Place
	Own   bool // it is there for this pool
}

// Seen is a pool as it was found.
type Seen struct {
	api.Pool

	Type       string
	Rule       Rule
	Code       Code
	UsedBytes  int64
	Objects    int64
	Parameters map[string]string // all that Ceph tells
	Warnings   []string          // of what was done before

	firstDomain string // what counts where a place has none
	shared      bool   // another pool has the same rule
}
