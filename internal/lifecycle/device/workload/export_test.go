// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import "github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"

// Find is find on what slices offer: how many parts and wholes are the GPU, and whether that is certain.
func Find(all []kube.ResourceSlice, t Target) (found int, told bool) {
	of, told := find(offers(all), t)

	return len(of), told
}
