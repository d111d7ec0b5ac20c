// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package version is the API versions of the lab's Ironic: how one is agreed upon, and which
// one a field of a node needs.
package version

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
)

const (
	// Header carries the version that a request asks for and an answer is of.
	Header = "X-Openstack-Ironic-Api-Version"
	// MinHeader carries the oldest version of the server.
	MinHeader = "X-Openstack-Ironic-Api-Minimum-Version"
	maxHeader = "X-Openstack-Ironic-Api-Maximum-Version"

	// Default is the newest API version of Ironic 29.0.5.
	Default = 96
)

// Negotiate reads the version header, which is the only one that counts: the newer
// OpenStack-API-Version is silently ignored and the request served at 1.1.
func Negotiate(w http.ResponseWriter, r *http.Request, newest int) (minor int, ok bool) {
	w.Header().Set(MinHeader, "1.1")
	w.Header().Set(maxHeader, fmt.Sprintf("1.%d", newest))

	asked := r.Header.Get(Header)

	switch {
	case asked == "":
		minor = 1
	case strings.EqualFold(asked, "latest"):
		minor = newest
	default:
		major, rest, _ := strings.Cut(asked, ".")

		n, err := strconv.Atoi(rest)
		if err != nil || major != "1" {
			fault.WritePlain(w, http.StatusNotAcceptable, "Invalid value for X-OpenStack-Ironic-API-Version header")

			return 0, false
		}

		minor = n
	}

	if minor < 1 || minor > newest {
		fault.WritePlain(w, http.StatusNotAcceptable, fmt.Sprintf(
			"Version 1.%d was requested but the minor version is not supported by this service. "+
				"The supported version range is: [1.1, 1.%d].", minor, newest))

		return 0, false
	}

	w.Header().Set(Header, fmt.Sprintf("1.%d", minor))

	return minor, true
}

// FieldSince is the API version that a field of a node needs.
var FieldSince = map[string]int{
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
