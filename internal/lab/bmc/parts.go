// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"fmt"
	"slices"
	"time"
)

func (c *call) part() string { return c.r.PathValue("part") }

func processorList(c *call) (answer, error) {
	return c.resource(collection(c.path(), "Processor", c.path()+"/CPU1", c.path()+"/CPU2")), nil
}

func oneProcessor(c *call) (answer, error) {
	if !slices.Contains([]string{"CPU1", "CPU2"}, c.part()) {
		return c.missing(), nil
	}

	return c.resource(entity(c.path(), "Processor.v1_16_0.Processor", c.part(), c.part(), obj{
		"ProcessorType": "CPU", "InstructionSet": "x86-64", "ProcessorArchitecture": "x86", "Manufacturer": "SIM",
		"Model": "SIM CPU", "MaxSpeedMHz": 2400, "TotalCores": 8, "TotalThreads": 16, "Status": healthy(),
	})), nil
}

func memoryList(c *call) (answer, error) {
	return c.resource(collection(c.path(), "Memory", c.path()+"/DIMM1")), nil
}

func oneMemory(c *call) (answer, error) {
	return c.resource(entity(c.path(), "Memory.v1_16_0.Memory", "DIMM1", "DIMM1", obj{
		"CapacityMiB": 131072, "MemoryDeviceType": "DDR5", "Status": healthy(),
	})), nil
}

func nicList(c *call) (answer, error) {
	paths := []string{}
	for i := range c.m.MACs {
		paths = append(paths, fmt.Sprintf("%s/NIC%d", c.path(), i+1))
	}

	return c.resource(collection(c.path(), "EthernetInterface", paths...)), nil
}

func oneNIC(c *call) (answer, error) {
	for i, mac := range c.m.MACs {
		if id := fmt.Sprintf("NIC%d", i+1); id == c.part() {
			return c.resource(entity(c.path(), "EthernetInterface.v1_8_0.EthernetInterface", id, id, obj{
				"MACAddress": mac, "PermanentMACAddress": mac, "SpeedMbps": 25000, "LinkStatus": "LinkUp",
				"InterfaceEnabled": true, "Status": healthy(),
			})), nil
		}
	}

	return c.missing(), nil
}

func oneManager(c *call) (answer, error) {
	n := c.n
	doc := entity(n.manager, "Manager.v1_15_0.Manager", n.managerID, "BMC", obj{
		"ManagerType": "BMC", "FirmwareVersion": c.m.Firmware["BMC"], "Model": "SIM BMC", "UUID": c.m.ID,
		"PowerState": "On", "Status": healthy(),
		"VirtualMedia": ref(n.manager + "/VirtualMedia"), "EthernetInterfaces": ref(n.manager + "/EthernetInterfaces"),
		"NetworkProtocol": ref(n.manager + "/NetworkProtocol"),
		"Links":           obj{"ManagerForServers": refs(n.system), "ManagerForChassis": refs(n.chassis)},
		"Actions": obj{"#Manager.Reset": action(n.manager+"/Actions/Manager.Reset",
			obj{"ResetType@Redfish.AllowableValues": list{"ForceRestart", "GracefulRestart"}})},
	})
	a := c.resource(doc)
	doc["DateTime"] = c.now.Format(time.RFC3339)

	return a, nil
}

func networkProtocol(c *call) (answer, error) {
	return c.resource(entity(c.path(), "ManagerNetworkProtocol.v1_9_0.ManagerNetworkProtocol", "NetworkProtocol", "Protocols",
		obj{"HTTPS": obj{"ProtocolEnabled": true, "Port": 443}})), nil
}

func oneChassis(c *call) (answer, error) {
	n := c.n

	return c.resource(entity(n.chassis, "Chassis.v1_21_0.Chassis", n.chassisID, "Chassis", obj{
		"ChassisType": "RackMount", "Manufacturer": "Simulated", "Model": "SIM 1000", "SerialNumber": c.m.Serial(),
		"PowerState": c.m.Power, "IndicatorLED": "Off", "Status": healthy(),
		"NetworkAdapters": ref(n.chassis + "/NetworkAdapters"), "Thermal": ref(n.chassis + "/Thermal"),
		"Power": ref(n.chassis + "/Power"),
		"Links": obj{"ComputerSystems": refs(n.system), "ManagedBy": refs(n.manager)},
	})), nil
}

func adapterList(c *call) (answer, error) {
	return c.resource(collection(c.path(), "NetworkAdapter", c.path()+"/NIC1")), nil
}

func oneAdapter(c *call) (answer, error) {
	return c.resource(entity(c.path(), "NetworkAdapter.v1_9_0.NetworkAdapter", "NIC1", "NIC1", obj{
		"Manufacturer": "SIM", "Model": "SIM NIC", "SerialNumber": "SIMNIC" + c.m.Name, "Status": healthy(),
		"Controllers": list{obj{"FirmwarePackageVersion": c.m.Firmware["NIC1"]}},
	})), nil
}

func thermal(c *call) (answer, error) {
	return c.resource(entity(c.path(), "Thermal.v1_7_1.Thermal", "Thermal", "Thermal", obj{
		"Temperatures": list{obj{"MemberId": "0", "Name": "Inlet", "ReadingCelsius": 21.0, "Status": healthy()}},
		"Fans":         list{},
	})), nil
}

func power(c *call) (answer, error) {
	return c.resource(entity(c.path(), "Power.v1_7_1.Power", "Power", "Power", obj{
		"PowerControl":  list{obj{"MemberId": "0", "Name": "System", "PowerConsumedWatts": 120.0}},
		"PowerSupplies": list{},
	})), nil
}
