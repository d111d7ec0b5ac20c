// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/workload"
)

const gpuID = "GPU-aaaaaaaa-0000-4000-8000-000000000001"

var errRefused = errors.New("the driver does not let go")

// joint is a host with an operating system and a place in a cluster, which write down in one
// list what they are asked to do.
type joint struct {
	calls []string

	shown   bool  // the operating system has the GPU
	offered bool  // the cluster has it
	down    error // the cluster does not answer
	pod     string
	refuses error // of the operating system
}

func (j *joint) note(words string) { j.calls = append(j.calls, words) }

func (j *joint) did(words string) bool { return slices.Contains(j.calls, words) }

// osOf is the operating system's half.
type osOf struct{ *joint }

func (o osOf) Name() string                   { return "host-0" }
func (o osOf) Warnings() []string             { return []string{"of the host"} }
func (o osOf) Check(context.Context) error    { o.note("os check"); return o.refuses }
func (o osOf) Remember(context.Context) error { o.note("os remember"); return nil }
func (o osOf) Rescan(context.Context) error   { o.note("os rescan"); return nil }
func (o osOf) Finish(context.Context) error   { o.note("os finish"); return nil }
func (o osOf) Restore(context.Context) error  { o.note("os restore"); return nil }

func (o osOf) See(_ context.Context, r device.Record) (device.Record, bool, error) {
	o.note("os see")

	return r, o.shown, nil
}

func (o osOf) Release(context.Context, device.Record, bool) error {
	o.note("os release")

	return o.refuses
}

func (o osOf) Idle(_ context.Context, all []device.Record) (map[string]bool, error) {
	return map[string]bool{all[0].FabricID: true}, nil
}

// clusterOf is the cluster's half.
type clusterOf struct{ *joint }

func (c clusterOf) Server() string { return "https://edge.test:6443" }

func (c clusterOf) Node(_ context.Context, name string) (kube.Node, error) {
	return kube.Node{Name: name}, c.down
}

func (c clusterOf) PodsOn(_ context.Context, node string) ([]kube.Pod, error) {
	return []kube.Pod{{
		Namespace: "dra", Name: "dra-driver-nvidia-gpu-kubelet-plugin-x", Node: node, Ready: true,
		Labels: map[string]string{"app.kubernetes.io/name": "dra-driver-nvidia-gpu"},
	}}, c.down
}

func (c clusterOf) ResourceSlices(context.Context, string) ([]kube.ResourceSlice, error) {
	s := kube.ResourceSlice{Driver: "gpu.nvidia.com", Pool: "n", Node: "n"}
	if c.offered {
		s.Devices = []kube.Device{{Name: "gpu-0", Attributes: map[string]string{"uuid": gpuID}}}
	}

	return []kube.ResourceSlice{s}, c.down
}

func (c clusterOf) ResourceClaims(context.Context) ([]kube.ResourceClaim, error) {
	if c.pod == "" {
		return nil, c.down
	}

	return []kube.ResourceClaim{{
		Namespace: "team", Name: "c", Pods: []string{c.pod}, Devices: []kube.ClaimedDevice{{Driver: "gpu.nvidia.com", Pool: "n", Device: "gpu-0"}},
	}}, c.down
}

func (c clusterOf) CreateDeviceTaintRule(context.Context, string, kube.DeviceSelector, kube.Taint) error {
	c.note("taint")

	return c.down
}

func (c clusterOf) DeleteDeviceTaintRule(context.Context, string) error {
	c.note("untaint")

	return c.down
}

func (c clusterOf) HasDaemonSet(context.Context, string, string) (bool, error) { return true, c.down }

func (c clusterOf) DeletePod(context.Context, string, string) error {
	c.note("restart")

	return c.down
}

func (j *joint) both(skip device.SkipDrain) device.Node {
	return device.WorkloadNode(osOf{j}, workload.New(clusterOf{j}, "n", workload.DRA, ""), skip)
}

func (j *joint) alone(skip device.SkipDrain) device.Node {
	return device.WorkloadNode(nil, workload.New(clusterOf{j}, "n", workload.DRA, ""), skip)
}

var theGPU = device.Record{DeviceID: gpuID, FabricID: "f-1"}

// TestWorkloadNode_release is what is asked in which order, and what is taken back.
func TestWorkloadNode_release(t *testing.T) {
	t.Parallel()

	down := fmt.Errorf("read the Node: %w", kube.ErrUnreachable)

	cases := map[string]struct {
		set   joint
		alone bool
		skip  device.SkipDrain
		kind  error // of the error; nil: it is released
		calls string
		warns bool
	}{
		"both let go":       {set: joint{offered: true}, calls: "taint, os release"},
		"the cluster alone": {set: joint{offered: true}, alone: true, calls: "taint"},
		"a pod has it, and the host is not asked":    {set: joint{offered: true, pod: "train-0"}, kind: device.ErrInUse},
		"the host refuses, and the taint goes again": {set: joint{offered: true, refuses: errRefused}, kind: errRefused, calls: "taint, os release, untaint"},
		"the cluster does not answer":                {set: joint{down: down}, kind: device.ErrUnreachable},
		"and need not, for the host does":            {set: joint{down: down}, skip: device.SkipIfUnreachable, calls: "os release", warns: true},
		"and the host refuses":                       {set: joint{down: down, refuses: errRefused}, skip: device.SkipIfUnreachable, kind: errRefused, calls: "os release", warns: true},
		"and nobody else is there":                   {set: joint{down: down}, alone: true, skip: device.SkipIfUnreachable, kind: device.ErrUnreachable},
		"the kubeconfig cannot be read":              {set: joint{down: errors.New("no such file")}, kind: device.ErrUnreachable},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			j := c.set
			n := j.both(c.skip)

			if c.alone {
				n = j.alone(c.skip)
			}

			err := n.Release(t.Context(), theGPU, false)
			if !errors.Is(err, c.kind) || (err == nil) != (c.kind == nil) {
				t.Errorf("error %v", err)
			}

			if got := strings.Join(j.calls, ", "); got != c.calls {
				t.Errorf("calls %s, want %s", got, c.calls)
			}

			if warned := strings.Join(n.Warnings(), ""); strings.Contains(warned, "drained over its connection alone") != c.warns {
				t.Errorf("warnings %q", warned)
			}
		})
	}
}

// TestWorkloadNode_ends are the two ends of a release: the host's part first, then the cluster's.
func TestWorkloadNode_ends(t *testing.T) {
	t.Parallel()

	j := joint{offered: true}
	n := j.both(device.SkipNever)

	if err := n.Release(t.Context(), theGPU, false); err != nil {
		t.Fatal(err)
	}

	j.calls, j.offered = nil, false

	if err := n.Finish(t.Context()); err != nil || strings.Join(j.calls, ", ") != "os finish, restart, untaint" {
		t.Errorf("finish: %v, %v", err, j.calls)
	}

	j.calls, j.offered = nil, true

	if err := n.Restore(t.Context()); err != nil || strings.Join(j.calls, ", ") != "os restore, untaint, restart" {
		t.Errorf("restore: %v, %v", err, j.calls)
	}

	// Without a connection nothing was taken from the kernel, and no plug-in missed it.
	alone := joint{offered: true}
	n = alone.alone(device.SkipNever)

	if err := errors.Join(n.Release(t.Context(), theGPU, false), n.Restore(t.Context())); err != nil || alone.did("restart") || !alone.did("untaint") {
		t.Errorf("alone: %v, %v", err, alone.calls)
	}

	// Who was passed over is asked nothing afterwards.
	silent := joint{down: kube.ErrUnreachable}
	n = silent.both(device.SkipIfUnreachable)

	if err := errors.Join(n.Release(t.Context(), theGPU, false), n.Finish(t.Context())); err != nil || strings.Join(silent.calls, ", ") != "os release, os finish" {
		t.Errorf("passed over: %v, %v", err, silent.calls)
	}
}

// TestWorkloadNode_see: the plug-ins are told once the operating system has the GPU, and only
// where one was ordered; a refresh changes nothing.
func TestWorkloadNode_see(t *testing.T) {
	t.Parallel()

	j := joint{}
	n := j.both(device.SkipNever)

	if err := n.Remember(t.Context()); err != nil {
		t.Fatal(err)
	}

	if _, visible, err := n.See(t.Context(), theGPU); visible || err != nil || j.did("restart") {
		t.Errorf("the host does not have it: %t, %v, %v", visible, err, j.calls)
	}

	j.shown = true

	if _, visible, err := n.See(t.Context(), theGPU); visible || !errors.Is(err, device.ErrNotVisible) || !j.did("restart") {
		t.Errorf("the cluster does not show it: %t, %v, %v", visible, err, j.calls)
	}

	j.calls, j.offered = nil, true

	r, visible, err := n.See(t.Context(), device.Record{DeviceID: gpuID})
	if !visible || err != nil || r.DeviceID != gpuID || j.did("restart") || !j.did("untaint") {
		t.Errorf("both have it: %+v, %t, %v, %v", r, visible, err, j.calls)
	}

	fresh := joint{shown: true, offered: true}
	if _, visible, err := fresh.both(device.SkipNever).See(t.Context(), theGPU); !visible || err != nil || len(fresh.calls) != 1 {
		t.Errorf("a refresh: %t, %v, %v", visible, err, fresh.calls)
	}

	fresh.down = kube.ErrUnreachable
	if _, _, err := fresh.both(device.SkipNever).See(t.Context(), theGPU); !errors.Is(err, device.ErrUnreachable) {
		t.Errorf("no answer: %v", err)
	}
}

// TestWorkloadNode_idle: who of the two knows a user is right.
func TestWorkloadNode_idle(t *testing.T) {
	t.Parallel()

	for pod, want := range map[string]bool{"": true, "train-0": false} {
		j := joint{offered: true, pod: pod}

		for _, n := range []device.Node{j.both(device.SkipNever), j.alone(device.SkipNever)} {
			got, err := n.Idle(t.Context(), []device.Record{theGPU})
			if err != nil || got["f-1"] != want {
				t.Errorf("%s with pod %q: %v, %v", n.Name(), pod, got, err)
			}
		}
	}
}
