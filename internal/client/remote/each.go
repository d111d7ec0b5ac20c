// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"sync"
)

// Each does something with every item, at most limit at a time. All are tried even if some
// fail; none is begun once the context has ended. The errors come joined, in the order of the items.
func Each[T any](ctx context.Context, limit int, items []T, do func(context.Context, T) error) error {
	var (
		group sync.WaitGroup
		errs  = make([]error, len(items))
		room  = make(chan struct{}, max(limit, 1))
	)

	for i, item := range items {
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
		}

		if ctx.Err() != nil {
			errs[i] = context.Cause(ctx)

			break
		}

		group.Go(func() {
			defer func() { <-room }()

			errs[i] = do(ctx, item)
		})
	}

	group.Wait()

	return errors.Join(errs...)
}
