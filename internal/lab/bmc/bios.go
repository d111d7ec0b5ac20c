// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"maps"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

const (
	biosRegistryID   = "BiosAttributeRegistry.v1_0_0"
	biosRegistryPath = root + "/Registries/" + biosRegistryID
	biosType         = "Bios.v1_2_0.Bios"
)

func bios(c *call) (answer, error) {
	settings := obj{
		"@odata.type": "#Settings.v1_3_5.Settings", "Messages": list{},
		"SettingsObject": ref(c.n.system + "/Bios/Settings"),
	}
	a := c.resource(entity(c.n.system+"/Bios", biosType, "BIOS", "BIOS", obj{
		"AttributeRegistry": biosRegistryID, "Attributes": c.m.BIOS, "@Redfish.Settings": settings,
		"Actions": obj{"#Bios.ResetBios": action(c.n.system+"/Bios/Actions/Bios.ResetBios", nil)},
	}))
	settings["Time"] = c.now.Format(time.RFC3339)

	return a, nil
}

func (c *call) biosSettingsDoc() obj {
	pending := c.m.BIOSPending
	if pending == nil {
		pending = obj{}
	}

	return entity(c.n.system+"/Bios/Settings", biosType, "Settings", "BIOS Settings", obj{
		"AttributeRegistry": biosRegistryID, "Attributes": pending,
	})
}

func biosSettings(c *call) (answer, error) { return c.resource(c.biosSettingsDoc()), nil }

func setBIOS(c *call) (answer, error) {
	if a, refused, err := c.precondition(c.biosSettingsDoc()); refused || err != nil {
		return a, err
	}

	wanted, ok := c.body["Attributes"].(obj)
	if !ok {
		return bad("PropertyMissing", "Attributes"), nil
	}

	for key := range wanted {
		if _, known := c.m.BIOS[key]; !known {
			return bad("PropertyUnknown", key), nil
		}
	}

	if c.m.BIOSPending == nil {
		c.m.BIOSPending = obj{}
	}

	maps.Copy(c.m.BIOSPending, wanted)
	c.m.Say(c.now, "BIOS settings pending %v", wanted)

	return noContent(), c.save()
}

func resetBIOS(c *call) (answer, error) {
	c.m.BIOSPending = machine.FactoryBIOS()
	c.m.Say(c.now, "BIOS reset pending")

	return noContent(), c.save()
}

func (c *call) secureBootDoc() obj {
	current := "Disabled"
	if c.m.SecureBoot {
		current = "Enabled"
	}

	const keys = "SecureBoot.ResetKeys"

	return entity(c.n.system+"/SecureBoot", "SecureBoot.v1_1_0.SecureBoot", "SecureBoot", "Secure boot", obj{
		"SecureBootEnable": c.m.SecureBoot, "SecureBootCurrentBoot": current, "SecureBootMode": "UserMode",
		"Actions": obj{"#" + keys: action(c.n.system+"/SecureBoot/Actions/"+keys,
			obj{"ResetKeysType@Redfish.AllowableValues": list{"ResetAllKeysToDefault", "DeleteAllKeys", "DeletePK"}})},
	})
}

func secureBoot(c *call) (answer, error) { return c.resource(c.secureBootDoc()), nil }

func setSecureBoot(c *call) (answer, error) {
	if a, refused, err := c.precondition(c.secureBootDoc()); refused || err != nil {
		return a, err
	}

	enable, ok := c.body["SecureBootEnable"].(bool)
	if !ok {
		return bad("PropertyMissing", "SecureBootEnable"), nil
	}

	c.m.SecureBoot = enable
	c.m.Say(c.now, "secure boot %v", enable)

	return noContent(), c.save()
}

func registryList(c *call) (answer, error) {
	return c.resource(collection(c.path(), "MessageRegistryFile", biosRegistryPath)), nil
}

func registryFile(c *call) (answer, error) {
	return c.resource(entity(biosRegistryPath, "MessageRegistryFile.v1_1_3.MessageRegistryFile", biosRegistryID, "BIOS", obj{
		"Languages": list{"en"}, "Registry": biosRegistryID,
		"Location": list{obj{"Language": "en", "Uri": biosRegistryPath + "/registry"}},
	})), nil
}

func biosRegistry(c *call) (answer, error) {
	attributes := list{
		biosEnum("BootMode", "Uefi", "Bios"),
		biosEnum("ProcVirtualization", "Enabled", "Disabled"),
		biosEnum("LogicalProc", "Enabled", "Disabled"),
		biosEnum("SriovGlobalEnable", "Enabled", "Disabled"),
		biosEnum("NumLock", "On", "Off"),
		biosAttribute("QuietBoot", "Boolean", nil),
		biosAttribute("BootTimeout", "Integer", obj{"LowerBound": 0, "UpperBound": 300}),
	}

	return c.resource(entity(c.path(), "AttributeRegistry.v1_3_6.AttributeRegistry", "BiosAttributeRegistry", "BIOS", obj{
		"Language": "en", "OwningEntity": "Simulated", "RegistryVersion": "1.0.0",
		"RegistryEntries": obj{"Attributes": attributes},
	})), nil
}

func biosAttribute(name, typ string, more obj) obj {
	if more == nil {
		more = obj{}
	}

	more["AttributeName"], more["DisplayName"], more["Type"] = name, name, typ
	more["ReadOnly"], more["ResetRequired"] = false, true

	return more
}

func biosEnum(name string, values ...string) obj {
	l := list{}
	for _, v := range values {
		l = append(l, obj{"ValueName": v, "ValueDisplayName": v})
	}

	return biosAttribute(name, "Enumeration", obj{"Value": l})
}
