// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Finish ends a release after the fabric has taken the GPU: the plug-ins are restarted, and
// when the cluster no longer shows it, the taint goes. While it shows it, the taint stays: a pod
// would be sent to a GPU that is not there.
func (n *Node) Finish(ctx context.Context, r Released) error {
	if r.Absent {
		return nil
	}

	_, restart := n.Announce(ctx)

	if err := n.left(ctx, r); err != nil {
		if len(r.Rules) > 0 {
			err = fmt.Errorf("%w; until it is gone the DeviceTaintRule stays: kubectl delete devicetaintrule %s", err, strings.Join(r.Rules, " "))
		}

		return errors.Join(restart, err)
	}

	return errors.Join(restart, n.untaint(ctx, r.Rules))
}

// left waits until the cluster no longer shows a GPU.
func (n *Node) left(ctx context.Context, r Released) error {
	if n.mode == DevicePlugin {
		_, err := n.settled(ctx, r.Before <= 1, func(count int64) bool { return count < max(r.Before, 1) })

		return err
	}

	err := wait.Until(ctx, wait.Quick, func(ctx context.Context) (wait.Verdict, string, error) {
		all, err := n.offers(ctx)
		if err != nil {
			return wait.Again, "", err
		}

		if found, _ := find(all, r.Target); len(found) > 0 {
			return wait.Again, "node " + n.name + " still offers GPU " + r.Target.label(), nil
		}

		return wait.Done, "", nil
	})
	if err != nil {
		return fmt.Errorf("GPU %s is detached, and the cluster must stop offering it: %w", r.Target.label(), err)
	}

	return nil
}

// Restore gives a GPU back to the cluster after it was not detached. With restart the plug-ins
// look for it again: they saw it go where it was taken from the kernel.
func (n *Node) Restore(ctx context.Context, r Released, restart bool) error {
	if r.Absent {
		return nil
	}

	err := n.untaint(ctx, r.Rules)
	if restart {
		_, restarted := n.Announce(ctx)
		err = errors.Join(err, restarted)
	}

	return err
}

// Welcome takes the taint of a killed run from a GPU that is to be used.
func (n *Node) Welcome(ctx context.Context, s Seen) error {
	if n.mode != DRA || s.UUID == "" {
		return nil
	}

	return n.untaint(ctx, []string{rule(offered{uuid: s.UUID})})
}

// Use is what is known of a GPU's use.
type Use int

// What may be known.
const (
	Untold Use = iota
	Free
	InUse
)

// Used tells of GPUs whether pods use them. A device plug-in does not tell, unless no pod of the
// node has any. It changes nothing, and decides nothing: [Node.Release] looks again.
func (n *Node) Used(ctx context.Context, all []Target) ([]Use, error) {
	out := make([]Use, len(all))

	if n.mode == DevicePlugin {
		pods, err := n.api.PodsOn(ctx, n.name)
		if err != nil {
			return nil, n.unasked(ctx, err)
		}

		if names, _, _ := takers(pods); len(names) == 0 {
			for i := range out {
				out[i] = Free
			}
		}

		return out, nil
	}

	offers, err := n.offers(ctx)
	if err != nil {
		return nil, err
	}

	claims, err := n.api.ResourceClaims(ctx)
	if err != nil {
		return nil, n.unasked(ctx, err)
	}

	for i, t := range all {
		switch found, told := find(offers, t); {
		case !told:
		case len(holders(claims, among(found))) > 0:
			out[i] = InUse
		default:
			out[i] = Free
		}
	}

	return out, nil
}
