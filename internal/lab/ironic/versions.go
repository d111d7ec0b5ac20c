// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
)

func versionDocument(base string, newest int) map[string]any {
	return map[string]any{
		"id": "v1", "status": "CURRENT", "min_version": "1.1", "version": fmt.Sprintf("1.%d", newest),
		"links": []any{map[string]any{"href": base + "/v1/", "rel": "self"}},
	}
}

func rootDocument(base string, newest int) map[string]any {
	return map[string]any{
		"name":            "OpenStack Ironic API",
		"description":     "Ironic is an OpenStack project which enables the provision and management of baremetal machines.",
		"default_version": versionDocument(base, newest),
		"versions":        []any{versionDocument(base, newest)},
	}
}

func v1Document(base string, minor, newest int) map[string]any {
	doc := map[string]any{
		"id": "v1",
		"links": []any{
			map[string]any{"href": base + "/v1/", "rel": "self"},
			map[string]any{
				"href": "https://docs.openstack.org//ironic/latest/contributor//webapi.html", "rel": "describedby", "type": "text/html",
			},
		},
		"media_types": map[string]any{"base": "application/json", "type": "application/vnd.openstack.ironic.v1+json"},
		"version":     versionDocument(base, newest),
	}

	for name, since := range map[string]int{
		"chassis": 1, "nodes": 1, "ports": 1, "drivers": 1, "portgroups": 23, "conductors": 49, "allocations": 52,
	} {
		if minor >= since {
			doc[name] = api.Links(base, name+"/")
		}
	}

	return doc
}
