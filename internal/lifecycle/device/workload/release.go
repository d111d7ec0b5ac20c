// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// taintKey is what the operator taints devices with; the value is the GPU's UUID.
const taintKey = "k8s.io/device-uuid"

// The effects of taints. The second ends those who have the device, too.
const (
	noSchedule = "NoSchedule"
	noExecute  = "NoExecute"
)

// undoLimit bounds what is put back after a refusal, interrupted or not.
const undoLimit = 30 * time.Second

// Options say how careful a release is.
type Options struct {
	// Force ends pods that use the GPU where the cluster can tell which they are (DRA), and
	// asks nobody else.
	Force bool
	// Precise: somebody who sees the GPU itself decides afterwards whether it is in use, so
	// pods that may have another one do not count.
	Precise bool
}

// Released is what a release found and did.
type Released struct {
	Target Target
	Absent bool     // the cluster offered no such GPU
	Rules  []string // of taints
	Before int64    // GPUs of the node (DevicePlugin)
}

// Release makes the cluster let go of a GPU: pods that use it are a refusal that names them, a
// taint keeps new ones away, and who came in between is looked for once more. When it fails,
// everything that it did is undone before it returns, else the error is [ErrNotUndone] too.
func (n *Node) Release(ctx context.Context, t Target, o Options) (Released, error) {
	r := Released{Target: t}

	if _, err := n.status(ctx); err != nil {
		return r, err
	}

	if n.mode == DevicePlugin {
		return n.releaseCounted(ctx, r, o)
	}

	all, err := n.offers(ctx)
	if err != nil {
		return r, err
	}

	found, told := find(all, t)
	if len(found) == 0 {
		r.Absent = true

		return r, n.refuseUnknown(ctx, t, all, told, o)
	}

	if !o.Force {
		if err := n.refuseUse(ctx, t, found); err != nil {
			return r, err
		}
	}

	if err := n.close(ctx, &r, found, o); err != nil {
		return r, n.undone(ctx, r, err)
	}

	return r, nil
}

// releaseCounted refuses where pods may have the GPU. There is no way to keep new ones from it.
func (n *Node) releaseCounted(ctx context.Context, r Released, o Options) (Released, error) {
	pods, err := n.api.PodsOn(ctx, n.name)
	if err != nil {
		return r, n.unasked(ctx, err)
	}

	if r.Before, err = n.count(ctx); err != nil {
		return r, err
	}

	names, taken, exact := takers(pods)
	if len(names) == 0 || o.Force || o.Precise && exact && taken < r.Before {
		return r, nil
	}

	return r, &InUseError{GPU: r.Target.label(), Node: n.name, Users: names, Counted: true}
}

// refuseUse refuses a GPU that somebody was given.
func (n *Node) refuseUse(ctx context.Context, t Target, found []offered) error {
	claims, err := n.api.ResourceClaims(ctx)
	if err != nil {
		return n.unasked(ctx, err)
	}

	if users := holders(claims, among(found)); len(users) > 0 {
		return &InUseError{GPU: t.label(), Node: n.name, Users: users}
	}

	return nil
}

// refuseUnknown decides about a GPU that no slice offers. It is not in use, unless somebody has
// one of the node that the slices do not tell: they are empty while the driver's plug-in is down.
func (n *Node) refuseUnknown(ctx context.Context, t Target, all []offered, told bool, o Options) error {
	if o.Force {
		return nil
	}

	claims, err := n.api.ResourceClaims(ctx)
	if err != nil {
		return n.unasked(ctx, err)
	}

	known := among(all)
	users := holders(claims, func(d kube.ClaimedDevice) bool {
		return (d.Pool == n.name && !known(d)) || (!told && known(d))
	})

	if len(users) == 0 {
		return nil
	}

	return fmt.Errorf("%w: no ResourceSlice of node %s tells which one GPU %s is, and GPUs of the node are in use by %s", ErrInDoubt, n.name, t.label(), strings.Join(users, ", "))
}

// close keeps new pods from a GPU and its parts, and sees that none came before that. With
// force those who have it are ended, and waited for.
func (n *Node) close(ctx context.Context, r *Released, found []offered, o Options) error {
	effect := noSchedule
	if o.Force {
		effect = noExecute
	}

	for _, one := range found {
		done, err := n.taint(ctx, r, one, effect)
		if err != nil {
			return err
		}

		if !done {
			break
		}
	}

	if !o.Force {
		return n.refuseUse(ctx, r.Target, found)
	}

	if len(r.Rules) == 0 {
		return nil // nobody ends them
	}

	var used error

	err := wait.Until(ctx, wait.Quick, func(ctx context.Context) (wait.Verdict, string, error) {
		used = n.refuseUse(ctx, r.Target, found)

		switch {
		case used == nil:
			return wait.Done, "", nil
		case errors.Is(used, ErrInUse):
			return wait.Again, used.Error(), nil
		default:
			return wait.Again, "", used
		}
	})
	if err != nil && errors.Is(used, ErrInUse) {
		return fmt.Errorf("the taint did not end them: %w", used)
	}

	return err //nolint:wrapcheck // of wait or of ours
}

// taint taints one device; false where the cluster knows no such taints. The rule is noted
// before it is made: an answer that is lost may have been a yes.
func (n *Node) taint(ctx context.Context, r *Released, o offered, effect string) (bool, error) {
	name := rule(o)
	where, what := kube.DeviceSelector{Driver: o.driver, Pool: o.pool, Device: o.name}, kube.Taint{Key: taintKey, Value: o.uuid, Effect: effect}
	r.Rules = append(r.Rules, name)

	err := n.api.CreateDeviceTaintRule(ctx, name, where, what)
	if errors.Is(err, kube.ErrConflict) { // ours, of an earlier attempt with another effect or place
		if err = n.api.DeleteDeviceTaintRule(ctx, name); err == nil {
			err = n.api.CreateDeviceTaintRule(ctx, name, where, what)
		}
	}

	if errors.Is(err, kube.ErrUnsupported) {
		r.Rules = nil
		n.warn("The cluster at %s serves no DeviceTaintRules: nothing keeps new pods from GPU %s while it is taken away.", n.api.Server(), r.Target.label())

		return false, nil
	}

	return err == nil, n.unasked(ctx, err)
}

// rule is the name of the rule for a device: the same each time, so that what a killed run left is found.
func rule(o offered) string {
	return "metal3-" + strings.ToLower(gpu.BareUUID(o.uuid)) + "-taint"
}

// untaint takes rules back.
func (n *Node) untaint(ctx context.Context, rules []string) error {
	var failed []error

	for _, name := range rules {
		err := n.api.DeleteDeviceTaintRule(ctx, name)
		if err != nil && !errors.Is(err, kube.ErrUnsupported) {
			failed = append(failed, fmt.Errorf("delete DeviceTaintRule %s: %w", name, n.unasked(ctx, err)))
		}
	}

	return errors.Join(failed...)
}

// undone puts back what a release did that failed.
func (n *Node) undone(ctx context.Context, r Released, err error) error {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()

	if undo := n.untaint(limited, r.Rules); undo != nil {
		return fmt.Errorf("%w; %w: %w", err, ErrNotUndone, undo)
	}

	return err
}
