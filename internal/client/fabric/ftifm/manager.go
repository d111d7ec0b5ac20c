// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package ftifm drives FTI's fabric manager (FM).
//
// An order names a type and a model, never a device: which device came is seen by looking.
package ftifm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/fti"
)

const base = "/fabric_manager/api/v1/machines"

// types are the device types that are handed out one by one.
var types = []string{"gpu", "cxlmemory"}

// Manager is one FM, seen by one tenant.
type Manager struct{ fti.Client }

var (
	_ fabric.Fabric      = (*Manager)(nil)
	_ fabric.TokenSource = (*Manager)(nil)
)

// New makes the driver. It calls nobody.
func New(cfg fabric.Config) (fabric.Fabric, error) {
	c, err := fti.New("fti_fm", cfg)
	if err != nil {
		return nil, err
	}

	return &Manager{c}, nil
}

// Caps implements fabric.Fabric.
func (m *Manager) Caps() fabric.Caps {
	return fabric.Caps{Async: true, ReportsSerial: true, ReportsHealth: true, Types: slices.Clone(types)}
}

// Machine implements fabric.Fabric.
func (m *Manager) Machine(ctx context.Context, id string) (fabric.Machine, error) {
	return m.ReadMachine(ctx, id, func(op, id string) fabric.Request {
		return m.request(op, http.MethodGet, "/"+url.PathEscape(id))
	}, m.one)
}

// Machines implements fabric.Fabric. Where the list leaves devices out, every machine is read.
func (m *Manager) Machines(ctx context.Context) ([]fabric.Machine, error) {
	r := m.request("list machines", http.MethodGet, "")

	a, err := m.Caller.Do(ctx, r)
	if err != nil {
		return nil, err
	}

	docs, why := machinesOf(a.Body)
	if why != "" {
		return nil, m.Caller.Unusable(r, a, why)
	}

	out := make([]fabric.Machine, len(docs))

	var bare []string

	for i, doc := range docs {
		out[i] = doc.machine(m.Column)

		switch {
		case out[i].ID == "":
			return nil, m.Caller.Unusable(r, a, "a machine of the list has no mach_uuid")
		case out[i].State == fabric.Gone:
		case !doc.Resources.Present && doc.Resources.Odd == 0:
			bare = append(bare, out[i].ID)
		case doc.unreadable() != "":
			return nil, m.Caller.Unusable(r, a, "machine "+out[i].ID+": "+doc.unreadable())
		}
	}

	full, err := fti.ReadAll(ctx, bare, m.Machine)
	if err != nil {
		return nil, err
	}

	for i := range out {
		if len(full) > 0 && strings.EqualFold(out[i].ID, full[0].ID) {
			out[i], full = full[0], full[1:]
		}
	}

	return out, nil
}

// Free implements fabric.Fabric. FM tells a number, of the fabric that the machine is on.
func (m *Manager) Free(ctx context.Context, machine, typ, model string) (fabric.FreeInfo, error) {
	op := fmt.Sprintf("count free devices %s %s for machine %s", typ, model, machine)

	id, err := fti.ID(op, machine)
	if err != nil {
		return fabric.FreeInfo{}, err
	}

	r := m.request(op, http.MethodGet, "/"+url.PathEscape(id)+"/available-reserved-resources")
	r.Query.Set("res_type", typ)
	r.Query.Set("condition", m.term(model).String())

	a, err := m.Caller.Do(ctx, r)

	// The call is known from one client only: a manager without it does not tell.
	var e *fabric.Error
	if errors.As(err, &e) && errors.Is(err, fabric.ErrNotFabric) && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed) {
		return fabric.FreeInfo{}, nil
	}

	if err != nil {
		return fabric.FreeInfo{}, err
	}

	var doc any
	if json.Unmarshal(a.Body, &doc) != nil {
		return fabric.FreeInfo{}, m.Caller.Unusable(r, a, "the answer is no JSON")
	}

	n, ok := countIn(doc, 0)

	return fabric.FreeInfo{Known: ok, Count: n}, nil
}

// Attach implements fabric.Fabric. What the answer says of devices is a hint and no more: it
// lists only the new device, or all, or none.
func (m *Manager) Attach(ctx context.Context, machine string, want fabric.Want) (fabric.Hint, error) {
	op := fmt.Sprintf("attach a %s %s to machine %s", want.Type, want.Model, machine)

	id, err := fti.ID(op, machine)
	if err != nil {
		return fabric.Hint{}, err
	}

	if strings.TrimSpace(want.Type) == "" || strings.TrimSpace(want.Model) == "" {
		return fabric.Hint{}, &fabric.Error{Op: op, Kind: fabric.ErrConfig, Message: "without a type and a model any device would come"}
	}

	a, err := m.order(ctx, op, http.MethodPatch, id, spec{
		Type: want.Type, Count: 1, Terms: &terms{Condition: []term{m.term(want.Model)}},
	})
	if err != nil || len(bytes.TrimSpace(a.Body)) == 0 {
		return fabric.Hint{}, err
	}

	seen, _ := m.one(a.Body, id)

	return fabric.Hint{Devices: seen.Of(want.Type, want.Model)}, nil
}

// Detach implements fabric.Fabric. Proxies may take the body from a DELETE: whether the
// device is gone is seen by looking.
func (m *Manager) Detach(ctx context.Context, machine string, dev fabric.Device) (fabric.Hint, error) {
	op := fmt.Sprintf("detach %s %s from machine %s", dev.Type, dev.FabricID, machine)

	id, err := fti.ID(op, machine)
	if err != nil {
		return fabric.Hint{}, err
	}

	if dev.FabricID == "" {
		return fabric.Hint{}, &fabric.Error{Op: op, Kind: fabric.ErrRefused, Message: "the fabric's id of the device (res_uuid) is not known"}
	}

	_, err = m.order(ctx, op, http.MethodDelete, id, spec{Type: dev.Type, UUID: dev.FabricID, Count: 1})

	return fabric.Hint{}, err
}

// order sends the body that attach and detach share.
func (m *Manager) order(ctx context.Context, op, method, id string, s spec) (fabric.Answer, error) {
	r := m.request(op, method, "/"+url.PathEscape(id)+"/update")
	r.Body, r.Mutates = body(m.Tenant, id, s), true

	a, err := m.Caller.Do(ctx, r)
	if err != nil {
		return a, err
	}

	if text := bytes.TrimSpace(a.Body); len(text) > 0 && !json.Valid(text) {
		return a, m.Caller.Unusable(r, a, "the answer is no JSON")
	}

	return a, nil
}

func (m *Manager) request(op, method, path string) fabric.Request {
	return fabric.Request{
		Op: op, Method: method, Path: base + path, Query: url.Values{"tenant_uuid": {m.Tenant}},
		Header: http.Header{"Content-Type": {"application/json"}},
	}
}
