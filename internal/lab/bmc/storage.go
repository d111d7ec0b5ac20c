// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
)

const diskBytes = int64(480103981056)

func simpleStorageList(c *call) (answer, error) {
	return c.resource(collection(c.path(), "SimpleStorage", c.path()+"/1")), nil
}

func oneSimpleStorage(c *call) (answer, error) {
	return c.resource(entity(c.path(), "SimpleStorage.v1_3_0.SimpleStorage", "1", "Simple", obj{
		"Status":  healthy(),
		"Devices": list{obj{"Name": "Disk 1", "CapacityBytes": diskBytes, "Status": healthy()}},
	})), nil
}

func storageList(c *call) (answer, error) {
	return c.resource(collection(c.path(), "Storage", c.path()+"/RAID1")), nil
}

func oneStorage(c *call) (answer, error) {
	return c.resource(entity(c.path(), "Storage.v1_13_0.Storage", "RAID1", "RAID controller", obj{
		"Status": healthy(), "Volumes": ref(c.path() + "/Volumes"),
		"Drives": refs(c.path()+"/Drives/D1", c.path()+"/Drives/D2"), "Drives@odata.count": 2,
		"StorageControllers": list{obj{
			"@odata.id": c.path() + "#/StorageControllers/0", "MemberId": "0", "Name": "RAID controller",
			"SupportedRAIDTypes": list{"RAID0", "RAID1"}, "SpeedGbps": 12, "Status": healthy(),
		}},
	})), nil
}

func oneDrive(c *call) (answer, error) {
	if !slices.Contains([]string{"D1", "D2"}, c.part()) {
		return c.missing(), nil
	}

	return c.resource(entity(c.path(), "Drive.v1_17_0.Drive", c.part(), "Drive "+c.part(), obj{
		"CapacityBytes": diskBytes, "MediaType": "SSD", "Protocol": "SAS", "Manufacturer": "SIM", "Model": "SIM DISK",
		"SerialNumber": "SIM-" + c.m.Name + c.part(), "Status": healthy(), "Links": obj{"Volumes": list{}},
	})), nil
}

func volumeList(c *call) (answer, error) {
	paths := []string{}
	for _, id := range slices.Sorted(maps.Keys(c.m.Volumes)) {
		paths = append(paths, c.path()+"/"+id)
	}

	doc := collection(c.path(), "Volume", paths...)
	doc["@Redfish.OperationApplyTimeSupport"] = obj{"SupportedValues": list{"Immediate", "OnReset"}}

	return c.resource(doc), nil
}

func createVolume(c *call) (answer, error) {
	c.m.VolumeCount++
	id := fmt.Sprintf("V%d", c.m.VolumeCount)

	volume := obj{"Status": healthy(), "Links": obj{"Drives": list{}}}
	maps.Copy(volume, c.body)

	name := text(c.body, "Name")
	if name == "" {
		name = "Volume " + id
	}

	path := c.path() + "/" + id
	volume = entity(path, "Volume.v1_9_0.Volume", id, name, volume)

	if c.m.Volumes == nil {
		c.m.Volumes = map[string]map[string]any{}
	}

	c.m.Volumes[id] = volume
	c.m.Say(c.now, "volume %s created", id)

	return answer{code: http.StatusCreated, header: http.Header{"Location": {path}}, body: volume}, c.save()
}

func oneVolume(c *call) (answer, error) {
	volume, ok := c.m.Volumes[c.part()]
	if !ok {
		return c.missing(), nil
	}

	return c.resource(maps.Clone(volume)), nil
}

func deleteVolume(c *call) (answer, error) {
	if _, ok := c.m.Volumes[c.part()]; !ok {
		return c.missing(), nil
	}

	delete(c.m.Volumes, c.part())
	c.m.Say(c.now, "volume %s deleted", c.part())

	return noContent(), c.save()
}
