// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package bmc is the Redfish face of the lab's machines: a service per machine, as a real BMC,
// or one service for all of them, as a real Ironic is pointed at in tests.
//
// It answers what Ironic's Redfish driver and gofish ask for. Everything it knows is in the
// store and committed before the answer leaves, so it can be killed at any time. What it can be
// told to do wrong is in machine.Faults.
package bmc

import (
	"net/http"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

const root = "/redfish/v1"

// Options are what all BMCs of a Service have in common.
type Options struct {
	Sessions int               // at once on one BMC; 0: no limit
	Changed  func(name string) // called after each change of a machine, outside of transactions; may be nil
}

// Service is the Redfish face of the machines in a store.
type Service struct {
	store *store.Store
	o     Options
}

// New returns the Redfish face of the machines in a store.
func New(st *store.Store, o Options) *Service { return &Service{store: st, o: o} }

// Handler is the BMC of one machine, chosen by the host name that was dialled: node-3.lab, with
// or without a port. Its one system is machine.SystemPath.
func (s *Service) Handler(host string) http.Handler {
	name, _ := machine.HostName(host)

	return s.face(name, true)
}

// Shared is one Redfish service in front of all machines; their systems have UUIDs as names.
func (s *Service) Shared() http.Handler { return s.face("", false) }

// face is the service as seen through one listener.
type face struct {
	*Service

	single bool   // one machine, the one named
	name   string // empty: all machines
}

func (s *Service) face(name string, single bool) http.Handler {
	f := &face{Service: s, single: single, name: name}
	mux := f.routes()

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Redfish clients write both /redfish/v1 and /redfish/v1/.
		if p := strings.TrimRight(r.URL.Path, "/"); p != r.URL.Path && p != "" {
			r = r.Clone(r.Context())
			r.URL.Path, r.URL.RawPath = p, ""
		}

		mux.ServeHTTP(w, r)
	})
}

// names are the paths under which a machine is found through a face.
type names struct {
	system, manager, chassis string
	id, managerID, chassisID string
}

func (f *face) names(m machine.Machine, phantom bool) names {
	n := names{id: m.ID, managerID: "bmc-" + m.ID, chassisID: "ch-" + m.ID}
	if f.single {
		n = names{id: "1", managerID: "1", chassisID: "1"}
		if phantom {
			n.id = m.ID
		}
	}

	n.system = root + "/Systems/" + n.id
	n.manager = root + "/Managers/" + n.managerID
	n.chassis = root + "/Chassis/" + n.chassisID

	return n
}
