// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package nodes is the endpoints of the lab's Ironic that are about nodes: everything below
// /v1/nodes but a node's allocation.
package nodes

import "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"

// Routes are the paths of nodes.
var Routes = map[string]api.Endpoint{
	"GET /v1/nodes":                                         listNodes,
	"GET /v1/nodes/detail":                                  detailNodes,
	"POST /v1/nodes":                                        createNode,
	"GET /v1/nodes/{node}":                                  showNode,
	"PATCH /v1/nodes/{node}":                                patchNode,
	"DELETE /v1/nodes/{node}":                               deleteNode,
	"GET /v1/nodes/{node}/states":                           showStates,
	"PUT /v1/nodes/{node}/states/provision":                 provision,
	"PUT /v1/nodes/{node}/states/power":                     power,
	"PUT /v1/nodes/{node}/states/raid":                      setRAID,
	"PUT /v1/nodes/{node}/states/boot_mode":                 setBootMode,
	"PUT /v1/nodes/{node}/states/secure_boot":               setSecureBoot,
	"PUT /v1/nodes/{node}/maintenance":                      setMaintenance,
	"DELETE /v1/nodes/{node}/maintenance":                   unsetMaintenance,
	"GET /v1/nodes/{node}/validate":                         validate,
	"GET /v1/nodes/{node}/inventory":                        showInventory,
	"GET /v1/nodes/{node}/traits":                           listTraits,
	"PUT /v1/nodes/{node}/traits":                           setTraits,
	"DELETE /v1/nodes/{node}/traits":                        clearTraits,
	"PUT /v1/nodes/{node}/traits/{trait}":                   addTrait,
	"DELETE /v1/nodes/{node}/traits/{trait}":                removeTrait,
	"GET /v1/nodes/{node}/history":                          listHistory,
	"GET /v1/nodes/{node}/history/{event}":                  showHistory,
	"GET /v1/nodes/{node}/management/boot_device":           showBootDevice,
	"PUT /v1/nodes/{node}/management/boot_device":           setBootDevice,
	"GET /v1/nodes/{node}/vmedia":                           listMedia,
	"POST /v1/nodes/{node}/vmedia":                          attachMedia,
	"DELETE /v1/nodes/{node}/vmedia":                        detachMedia,
	"GET /v1/nodes/{node}/bios":                             listBIOS,
	"GET /v1/nodes/{node}/firmware":                         listFirmware,
	"GET /v1/nodes/{node}/vifs":                             listVIFs,
	"POST /v1/nodes/{node}/vifs":                            changeVIFs,
	"DELETE /v1/nodes/{node}/vifs/{vif}":                    changeVIFs,
	"GET /v1/nodes/{node}/management/boot_device/supported": supportedBootDevices,
}
