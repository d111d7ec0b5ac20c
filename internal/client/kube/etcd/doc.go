// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package etcd talks to the etcd of a control plane that kubeadm made, by the JSON that etcd
// speaks over HTTPS beside gRPC on the port of its clients. A certificate of etcd's own authority is
// enough: who has that needs no SSH to take a member out.
package etcd
