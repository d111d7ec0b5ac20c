// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package neccdim

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/document"
)

// Codes of the layout-apply service that say why it takes no order now (both with 409).
const (
	codeRunning   = "E40010" // one apply runs at a time
	codeSuspended = "E40027" // a suspended apply waits for a person
)

// side is how an order names the machine, in the words of its dialect.
type side struct {
	adapter string // product: the fabric's adapter behind the machine
	cpu     string // open manager
}

// procedure is one step of an order.
type procedure struct {
	OperationID         int    `json:"operationID"`
	Operation           string `json:"operation"`
	TargetCPUID         string `json:"targetCPUID,omitempty"`
	TargetDeviceID      string `json:"targetDeviceID,omitempty"`
	SourceDeviceID      string `json:"sourceDeviceID,omitempty"`
	DestinationDeviceID string `json:"destinationDeviceID,omitempty"`
	Dependencies        []int  `json:"dependencies"`
}

type order struct {
	Procedures []procedure `json:"procedures"`
}

func newOrder(operation string, s side, device string) order {
	p := procedure{OperationID: 1, Operation: operation, Dependencies: []int{}}

	if s.adapter != "" {
		p.SourceDeviceID, p.DestinationDeviceID = s.adapter, device
	} else {
		p.TargetCPUID, p.TargetDeviceID = s.cpu, device
	}

	return order{Procedures: []procedure{p}}
}

// Attach implements [fabric.Fabric].
func (d *driver) Attach(ctx context.Context, machine string, want fabric.Want) (fabric.Hint, error) {
	op := fmt.Sprintf("attach the %s %s to machine %s", want.Type, want.Device.FabricID, machine)

	if want.Device.FabricID == "" {
		return fabric.Hint{}, &fabric.Error{Op: op, Kind: fabric.ErrRefused, Message: "the order names no device"}
	}

	n, err := d.node(ctx, op, machine)
	if err != nil {
		return fabric.Hint{}, fabric.Unsent(err)
	}

	s, err := d.side(ctx, op, n)
	if err != nil {
		return fabric.Hint{}, fabric.Unsent(err)
	}

	task, err := d.apply(ctx, op, newOrder("connect", s, want.Device.FabricID))
	if err != nil {
		return fabric.Hint{}, err
	}

	return fabric.Hint{Devices: []fabric.Device{want.Device}, Task: task}, nil
}

// side finds out how an order names the machine.
func (d *driver) side(ctx context.Context, op string, n node) (side, error) {
	adapters := slices.Clone(n.resources)
	adapters = slices.DeleteFunc(adapters, func(r resource) bool { return r.typ != typeSource || !r.detected })

	if len(adapters) == 0 {
		s := side{cpu: n.id} // the open manager names a node after its CPU
		if cpu, ok := n.cpu(); ok {
			s.cpu = cpu.id
		}

		return s, nil
	}

	refused := func(format string, args ...any) error {
		return &fabric.Error{Op: op, Kind: fabric.ErrRefused, Message: fmt.Sprintf(format, args...)}
	}

	i := slices.IndexFunc(adapters, func(r resource) bool { return r.role == roleHost })
	if i < 0 {
		return side{}, refused("none of the machine's fabric adapters has the status %s", roleHost)
	}

	id := adapters[i].linked(typeDestination)
	if id == "" {
		return side{}, refused("the machine's fabric adapter %s is not linked to one of the fabric", adapters[i].id)
	}

	r, err := d.resource(ctx, op, id)
	if err != nil {
		return side{}, err
	}

	if r.typ != typeDestination || r.role != roleDevice {
		return side{}, refused("%s, to which the machine is linked, is a %s with the status %q: want a destinationFabricAdapter with %s",
			r.id, r.typ, r.role, roleDevice)
	}

	return side{adapter: r.id}, nil
}

// Detach implements [fabric.Fabric]. The device is read just before: an order would take it
// away from whatever machine it is on.
func (d *driver) Detach(ctx context.Context, machine string, dev fabric.Device) (fabric.Hint, error) {
	op := fmt.Sprintf("detach the %s %s from machine %s", dev.Type, dev.FabricID, machine)

	r, err := d.resource(ctx, op, dev.FabricID)
	if err != nil {
		return fabric.Hint{}, fabric.Unsent(err)
	}

	s, err := d.behind(ctx, op, fabric.MachineID(machine), r)
	if err != nil {
		return fabric.Hint{}, fabric.Unsent(err)
	}

	task, err := d.apply(ctx, op, newOrder("disconnect", s, r.id))
	if err != nil {
		return fabric.Hint{}, err
	}

	return fabric.Hint{Devices: []fabric.Device{dev}, Task: task}, nil
}

// behind finds out how an order names the machine that a device is on, and that it is on
// this machine.
func (d *driver) behind(ctx context.Context, op, machine string, r resource) (side, error) {
	elsewhere := func(where string) error {
		return &fabric.Error{Op: op, Kind: fabric.ErrNotFound, Message: "the device is " + where}
	}

	known := slices.ContainsFunc(r.nodes, func(id string) bool { return strings.EqualFold(id, machine) })
	adapter := r.linked(typeDestination)

	switch {
	case len(r.nodes) > 0 && !known:
		return side{}, elsewhere("on " + strings.Join(r.nodes, ", "))
	case known && adapter != "":
		return side{adapter: adapter}, nil
	case known && r.linked(typeSource) == "":
		return side{cpu: cpuOf(r, machine)}, nil
	case len(r.links) == 0 && len(r.nodes) == 0:
		return side{}, elsewhere("on no machine")
	}

	// The device does not say whose it is: ask the machine.
	n, err := d.node(ctx, op, machine)
	if err != nil {
		return side{}, err
	}

	if !slices.ContainsFunc(n.resources, func(o resource) bool { return strings.EqualFold(o.id, r.id) }) {
		return side{}, elsewhere("not on this machine")
	}

	if adapter != "" {
		return side{adapter: adapter}, nil
	}

	return d.side(ctx, op, n)
}

// cpuOf is the CPU of a machine that a device is linked to.
func cpuOf(r resource, machine string) string {
	for _, l := range r.links {
		if l.typ == typeCPU && strings.EqualFold(l.id, machine) {
			return l.id
		}
	}

	if id := r.linked(typeCPU); id != "" {
		return id
	}

	return machine
}

// apply sends an order and returns the id of its job.
func (d *driver) apply(ctx context.Context, op string, o order) (string, error) {
	r := fabric.Request{Op: op, Method: http.MethodPost, Path: "/layout-apply", Body: o, Mutates: true}

	a, err := d.layout.Do(ctx, r)
	if err != nil {
		return "", refusal(err)
	}

	doc, _ := document.Parse(a.Body)

	id := doc.Text("applyID")
	if id == "" {
		return "", d.layout.Unusable(r, a, "the answer names no applyID")
	}

	return id, nil
}

// refusal tells the two meanings of 409 apart: busy passes by itself; a suspended apply does
// not, and nobody but a person may say how it goes on. In both cases nothing was done.
func refusal(err error) error {
	var e *fabric.Error
	if !errors.As(err, &e) || e.Status != http.StatusConflict || !strings.Contains(e.Code+" "+e.Message, codeSuspended) {
		return err
	}

	own := *e
	own.Kind, own.Err = fabric.ErrSuspended, fabric.ErrRefused
	own.Message = strings.TrimSpace(e.Message + " (a person must resume or cancel it: PUT /layout-apply/{id}?action=resume or action=cancel)")

	return &own
}
