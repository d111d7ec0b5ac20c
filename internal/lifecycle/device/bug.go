// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrBug marks a panic that did not end the process.
var ErrBug = errors.New("bug in the provider, please report it")

// guard makes a panic of f a failure like others. It would end the process, and with it what
// other resources are doing; and nobody would learn which devices came.
func (r *Run) guard(ctx context.Context, f func()) {
	defer func() {
		if p := recover(); p != nil {
			r.log(ctx, fmt.Sprintf("panic: %v\n%s", p, debug.Stack()))
			r.fail(&Failure{
				Step: "go on", Err: fmt.Errorf("%w: %v", ErrBug, p),
				Advice: "What was ordered from the fabric is in the journal: the next apply looks before it orders anything.",
			})
		}
	}()

	f()
}
