// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"net/http"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// ownIronic is the lab's own Ironic on the machines of a store.
func ownIronic(*store.Store, options) (http.Handler, error) {
	return nil, errors.New("-ironic: the lab's own Ironic is not there yet")
}
