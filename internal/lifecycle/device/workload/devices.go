// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
)

// Target is a GPU as the fabric or its host knows it.
type Target struct {
	ID    string // UUID; or what the fabric calls it; empty: not known
	BusID string // PCI address; empty: not known
}

// label names a target to people.
func (t Target) label() string {
	return gpu.GPU{UUID: t.ID, BusID: t.BusID}.Label()
}

// offered is a GPU, or a part of one, that a ResourceSlice offers.
type offered struct {
	driver, pool, name string
	uuid, whole        string // UUIDs of itself and, of a part, of the GPU
	busID              string
}

// part reports whether it is a part of a GPU (MIG).
func (o offered) part() bool { return o.whole != "" }

// is reports whether a claim was given it.
func (o offered) is(c kube.ClaimedDevice) bool {
	return o.driver == c.Driver && o.pool == c.Pool && o.name == c.Device
}

// offers are the GPUs of slices. What does not tell a UUID is no GPU of NVIDIA's driver; what a
// slice of an older generation of its pool says is out of date.
func offers(all []kube.ResourceSlice) []offered {
	newest := map[[2]string]int64{}
	for _, s := range all {
		newest[[2]string{s.Driver, s.Pool}] = max(newest[[2]string{s.Driver, s.Pool}], s.Generation)
	}

	var out []offered

	for _, s := range all {
		if s.Generation < newest[[2]string{s.Driver, s.Pool}] {
			continue
		}

		for _, d := range s.Devices {
			o := offered{driver: s.Driver, pool: s.Pool, name: d.Name, uuid: attribute(d, "uuid"), whole: attribute(d, "parentUUID")}

			o.busID, _ = gpu.NormalBusID(attribute(d, "pciBusID"))
			if o.uuid != "" {
				out = append(out, o)
			}
		}
	}

	return out
}

// attribute is one of a device. A driver may leave out the domain of its own attributes.
func attribute(d kube.Device, name string) string {
	if v, ok := d.Attributes[name]; ok {
		return v
	}

	var domains []string

	for full := range d.Attributes {
		if strings.HasSuffix(full, "/"+name) {
			domains = append(domains, full)
		}
	}

	if len(domains) == 0 {
		return ""
	}

	return d.Attributes[slices.Min(domains)]
}

// find are the GPU and its parts; told is false where what is known of the target does not
// say which of the node's GPUs it is, or that it is none of them.
func find(all []offered, t Target) (found []offered, told bool) {
	byUUID := gpu.LooksLikeUUID(t.ID)
	if !byUUID && t.BusID == "" {
		return nil, false
	}

	for _, o := range all {
		same := byUUID && (gpu.SameUUID(o.uuid, t.ID) || gpu.SameUUID(o.whole, t.ID))
		if same || !byUUID && o.busID == t.BusID {
			found = append(found, o)
		}
	}

	// Without an address in the slices nothing can be told by it.
	located := func(o offered) bool { return o.busID != "" }

	return found, byUUID || len(found) > 0 || !slices.ContainsFunc(all, func(o offered) bool { return !located(o) })
}

// wholes are the UUIDs of the GPUs, without their parts.
func wholes(all []offered) []string {
	var out []string

	for _, o := range all {
		if !o.part() {
			out = append(out, o.uuid)
		}
	}

	return out
}
