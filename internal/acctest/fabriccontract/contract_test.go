// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabriccontract_test

import (
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/fabriccontract"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/cm"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/fm"
)

func one(int) int { return 1 }

// blocks: system, compute block, and block and processor of each device.
func blocks(n int) int { return 2 + 2*n }

// zones: system, the fabric, its zones in one, and endpoint and processor of each device.
func zones(n int) int { return 3 + 2*n }

const (
	cdim  = "/cdim/api/v1"
	order = "POST /redfish/v1/Systems/*/Actions/*"
)

func TestDrivers(t *testing.T) {
	t.Parallel()

	fti := func(driver string) fabric.Config {
		return fabric.Config{
			Type: driver, TenantID: labfabric.Tenant, ClusterID: labfabric.Cluster, CapacityCodes: []string{fm.CodeCapacity, cm.CodeCapacity},
		}
	}

	targets := map[string]fabriccontract.Target{
		"fti_fm": {
			Config: fti("fti_fm"),
			Reads:  labfabric.FMMachine, Attach: labfabric.FMAttach, Detach: labfabric.FMDetach, ReadCost: one,
		},
		"fti_fm, which answers at once": {
			Config: fti("fti_fm"), Tune: func(t *face.Tuning) { t.AsyncStatus, t.Misspelt = 202, true },
			Reads: labfabric.FMMachine, Attach: labfabric.FMAttach, Detach: labfabric.FMDetach, ReadCost: one,
		},
		"fti_cm": {
			Config: fti("fti_cm"),
			Reads:  labfabric.CMMachine, Attach: labfabric.CMResize, Detach: labfabric.CMResize, ReadCost: one,
		},
		"fti_cm, which counts what is there": {
			Config: fti("fti_cm"), Tune: func(t *face.Tuning) { t.CountActual, t.LateID, t.RefuseBusy = true, true, true },
			Reads: labfabric.CMMachine, Attach: labfabric.CMResize, Detach: labfabric.CMResize, ReadCost: one,
		},
		"nec_cdim": {
			Config: fabric.Config{Type: "nec_cdim"}, Open: true,
			Reads: "GET " + cdim + "/nodes/*", Attach: "POST " + cdim + "/layout-apply", Detach: "POST " + cdim + "/layout-apply", ReadCost: one,
		},
		"nec_cdim, the product": {
			Config: fabric.Config{Type: "nec_cdim"}, Open: true, Tune: func(t *face.Tuning) { t.CDIM = face.CDIM{Product: true, NoUUID: true} },
			Reads: "GET " + cdim + "/nodes/*", Attach: "POST " + cdim + "/layout-apply", Detach: "POST " + cdim + "/layout-apply", ReadCost: one,
		},
		"redfish": {
			Config: fabric.Config{Type: "redfish"},
			Reads:  "GET /redfish/v1/Systems/*", Attach: order, Detach: order, ReadCost: blocks,
		},
		"redfish, in small pages, with links instead of actions": {
			Config: fabric.Config{Type: "redfish"},
			Tune: func(t *face.Tuning) {
				t.Redfish = face.Redfish{PageSize: 2, NoActions: true, NeedETag: true, NoTasks: true, NoExpand: true}
			},
			Reads: "GET /redfish/v1/Systems/*", Attach: "PATCH /redfish/v1/Systems/*", Detach: "PATCH /redfish/v1/Systems/*", ReadCost: blocks,
		},
		"redfish, with zones": {
			Config: fabric.Config{Type: "redfish"}, Open: true, Tune: func(t *face.Tuning) { t.Redfish.Zones = true },
			Reads: "GET /redfish/v1/Systems/*", Attach: "PATCH /redfish/v1/Fabrics/*/Zones/*", Detach: "PATCH /redfish/v1/Fabrics/*/Zones/*",
			ReadCost: zones,
		},
	}

	for name, target := range targets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fabriccontract.Run(t, target)
		})
	}
}
