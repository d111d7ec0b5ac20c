// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/workload"
)

// TestParts: a GPU goes with the parts that are offered of it, and no other.
func TestParts(t *testing.T) {
	t.Parallel()

	of := func(name string, attributes map[string]string) kube.Device {
		return kube.Device{Name: name, Attributes: attributes}
	}
	all := []kube.ResourceSlice{{Driver: "gpu.nvidia.com", Pool: here, Node: here, Devices: []kube.Device{
		of("gpu-0", map[string]string{"gpu.nvidia.com/uuid": uuidA}),
		of("gpu-0-mig-1", map[string]string{"uuid": "MIG-1", "parentUUID": uuidA}),
		of("gpu-1-mig-1", map[string]string{"uuid": "MIG-2", "parentUUID": uuidB}),
		of("nic-0", map[string]string{"mac": "00:11"}),
	}}}

	for uuid, want := range map[string]int{uuidA: 2, uuidB: 1, uuidC: 0} {
		if found, told := workload.Find(all, target(uuid)); found != want || !told {
			t.Errorf("%s: %d, %t", uuid, found, told)
		}
	}
}

// FuzzFind: a UUID finds only what has it, whatever drivers write.
func FuzzFind(f *testing.F) {
	f.Add("uuid", uuidA, "pciBusID", busA, uuidA, busA)
	f.Add("gpu.nvidia.com/uuid", "[N/A]", "x/pciBusID", "00000000:1F:00.0", "S-1", busA)
	f.Add("/uuid", "", "parentUUID", uuidA, "", "")

	f.Fuzz(func(t *testing.T, name, value, other, more, id, bus string) {
		slice := kube.ResourceSlice{Devices: []kube.Device{{Name: "d", Attributes: map[string]string{name: value, other: more}}}}

		found, told := workload.Find([]kube.ResourceSlice{slice}, workload.Target{ID: id, BusID: bus})
		if found > 0 && (!told || id == "" && bus == "") {
			t.Errorf("%q: %d found, told %t", slice.Devices, found, told)
		}
	})
}
