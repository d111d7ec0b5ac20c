// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// Record is what is known of a cluster: what the state holds, and what a look found.
type Record struct {
	FSID      string
	AdminKey  Secret
	MonSecret Secret
	LastMon   int // letters up to this one were given to monitors

	MonHost string // value of mon_host for clients
	Mons    map[string]MonRecord
	Mgrs    map[string]MgrRecord
	OSDs    map[int]OSDRecord

	MgrActive  string
	Health     string
	Checks     map[string]api.Check
	Versions   api.Versions
	Capacity   api.Capacity
	Rejected   map[string]map[string]string // host: device: why it is no OSD
	Owned      map[string][]string          // who: options of the configuration that we set
	Conf       string                       // a ceph.conf for clients
	Phase      string
	Conditions []Condition

	DashboardURL      string
	DashboardPassword Secret

	// Ready says that the cluster is as wanted and passes its gate. Drift says what is not as
	// wanted and an apply would look at: "mon.b on h2 does not run".
	Ready bool
	Drift []string
}

// MonRecord is a monitor.
type MonRecord struct {
	Host     string // empty: not known, as with an external cluster
	Addr     string // as in mon_host
	InQuorum bool
	// OutSince is when it was first seen out of quorum; zero while it is in.
	OutSince time.Time
}

// MgrRecord is a manager.
type MgrRecord struct {
	Host   string
	Active bool
}

// OSDRecord is an OSD.
type OSDRecord struct {
	Host   string
	UUID   string
	Path   string // as configured
	Device string // where it was found at the last look
	Class  string
	Up, In bool
}

// Remark is something that people should know although nothing failed.
type Remark struct{ Summary, Detail string }

// Result is what a verb leaves.
type Result struct {
	Record   Record
	Gone     bool // nothing of the cluster is there any more
	Known    bool // the record says something: there is a cluster to keep in the state
	Warnings []Remark
	Stands   string // what there is, for the words of a failure
	Err      error
}

// Run is one verb on one cluster.
type Run struct {
	Wanted
	// Log is told each step.
	Log func(ctx context.Context, text string)
	// Now is the clock; nil: the real one.
	Now func() time.Time
}

// Condition is a condition with Rook's words.
type Condition struct {
	Type           string
	Status         string // True, False
	Reason         string
	Message        string
	LastTransition time.Time
}

// The phases, which are the types of conditions. They are Rook's, and so are the reasons.
const (
	PhaseConnecting  = "Connecting"
	PhaseConnected   = "Connected"
	PhaseProgressing = "Progressing"
	PhaseReady       = "Ready"
	PhaseFailure     = "Failure"
	PhaseDeleting    = "Deleting"
	PhaseBlocked     = "DeletionIsBlocked"
	// PhaseUnavailable is ours: no monitor answers, and nothing is known.
	PhaseUnavailable = "Unavailable"
)
