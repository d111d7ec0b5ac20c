// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package conductor

import (
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
)

// DeployProblem is what the validation of the deploy interface finds.
func DeployProblem(n *record.Node) string {
	switch n.Interfaces["deploy"] {
	case "direct":
		if record.Text(n.InstanceInfo, "image_source") == "" {
			return "Node " + n.UUID + " failed to validate deploy image info. Some parameters were missing. " +
				"Missing are: ['instance_info.image_source']"
		}

		sum, _ := checksum(n)
		if sum == "" && !strings.HasPrefix(record.Text(n.InstanceInfo, "image_source"), "oci://") {
			return `image_source's "image_checksum", or "image_os_hash_algo" and "image_os_hash_value" must be provided in instance_info ` +
				"for node " + n.UUID
		}
	case "ramdisk":
		if record.Text(n.InstanceInfo, "boot_iso") == "" && record.Text(n.InstanceInfo, "ramdisk") == "" {
			return "Cannot validate image information for node " + n.UUID + " because one or more parameters are missing from its " +
				"instance_info and insufficient information is present to boot from a remote volume. Missing are: ['kernel', 'ramdisk']"
		}
	}

	return PowerProblem(n)
}

// PowerProblem is what the validation of the power interface finds: missing driver_info.
func PowerProblem(n *record.Node) string {
	if n.Simulated() || bmcOf(n).url != "" {
		return ""
	}

	if n.Driver == "ipmi" {
		return "Missing the following IPMI credentials in node's driver_info: ['ipmi_address']."
	}

	return "Missing the following Redfish properties in node's driver_info: ['redfish_address']"
}
