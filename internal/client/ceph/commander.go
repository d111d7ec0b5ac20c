// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package ceph talks to a Ceph cluster: raw commands to its monitors and managers, and on
// top of them typed methods, written once, for all transports.
//
// A transport is a [Commander]. There are three: bridge (the librados of a host of the
// cluster, over one session), cli (the ceph command on such a host) and rados (librados in
// this process, behind the build tag ceph).
package ceph

import "context"

// Commander sends commands, JSON objects as Ceph's own clients send them. It has the method
// set of go-ceph's common/commands, with a context. Status is the text that Ceph gives with
// its answer. An error of Ceph itself is an [*Error].
//
// A Commander is safe for concurrent use; its commands may be sent one after the other.
type Commander interface {
	MonCommand(ctx context.Context, cmd []byte) (out []byte, status string, err error)
	MonCommandWithInputBuffer(ctx context.Context, cmd, in []byte) (out []byte, status string, err error)
	MgrCommand(ctx context.Context, cmd [][]byte) (out []byte, status string, err error)
	MgrCommandWithInputBuffer(ctx context.Context, cmd [][]byte, in []byte) (out []byte, status string, err error)
	// Close ends the session.
	Close() error
}

// Batcher is a Commander that can send several commands to the monitors at once, so that
// they cost one round trip. The answers are in the order of the commands; the error says
// that there are none.
type Batcher interface {
	Batch(ctx context.Context, cmds [][]byte) ([]Answer, error)
}

// Answer is the answer to one command of a batch.
type Answer struct {
	Out    []byte
	Status string
	Err    error
}

// Cluster is a cluster through one commander: the typed methods.
type Cluster struct{ Commander }

// New returns the typed methods on a commander.
func New(c Commander) *Cluster { return &Cluster{Commander: c} }
