// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"net/http"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/conductor"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
)

func validate(c *api.Call) (api.Answer, error) {
	n, err := c.Target(0)
	if err != nil {
		return api.Answer{}, err
	}

	body := map[string]any{}

	for _, kind := range []string{
		"boot", "deploy", "management", "network", "power", "bios", "console", "firmware", "inspect", "raid", "rescue", "storage",
	} {
		if kind == "firmware" && c.Newest < 86 {
			continue
		}

		body[kind] = verdict(n, kind)
	}

	return api.OK(body), nil
}

func verdict(n *record.Node, kind string) map[string]any {
	why := ""

	switch {
	case strings.HasPrefix(n.Interfaces[kind], "no-"):
		why = fault.Unsupported(n.Driver, kind)
	case kind == "deploy":
		why = conductor.DeployProblem(n)
	case kind == "power", kind == "management", kind == "boot":
		why = conductor.PowerProblem(n)
	}

	if why != "" {
		return map[string]any{"result": false, "reason": why}
	}

	return map[string]any{"result": true}
}

func showInventory(c *api.Call) (api.Answer, error) {
	n, err := c.Target(81)
	if err != nil {
		return api.Answer{}, err
	}

	data, ok, err := c.Inventory(n)
	if err == nil && !ok {
		err = fault.Refuse(http.StatusNotFound, "Node inventory record for node %d could not be found.", n.Seq)
	}

	return api.OK(data), err
}
