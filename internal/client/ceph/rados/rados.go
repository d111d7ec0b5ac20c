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
	"github.com/ceph/go-ceph/common/commands"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/command"
)

// Config says how this machine reaches a cluster.
type Config = command.Config

// conn is what go-ceph's connection is here.
type conn = commands.RadosBufferCommander
