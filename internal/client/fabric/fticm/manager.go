// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package fticm drives FTI's cluster manager (CM).
//
// CM takes no orders but targets: so many devices of a specification. A target is computed
// from what is there, so every order reads the machine directly before it is sent, and is not
// sent while something else changes.
package fticm

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/fti"
)

const base = "/cluster_manager/cluster_autoscaler"

// types are the device types that are handed out one by one.
var types = []string{"gpu", "cxlmemory"}

// Manager is one CM, seen by one tenant and one cluster.
type Manager struct{ fti.Client }

var (
	_ fabric.Fabric      = (*Manager)(nil)
	_ fabric.TokenSource = (*Manager)(nil)
)

// New makes the driver. It calls nobody.
func New(cfg fabric.Config) (fabric.Fabric, error) {
	c, err := fti.New("fti_cm", cfg, fti.Need{Option: "cluster_id", Value: cfg.ClusterID})
	if err != nil {
		return nil, err
	}

	return &Manager{c.Within(cfg.ClusterID)}, nil
}

// Caps implements fabric.Fabric.
func (m *Manager) Caps() fabric.Caps {
	return fabric.Caps{Async: true, ReportsSerial: true, Types: slices.Clone(types)}
}

// Machine implements fabric.Fabric.
func (m *Manager) Machine(ctx context.Context, id string) (fabric.Machine, error) {
	return m.ReadMachine(ctx, id, func(op, id string) fabric.Request {
		return fabric.Request{Op: op, Path: m.path("v3", "/machines/", id)}
	}, func(raw []byte, id string) (fabric.Machine, string) { return readMachine(raw, id, m.Column) })
}

// Machines implements fabric.Fabric: the machines of all node groups of the cluster.
func (m *Manager) Machines(ctx context.Context) ([]fabric.Machine, error) {
	r := fabric.Request{Op: "list node groups", Path: m.path("v2", "/nodegroups", "")}

	var groups struct {
		Groups fabric.List[struct {
			UUID fabric.Text `json:"uuid"`
		}] `json:"nodegroups"`
	}

	a, err := m.ask(ctx, r, &groups)
	if err != nil {
		return nil, err
	}

	if !groups.Groups.Whole() {
		return nil, m.Caller.Unusable(r, a, "the answer has no list of node groups")
	}

	var ids []string

	for _, g := range groups.Groups.Items {
		if g.UUID.Trim() == "" {
			return nil, m.Caller.Unusable(r, a, "a node group has no uuid")
		}

		more, err := m.group(ctx, g.UUID.Trim())
		if err != nil {
			return nil, err
		}

		for _, id := range more {
			if !slices.ContainsFunc(ids, func(known string) bool { return strings.EqualFold(known, id) }) {
				ids = append(ids, id)
			}
		}
	}

	return fti.ReadAll(ctx, ids, m.Machine)
}

// group are the ids of the machines of a node group.
func (m *Manager) group(ctx context.Context, uuid string) ([]string, error) {
	r := fabric.Request{Op: "get node group " + uuid, Path: m.path("v2", "/nodegroups/", uuid)}

	var group struct {
		Machines fabric.List[fabric.Text] `json:"mach_ids"`
	}

	a, err := m.ask(ctx, r, &group)
	if err != nil {
		return nil, err
	}

	if !group.Machines.Whole() && !group.Machines.Null {
		return nil, m.Caller.Unusable(r, a, "the answer has no mach_ids")
	}

	out := make([]string, 0, len(group.Machines.Items))

	for _, raw := range group.Machines.Items {
		id, err := fti.ID(r.Op, raw.Trim())
		if err != nil {
			return nil, m.Caller.Unusable(r, a, "mach_ids holds what is no UUID")
		}

		out = append(out, id)
	}

	return out, nil
}

// ask sends a question and reads the answer, which may be wrapped in data.
func (m *Manager) ask(ctx context.Context, r fabric.Request, into any) (fabric.Answer, error) {
	a, err := m.Caller.Do(ctx, r)
	if err != nil {
		return a, err
	}

	var wrapped struct {
		Data json.RawMessage `json:"data"`
	}

	raw := a.Body
	if json.Unmarshal(raw, &wrapped) == nil && len(wrapped.Data) > 0 {
		raw = wrapped.Data
	}

	if json.Unmarshal(raw, into) != nil {
		return a, m.Caller.Unusable(r, a, "the answer is no JSON object")
	}

	return a, nil
}

// path is the path of something in the cluster.
func (m *Manager) path(version, below, id string) string {
	return base + "/" + version + "/tenants/" + url.PathEscape(m.Tenant) + "/clusters/" + url.PathEscape(m.Cluster()) + below + url.PathEscape(id)
}

// resize sends a target.
func (m *Manager) resize(ctx context.Context, op, id string, body any) error {
	_, err := m.Caller.Do(ctx, fabric.Request{
		Op: op, Method: http.MethodPost, Path: m.path("v3", "/machines/", id) + "/actions/resize", Body: body, Mutates: true,
	})

	return err // the words of a good answer mean nothing
}
