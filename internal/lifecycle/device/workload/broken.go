// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
)

// broken is a cluster of which not even the kubeconfig can be read. Whether that matters its caller
// decides, as of one that does not answer: what only looks goes on, and so does what may do without.
type broken struct{ err error }

// Broken is a cluster that cannot be asked, and why.
func Broken(err error) API { return broken{err} }

func (b broken) Server() string { return "the cluster" }

func (b broken) Node(context.Context, string) (kube.Node, error) { return kube.Node{}, b.err }

func (b broken) PodsOn(context.Context, string) ([]kube.Pod, error) { return nil, b.err }

func (b broken) ResourceSlices(context.Context, string) ([]kube.ResourceSlice, error) {
	return nil, b.err
}

func (b broken) ResourceClaims(context.Context) ([]kube.ResourceClaim, error) { return nil, b.err }

func (b broken) CreateDeviceTaintRule(context.Context, string, kube.DeviceSelector, kube.Taint) error {
	return b.err
}

func (b broken) DeleteDeviceTaintRule(context.Context, string) error { return b.err }

func (b broken) HasDaemonSet(context.Context, string, string) (bool, error) { return false, b.err }

func (b broken) DeletePod(context.Context, string, string) error { return b.err }
