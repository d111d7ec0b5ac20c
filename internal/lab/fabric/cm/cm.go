// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cm is the cluster manager (CM) of the lab's fabric: machines with specifications,
// each with a number of devices that is to be there.
package cm

import (
	"net/http"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/token"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// The codes of the lab's refusals. No list of the vendor's is public.
const (
	CodeInvalid  = "E030400"
	CodeTenant   = "E030403"
	CodeNotFound = "E030404"
	CodeBusy     = "E030409"
	CodeLimit    = "E030422"
	CodeCapacity = "E030507"
)

// The statuses of a device. Those of a device that comes or goes are not public: any other
// word means that.
const (
	AddInProgress    = "ADD_IN_PROGRESS"
	AddComplete      = "ADD_COMPLETE"
	AddFailed        = "ADD_FAILED"
	RemoveInProgress = "REMOVE_IN_PROGRESS"
	RemoveFailed     = "REMOVE_FAILED"
)

const (
	base  = "/cluster_manager/cluster_autoscaler"
	scope = "/tenants/{tenant}/clusters/{cluster}"
)

// New returns the face below /cluster_manager.
func New(e *face.Env) http.Handler {
	s := service{e}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+base+"/v2"+scope+"/nodegroups", s.allowed(s.groups))
	mux.HandleFunc("GET "+base+"/v2"+scope+"/nodegroups/{group}", s.allowed(s.group))
	mux.HandleFunc("GET "+base+"/v3"+scope+"/machines/{mach}", s.allowed(s.get))
	mux.HandleFunc("POST "+base+"/v3"+scope+"/machines/{mach}/actions/resize", s.allowed(s.resize))

	return mux
}

type service struct{ env *face.Env }

// allowed lets requests through that carry a good token, and ask for what it has rights in.
func (s service) allowed(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !token.Check(s.env, w, r) {
			return
		}

		if r.PathValue("tenant") != hardware.Tenant || r.PathValue("cluster") != hardware.Cluster {
			face.Fail(w, face.Refuse(http.StatusForbidden, CodeTenant, "no rights in this tenant or cluster"))

			return
		}

		next(w, r)
	}
}

// The machines of one switch are one node group.
func groupID(fabric int) string { return hardware.UUID("nodegroup " + hardware.FabricID(fabric)) }

func (s service) groups(w http.ResponseWriter, _ *http.Request) {
	docs := []any{}

	err := s.env.View(func(tx store.Tx, now time.Time) error {
		all, err := members(tx, now)

		seen := map[int]bool{}

		for _, m := range all {
			if !seen[m.Fabric] {
				docs = append(docs, map[string]any{"uuid": groupID(m.Fabric), "name": groupName(m.Fabric)})
			}

			seen[m.Fabric] = true
		}

		return err
	})
	if err != nil {
		face.Fail(w, err)

		return
	}

	face.JSON(w, http.StatusOK, map[string]any{"nodegroups": docs})
}

func groupName(fabric int) string { return "group-" + string(rune('a'+fabric%26)) }

func (s service) group(w http.ResponseWriter, r *http.Request) {
	var doc map[string]any

	err := s.env.View(func(tx store.Tx, now time.Time) error {
		all, err := members(tx, now)
		if err != nil {
			return err
		}

		ids := []string{}

		for _, m := range all {
			if groupID(m.Fabric) == r.PathValue("group") {
				ids = append(ids, m.ID)
				doc = map[string]any{"uuid": groupID(m.Fabric), "name": groupName(m.Fabric), "mach_ids": ids}
			}
		}

		if doc == nil {
			return face.Refuse(http.StatusNotFound, CodeNotFound, "nodegroup not found")
		}

		return nil
	})
	if err != nil {
		face.Fail(w, err)

		return
	}

	face.JSON(w, http.StatusOK, doc)
}

// members are the machines of the lab's cluster.
func members(tx store.Tx, now time.Time) ([]hardware.Machine, error) {
	all, err := hardware.Machines(tx, now)

	return slices.DeleteFunc(all, func(m hardware.Machine) bool { return !member(m) }), err
}

func member(m hardware.Machine) bool {
	return !m.Deleted && m.Tenant == hardware.Tenant && m.Cluster == hardware.Cluster
}

func find(tx store.Tx, now time.Time, id string) (hardware.Machine, error) {
	m, ok, err := hardware.MachineByID(tx, now, id)
	if err == nil && (!ok || !member(m)) {
		err = face.Refuse(http.StatusNotFound, CodeNotFound, "machine not found")
	}

	return m, err
}

func (s service) get(w http.ResponseWriter, r *http.Request) {
	var doc map[string]any

	err := s.env.View(func(tx store.Tx, now time.Time) error {
		m, err := find(tx, now, r.PathValue("mach"))
		if err != nil {
			return err
		}

		doc, err = s.document(tx, now, m)

		return err
	})
	if err != nil {
		face.Fail(w, err)

		return
	}

	face.JSON(w, http.StatusOK, doc)
}
