// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
)

// Workload is the API of a workload cluster: [kube.Client] is one.
type Workload interface {
	Version(ctx context.Context) (kube.Version, error)
	Ready(ctx context.Context) error

	Nodes(ctx context.Context) ([]kube.Node, error)
	Node(ctx context.Context, name string) (kube.Node, error)
	SetProviderID(ctx context.Context, name, id string) error
	ApplyLabels(ctx context.Context, name string, labels map[string]string, force bool) error
	MergeMeta(ctx context.Context, name string, labels, annotations map[string]*string) error
	ChangeTaints(ctx context.Context, name string, change func([]kube.Taint) []kube.Taint) error
	Cordon(ctx context.Context, name string, cordoned bool) error
	DeleteNode(ctx context.Context, name string) error

	PodsOn(ctx context.Context, node string) ([]kube.Pod, error)
	Pods(ctx context.Context, namespace, labelSelector string) ([]kube.Pod, error)
	EvictPod(ctx context.Context, pod kube.Pod) error
	VolumeAttachments(ctx context.Context) ([]kube.VolumeAttachment, error)

	ConfigMap(ctx context.Context, namespace, name string) (map[string]string, error)
	EnsureToken(ctx context.Context, token kube.Token, expires time.Time) error
	DeleteToken(ctx context.Context, id string) error
}

var _ Workload = (*kube.Client)(nil)
