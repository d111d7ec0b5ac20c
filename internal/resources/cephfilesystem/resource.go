// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cephfilesystem is the resource metal3_ceph_filesystem, and the list resource of the
// same name.
//
// Reading order: schema.go (what users write), model.go (how it looks in Go, to and from
// package fs), plan.go and lack.go (what a plan says), verbs.go, note.go (what is kept beside the state).
package cephfilesystem

import (
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

var (
	_ resource.ResourceWithConfigure      = (*fsResource)(nil)
	_ resource.ResourceWithIdentity       = (*fsResource)(nil)
	_ resource.ResourceWithImportState    = (*fsResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*fsResource)(nil)
	_ resource.ResourceWithValidateConfig = (*fsResource)(nil)
	_ list.ListResourceWithConfigure      = (*fsResource)(nil)
)

// filesystems are the kind of things that the resource is about.
var filesystems = cephvalue.Kind{Type: "ceph_filesystem", Thing: "file system", Key: "name", About: "Name of the file system."}

type fsResource struct {
	cephvalue.Frame[cephvalue.HostFar]
}

func framed() *fsResource { return &fsResource{cephvalue.Frame[cephvalue.HostFar]{Kind: filesystems}} }

// NewResource returns the resource metal3_ceph_filesystem.
func NewResource() resource.Resource { return framed() }

// NewListResource returns the list resource metal3_ceph_filesystem.
func NewListResource() list.ListResource { return framed() }
