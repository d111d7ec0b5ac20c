// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
)

func TestHealthy(t *testing.T) {
	t.Parallel()

	now := time.Unix(1_000_000, 0)

	for name, c := range map[string]struct {
		state   nodes.State
		healthy bool
		reason  string // part of it; "" means none
	}{
		"Ready":                                {nodes.State{Node: "n", Ready: "True"}, true, ""},
		"not Ready, not long enough":           {nodes.State{Node: "n", Ready: "False", Since: now.Add(-4 * time.Minute)}, true, "Ready is False since 4m0s"},
		"not Ready, exactly as long as may be": {nodes.State{Node: "n", Ready: "False", Since: now.Add(-5 * time.Minute)}, true, "since 5m0s"},
		"not Ready for too long":               {nodes.State{Node: "n", Ready: "False", Since: now.Add(-6 * time.Minute)}, false, "longer than 5m0s"},
		"unknown for too long":                 {nodes.State{Node: "n", Ready: "Unknown", Since: now.Add(-6 * time.Minute)}, false, "Ready is Unknown"},
		"not Ready since nobody knows when":    {nodes.State{Node: "n", Ready: "False"}, true, "does not say since when"},
		"not Ready since tomorrow":             {nodes.State{Node: "n", Ready: "False", Since: now.Add(time.Hour)}, true, "Ready is False"},
		"nothing is said yet":                  {nodes.State{Node: "n"}, true, "has not said yet"},
		"no Node":                              {nodes.State{}, false, "no Node"},
		"Nodes that contradict it":             {nodes.State{Problem: "two Nodes"}, false, "two Nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			healthy, reason := nodes.Healthy(c.state, now, 5*time.Minute)
			if healthy != c.healthy || (reason == "") != (c.reason == "") || !strings.Contains(reason, c.reason) {
				t.Errorf("got %v, %q", healthy, reason)
			}
		})
	}
}

func TestOverdue(t *testing.T) {
	t.Parallel()

	now := time.Unix(1_000_000, 0)

	for name, c := range map[string]struct {
		state       nodes.State
		provisioned time.Time
		overdue     bool
	}{
		"it may still come":        {nodes.State{}, now.Add(-9 * time.Minute), false},
		"it should be there":       {nodes.State{}, now.Add(-11 * time.Minute), true},
		"it is there":              {nodes.State{Node: "n"}, now.Add(-time.Hour), false},
		"nobody knows since when":  {nodes.State{}, time.Time{}, false},
		"it was made in an hour":   {nodes.State{}, now.Add(time.Hour), false},
		"it was made a moment ago": {nodes.State{}, now, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if overdue, reason := nodes.Overdue(c.state, c.provisioned, now, 10*time.Minute); overdue != c.overdue {
				t.Errorf("got %v, %q", overdue, reason)
			}
		})
	}
}

// plane is a control plane of kubeadm: three Nodes and their static Pods.
func plane() ([]kube.Node, []kube.Pod) {
	var (
		all  []kube.Node
		pods []kube.Pod
	)

	for _, n := range []string{"cp-0", "cp-1", "cp-2"} {
		all = append(all, node(n, ""))

		for _, component := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"} {
			pods = append(pods, kube.Pod{Namespace: "kube-system", Name: component + "-" + n, Node: n, Mirror: true, Ready: true, Phase: "Running"})
		}
	}

	return all, pods
}

func without(pods []kube.Pod, part string) []kube.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(p kube.Pod) bool { return strings.Contains(p.Name, part) })
}

func distribution(version string, labels, conditions map[string]string) kube.Node {
	n := node("cp-0", "")
	n.KubeletVersion, n.Labels, n.Conditions = version, labels, conditions

	return n
}

func TestControlPlane(t *testing.T) {
	t.Parallel()

	all, pods := plane()
	ill := slices.Clone(all)
	ill[1].Ready = "Unknown"
	unready := slices.Clone(pods)
	unready[3].Ready, unready[3].Phase = false, "Pending"
	member := map[string]string{"node-role.kubernetes.io/etcd": "true"}

	for name, c := range map[string]struct {
		nodes   []string
		all     []kube.Node
		pods    []kube.Pod
		failing []string // parts, in order
	}{
		"all is well":                         {[]string{"cp-0", "cp-1", "cp-2"}, all, pods, nil},
		"a Node is missing":                   {[]string{"cp-0", "cp-3"}, all, pods, []string{"Node cp-3 is missing"}},
		"a Node is not Ready":                 {[]string{"cp-0", "cp-1"}, ill, pods, []string{"Node cp-1 is not Ready (Unknown)"}},
		"only those that are asked for":       {[]string{"cp-0", "cp-2"}, ill, pods, nil},
		"a Pod is missing":                    {[]string{"cp-0", "cp-1"}, all, without(pods, "kube-scheduler-cp-1"), []string{"Pod kube-system/kube-scheduler-cp-1 is missing"}},
		"a Pod is not Ready":                  {[]string{"cp-0", "cp-1"}, all, unready, []string{"Pod kube-system/etcd-cp-0 is not Ready (Pending)"}},
		"etcd is elsewhere":                   {[]string{"cp-0", "cp-1"}, all, without(pods, "etcd"), nil},
		"etcd is missing on one":              {[]string{"cp-0", "cp-1"}, all, without(pods, "etcd-cp-1"), []string{"etcd-cp-1 is missing"}},
		"a distribution without static Pods":  {[]string{"cp-0", "cp-1"}, all, nil, nil},
		"k3s, a voter":                        {[]string{"cp-0"}, []kube.Node{distribution("v1.37.2+k3s1", member, map[string]string{"EtcdIsVoter": "True"})}, nil, nil},
		"k3s, no voter yet":                   {[]string{"cp-0"}, []kube.Node{distribution("v1.37.2+k3s1", member, map[string]string{"EtcdIsVoter": "False"})}, nil, []string{"has no vote in etcd (EtcdIsVoter: False)"}},
		"k3s, says nothing of its vote":       {[]string{"cp-0"}, []kube.Node{distribution("v1.37.2+k3s1", member, nil)}, nil, []string{"EtcdIsVoter: it says nothing"}},
		"k3s on another database":             {[]string{"cp-0"}, []kube.Node{distribution("v1.37.2+k3s1", nil, nil)}, nil, nil},
		"RKE2 is asked for its vote, no Pods": {[]string{"cp-0"}, []kube.Node{distribution("v1.37.2+rke2r1", member, map[string]string{"EtcdIsVoter": "True"})}, without(pods, "etcd-cp-0"), nil},
		"everything is told at once":          {[]string{"cp-1", "cp-9"}, ill, without(pods, "etcd-cp-1"), []string{"cp-1 is not Ready", "cp-9 is missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFake(c.all...)
			f.pods = c.pods

			failing, err := nodes.ControlPlane(t.Context(), f, c.nodes)
			if err != nil || len(failing) != len(c.failing) {
				t.Fatalf("got %q, %v", failing, err)
			}

			for i, part := range c.failing {
				if !strings.Contains(failing[i], part) {
					t.Errorf("got %q without %q", failing[i], part)
				}
			}
		})
	}
}

func TestControlPlane_cannotBeAsked(t *testing.T) {
	t.Parallel()

	for _, call := range []string{"nodes", "pods"} {
		f := newFake()
		f.fails[call] = []error{errBroken}

		if _, err := nodes.ControlPlane(t.Context(), f, []string{"cp-0"}); err == nil {
			t.Errorf("%s: no error", call)
		}
	}
}
