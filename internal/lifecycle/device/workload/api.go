// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
)

// Mode is how a cluster gives GPUs to pods.
type Mode string

// The modes, as the operator's DEVICE_RESOURCE_TYPE tells them apart.
const (
	DRA          Mode = "dra"           // ResourceSlices and ResourceClaims
	DevicePlugin Mode = "device_plugin" // a number of nvidia.com/gpu
)

// The kinds of failure that a caller can tell apart with errors.Is.
var (
	ErrInUse       = errors.New("pods use the GPU")
	ErrInDoubt     = errors.New("the GPU cannot be told from the others of the node")
	ErrHidden      = errors.New("the cluster does not show the GPU")
	ErrNotUndone   = errors.New("not everything could be put back")
	ErrUnreachable = errors.New("the cluster cannot be asked")
)

// API is what is asked of a cluster; [kube.Client] is it.
type API interface {
	Server() string
	Node(ctx context.Context, name string) (kube.Node, error)
	PodsOn(ctx context.Context, node string) ([]kube.Pod, error)
	ResourceSlices(ctx context.Context, node string) ([]kube.ResourceSlice, error)
	ResourceClaims(ctx context.Context) ([]kube.ResourceClaim, error)
	CreateDeviceTaintRule(ctx context.Context, name string, devices kube.DeviceSelector, taint kube.Taint) error
	DeleteDeviceTaintRule(ctx context.Context, name string) error
	HasDaemonSet(ctx context.Context, namespace, name string) (bool, error)
	DeletePod(ctx context.Context, namespace, name string) error
}

var _ API = (*kube.Client)(nil)

// unasked is the error of a question that got no answer that can be used. One that ended
// because the caller gave up says only that.
func (n *Node) unasked(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}

	if ctx.Err() != nil {
		return fmt.Errorf("workload API of %s: %w", n.api.Server(), err)
	}

	return &unaskedError{server: n.api.Server(), err: err}
}

// unaskedError is [ErrUnreachable] with the client's words, which name what was asked.
type unaskedError struct {
	server string
	err    error
}

func (e *unaskedError) Error() string {
	return fmt.Sprintf("workload API of %s: %v (is it up, and is workload right?)", e.server, e.err)
}

// Unwrap returns the kind and the reason.
func (e *unaskedError) Unwrap() []error { return []error{ErrUnreachable, e.err} }
