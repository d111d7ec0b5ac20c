// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nec

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// What a step of an order does.
const (
	opConnect    = "connect"
	opDisconnect = "disconnect"
	opBoot       = "boot"
	opShutdown   = "shutdown"
)

// procedure is one step of an order, in whichever dialect it came.
type procedure struct {
	ID        int    `json:"id"`
	Operation string `json:"operation"`
	Source    string `json:"source,omitempty"` // the CPU, or the fabric I/O adapter of the product
	Device    string `json:"device"`           // what is connected; of boot and shutdown: the CPU
	After     []int  `json:"after,omitempty"`  // steps that must be complete before
}

// dialect is how the ids of a step are called, and which operations there are.
type dialect struct {
	source, device string
	operations     []string
}

var (
	openSource = dialect{"targetCPUID", "targetDeviceID", []string{opBoot, opShutdown, opConnect, opDisconnect}}
	product    = dialect{"sourceDeviceID", "destinationDeviceID", []string{opConnect, opDisconnect}}
)

// decodeOrder reads an order as strictly as the service does: what its schema does not allow,
// is refused before anything is done.
func decodeOrder(raw []byte, d dialect) ([]procedure, error) {
	var body struct {
		Procedures *[]json.RawMessage `json:"procedures"`
	}

	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, errors.New("JSON decode error")
	}

	if body.Procedures == nil {
		return nil, errors.New("procedures: Field required")
	}

	steps := make([]procedure, 0, len(*body.Procedures))

	for i, raw := range *body.Procedures {
		step, err := d.decode(raw)
		if err != nil {
			return nil, fmt.Errorf("procedures[%d]: %w", i, err)
		}

		steps = append(steps, step)
	}

	return inOrder(steps)
}

func (d dialect) decode(raw json.RawMessage) (procedure, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return procedure{}, errors.New("not an object")
	}

	var (
		p    procedure
		errs []error
	)

	need := func(name string, into any) {
		value, ok := fields[name]

		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("%q is a required property", name))
		case string(value) == "null" || json.Unmarshal(value, into) != nil:
			errs = append(errs, fmt.Errorf("%s: unexpected type", name))
		}
	}

	need("operationID", &p.ID)
	need("operation", &p.Operation)
	need("dependencies", &p.After)
	need(d.device, &p.Device)

	if p.Operation == opConnect || p.Operation == opDisconnect || fields[d.source] != nil {
		need(d.source, &p.Source)

		if p.Source == "" {
			errs = append(errs, fmt.Errorf("%s is too short", d.source))
		}
	}

	if p.Device == "" {
		errs = append(errs, fmt.Errorf("%s is too short", d.device))
	}

	if !slices.Contains(d.operations, p.Operation) {
		errs = append(errs, fmt.Errorf("%q is not one of %q", p.Operation, d.operations))
	}

	if len(errs) > 0 {
		return procedure{}, errs[0] // the service names one
	}

	return p, nil
}

// inOrder sorts the steps so that each comes after those that it waits for.
func inOrder(steps []procedure) ([]procedure, error) {
	known := map[int]bool{}

	for _, p := range steps {
		if known[p.ID] {
			return nil, fmt.Errorf("operationID %d is there twice", p.ID)
		}

		known[p.ID] = true
	}

	for _, p := range steps {
		for _, id := range p.After {
			if !known[id] {
				return nil, fmt.Errorf("operationID %d depends on %d, which is not there", p.ID, id)
			}
		}
	}

	sorted, done := make([]procedure, 0, len(steps)), map[int]bool{}

	for len(sorted) < len(steps) {
		i := slices.IndexFunc(steps, func(p procedure) bool {
			return !done[p.ID] && !slices.ContainsFunc(p.After, func(id int) bool { return !done[id] })
		})
		if i < 0 {
			return nil, errors.New("the dependencies go round in a circle")
		}

		done[steps[i].ID] = true
		sorted = append(sorted, steps[i])
	}

	return sorted, nil
}

// doc is the step as the service shows it.
func (p procedure) doc(d dialect) obj {
	o := obj{"operationID": p.ID, "operation": p.Operation, d.device: p.Device, "dependencies": append([]int{}, p.After...)}
	if p.Source != "" {
		o[d.source] = p.Source
	}

	return o
}
