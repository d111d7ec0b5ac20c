// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// ownIronic is the lab's own Ironic on the machines of a store.
func ownIronic(st *store.Store, o options) http.Handler {
	return ironic.New(st, ironic.Options{Pace: o.pace, Machines: o.machines})
}

// ownFabric is the lab's fabric of the machines of a store.
func ownFabric(st *store.Store, o options) http.Handler {
	return fabric.New(st, fabric.Options{Options: o.devices, Machines: o.machines})
}
