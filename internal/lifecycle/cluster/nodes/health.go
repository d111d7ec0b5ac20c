// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
)

// Healthy says whether a machine is healthy by its Node, and why not. A Node that is not Ready
// is unhealthy once that lasts longer than unhealthyTimeout; a machine without a Node is
// unhealthy, and how long it may be without one is for [Overdue] to say.
func Healthy(s State, now time.Time, unhealthyTimeout time.Duration) (bool, string) {
	switch {
	case s.Problem != "":
		return false, s.Problem
	case s.Node == "":
		return false, "it has no Node"
	case s.Ready == "True":
		return true, ""
	case s.Ready == "":
		return true, fmt.Sprintf("Node %s has not said yet whether it is Ready", s.Node)
	case s.Since.IsZero():
		return true, fmt.Sprintf("Node %s is not Ready (%s), it does not say since when", s.Node, s.Ready)
	}

	lasts := now.Sub(s.Since)
	if lasts > unhealthyTimeout {
		return false, fmt.Sprintf("Node %s: Ready is %s since %s, longer than %s", s.Node, s.Ready, lasts.Round(time.Second), unhealthyTimeout)
	}

	return true, fmt.Sprintf("Node %s: Ready is %s since %s", s.Node, s.Ready, lasts.Round(time.Second))
}

// Overdue says whether a machine that was provisioned at some time should have a Node by now.
// Where nobody knows when that was, it is not.
func Overdue(s State, provisioned, now time.Time, startupTimeout time.Duration) (bool, string) {
	if s.Node != "" || provisioned.IsZero() {
		return false, ""
	}

	lasts := now.Sub(provisioned)

	return lasts > startupTimeout, fmt.Sprintf("no Node %s after it was provisioned", lasts.Round(time.Second))
}

// components are the static Pods of a control plane, as kubeadm makes them.
var components = []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"}

const (
	etcdPod   = "etcd"
	etcdVoter = "EtcdIsVoter" // a condition of Nodes of k3s and RKE2
	etcdRole  = "node-role.kubernetes.io/etcd"
)

// ControlPlane looks whether all Nodes of a control plane do their work: the check before
// each step that touches one of them. It returns everything that fails, empty where all is
// well: Nodes that are not Ready; kubeadm's static Pods that are missing or not Ready; etcd
// members of k3s and RKE2 that have no vote.
func ControlPlane(ctx context.Context, api Workload, nodes []string) (failing []string, err error) {
	all, err := api.Nodes(ctx)
	if err != nil {
		return nil, fmt.Errorf("look at the control plane: %w", err)
	}

	pods, err := api.Pods(ctx, "kube-system", "tier=control-plane")
	if err != nil {
		return nil, fmt.Errorf("look at the control plane: %w", err)
	}

	return controlPlane(nodes, all, pods), nil
}

// controlPlane is [ControlPlane] on what was seen.
func controlPlane(nodes []string, all []kube.Node, pods []kube.Pod) (failing []string) {
	byName := map[string]kube.Pod{}
	for _, pod := range pods {
		byName[pod.Name] = pod
	}

	expected := expectedPods(nodes, byName)

	for _, name := range nodes {
		i := slices.IndexFunc(all, func(n kube.Node) bool { return n.Name == name })
		if i < 0 {
			failing = append(failing, fmt.Sprintf("Node %s is missing", name))

			continue
		}

		n := all[i]

		if n.Ready != "True" {
			failing = append(failing, fmt.Sprintf("Node %s is not Ready (%s)", name, orNothing(n.Ready)))
		}

		vote, says := n.Conditions[etcdVoter]
		if _, member := n.Labels[etcdRole]; (says || member) && vote != "True" {
			failing = append(failing, fmt.Sprintf("Node %s has no vote in etcd (%s: %s)", name, etcdVoter, orNothing(vote)))
		}

		if ownPods(n) {
			continue
		}

		failing = append(failing, podsFailing(name, expected, byName)...)
	}

	return failing
}

// expectedPods says which static Pods each Node of a control plane should have. Other
// distributions have none, and etcd may be elsewhere: what no Node at all has is not expected.
func expectedPods(nodes []string, pods map[string]kube.Pod) []string {
	anywhere := func(component string) bool {
		return slices.ContainsFunc(nodes, func(node string) bool {
			_, there := pods[component+"-"+node]

			return there
		})
	}

	var expected []string

	if slices.ContainsFunc(components, anywhere) {
		expected = slices.Clone(components)
	}

	if anywhere(etcdPod) {
		expected = append(expected, etcdPod)
	}

	return expected
}

// ownPods reports whether a Node is of a distribution that runs its control plane its own way.
func ownPods(n kube.Node) bool {
	return strings.Contains(n.KubeletVersion, "+k3s") || strings.Contains(n.KubeletVersion, "+rke2")
}

func podsFailing(node string, expected []string, pods map[string]kube.Pod) (failing []string) {
	for _, component := range expected {
		switch pod, there := pods[component+"-"+node]; {
		case !there:
			failing = append(failing, fmt.Sprintf("Pod kube-system/%s-%s is missing", component, node))
		case !pod.Ready:
			failing = append(failing, fmt.Sprintf("Pod kube-system/%s is not Ready (%s)", pod.Name, orNothing(pod.Phase)))
		}
	}

	return failing
}

func orNothing(s string) string {
	if s == "" {
		return "it says nothing"
	}

	return s
}
