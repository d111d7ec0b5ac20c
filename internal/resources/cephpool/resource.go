// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cephpool is the resource metal3_ceph_pool, and the list resource of the same name.
//
// Reading order: schema.go (what users write), model.go (how it looks in Go), plan.go, then
// the verbs.
package cephpool

import (
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

var (
	_ resource.ResourceWithConfigure      = (*poolResource)(nil)
	_ resource.ResourceWithIdentity       = (*poolResource)(nil)
	_ resource.ResourceWithImportState    = (*poolResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*poolResource)(nil)
	_ resource.ResourceWithValidateConfig = (*poolResource)(nil)
	_ list.ListResourceWithConfigure      = (*poolResource)(nil)
)

// pools are the kind of things that the resource is about. The identity follows a pool that is renamed.
var pools = cephvalue.Kind{Type: "ceph_pool", Thing: "pool", Key: "name", About: "Name of the pool."}

type poolResource struct{ cephvalue.Frame[cephvalue.Far] }

func framed() *poolResource { return &poolResource{cephvalue.Frame[cephvalue.Far]{Kind: pools}} }

// NewResource returns the resource metal3_ceph_pool.
func NewResource() resource.Resource { return framed() }

// NewListResource returns the list resource metal3_ceph_pool.
func NewListResource() list.ListResource { return framed() }
