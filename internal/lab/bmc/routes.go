// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"net/http"
	"strings"
)

// routes is the whole surface: one line for each path that clients use.
func (f *face) routes() *http.ServeMux {
	mux := http.NewServeMux()
	add := func(sc scope, routes map[string]handle) {
		for pattern, h := range routes {
			method, path, _ := strings.Cut(pattern, " ")
			mux.HandleFunc(method+" "+root+path, f.handle(sc, h))
		}
	}

	mux.HandleFunc("GET /redfish", f.handle(open, func(*call) (answer, error) {
		return answer{code: http.StatusOK, body: obj{"v1": root + "/"}}, nil
	}))
	mux.HandleFunc("/", f.handle(open, func(c *call) (answer, error) { return c.missing(), nil }))

	add(open, map[string]handle{"GET ": serviceRoot, "POST /SessionService/Sessions": login})
	add(service, serviceRoutes())
	add(ofMachine, systemRoutes())
	add(ofMachine, mediaRoutes("/Systems/{id}"))
	add(ofMachine, mediaRoutes("/Managers/{id}"))
	add(ofMachine, managerRoutes())
	add(ofMachine, chassisRoutes())

	if f.single { // the shared service has no accounts of its own
		add(service, accountRoutes())
	}

	return mux
}

func serviceRoutes() map[string]handle {
	return map[string]handle{
		"GET /SessionService":                             sessionService,
		"GET /SessionService/Sessions":                    sessionList,
		"GET /SessionService/Sessions/{session}":          oneSession,
		"DELETE /SessionService/Sessions/{session}":       oneSession,
		"GET /Systems":                                    systemList,
		"GET /Managers":                                   managerList,
		"GET /Chassis":                                    chassisList,
		"GET /TaskService":                                taskService,
		"GET /TaskService/Tasks":                          taskList,
		"GET /TaskService/Tasks/{task}":                   oneTask,
		"GET /TaskService/TaskMonitors/{task}":            taskMonitor,
		"GET /UpdateService":                              updateService,
		"GET /UpdateService/FirmwareInventory":            firmwareList,
		"GET /UpdateService/FirmwareInventory/{sw}":       oneFirmware,
		"POST " + simpleUpdatePath:                        simpleUpdate,
		"GET /EventService":                               eventService,
		"GET /EventService/Subscriptions":                 emptyCollection("EventDestination"),
		"GET /CertificateService":                         certificateService,
		"GET /CertificateService/CertificateLocations":    certificateLocations,
		"GET /Registries":                                 registryList,
		"GET /Registries/" + biosRegistryID:               registryFile,
		"GET /Registries/" + biosRegistryID + "/registry": biosRegistry,
	}
}

func systemRoutes() map[string]handle {
	const system = "/Systems/{id}"

	return map[string]handle{
		"GET " + system:   oneSystem,
		"PATCH " + system: patchSystem,
		"POST " + system + "/Actions/ComputerSystem.Reset":            reset,
		"GET " + system + "/Bios":                                     bios,
		"POST " + system + "/Bios/Actions/Bios.ResetBios":             resetBIOS,
		"GET " + system + "/Bios/Settings":                            biosSettings,
		"PATCH " + system + "/Bios/Settings":                          setBIOS,
		"PUT " + system + "/Bios/Settings":                            setBIOS,
		"GET " + system + "/SecureBoot":                               secureBoot,
		"PATCH " + system + "/SecureBoot":                             setSecureBoot,
		"POST " + system + "/SecureBoot/Actions/SecureBoot.ResetKeys": nothingToDo,
		"GET " + system + "/Processors":                               processorList,
		"GET " + system + "/Processors/{part}":                        oneProcessor,
		"GET " + system + "/Memory":                                   memoryList,
		"GET " + system + "/Memory/DIMM1":                             oneMemory,
		"GET " + system + "/EthernetInterfaces":                       nicList,
		"GET " + system + "/EthernetInterfaces/{part}":                oneNIC,
		"GET " + system + "/SimpleStorage":                            simpleStorageList,
		"GET " + system + "/SimpleStorage/1":                          oneSimpleStorage,
		"GET " + system + "/Storage":                                  storageList,
		"GET " + system + "/Storage/RAID1":                            oneStorage,
		"GET " + system + "/Storage/RAID1/Drives/{part}":              oneDrive,
		"GET " + system + "/Storage/RAID1/Volumes":                    volumeList,
		"POST " + system + "/Storage/RAID1/Volumes":                   createVolume,
		"GET " + system + "/Storage/RAID1/Volumes/{part}":             oneVolume,
		"DELETE " + system + "/Storage/RAID1/Volumes/{part}":          deleteVolume,
	}
}

func mediaRoutes(owner string) map[string]handle {
	slot := owner + "/VirtualMedia/{slot}"

	return map[string]handle{
		"GET " + owner + "/VirtualMedia":                     mediaList,
		"GET " + slot:                                        oneMedium,
		"GET " + slot + "/Certificates":                      emptyCollection("Certificate"),
		"POST " + slot + "/Actions/VirtualMedia.InsertMedia": insertMedium,
		"POST " + slot + "/Actions/VirtualMedia.EjectMedia":  ejectMedium,
	}
}

func managerRoutes() map[string]handle {
	const manager = "/Managers/{id}"

	return map[string]handle{
		"GET " + manager: oneManager,
		"POST " + manager + "/Actions/Manager.Reset":    nothingToDo,
		"GET " + manager + "/EthernetInterfaces":        nicList,
		"GET " + manager + "/EthernetInterfaces/{part}": oneNIC,
		"GET " + manager + "/NetworkProtocol":           networkProtocol,
	}
}

func chassisRoutes() map[string]handle {
	const chassis = "/Chassis/{id}"

	return map[string]handle{
		"GET " + chassis:                           oneChassis,
		"GET " + chassis + "/NetworkAdapters":      adapterList,
		"GET " + chassis + "/NetworkAdapters/NIC1": oneAdapter,
		"GET " + chassis + "/Thermal":              thermal,
		"GET " + chassis + "/Power":                power,
	}
}

func accountRoutes() map[string]handle {
	return map[string]handle{
		"GET /AccountService":              accountService,
		"GET /AccountService/Accounts":     accountList,
		"GET /AccountService/Accounts/1":   oneAccount,
		"PATCH /AccountService/Accounts/1": patchAccount,
	}
}

func nothingToDo(*call) (answer, error) { return noContent(), nil }

func emptyCollection(kind string) handle {
	return func(c *call) (answer, error) { return c.resource(collection(c.path(), kind)), nil }
}
