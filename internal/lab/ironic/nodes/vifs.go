// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"net/http"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
)

// VIFs need a network service, which a stand-alone Ironic has not: the noop interface.

func listVIFs(c *api.Call) (api.Answer, error) {
	_, err := c.Target(0)

	return api.OK(map[string]any{"vifs": []any{}}), err
}

// changeVIFs attaches and detaches nothing.
func changeVIFs(c *api.Call) (api.Answer, error) {
	_, err := c.Locked(0)

	return api.Answer{Status: http.StatusNoContent}, err
}
