// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// round is the rhythm of drains and fences: disruption budgets let the next Pod go when one
// is ready elsewhere. Failures that may pass are waited out until the deadline.
var round = wait.Cadence{First: 5 * time.Second, Errors: math.MaxInt}

// unreachableWait is how long the Pods of a Node that does not answer are waited for: only its
// kubelet can say that they ended. Cluster API waits as long.
const unreachableWait = 5 * time.Minute

// ErrUnanswered says that nobody knows what is on a Node, because the workload cluster never answered.
var ErrUnanswered = errors.New("the workload cluster does not answer")

// Options of a drain.
type Options struct {
	Timeout     time.Duration // 0: the context's deadline alone
	SkipVolumes bool          // do not wait until volumes are detached
}

// Drain takes a Node out of use: nothing new is put on it, and its Pods are evicted as far as
// disruption budgets allow, except those that belong to the Node itself (static Pods,
// DaemonSets) or have ended. It waits until they are gone and their volumes detached. The
// error says which Pods are left, and why; it is [ErrUnanswered] where nobody was ever told which
// there are. A Node that is not there is drained.
func Drain(ctx context.Context, api Workload, node string, o Options) error {
	outer := ctx

	if o.Timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, o.Timeout)
		defer cancel()

		ctx = limited
	}

	d := &drain{api: api, node: node, options: o, began: time.Now()}

	err := wait.Until(ctx, round, d.look)

	var late *wait.TimeoutError

	switch {
	case err == nil:
		return nil
	case errors.As(err, &late) && !d.answered && outer.Err() == nil:
		return fmt.Errorf("drain Node %s: %w: %s", node, ErrUnanswered, late.Error())
	default:
		return fmt.Errorf("drain Node %s: %w", node, err)
	}
}

// cordonKey is the annotation of a Node that a drain has taken out of use: its cordon is ours to end,
// which one that a person made is not.
const cordonKey = "metal3.io/terraform-drained"

// Uncordon lets new Pods on a Node again that a drain has taken out of use, and forgets that only then.
// A Node that somebody else has cordoned stays as it is, and one that is not there is done.
func Uncordon(ctx context.Context, api Workload, node string) error {
	n, err := api.Node(ctx, node)
	if err == nil && drained(n) {
		if err = api.Cordon(ctx, node, false); err == nil {
			err = api.MergeMeta(ctx, node, nil, map[string]*string{cordonKey: nil})
		}
	}

	if err != nil && !errors.Is(err, kube.ErrNotFound) {
		return fmt.Errorf("uncordon Node %s: %w", node, err)
	}

	return nil
}

// drained reports whether a drain has taken a Node out of use.
func drained(n kube.Node) bool {
	_, ours := n.Annotations[cordonKey]

	return ours
}

// drain is a drain under way.
type drain struct {
	api     Workload
	node    string
	options Options
	began   time.Time

	answered bool // Pods were listed at least once
}

// look is the probe of the wait: each round looks first, so that a new round repairs what an
// earlier one did not reach.
func (d *drain) look(ctx context.Context) (wait.Verdict, string, error) {
	n, err := d.api.Node(ctx, d.node)

	switch {
	case errors.Is(err, kube.ErrNotFound):
		return wait.Done, "", nil
	case err != nil:
		return wait.Again, "", err
	case !n.Unschedulable:
		if err := d.cordon(ctx); err != nil {
			return wait.Again, "", err
		}
	}

	left, err := d.evict(ctx, n.Ready == "Unknown")
	if err != nil || len(left) > 0 {
		return wait.Again, podsLeft(left), err
	}

	if d.options.SkipVolumes || n.Ready == "Unknown" {
		return wait.Done, "", nil
	}

	volumes, err := attached(ctx, d.api, d.node)
	if err != nil || len(volumes) > 0 {
		return wait.Again, volumesLeft(volumes), err
	}

	return wait.Done, "", nil
}

// cordon takes the Node out of use, and notes before that it is our doing.
func (d *drain) cordon(ctx context.Context) error {
	mark := "true"

	if err := d.api.MergeMeta(ctx, d.node, nil, map[string]*string{cordonKey: &mark}); err != nil {
		return err
	}

	return d.api.Cordon(ctx, d.node, true)
}

// evict asks all Pods to go that have not been asked yet, and says which are still there.
func (d *drain) evict(ctx context.Context, unreachable bool) (left []string, err error) {
	pods, err := d.api.PodsOn(ctx, d.node)
	if err != nil {
		return nil, err
	}

	d.answered = true

	for _, pod := range pods {
		name := pod.Namespace + "/" + pod.Name

		switch {
		case pod.Node != d.node || stays(pod):
		case pod.Deleting && unreachable && time.Since(d.began) >= unreachableWait:
		case pod.Deleting:
			left = append(left, name+" (is ending)")
		default:
			why, err := d.evictOne(ctx, pod)
			if err != nil {
				return left, err
			}

			left = append(left, name+" ("+why+")")
		}
	}

	return left, nil
}

// evictOne says what came of an eviction. What may pass is no error: the other Pods need not
// wait for it.
func (d *drain) evictOne(ctx context.Context, pod kube.Pod) (string, error) {
	err := d.api.EvictPod(ctx, pod)

	var blocked *kube.BlockedError

	switch {
	case err == nil:
		return "evicted just now", nil
	case errors.As(err, &blocked):
		return "may not be evicted: " + blocked.Reason, nil
	case wait.IsTransient(err) && ctx.Err() == nil:
		return err.Error(), nil
	default:
		return "", err
	}
}

// stays reports whether a drain leaves a Pod alone.
func stays(pod kube.Pod) bool {
	return pod.Mirror || ended(pod) || slices.ContainsFunc(pod.Owners, func(o kube.Owner) bool { return o.Kind == "DaemonSet" })
}

func ended(pod kube.Pod) bool { return pod.Phase == "Succeeded" || pod.Phase == "Failed" }

// attached lists the volumes that are attached to a Node.
func attached(ctx context.Context, api Workload, node string) ([]string, error) {
	all, err := api.VolumeAttachments(ctx)
	if err != nil {
		return nil, err
	}

	var names []string

	for _, a := range all {
		if a.Node == node {
			names = append(names, a.Name)
		}
	}

	slices.Sort(names)

	return names, nil
}

func podsLeft(left []string) string { return counted(left, "Pods are left") }

func volumesLeft(names []string) string { return counted(names, "volumes are attached") }

// counted lists names, and of many only the first.
func counted(names []string, what string) string {
	if len(names) == 0 {
		return ""
	}

	text := strings.Join(names[:min(len(names), shown)], ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}

	return fmt.Sprintf("%d %s: %s", len(names), what, text)
}
