// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
)

func listHistory(c *api.Call) (api.Answer, error) {
	n, all, err := historyOf(c)
	if err != nil {
		return api.Answer{}, err
	}

	detail := c.R.URL.Query().Get("detail")
	list := make([]any, 0, len(all))

	for _, e := range all {
		list = append(list, eventDocument(c, n, e, strings.EqualFold(detail, "true")))
	}

	return api.OK(map[string]any{"history": list}), nil
}

func showHistory(c *api.Call) (api.Answer, error) {
	n, all, err := historyOf(c)
	if err != nil {
		return api.Answer{}, err
	}

	for _, e := range all {
		if e.UUID == c.R.PathValue("event") {
			return api.OK(eventDocument(c, n, e, true)), nil
		}
	}

	return api.Answer{}, fault.NotFound("Node history record", c.R.PathValue("event"))
}

// historyOf is the history of the node in the path.
func historyOf(c *api.Call) (*record.Node, []record.Event, error) {
	n, err := c.Target(78)
	if err != nil {
		return nil, nil, err
	}

	all, err := c.History(n)

	return n, all, err
}

func eventDocument(c *api.Call, n *record.Node, e record.Event, detail bool) map[string]any {
	doc := map[string]any{
		"uuid": e.UUID, "created_at": record.Stamp(e.At), "severity": "ERROR", "event": e.Text,
		"links": []any{map[string]any{"href": c.Base() + "/v1/nodes/" + n.UUID + "/history/" + e.UUID, "rel": "self"}},
	}

	if detail {
		doc["event_type"], doc["conductor"], doc["user"] = e.Type, c.Host, nil
	}

	return doc
}
