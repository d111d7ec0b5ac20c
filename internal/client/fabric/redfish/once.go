// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// once is something that a look reads once for all who ask, whatever comes of it. Whoever waits for
// the one who reads gives up with its own context.
type once[T any] struct {
	turn  wait.Places
	known bool
	value T
	err   error
}

func newOnce[T any]() *once[T] { return &once[T]{turn: make(wait.Places, 1)} }

func (o *once[T]) get(ctx context.Context, op string, read func(ctx context.Context) (T, error)) (T, error) {
	leave, err := o.turn.Enter(ctx)
	if err != nil {
		var none T

		return none, fabric.GivenUp(op, err)
	}
	defer leave()

	if !o.known {
		o.value, o.err = read(ctx)
		o.known = true
	}

	return o.value, o.err
}
