// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package wait

import "context"

// Twice makes a probe that is done once the given one says so at two looks in a row: what it looks
// at is told late, so that one look may be of the past. The note of the first says what was seen.
func Twice(probe Probe) Probe {
	before := false

	return func(ctx context.Context) (Verdict, string, error) {
		v, note, err := probe(ctx)
		done := err == nil && v == Done

		if done && !before {
			v = Again
		}

		before = done

		return v, note, err
	}
}
