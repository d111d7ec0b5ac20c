// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// TestMachine_devicesThatAreNotShownAreNotGone: a list that is missing is no empty list.
func TestMachine_devicesThatAreNotShownAreNotGone(t *testing.T) {
	t.Parallel()

	g1, core := blockDir+"/g1", blockDir+"/g1/Processors/0"

	for name, c := range map[string]struct {
		of     func(*testing.T) *service
		change func(*service)
		broken bool
		count  int
	}{
		"all is there":               {composable, func(*service) {}, false, 1},
		"no links":                   {composable, func(s *service) { delete(s.docs[sys1], "Links") }, true, 0},
		"links of null":              {composable, func(s *service) { s.docs[sys1]["Links"] = nil }, true, 0},
		"no blocks":                  {composable, func(s *service) { s.docs[sys1]["Links"] = obj{} }, true, 0},
		"null as blocks":             {composable, func(s *service) { s.docs[sys1]["Links"] = obj{"ResourceBlocks": nil} }, true, 0},
		"null in them":               {composable, func(s *service) { s.docs[sys1]["Links"] = obj{"ResourceBlocks": []any{nil}} }, true, 0},
		"an entry without id":        {composable, func(s *service) { s.docs[sys1]["Links"] = obj{"ResourceBlocks": []any{obj{}}} }, true, 0},
		"an empty list":              {composable, func(s *service) { s.docs[sys1]["Links"] = obj{"ResourceBlocks": refs()} }, false, 0},
		"a block of processors":      {composable, func(s *service) { delete(s.docs[g1], "Processors") }, true, 0},
		"a block of nothing":         {composable, func(s *service) { s.put(g1, obj{}) }, true, 0},
		"a processor of nothing":     {composable, func(s *service) { s.put(core, obj{}) }, true, 0},
		"a processor of no type":     {composable, func(s *service) { delete(s.docs[core], "ProcessorType") }, true, 0},
		"an empty socket":            {composable, func(s *service) { s.put(core, obj{"@odata.type": "#Processor.x.P", "Status": obj{"State": "Absent"}}) }, false, 0},
		"a physical system":          {composable, func(s *service) { physical(s); delete(s.docs[sys1], "Actions") }, false, 0},
		"one that takes blocks":      {composable, physical, true, 0},
		"all zones are there":        {zoned, func(*service) {}, false, 1},
		"a zone of nothing":          {zoned, func(s *service) { s.put(fab+"/Zones/1", obj{"Links": obj{}}) }, true, 0},
		"a zone of zones":            {zoned, func(s *service) { s.put(fab+"/Zones/3", obj{"ZoneType": "ZoneOfZones"}) }, false, 1},
		"no zones at all":            {zoned, func(s *service) { s.put(fab, obj{"Endpoints": ref(fab + "/Endpoints")}) }, true, 0},
		"an endpoint of nothing":     {zoned, func(s *service) { s.put(fab+"/Endpoints/g1", obj{}) }, true, 0},
		"an endpoint of null":        {zoned, func(s *service) { s.docs[fab+"/Endpoints/g1"]["ConnectedEntities"] = nil }, true, 0},
		"an endpoint without a link": {zoned, func(s *service) { s.docs[fab+"/Endpoints/g1"]["ConnectedEntities"] = []any{obj{}} }, true, 0},
		"an endpoint of no entity":   {zoned, func(s *service) { s.docs[fab+"/Endpoints/g1"]["ConnectedEntities"] = []any{} }, false, 0},
		"a GPU of no type":           {zoned, func(s *service) { s.put(gpuDir+"/g1", obj{}) }, true, 0},
		"ports that may be any":      {zoned, func(s *service) { s.docs[sys1]["Links"] = nil; s.put(fab+"/Endpoints/host1", obj{}) }, true, 0},
		"ports that name the system": {zoned, func(s *service) { s.docs[sys1]["Links"] = nil }, false, 1},
		"ports of somebody else":     {zoned, func(s *service) { s.docs[sys1]["Links"] = nil; s.endpoint("host1", "Initiator", sys2) }, false, 0},
		"no endpoint at all": {zoned, func(s *service) {
			s.docs[sys1]["Links"] = nil
			s.empty(fab + "/Endpoints")
		}, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := c.of(t)
			f := s.serve()

			if _, err := f.Machine(t.Context(), "1"); err != nil { // the service is known from here on
				t.Fatal(err)
			}

			c.change(s)

			m, err := f.Machine(t.Context(), "1")
			if errors.Is(err, fabric.ErrNotFabric) != c.broken || (err != nil) != c.broken || len(m.Devices) != c.count {
				t.Errorf("%+v, %v", m.Devices, err)
			}
		})
	}
}

func physical(s *service) { s.docs[sys1]["SystemType"], s.docs[sys1]["Links"] = "Physical", obj{} }

// TestFree_passesOverWhatDoesNotSayWhatItIs: nobody loses what is not offered.
func TestFree_passesOverWhatDoesNotSayWhatItIs(t *testing.T) {
	t.Parallel()

	s := composable(t)
	s.put(blockDir+"/g2/Processors/0", obj{})
	s.docs[s.block("half", "Unused", "A100", zoneA)]["Memory"] = refs(blockDir + "/g2/Processors/0")

	if got, err := s.serve().Free(t.Context(), "1", "gpu", "A100"); err != nil || len(got.Devices) != 1 || got.Devices[0].FabricID != blockDir+"/g3" {
		t.Errorf("%+v, %v", got, err)
	}

	z := zoned(t)
	z.put(fab+"/Endpoints/g2", obj{})

	if got, err := z.serve().Free(t.Context(), "1", "gpu", "A100"); err != nil || len(got.Devices) != 1 || got.Devices[0].FabricID != fab+"/Endpoints/g3" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestOrders_withoutETagsReadTheListAgain: nothing else would hold against a change meanwhile.
func TestOrders_withoutETagsReadTheListAgain(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		again  []any
		kind   error
		orders int
	}{
		"it is as it was":      {refs(blockDir+"/base", blockDir+"/g1"), nil, 1},
		"somebody changed it":  {refs(blockDir+"/base", blockDir+"/g1", blockDir+"/g3"), fabric.ErrBusy, 0},
		"the list has gone":    {nil, fabric.ErrUnsent, 0},
		"it cannot be read so": {[]any{7}, fabric.ErrUnsent, 0},
	} {
		s := composable(t)
		s.bare = true
		delete(s.docs[sys1], "Actions")
		s.answers["GET "+blockDir+"/g2"] = func(w http.ResponseWriter) { // between the two reads of the system
			s.docs[sys1]["Links"] = obj{"ResourceBlocks": c.again}
			write(w, http.StatusOK, s.docs[blockDir+"/g2"])
		}

		err := do(t, s.serve(), "attach", blockDir+"/g2")
		if !errors.Is(err, c.kind) || len(s.orders) != c.orders || err != nil && !fabric.NothingDone(err) {
			t.Errorf("%s: %v, sent %q", name, err, s.orders)
		}
	}
}
