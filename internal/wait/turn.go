// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package wait

import "context"

// Places are so many places for so many at once: one of them is a lock. Whoever waits for one gives up
// with its context, which nobody does who waits for a mutex.
type Places chan struct{}

// Enter takes a place, and returns how it is given back. Its error is why the context ended.
func (p Places) Enter(ctx context.Context) (leave func(), err error) {
	select {
	case p <- struct{}{}:
		return func() { <-p }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
