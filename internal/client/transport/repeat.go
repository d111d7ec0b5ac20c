// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Repeat sends a read until it succeeds, fails in a way that again does not know, or the
// rhythm's errors are used up. Once patience is over, no other try begins: a far side that
// is slow to fail would hold its caller for minutes.
//
// Only errors that are marked with wait.Transient are repeated. The last one is returned.
func Repeat[T any](
	ctx context.Context, rhythm wait.Cadence, patience time.Duration,
	try func(ctx context.Context) (T, error), again func(error) bool,
) (T, error) {
	var (
		a     T
		last  error
		start = time.Now()
	)

	err := wait.Retry(ctx, rhythm, func(ctx context.Context) error {
		a, last = try(ctx)
		if !again(last) || time.Since(start) > patience {
			return nil
		}

		return last
	})
	if err == nil {
		err = last
	}

	return a, err
}
