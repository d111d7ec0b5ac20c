// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
)

// DefaultNamespace is where NVIDIA's GPU operator runs unless somebody says otherwise.
const DefaultNamespace = "gpu-operator"

// Node is one node of a cluster. It holds what it must remember between its calls, so it
// serves one GPU at a time.
type Node struct {
	api       API
	name      string
	mode      Mode
	namespace string // of the GPU operator

	remembered bool
	before     []string // UUIDs that the node offered before a GPU came (DRA)
	counted    int64    // GPUs that it offered then (DevicePlugin)
	restarted  time.Time
	looked     bool // for plug-ins to restart
	plugins    int  // pods of plug-ins that the last restart found
	warnings   []string
}

// New returns a node of a cluster; an empty namespace is the default.
func New(api API, name string, mode Mode, namespace string) *Node {
	if namespace == "" {
		namespace = DefaultNamespace
	}

	return &Node{api: api, name: name, mode: mode, namespace: namespace}
}

// Name is how people know the node.
func (n *Node) Name() string { return "node " + n.name }

// Warnings are what a person should know, since the last call.
func (n *Node) Warnings() []string {
	out := n.warnings
	n.warnings = nil

	return out
}

func (n *Node) warn(format string, args ...any) {
	n.warnings = append(n.warnings, fmt.Sprintf(format, args...))
}

// status reads the node. One that the cluster does not have cannot be asked.
func (n *Node) status(ctx context.Context) (kube.Node, error) {
	node, err := n.api.Node(ctx, n.name)
	if errors.Is(err, kube.ErrNotFound) {
		return node, fmt.Errorf("%w: the cluster at %s has no node %q; did it join, and is node_name right?", ErrUnreachable, n.api.Server(), n.name)
	}

	return node, n.unasked(ctx, err)
}

// Check tells whether the cluster has the node and can give GPUs to pods in this mode.
func (n *Node) Check(ctx context.Context) error {
	if _, err := n.status(ctx); err != nil {
		return err
	}

	if n.mode == DevicePlugin {
		has, err := n.api.HasDaemonSet(ctx, n.namespace, pluginSet)
		if err == nil && !has {
			return fmt.Errorf("the cluster at %s has no DaemonSet %s/%s, so no pod would get the GPU; install the device plug-in, or correct workload.operator_namespace or workload.resource_type",
				n.api.Server(), n.namespace, pluginSet)
		}

		return n.unasked(ctx, err)
	}

	slices, err := n.api.ResourceSlices(ctx, n.name)
	if err == nil && slices == nil {
		return fmt.Errorf(`the cluster at %s has no dynamic resource allocation (resource.k8s.io); with a device plug-in set workload.resource_type = "device_plugin"`, n.api.Server())
	}

	return n.unasked(ctx, err)
}

// settleLimit bounds how long a look waits for plug-ins that are being restarted.
const settleLimit = 20 * time.Second

// Remember notes what the node offers before a GPU comes. While its plug-in is being restarted a node
// offers less than it has, and what it has would look new afterwards.
func (n *Node) Remember(ctx context.Context) error {
	n.remembered = false

	if n.mode == DRA {
		all, err := n.offers(ctx)
		if err != nil {
			return err
		}

		n.before, n.remembered = wholes(all), true

		return nil
	}

	limited, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()

	count, err := n.settled(limited, false, func(int64) bool { return true })
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		count, err = n.count(ctx) // as it is, then
	}

	if err != nil {
		return err
	}

	n.counted, n.remembered = count, true

	return nil
}

// count is how many GPUs the node offers to pods (DevicePlugin).
func (n *Node) count(ctx context.Context) (int64, error) {
	node, err := n.status(ctx)
	if err != nil {
		return 0, err
	}

	count, _ := quantity(node.Allocatable[gpuResource]) // what is not there is none

	return count, nil
}

// offers are the GPUs that the node's slices offer (DRA).
func (n *Node) offers(ctx context.Context) ([]offered, error) {
	all, err := n.api.ResourceSlices(ctx, n.name)
	if err != nil {
		return nil, n.unasked(ctx, err)
	}

	return offers(all), nil
}

// Seen is a GPU as the cluster shows it. What the cluster does not tell is empty.
type Seen struct{ UUID, BusID string }

// See looks for a GPU. One that is not there is [ErrHidden].
func (n *Node) See(ctx context.Context, t Target) (Seen, error) {
	if n.mode == DevicePlugin {
		return Seen{}, n.seeCount(ctx)
	}

	all, err := n.offers(ctx)
	if err != nil {
		return Seen{}, err
	}

	found, told := find(all, t)
	if !told && n.remembered {
		found = slices.DeleteFunc(slices.Clone(all), func(o offered) bool {
			return o.part() || slices.ContainsFunc(n.before, func(u string) bool { return gpu.SameUUID(u, o.uuid) })
		})
		if len(found) > 1 {
			return Seen{}, fmt.Errorf("%w: node %s offers %d new GPUs at once, and nobody tells which one it is", ErrHidden, n.name, len(found))
		}
	}

	for _, o := range found {
		if !o.part() {
			return Seen{UUID: o.uuid, BusID: o.busID}, nil
		}
	}

	if len(found) > 0 { // only the parts are offered
		return Seen{UUID: found[0].whole}, nil
	}

	return Seen{}, fmt.Errorf("%w: no ResourceSlice of node %s has GPU %s; %s are there%s", ErrHidden, n.name, t.label(), amount(len(wholes(all))), n.missing())
}

func (n *Node) seeCount(ctx context.Context) error {
	count, err := n.count(ctx)

	switch {
	case err != nil:
		return err
	case count > n.counted && n.remembered, count > 0 && !n.remembered:
		return nil
	case n.remembered:
		return fmt.Errorf("%w: node %s offers %d of %s, and offered %d before%s", ErrHidden, n.name, count, gpuResource, n.counted, n.missing())
	default:
		return fmt.Errorf("%w: node %s offers no %s%s", ErrHidden, n.name, gpuResource, n.missing())
	}
}

func amount(n int) string {
	if n == 0 {
		return "none"
	}

	return fmt.Sprintf("%d others", n)
}

// missing says what a restart did not find.
func (n *Node) missing() string {
	switch {
	case n.plugins > 0 || !n.looked:
		return ""
	case n.mode == DRA:
		return " (the node runs no kubelet plug-in of NVIDIA's DRA driver)"
	default:
		return " (the node runs no pod of " + n.namespace + "/" + pluginSet + ")"
	}
}
