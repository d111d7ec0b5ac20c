// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !(cgo && ceph)

package rados

import (
	"context"
	"errors"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// Linked tells that this build has no librados.
const Linked = false

// ErrNotLinked is what Open says in a build without librados.
var ErrNotLinked = errors.New("this build has no librados: it takes its headers, a C compiler and \"CGO_ENABLED=1 go build -tags ceph\"")

// Open says that this build has no librados.
func Open(context.Context, Config) (api.Commander, error) { return nil, ErrNotLinked }
