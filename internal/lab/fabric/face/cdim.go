// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package face

// CDIM is what managers of NEC's CDIM differ in.
type CDIM struct {
	// Product shows a fabric adapter of each machine and the fabric's adapter behind it, and
	// takes orders that name that one (sourceDeviceID, destinationDeviceID). Without it, orders
	// name the CPU (targetCPUID, targetDeviceID), as in the open manager.
	Product bool
	// Bare machines consist of a CPU alone. A node is made of connections, so a bare machine
	// without a composed device is none.
	Bare bool
	// NoUUID hides under which id the operating system shows a GPU: the API has no field for
	// it, only plugins tell it as an attribute.
	NoUUID bool
}
