// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package rados speaks to a Ceph cluster through the librados of this machine.
//
// librados is a C++ library that is linked at build time and has to be there at run time, of
// much the same release. Releases of this provider are static and for many platforms, so that
// they do without: this transport is for who builds with "CGO_ENABLED=1 go build -tags ceph", and for
// tests, which hold the other transports against it. Without the tag Open says so.
//
// The package is also where go-ceph's world meets ours, with or without librados: [Adapt] and
// [AsRados].
package rados

import (
	"time"

	"github.com/ceph/go-ceph/common/commands"
)

// What counts where a configuration says nothing.
const (
	DefaultConnect = 10 * time.Second
	DefaultLimit   = time.Minute
)

// Config says how this machine reaches a cluster.
type Config struct {
	Conf    string // path; empty: nothing is read
	Name    string // empty: client.admin
	Keyring string // path; empty: the one that the file at Conf names
	MonHost string // the monitors, where no file names them
	Key     string // instead of a keyring
	// Connect is how long a monitor may take to answer at the start.
	Connect time.Duration
	// Limit is how long a command may take.
	Limit time.Duration
}

// conn is what go-ceph's connection is here.
type conn = commands.RadosBufferCommander
