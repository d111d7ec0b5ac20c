// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// OutOfService is the taint that says that a Node is surely off: its Pods are ended without
// its kubelet, and its volumes detached at once. Kubernetes has it since 1.28.
var OutOfService = kube.Taint{Key: "node.kubernetes.io/out-of-service", Value: "nodeshutdown", Effect: "NoExecute"}

// Backup is what is put back on a Node when it is fenced no more. The zero value puts nothing
// back: labels and annotations that were lost with an interrupted run are set by [Join].
type Backup struct {
	Deleted             bool // the Node was deleted
	Labels, Annotations map[string]string
}

// Fence ends what ran on a Node whose machine is off, so that it can be started elsewhere. Its
// machine must be known to be off. It waits until no Pod that does not tolerate the taint and
// no volume is left. A workload cluster before 1.28 has no such taint: there the Node is
// deleted, and the backup says what was on it, also where the wait fails. A Node that is not
// there is fenced.
func Fence(ctx context.Context, api Workload, node string, timeout time.Duration) (Backup, error) {
	if timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()

		ctx = limited
	}

	f := &fence{api: api, node: node}

	if err := wait.Until(ctx, round, f.look); err != nil {
		return f.backup, fmt.Errorf("fence Node %s: %w", node, err)
	}

	return f.backup, nil
}

// fence is a fence under way.
type fence struct {
	api    Workload
	node   string
	taints *bool // whether the workload cluster knows the taint; nil until it was asked
	uid    string
	backup Backup
}

func (f *fence) look(ctx context.Context) (wait.Verdict, string, error) {
	if f.taints == nil {
		version, err := f.api.Version(ctx)
		if err != nil {
			return wait.Again, "", err
		}

		knows := version.AtLeast(1, 28)
		f.taints = &knows
	}

	n, err := f.api.Node(ctx, f.node)

	switch {
	case errors.Is(err, kube.ErrNotFound):
		return wait.Done, "", nil
	case err != nil:
		return wait.Again, "", err
	case !*f.taints:
		return f.remove(ctx, n)
	case !slices.Contains(n.Taints, OutOfService):
		err := f.api.ChangeTaints(ctx, f.node, func(have []kube.Taint) []kube.Taint {
			return editTaints(have, []kube.Taint{OutOfService}, nil)
		})
		if err != nil {
			return wait.Again, "", err
		}
	}

	return f.emptied(ctx)
}

// emptied looks whether anything is left on the Node. Not whether something is ending: a Pod
// that nobody has looked at yet is not ending either.
func (f *fence) emptied(ctx context.Context) (wait.Verdict, string, error) {
	pods, err := f.api.PodsOn(ctx, f.node)
	if err != nil {
		return wait.Again, "", err
	}

	var left []string

	for _, pod := range pods {
		tolerates := slices.ContainsFunc(pod.Tolerations, func(t kube.Toleration) bool { return t.Tolerates(OutOfService) })

		if pod.Node == f.node && !pod.Mirror && !ended(pod) && !tolerates {
			left = append(left, pod.Namespace+"/"+pod.Name)
		}
	}

	if len(left) > 0 {
		return wait.Again, podsLeft(left), nil
	}

	volumes, err := attached(ctx, f.api, f.node)
	if err != nil || len(volumes) > 0 {
		return wait.Again, volumesLeft(volumes), err
	}

	return wait.Done, "", nil
}

// remove deletes the Node, and looks again whether it is gone.
func (f *fence) remove(ctx context.Context, n kube.Node) (wait.Verdict, string, error) {
	if f.backup.Deleted && n.UID != f.uid {
		return wait.Again, "", fmt.Errorf("%w: Node %s was deleted and came back at once: its machine is not off", ErrMismatch, f.node)
	}

	if !f.backup.Deleted {
		f.uid = n.UID
		f.backup = Backup{Deleted: true, Labels: n.Labels, Annotations: n.Annotations}
	}

	if err := f.api.DeleteNode(ctx, f.node); err != nil {
		return wait.Again, "", err
	}

	return wait.Again, "the Node is being deleted", nil
}

// Unfence ends a fence once the machine is on: the taint goes; a Node that was deleted is
// waited for, and gets its labels and annotations again, but for those that it has already. It
// can be called again, and without a backup.
func Unfence(ctx context.Context, api Workload, node string, b Backup) error {
	err := wait.Until(ctx, round, func(ctx context.Context) (wait.Verdict, string, error) {
		n, err := api.Node(ctx, node)

		switch {
		case errors.Is(err, kube.ErrNotFound) && b.Deleted:
			return wait.Again, "the Node has not come back yet", nil
		case errors.Is(err, kube.ErrNotFound):
			return wait.Done, "", nil
		case err != nil:
			return wait.Again, "", err
		}

		if hasTaint(n.Taints) {
			if err := api.ChangeTaints(ctx, node, inService); err != nil {
				return wait.Again, "", err
			}
		}

		return wait.Done, "", api.MergeMeta(ctx, node, lacking(b.Labels, n.Labels), lacking(b.Annotations, n.Annotations))
	})
	if err != nil {
		return fmt.Errorf("end the fence of Node %s: %w", node, err)
	}

	return nil
}

func isOutOfService(t kube.Taint) bool { return taintID(t) == taintID(OutOfService) }

func hasTaint(taints []kube.Taint) bool { return slices.ContainsFunc(taints, isOutOfService) }

func inService(have []kube.Taint) []kube.Taint { return slices.DeleteFunc(have, isOutOfService) }

// lacking is what a Node does not have yet.
func lacking(backup, has map[string]string) map[string]*string {
	set := map[string]*string{}

	for key, value := range backup {
		if _, there := has[key]; !there {
			set[key] = &value
		}
	}

	return set
}
