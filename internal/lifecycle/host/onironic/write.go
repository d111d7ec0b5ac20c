// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onironic

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// Create implements [host.Backend].
func (b *Backend) Create(ctx context.Context, w host.Wanted, j host.Journal) (host.Seen, error) {
	w, err := b.fit(ctx, w)
	if err != nil {
		return host.Seen{}, err
	}

	b.fleet.Forget()

	c := ironic.Create{
		UUID: w.ID, Name: nodeName(w), Description: w.Description, Driver: w.BMC.Access.Driver, Interfaces: interfaces(w),
		DriverInfo: driverInfo(w), Properties: map[string]any{}, Extra: map[string]any{host.JournalKey: j.Value()},
		NetworkData: w.NetworkData,
	}

	for key, value := range w.Properties {
		c.Properties[key] = value
	}

	for _, st := range b.settings(host.Seen{}, w) {
		if key, ok := strings.CutPrefix(st.path, "/properties/"); ok {
			c.Properties[unescape(key)] = st.want
		}
	}

	for _, st := range deployImage(ironic.Node{}, w) {
		c.DriverInfo[strings.TrimPrefix(st.path, "/driver_info/")] = st.want
	}

	if w.CleaningMode != "" {
		clean := w.CleaningMode != "disabled"
		c.AutomatedClean = &clean
	}

	if w.DisablePowerOff != nil && *w.DisablePowerOff {
		c.DisablePowerOff = w.DisablePowerOff
	}

	if w.ConductorGroup != nil {
		c.ConductorGroup = *w.ConductorGroup
	}

	if w.ResourceClass != nil {
		c.ResourceClass = *w.ResourceClass
	}

	n, err := b.client.CreateNode(ctx, c)
	if err != nil {
		return host.Seen{}, missing(err)
	}

	made := seen(n)
	made.Ports = []ironic.Port{} // a new record has none

	return made, nil
}

// Differs implements [host.Backend].
func (b *Backend) Differs(s host.Seen, w host.Wanted) []string {
	// A record that can differ was read before, so the version is known.
	w = trim(w, int(b.minor.Load()))

	var out []string

	for _, st := range b.settings(s, w) {
		if differs(s.Node, st) && !slices.Contains(out, st.name) {
			out = append(out, st.name)
		}
	}

	if portsDiffer(s, w) {
		out = append(out, "ports")
	}

	if w.Traits != nil && !sameSet(w.Traits, s.Node.Traits) {
		out = append(out, "traits")
	}

	return out
}

// Write implements [host.Backend].
func (b *Backend) Write(ctx context.Context, s host.Seen, w host.Wanted, j host.Journal, part host.Part) (host.Seen, error) {
	w, err := b.fit(ctx, w)
	if err != nil {
		return s, err
	}

	var list []setting

	switch part {
	case host.PartJournal:
		list = unprotect(s.Node)
	case host.PartSettings:
		list = b.settings(s, w)
	case host.PartDeploy:
		list = append(b.settings(s, w), deployment(s.Node, w)...)
		list = append(list, unprotect(s.Node)...)
	case host.PartTenancy:
		list = []setting{tenancy(w)}
	case host.PartUnclaim:
		list = append(unprotect(s.Node), setting{name: "claim", path: "/instance_uuid"})
	}

	ops := operations(s.Node, list)
	if value := j.Value(); w.Tenancy == nil && !host.SameValue(s.Node.Extra[host.JournalKey], value) {
		ops = append(ops, ironic.Patch{Op: "add", Path: "/extra/" + host.JournalKey, Value: value})
	}

	if len(ops) == 0 {
		return s, nil
	}

	b.fleet.Forget()

	return b.patch(ctx, s, ops)
}

// needMaintenance are paths that Ironic changes on a machine that runs only in maintenance.
func needMaintenance(path string) bool {
	return path == "/driver" || strings.HasSuffix(path, "_interface")
}

// patch sends operations, within maintenance where Ironic asks for it.
func (b *Backend) patch(ctx context.Context, s host.Seen, ops []ironic.Patch) (host.Seen, error) {
	id := s.Node.UUID
	guarded := s.Node.ProvisionState == ironic.Active && !s.Node.Maintenance &&
		slices.ContainsFunc(ops, func(op ironic.Patch) bool { return needMaintenance(op.Path) })

	if guarded {
		if err := b.client.SetMaintenance(ctx, id, host.ManagedBy+": its driver is being changed"); err != nil {
			return s, missing(err)
		}
	}

	n, err := b.client.PatchNode(ctx, id, ops)

	if guarded {
		// Also after a failure: nobody else would take the node out again.
		if e := b.client.UnsetMaintenance(context.WithoutCancel(ctx), id); e != nil && err == nil {
			return s, fmt.Errorf("the node stays in maintenance: %w", e)
		}

		n.Maintenance, n.MaintenanceReason = false, ""
	}

	if err != nil {
		return s, missing(err)
	}

	after := seen(n)
	after.Ports = s.Ports

	return after, nil
}

// operations turns what differs into a patch: "add" sets new and existing keys alike,
// "remove" goes only to keys that were just read.
func operations(n ironic.Node, list []setting) []ironic.Patch {
	var out []ironic.Patch

	for _, st := range list {
		switch {
		case !differs(n, st):
		case st.want == nil:
			out = append(out, ironic.Patch{Op: "remove", Path: st.path})
		default:
			out = append(out, ironic.Patch{Op: "add", Path: st.path, Value: st.want})
		}
	}

	return out
}

func differs(n ironic.Node, st setting) bool {
	if st.blind {
		return st.force
	}

	have := valueAt(n, st.path)
	if st.want == nil {
		return have != nil && have != ""
	}

	return !host.SameValue(have, st.want)
}

// valueAt reads from a record what a patch path names; nil where there is nothing.
func valueAt(n ironic.Node, path string) any {
	below := map[string]map[string]any{"properties": n.Properties, "driver_info": n.DriverInfo, "instance_info": n.InstanceInfo}

	parent, key, nested := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if nested {
		if v, ok := below[parent][unescape(key)]; ok {
			return v
		}

		return nil
	}

	if kind, ok := strings.CutSuffix(parent, "_interface"); ok {
		return text(n.Interfaces[kind])
	}

	flags := map[string]*bool{"automated_clean": n.AutomatedClean, "disable_power_off": n.DisablePowerOff, "protected": &n.Protected}
	if flag, ok := flags[parent]; ok {
		if flag == nil {
			return nil
		}

		return *flag
	}

	if parent == "network_data" {
		return object(n.NetworkData)
	}

	return text(map[string]string{
		"name": n.Name, "description": n.Description, "driver": n.Driver, "conductor_group": n.ConductorGroup,
		"resource_class": n.ResourceClass, "owner": n.Owner, "instance_uuid": n.InstanceUUID, "protected_reason": n.ProtectedReason,
	}[parent])
}

// escape and unescape are those of JSON pointers.
func escape(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

func unescape(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~1", "/"), "~0", "~")
}
