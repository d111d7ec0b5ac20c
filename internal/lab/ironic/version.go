// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

const (
	versionHeader = "X-Openstack-Ironic-Api-Version"
	minHeader     = "X-Openstack-Ironic-Api-Minimum-Version"
	maxHeader     = "X-Openstack-Ironic-Api-Maximum-Version"

	// DefaultMinor is the newest API version of Ironic 29.0.5.
	DefaultMinor = 96
)

// negotiate reads the version header, which is the only one that counts: the newer
// OpenStack-API-Version is silently ignored and the request served at 1.1.
func (s *Service) negotiate(w http.ResponseWriter, r *http.Request) (minor int, ok bool) {
	w.Header().Set(minHeader, "1.1")
	w.Header().Set(maxHeader, fmt.Sprintf("1.%d", s.minor))

	asked := r.Header.Get(versionHeader)

	switch {
	case asked == "":
		minor = 1
	case strings.EqualFold(asked, "latest"):
		minor = s.minor
	default:
		major, rest, _ := strings.Cut(asked, ".")

		n, err := strconv.Atoi(rest)
		if err != nil || major != "1" {
			writePlainFault(w, http.StatusNotAcceptable, "Invalid value for X-OpenStack-Ironic-API-Version header")

			return 0, false
		}

		minor = n
	}

	if minor < 1 || minor > s.minor {
		writePlainFault(w, http.StatusNotAcceptable, fmt.Sprintf(
			"Version 1.%d was requested but the minor version is not supported by this service. "+
				"The supported version range is: [1.1, 1.%d].", minor, s.minor))

		return 0, false
	}

	w.Header().Set(versionHeader, fmt.Sprintf("1.%d", minor))

	return minor, true
}

// fieldSince is the API version that a field of a node needs.
var fieldSince = map[string]int{
	"driver_internal_info": 3, "name": 5, "inspection_finished_at": 6, "inspection_started_at": 6, "clean_step": 7,
	"raid_config": 12, "target_raid_config": 12, "network_interface": 20, "resource_class": 21,
	"boot_interface": 31, "console_interface": 31, "deploy_interface": 31, "inspect_interface": 31,
	"management_interface": 31, "power_interface": 31, "raid_interface": 31, "vendor_interface": 31,
	"storage_interface": 33, "traits": 37, "rescue_interface": 38, "bios_interface": 40, "fault": 42, "deploy_step": 44,
	"conductor_group": 46, "automated_clean": 47, "protected": 48, "protected_reason": 48, "conductor": 49, "owner": 50,
	"description": 51, "allocation_uuid": 52, "retired": 61, "retired_reason": 61, "lessee": 65, "network_data": 66,
	"boot_mode": 75, "secure_boot": 75, "shard": 82, "parent_node": 83, "firmware_interface": 86, "service_step": 87,
	"disable_power_off": 95, "instance_name": 104, "health": 109,
}

func (s *Service) versionDocument(base string) map[string]any {
	return map[string]any{
		"id": "v1", "status": "CURRENT", "min_version": "1.1", "version": fmt.Sprintf("1.%d", s.minor),
		"links": []any{map[string]any{"href": base + "/v1/", "rel": "self"}},
	}
}

func (s *Service) rootDocument(base string) map[string]any {
	return map[string]any{
		"name":            "OpenStack Ironic API",
		"description":     "Ironic is an OpenStack project which enables the provision and management of baremetal machines.",
		"default_version": s.versionDocument(base),
		"versions":        []any{s.versionDocument(base)},
	}
}

func (s *Service) v1Document(base string, minor int) map[string]any {
	doc := map[string]any{
		"id": "v1",
		"links": []any{
			map[string]any{"href": base + "/v1/", "rel": "self"},
			map[string]any{
				"href": "https://docs.openstack.org//ironic/latest/contributor//webapi.html", "rel": "describedby", "type": "text/html",
			},
		},
		"media_types": map[string]any{"base": "application/json", "type": "application/vnd.openstack.ironic.v1+json"},
		"version":     s.versionDocument(base),
	}

	for name, since := range map[string]int{
		"chassis": 1, "nodes": 1, "ports": 1, "drivers": 1, "portgroups": 23, "conductors": 49, "allocations": 52,
	} {
		if minor >= since {
			doc[name] = []any{
				map[string]any{"href": base + "/v1/" + name + "/", "rel": "self"},
				map[string]any{"href": base + "/" + name + "/", "rel": "bookmark"},
			}
		}
	}

	return doc
}
