// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package face

// Redfish is what Redfish services that compose systems differ in.
type Redfish struct {
	// Zones makes the service a Sunfish-like one: no CompositionService, no resource blocks, no
	// login; a device is attached by putting its endpoint into the zone of the machine.
	Zones bool
	// NoActions hides the actions of a system that add and remove a block: the links of the
	// system to its blocks are written instead.
	NoActions bool
	// NoLinks refuses to write them.
	NoLinks bool
	// NoExpand refuses $expand.
	NoExpand bool
	// PageSize is how many members a collection shows at a time; 0: all.
	PageSize int
	// NoTasks answers an order only when the work is done.
	NoTasks bool
	// NeedETag refuses a PATCH without If-Match. A zone always does.
	NeedETag bool
	// NoLogin takes requests without credentials.
	NoLogin bool
}
