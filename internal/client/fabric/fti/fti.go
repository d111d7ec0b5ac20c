// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package fti is what the two managers of FTI (FM and CM) have in common: the login, their ids,
// the way in which they word a model, and the codes of machines and devices.
package fti

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// atATime bounds the reads of a list that are under way together.
const atATime = 8

var uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// ID is the id of a machine as a path may hold it. What is no UUID is refused: a fabric
// would answer something else than a machine.
func ID(op, id string) (string, error) {
	clean := fabric.MachineID(id)
	if !uuidForm.MatchString(clean) {
		return "", &fabric.Error{Op: op, Kind: fabric.ErrConfig, Message: fmt.Sprintf("%q is no id of a machine: want a UUID", id)}
	}

	return clean, nil
}

// Conditions are the terms of a specification: {"column":"model","operator":"eq","value":"A100"}.
type Conditions = fabric.List[Condition]

// Condition is one term.
type Condition struct {
	Column   fabric.Text `json:"column"`
	Operator fabric.Text `json:"operator"`
	Value    fabric.Text `json:"value"`
}

// Models are the values that terms demand of the model column. Where there is no such column,
// the other names count that are known for it (a sample of the vendor has gpu_model).
func Models(all Conditions, column string) []string {
	for _, name := range []string{column, fabric.DefaultModelColumn, "gpu_model"} {
		var out []string

		for _, c := range all.Items {
			op := c.Operator.Trim()
			if c.Column.Trim() == name && (op == "" || strings.EqualFold(op, "eq")) && c.Value.Trim() != "" {
				out = append(out, c.Value.Trim())
			}
		}

		if len(out) > 0 {
			return out
		}
	}

	return nil
}

// Health reads res_op_status: its first character decides, and the second one is not
// documented. Nothing there, or nothing known, is not known.
func Health(raw fabric.Text) fabric.Health {
	switch s := raw.Trim(); {
	case strings.HasPrefix(s, "0"):
		return fabric.HealthOK
	case strings.HasPrefix(s, "1"):
		return fabric.HealthWarning
	case strings.HasPrefix(s, "2"):
		return fabric.HealthCritical
	default:
		return fabric.HealthUnknown
	}
}

// ReadAll reads machines, a few at a time, in their order. One that cannot be read makes the
// whole an error: a part of a list looks like a list.
func ReadAll(ctx context.Context, ids []string, read func(ctx context.Context, id string) (fabric.Machine, error)) ([]fabric.Machine, error) {
	out := make([]fabric.Machine, len(ids))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atATime)

	for i, id := range ids {
		group.Go(func() error {
			m, err := read(ctx, id)
			out[i] = m

			return err
		})
	}

	if err := group.Wait(); err != nil {
		return nil, err
	}

	return out, nil
}
