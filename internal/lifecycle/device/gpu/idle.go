// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpu

import (
	"context"
	"fmt"
)

// Idle tells of each of the named GPUs (UUIDs, keys of the result as given) whether nothing
// computes on it. A GPU that the host does not have is idle; of an id that is no UUID nothing
// is told. It changes nothing, and decides nothing: [Release] looks again, and at those who
// only hold the GPU too.
func Idle(ctx context.Context, ops Ops, ids []string) (map[string]bool, error) {
	idle := make(map[string]bool, len(ids))
	for _, id := range ids {
		if isUUID(id) {
			idle[id] = true
		}
	}

	present, err := ops.Present(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for GPUs on %s: %w", ops.Name(), err)
	}

	for _, id := range ids {
		if has(present, id) {
			idle[id] = true // a UUID without "GPU-" in front
		}
	}

	if len(present) == 0 { // then there may be no driver to ask
		return idle, nil
	}

	apps, err := ops.Apps(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for work on the GPUs of %s: %w", ops.Name(), err)
	}

	for _, a := range apps {
		for _, id := range ids {
			if sameUUID(a.UUID, id) {
				idle[id] = false
			}
		}
	}

	return idle, nil
}
