// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"time"
)

// pause waits; false means that the context ended. The lab must not know the provider's package
// that waits, so it has this.
func pause(ctx context.Context, d time.Duration) bool {
	waiting, cancel := context.WithTimeout(ctx, d)
	defer cancel()

	<-waiting.Done()

	return ctx.Err() == nil
}
