// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Each calls a function for all items, for at most limit of them at once (0: for all). One that
// fails keeps no other from its turn: the errors are joined, in the order of the items. Once the
// context has ended none is begun, and the error tells how many were not.
func Each[T any](ctx context.Context, limit int, items []T, do func(ctx context.Context, item T) error) error {
	if limit <= 0 {
		limit = len(items)
	}

	var (
		all    sync.WaitGroup
		errs   = make([]error, len(items), len(items)+1)
		places = make(chan struct{}, limit)
		begun  = 0
	)

	for i, item := range items {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
		}

		if ctx.Err() != nil { // both may be: select is not fair
			break
		}

		begun++

		all.Go(func() {
			defer func() { <-places }()

			errs[i] = do(ctx, item)
		})
	}

	all.Wait()

	if begun < len(items) {
		errs = append(errs, fmt.Errorf("%d of %d not begun: %w", len(items)-begun, len(items), cancelled(ctx)))
	}

	return errors.Join(errs...)
}
