// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
)

// apply makes a Node what its machine wants. What will be ours is noted before it is set, and
// what was ours is forgotten after it was taken away, so that it can be called again after any
// failure. Nothing is asked of a Node that is as it should be.
func apply(ctx context.Context, api Workload, w Want, n kube.Node) error {
	c := changeFor(w, n)
	if c.none() {
		return nil
	}

	if c.providerID != "" {
		if err := api.SetProviderID(ctx, n.Name, c.providerID); err != nil {
			return fmt.Errorf("machine %s: %w", w.Machine, err)
		}
	}

	noted := n.Annotations[noteKey]

	if textOf(c.before) != noted {
		c.annotations[noteKey] = c.before
		noted = textOf(c.before)
	}

	if err := api.MergeMeta(ctx, n.Name, nil, c.annotations); err != nil {
		return fmt.Errorf("machine %s: %w", w.Machine, err)
	}

	if err := applyRest(ctx, api, n.Name, c); err != nil {
		return fmt.Errorf("machine %s: %w", w.Machine, err)
	}

	if c.uncordon {
		if err := Uncordon(ctx, api, n.Name); err != nil {
			return fmt.Errorf("machine %s: %w", w.Machine, err)
		}
	}

	if textOf(c.after) == noted {
		return nil
	}

	if err := api.MergeMeta(ctx, n.Name, nil, map[string]*string{noteKey: c.after}); err != nil {
		return fmt.Errorf("machine %s: %w", w.Machine, err)
	}

	return nil
}

// applyRest sets labels and taints. Ours are taken over from others who hold them: the user
// asks for these values here, and for all labels below a managed prefix.
func applyRest(ctx context.Context, api Workload, node string, c change) error {
	if c.labels != nil {
		if err := api.ApplyLabels(ctx, node, c.labels, true); err != nil {
			return fmt.Errorf("labels: %w", err)
		}
	}

	if len(c.drop) > 0 {
		gone := make(map[string]*string, len(c.drop))
		for _, key := range c.drop {
			gone[key] = nil
		}

		if err := api.MergeMeta(ctx, node, gone, nil); err != nil {
			return fmt.Errorf("labels: %w", err)
		}
	}

	if c.taints != nil {
		if err := api.ChangeTaints(ctx, node, c.taints); err != nil {
			return fmt.Errorf("taints: %w", err)
		}
	}

	return nil
}
