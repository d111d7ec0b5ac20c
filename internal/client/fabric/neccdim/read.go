// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package neccdim

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// detail asks for whole entries. The open manager has it for resources only; its list of
// nodes takes no notice of it.
var detail = url.Values{"detail": {"true"}}

// get reads one answer of the configuration manager.
func get[T any](ctx context.Context, d *driver, op, path string, query url.Values, parse func([]byte) (T, error)) (T, error) {
	var none T

	r := fabric.Request{Op: op, Path: path, Query: query}

	a, err := d.config.Do(ctx, r)
	if err != nil {
		return none, err
	}

	v, err := parse(a.Body)
	if err != nil {
		return none, d.config.Unusable(r, a, err.Error())
	}

	return v, nil
}

func (d *driver) resources(ctx context.Context) ([]resource, error) {
	return get(ctx, d, "list the fabric's devices", "/resources", detail, parseResources)
}

func (d *driver) resource(ctx context.Context, op, id string) (resource, error) {
	if id == "" {
		return resource{}, &fabric.Error{Op: op, Kind: fabric.ErrNotFound, Message: "a device without an id"}
	}

	r, err := get(ctx, d, op, "/resources/"+url.PathEscape(id), nil, parseResource)
	if err == nil && !strings.EqualFold(r.id, id) {
		return resource{}, &fabric.Error{Op: op, Kind: fabric.ErrNotFabric, Message: "the answer is about " + r.id}
	}

	return r, err
}

// node reads one node. A machine of which nothing but the CPU is there is none to the
// manager, as nodes are made of connections: then the CPU itself stands for it.
//
// Only when the manager knows neither is the machine not found. Product releases without
// the single read are asked for the list first.
func (d *driver) node(ctx context.Context, op, id string) (node, error) {
	id = fabric.MachineID(id)
	if id == "" {
		return node{}, &fabric.Error{Op: op, Kind: fabric.ErrNotFound, Message: "a machine without an id"}
	}

	n, err := get(ctx, d, op, "/nodes/"+url.PathEscape(id), nil, parseNode)

	switch {
	case err == nil && !strings.EqualFold(n.id, id):
		return node{}, &fabric.Error{Op: op, Kind: fabric.ErrNotFabric, Message: "the answer is about " + n.id}
	case err == nil || !absent(err):
		return n, err
	}

	nodes, listErr := get(ctx, d, op, "/nodes", detail, parseNodes)
	if listErr != nil {
		return node{}, listErr
	}

	if i := slices.IndexFunc(nodes, func(n node) bool { return strings.EqualFold(n.id, id) }); i >= 0 {
		return nodes[i], nil
	}

	cpu, cpuErr := d.resource(ctx, op, id)

	switch {
	case cpuErr != nil:
		return node{}, cpuErr
	case cpu.typ != typeCPU:
		return node{}, &fabric.Error{Op: op, Kind: fabric.ErrNotFound, Message: id + " is a " + cpu.typ + ", not a machine"}
	}

	return node{id: cpu.id, resources: []resource{cpu}}, nil
}

// absent reports whether an answer was 404, in the manager's words or in a router's.
func absent(err error) bool {
	var e *fabric.Error

	return errors.Is(err, fabric.ErrNotFound) || errors.As(err, &e) && e.Status == http.StatusNotFound
}

// Machine implements [fabric.Fabric], in one request.
func (d *driver) Machine(ctx context.Context, id string) (fabric.Machine, error) {
	n, err := d.node(ctx, "read the machine "+id, id)
	if err != nil {
		return fabric.Machine{}, err
	}

	return n.machine(d.endpoint), nil
}

// Machines implements [fabric.Fabric], in two requests: the list of nodes says what belongs
// together, that of resources what it is.
func (d *driver) Machines(ctx context.Context) ([]fabric.Machine, error) {
	nodes, err := get(ctx, d, "list the fabric's machines", "/nodes", detail, parseNodes)
	if err != nil {
		return nil, err
	}

	all, err := d.resources(ctx)
	if err != nil {
		return nil, err
	}

	out := make([]fabric.Machine, 0, len(nodes))
	for _, n := range assemble(nodes, all) {
		out = append(out, n.machine(d.endpoint))
	}

	return out, nil
}

// assemble puts the details of resources into nodes, and adds the CPUs that stand alone.
func assemble(nodes []node, all []resource) []node {
	byID := make(map[string]resource, len(all))
	for _, r := range all {
		byID[strings.ToLower(r.id)] = r
	}

	placed := map[string]bool{}
	nodes = slices.Clone(nodes)

	for i, n := range nodes {
		parts := slices.Clone(n.resources)

		for j, part := range parts {
			if whole, ok := byID[strings.ToLower(part.id)]; ok {
				parts[j] = whole
			}

			placed[strings.ToLower(part.id)] = true
		}

		nodes[i].resources = parts
	}

	for _, r := range all {
		if r.typ == typeCPU && len(r.nodes) == 0 && !placed[strings.ToLower(r.id)] {
			nodes = append(nodes, node{id: r.id, resources: []resource{r}})
		}
	}

	return nodes
}

// Free implements [fabric.Fabric]: there is one pool for all machines.
func (d *driver) Free(ctx context.Context, _, typ, model string) (fabric.FreeInfo, error) {
	all, err := d.resources(ctx)
	if err != nil {
		return fabric.FreeInfo{}, err
	}

	return freeOf(all, typ, model, d.endpoint), nil
}

// freeOf picks the free devices; an empty type or model stands for any.
func freeOf(all []resource, typ, model, pool string) fabric.FreeInfo {
	info := fabric.FreeInfo{Known: true, FabricID: pool}

	for _, r := range all {
		own := r.deviceType()
		if own == "" || (typ != "" && !strings.EqualFold(own, typ)) {
			continue
		}

		if r.model != "" && !slices.Contains(info.Models, r.model) {
			info.Models = append(info.Models, r.model)
		}

		if r.free() && (model == "" || r.device("").Is(own, model)) {
			info.Devices = append(info.Devices, r.device(""))
		}
	}

	slices.Sort(info.Models)
	slices.SortFunc(info.Devices, func(a, b fabric.Device) int { return strings.Compare(a.FabricID, b.FabricID) })
	info.Count = len(info.Devices)

	return info
}
