// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"fmt"
	"maps"
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

func bootTargets() []string {
	return []string{"None", "Pxe", "Cd", "Usb", "Hdd", "BiosSetup", "UefiHttp"}
}

// systemDoc is the computer system of the call's machine.
func (c *call) systemDoc() obj {
	m, n := c.m, c.n
	doc := entity(n.system, "ComputerSystem.v1_20_0.ComputerSystem", n.id, m.Name, obj{
		"UUID": m.ID, "SystemType": "Physical", "Manufacturer": "Simulated", "Model": "SIM 1000", "SKU": "SIM",
		"SerialNumber": m.Serial(), "PartNumber": "S1", "AssetTag": "", "HostName": m.Name,
		"BiosVersion": m.Firmware["BIOS"], "PowerState": m.Power, "IndicatorLED": "Off", "Status": healthy(),
		"ProcessorSummary": obj{
			"Count": 2, "CoreCount": 16, "LogicalProcessorCount": 32, "Model": "SIM CPU", "Status": healthy(),
		},
		"MemorySummary": obj{"TotalSystemMemoryGiB": 128, "Status": healthy()},
		"Boot": obj{
			"BootSourceOverrideEnabled": m.Boot.Enabled, "BootSourceOverrideTarget": m.Boot.Target,
			"BootSourceOverrideMode": m.Boot.Mode, "HttpBootUri": m.Boot.HTTPURI,
			"BootSourceOverrideTarget@Redfish.AllowableValues":  bootTargets(),
			"BootSourceOverrideEnabled@Redfish.AllowableValues": c.bootModes(),
			"BootSourceOverrideMode@Redfish.AllowableValues":    list{"UEFI", "Legacy"},
			"BootOrder": list{"Boot0001", "Boot0002"},
		},
		"Actions": obj{"#ComputerSystem.Reset": action(n.system+"/Actions/ComputerSystem.Reset",
			obj{"ResetType@Redfish.AllowableValues": machine.ResetTypes()})},
		"Links": obj{"Chassis": refs(n.chassis), "ManagedBy": refs(n.manager)},
	})

	for _, room := range []string{
		"Bios", "SecureBoot", "Processors", "Memory", "EthernetInterfaces", "SimpleStorage", "Storage", "VirtualMedia",
	} {
		doc[room] = ref(n.system + "/" + room)
	}

	return doc
}

func (c *call) bootModes() list {
	if c.m.Faults.NoContinuous {
		return list{"Disabled", "Once"}
	}

	return list{"Disabled", "Once", "Continuous"}
}

func oneSystem(c *call) (answer, error) {
	doc := c.systemDoc()
	a := c.resource(doc)

	word, changed := c.shownPower()

	switch word {
	case "missing":
		delete(doc, "PowerState")
	case "null":
		doc["PowerState"] = nil
	default:
		doc["PowerState"] = word
	}

	if changed {
		return a, c.save()
	}

	return a, nil
}

// shownPower is what a read sees as the power state, faults included; true: one was used up.
func (c *call) shownPower() (string, bool) {
	f := &c.m.Faults

	switch {
	case f.NullPowerReads > 0:
		f.NullPowerReads--

		return "null", true
	case len(f.PowerReads) > 0:
		word := f.PowerReads[0]
		f.PowerReads = f.PowerReads[1:]

		return word, true
	case f.ShowPending && c.m.PendingPower != "":
		if c.m.PendingPower == machine.On {
			return "PoweringOn", false
		}

		return "PoweringOff", false
	}

	return c.m.Power, false
}

func patchSystem(c *call) (answer, error) {
	if a, refused, err := c.precondition(c.systemDoc()); refused || err != nil {
		return a, err
	}

	for _, key := range slices.Sorted(maps.Keys(c.body)) {
		switch key {
		case "Boot":
		case "AssetTag", "IndicatorLED", "HostName": // taken, and of no consequence
			continue
		default:
			return bad("PropertyUnknown", key), nil
		}

		boot, ok := c.body[key].(obj)
		if !ok {
			return bad("PropertyValueTypeError", key), nil
		}

		if a, refused := c.setBoot(boot); refused {
			return a, nil
		}
	}

	return noContent(), c.save()
}

// setBoot changes the boot override; true: the answer is the refusal.
func (c *call) setBoot(boot obj) (answer, bool) {
	b, f := c.m.Boot, c.m.Faults

	for key := range boot {
		word := text(boot, key)

		switch key {
		case "BootSourceOverrideTarget":
			if !slices.Contains(bootTargets(), word) {
				return bad("PropertyValueNotInList", key+" "+word), true
			}

			b.Target = word
		case "BootSourceOverrideEnabled":
			if !slices.Contains(c.bootModes(), any(word)) {
				return bad("PropertyValueNotInList", key+" "+word), true
			}

			b.Enabled = word
		case "BootSourceOverrideMode":
			if word != "UEFI" && word != "Legacy" {
				return bad("PropertyValueNotInList", key+" "+word), true
			}

			b.Mode = word
		case "HttpBootUri":
			b.HTTPURI = word
		case "BootOrder":
		default:
			return bad("PropertyUnknown", key), true
		}
	}

	if _, given := boot["BootSourceOverrideMode"]; !given && f.FlipBootMode {
		b.Mode = "Legacy"
	}

	c.m.Boot = b
	c.m.Say(c.now, "boot %s %s, mode %s", b.Target, b.Enabled, b.Mode)

	return answer{}, false
}

func reset(c *call) (answer, error) {
	if a, refused, err := c.precondition(c.systemDoc()); refused || err != nil {
		return a, err
	}

	kind := text(c.body, "ResetType")
	if !slices.Contains(machine.ResetTypes(), kind) {
		return bad("ActionParameterValueNotInList", "ResetType "+kind), nil
	}

	f := c.m.Faults
	if f.FailPower {
		c.m.Resets++
		c.m.Say(c.now, "reset %s refused (fault)", kind)

		return failure(500, "InternalError", "power control failed"), c.save()
	}

	if f.ResetTask == "" || !f.FailTasks {
		c.m.SetPower(kind, c.now, c.m.PowerDelay)
	}

	if f.ResetTask == "" {
		return noContent(), c.save()
	}

	var fails string
	if f.FailTasks {
		fails = fmt.Sprintf("reset %s failed", kind)
	}

	t, err := c.begin("Reset", c.m.PowerDelay, fails)
	if err != nil {
		return answer{}, err
	}

	return t.accepted(f.ResetTask, c.now), c.save()
}
