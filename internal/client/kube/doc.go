// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package kube talks to the API server of a workload cluster: the calls on Nodes, Pods,
// evictions, volume attachments and bootstrap tokens that a cluster's life needs.
package kube

import (
	_ "k8s.io/apimachinery/pkg/apis/meta/v1"
	_ "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	_ "k8s.io/apimachinery/pkg/util/validation"
	_ "k8s.io/client-go/dynamic"
	_ "k8s.io/client-go/rest"
	_ "k8s.io/client-go/tools/clientcmd"
)
