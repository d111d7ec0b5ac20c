// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

const (
	fab    = v1 + "/Fabrics/PCIe"
	gpuDir = v1 + "/Chassis/Box/Processors"
)

// endpoint adds an endpoint of what is behind it.
func (s *service) endpoint(id, role, entity string) string {
	path := fab + "/Endpoints/" + id
	s.put(path, obj{
		"Id": id, "EndpointProtocol": "PCIe", "Status": obj{"State": "Enabled", "Health": "OK"},
		"ConnectedEntities": []any{obj{"EntityType": "Processor", "EntityRole": role, "EntityLink": ref(entity)}},
	})

	return path
}

func (s *service) gpu(id string) string {
	s.put(gpuDir+"/"+id, obj{
		"@odata.type": "#Processor.v1_20_0.Processor", "ProcessorType": "GPU", "Model": "A100", "UUID": "uuid-of-" + id,
		"Status": obj{"State": "Enabled", "Health": "OK"},
	})

	return s.endpoint(id, "Target", gpuDir+"/"+id)
}

func (s *service) zone(id, typ string, endpoints ...string) {
	s.put(fab+"/Zones/"+id, obj{"Id": id, "ZoneType": typ, "Links": obj{"Endpoints": refs(endpoints...)}})
}

// zoned is a service as Sunfish is one: its composition service has no blocks. System 1 has
// g1; g2 and g3 are free; g4 is on system 2.
func zoned(t *testing.T) *service {
	t.Helper()

	s := newService(t)
	s.docs[v1]["CompositionService"], s.docs[v1]["Fabrics"] = ref(v1+"/CompositionService"), ref(v1+"/Fabrics")
	s.put(v1+"/CompositionService", obj{"ResourceBlocks": ref(blockDir)})
	s.empty(blockDir)
	s.put(fab, obj{"Zones": ref(fab + "/Zones"), "Endpoints": ref(fab + "/Endpoints")})
	s.put(v1+"/Fabrics/Ethernet", obj{"Id": "Ethernet"})
	s.system(sys1, "1", uuid1, obj{"Links": obj{"Endpoints": refs(fab + "/Endpoints/host1")}})
	s.system(sys2, "2", "", nil) // that has no word about its endpoint

	host1, host2 := s.endpoint("host1", "Initiator", sys1), s.endpoint("host2", "Initiator", sys2+"/PCIeDevices/1")
	g1, g2, g4 := s.gpu("g1"), s.gpu("g2"), s.gpu("g4")
	s.gpu("g3")
	s.zone("1", "ZoneOfEndpoints", host1, g1)
	s.zone("2", "", host2, g4)
	s.zone("all", "Default", host1, host2, g1, g2, g4)

	return s
}

func TestZones_showAMachine(t *testing.T) {
	t.Parallel()

	f := zoned(t).serve()

	m, err := f.Machine(t.Context(), uuid1)

	want := fabric.Device{
		FabricID: fab + "/Endpoints/g1", DeviceID: "uuid-of-g1", Type: "gpu", Model: "A100",
		Health: fabric.HealthOK, HealthRaw: "OK", MachineID: uuid1,
	}
	if err != nil || !slices.Equal(m.Devices, []fabric.Device{want}) || m.FabricID != fab {
		t.Errorf("%+v, %v", m, err)
	}

	all, err := f.Machines(t.Context())
	if err != nil || len(all) != 2 || len(all[1].Devices) != 1 || all[1].Devices[0].FabricID != fab+"/Endpoints/g4" {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestZones_readEachZoneOnceForAllMachines(t *testing.T) {
	t.Parallel()

	s := zoned(t)
	if _, err := s.serve().Machines(t.Context()); err != nil {
		t.Fatal(err)
	}

	if n := s.count("GET " + fab + "/Zones/1"); n != 1 {
		t.Errorf("read %d times", n)
	}
}

func TestZones_whatIsInNoZoneIsFree(t *testing.T) {
	t.Parallel()

	s := zoned(t)
	// A card of which one processor says what it is, and things that are no device of ours.
	s.put(v1+"/Chassis/Box/PCIeDevices/5", obj{"@odata.type": "#PCIeDevice.v1_9_0.PCIeDevice", "Links": obj{"Processors": refs(gpuDir + "/g5")}})
	s.put(gpuDir+"/g5", obj{"ProcessorType": "GPU", "Model": "A100"})
	s.endpoint("g5", "Target", v1+"/Chassis/Box/PCIeDevices/5")
	s.put(v1+"/Chassis/Box/Drives/1", obj{"@odata.type": "#Drive.v1_9_0.Drive"})
	s.endpoint("drive", "Target", v1+"/Chassis/Box/Drives/1")
	s.docs[s.gpu("ill")]["Status"] = obj{"Health": "Critical"}

	got, err := s.serve().Free(t.Context(), "1", "gpu", "A100")
	want := []string{fab + "/Endpoints/g2", fab + "/Endpoints/g3", fab + "/Endpoints/g5"}

	if err != nil || !slices.Equal(ids(got.Devices), want) || got.FabricID != fab || !slices.Equal(got.Models, []string{"A100"}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestZones_ordersWriteTheSystemsZone(t *testing.T) {
	t.Parallel()

	s := zoned(t)
	f := s.serve()

	if hint, err := f.Attach(t.Context(), "1", want(fab+"/Endpoints/g2")); err != nil || hint.Task != "" || len(hint.Devices) != 1 {
		t.Errorf("attach: %+v, %v", hint, err)
	}

	if _, err := f.Detach(t.Context(), "2", want(fab+"/Endpoints/g4").Device); err != nil {
		t.Errorf("detach: %v", err)
	}

	orders := []string{
		`PATCH /Fabrics/PCIe/Zones/1 {"Endpoints":[{"@odata.id":"/Fabrics/PCIe/Endpoints/host1"},{"@odata.id":"/Fabrics/PCIe/Endpoints/g1"},{"@odata.id":"/Fabrics/PCIe/Endpoints/g2"}]}`,
		`PATCH /Fabrics/PCIe/Zones/2 {"Endpoints":[{"@odata.id":"/Fabrics/PCIe/Endpoints/host2"}]}`,
	}
	if !slices.Equal(s.orders, orders) {
		t.Errorf("%q", s.orders)
	}
}

func TestZones_sendNothingWhereItCannotBeRight(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		order, device string
		kind          error
	}{
		"it is on another machine":    {"attach", fab + "/Endpoints/g4", fabric.ErrBusy},
		"it is there already":         {"attach", fab + "/Endpoints/g1", fabric.ErrBusy},
		"no such endpoint":            {"attach", fab + "/Endpoints/g9", fabric.ErrNotFound},
		"another fabric":              {"attach", gpuDir + "/g3", fabric.ErrRefused},
		"it is in the pool":           {"detach", fab + "/Endpoints/g2", fabric.ErrNotFound},
		"it is on another one's zone": {"detach", fab + "/Endpoints/g4", fabric.ErrNotFound},
		"it is the machine itself":    {"detach", fab + "/Endpoints/host1", fabric.ErrRefused},
	} {
		s := zoned(t)
		if err := do(t, s.serve(), c.order, c.device); !errors.Is(err, c.kind) || len(s.orders) > 0 {
			t.Errorf("%s: %v, sent %q", name, err, s.orders)
		}
	}
}

func TestZones_whoChangesTheZoneMeanwhileLosesNothing(t *testing.T) {
	t.Parallel()

	s := zoned(t)
	s.answers["PATCH "+fab+"/Zones/1"] = refusing(412, "PreconditionFailed")

	if err := do(t, s.serve(), "attach", fab+"/Endpoints/g2"); !errors.Is(err, fabric.ErrBusy) || !fabric.NothingDone(err) {
		t.Errorf("%v", err)
	}
}
