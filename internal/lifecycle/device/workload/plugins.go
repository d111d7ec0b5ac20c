// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// pluginSet is the DaemonSet of the device plug-in; monitorSet reads the GPUs for metrics, and
// keeps those that it found at its start.
const (
	pluginSet  = "nvidia-device-plugin-daemonset"
	monitorSet = "nvidia-dcgm"
)

// draNames are the names that the chart of NVIDIA's DRA driver has had: the label
// app.kubernetes.io/name, and the beginning of its pods' names.
var draNames = []string{"nvidia-dra-driver-gpu", "dra-driver-nvidia-gpu"}

const (
	nameLabel = "app.kubernetes.io/name"
	draSuffix = "-kubelet-plugin"
)

// ownRest is how long plug-ins that we restarted are left alone.
const ownRest = 45 * time.Second

// isDRAPlugin, isPlugin and isMonitor tell the plug-ins of a node by their pods.
func isDRAPlugin(p kube.Pod) bool {
	return slices.ContainsFunc(draNames, func(name string) bool {
		return p.Labels[nameLabel] == name && strings.HasPrefix(p.Name, name+draSuffix)
	})
}

func (n *Node) isPlugin(p kube.Pod) bool { return n.isOf(p, pluginSet) }

func (n *Node) isMonitor(p kube.Pod) bool { return n.isOf(p, monitorSet) }

func (n *Node) isOf(p kube.Pod, set string) bool {
	return p.Namespace == n.namespace && slices.Contains(p.Owners, kube.Owner{Kind: "DaemonSet", Name: set})
}

// Restart makes the plug-ins of the node look again at which GPUs there are: they do so only
// when they start. Those that are starting are left alone.
func (n *Node) Restart(ctx context.Context) error {
	if !n.restarted.IsZero() && time.Since(n.restarted) < ownRest {
		return nil
	}

	_, err := n.Announce(ctx)

	return err
}

// Announce is [Node.Restart] for a GPU that came or went just now, however long ago the last
// one was; done is false where a plug-in that is starting may have looked before that.
//
// The operator restarts the whole DaemonSets. A rollout goes through all nodes of a cluster, one
// by one, and takes their GPUs from them for a while; the pods of this node are enough.
func (n *Node) Announce(ctx context.Context) (done bool, err error) {
	pods, err := n.api.PodsOn(ctx, n.name)
	if err != nil {
		return false, n.unasked(ctx, err)
	}

	done = true
	found := 0

	for _, p := range pods {
		main := n.mode == DRA && isDRAPlugin(p) || n.mode == DevicePlugin && n.isPlugin(p)

		switch {
		case !main && (n.mode == DRA || !n.isMonitor(p)):
			continue
		case main:
			found++
		}

		if p.Deleting || !p.Ready {
			done = done && (!main || p.Deleting)

			continue
		}

		if err := n.api.DeletePod(ctx, p.Namespace, p.Name); err != nil {
			return false, n.unasked(ctx, err)
		}

		n.restarted = time.Now()
	}

	n.looked, n.plugins = true, found

	return done, nil
}

// resting reports whether the plug-ins have started again, in words where they have not.
func (n *Node) resting(pods []kube.Pod) string {
	up := 0

	for _, p := range pods {
		if n.isPlugin(p) && p.Ready && !p.Deleting {
			up++
		} else if n.isPlugin(p) {
			return "its device plug-in is starting"
		}
	}

	if up < n.plugins {
		return "its device plug-in is gone"
	}

	return ""
}

// settled waits until the device plug-in is at rest and the number of GPUs is as wanted, both
// twice in a row. A node whose last GPU went needs no plug-in.
func (n *Node) settled(ctx context.Context, last bool, wanted func(int64) bool) (count int64, err error) {
	before := int64(-1)

	err = wait.Until(ctx, wait.Quick, func(ctx context.Context) (wait.Verdict, string, error) {
		pods, err := n.api.PodsOn(ctx, n.name)
		if err != nil {
			return wait.Again, "", n.unasked(ctx, err)
		}

		if count, err = n.count(ctx); err != nil {
			return wait.Again, "", err
		}

		same := count == before
		before = count
		note := fmt.Sprintf("node %s offers %d of %s", n.name, count, gpuResource)

		why := n.resting(pods)
		if why != "" {
			note += ", " + why
		}

		if same && wanted(count) && (why == "" || last && count == 0) {
			return wait.Done, note, nil
		}

		return wait.Again, note, nil
	})

	return count, err //nolint:wrapcheck // of wait: it says what was seen
}
