// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/redfish"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/token"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// crawl reads everything that can be reached from a path.
func (r *rig) crawl(path string) map[string]obj {
	seen := map[string]obj{}

	var visit func(v any)

	visit = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				visit(e)
			}
		case obj:
			if p := text(v, "@odata.id"); p != "" && seen[p] == nil {
				reply := r.ask(http.StatusOK, http.MethodGet, p, "")
				seen[p] = reply.doc

				if text(reply.doc, "@odata.id") != p {
					r.Errorf("%s says that it is %v", p, reply.doc["@odata.id"])
				}

				if tag := reply.header.Get("ETag"); tag == "" || tag != text(reply.doc, "@odata.etag") {
					r.Errorf("%s has the ETag %q and %v", p, tag, reply.doc["@odata.etag"])
				}

				visit(reply.doc)
			}

			for _, e := range v {
				visit(e)
			}
		}
	}

	visit(r.get(path))

	return seen
}

func TestDocuments_everyReferenceLeadsSomewhere(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		o    face.Redfish
		want []string // parts of paths that must be among them
	}{
		"resource blocks": {o: face.Redfish{}, want: []string{
			"/CompositionService", "/ResourceZones/1", "/Systems/" + machine.ID(2), "/Processors/1", "/Memory/1", "/TaskService/Tasks",
			"/SessionService/Sessions", "/compute-" + machine.ID(0),
		}},
		"zones": {o: face.Redfish{Zones: true}, want: []string{
			"/Fabrics/PCIe-1", "/Endpoints/" + machine.ID(1), "/Zones/node-2", "/Chassis/pool-1/Processors/", "/Chassis/pool-1/Memory/",
		}},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newRig(t, c.o)
			seen := r.crawl(v1 + "/")

			for _, want := range c.want {
				found := false
				for path := range seen {
					found = found || strings.Contains(path, want)
				}

				if !found {
					t.Errorf("nothing leads to %s", want)
				}
			}

			for _, path := range []string{
				v1 + "/Nothing", v1 + "/Systems/none", v1 + "/Systems/" + machine.ID(0) + "/Nothing", v1 + "/Fabrics/x/Zones/y",
				v1 + "/CompositionService/ResourceZones/9", blocks + "/x/Processors/1", v1 + "/TaskService/Tasks/9", "/redfish/v2",
				v1 + "/SessionService/Sessions/x", v1 + "/TaskService/TaskMonitors/7", v1 + "/Chassis/pool-1/Drives/1",
			} {
				r.ask(http.StatusNotFound, http.MethodGet, path, "")
			}
		})
	}
}

func TestBlocks_showTheDevice(t *testing.T) {
	t.Parallel()

	r := newRig(t, face.Redfish{})
	d, cxl := r.GPUs("A100")[1], r.GPUs("CXL-64G")[0]

	block := r.get(blocks + "/" + d.ID)
	if text(block, "CompositionStatus", "CompositionState") != "Unused" || block["Pool"] != "Free" ||
		!slices.Equal(block["ResourceBlockType"].([]any), []any{"Processor"}) {
		t.Errorf("the block is %v", block)
	}

	gpu := r.get(links(block, "Processors")[0])
	if gpu["ProcessorType"] != "GPU" || gpu["Model"] != "A100" || "GPU-"+text(gpu, "UUID") != d.Serial || text(gpu, "SerialNumber") == "" {
		t.Errorf("the processor is %v", gpu)
	}

	if part := r.get(links(r.get(blocks+"/"+cxl.ID), "Memory")[0]); part["Model"] != "CXL-64G" || part["SerialNumber"] != cxl.Serial {
		t.Errorf("the memory is %v", part)
	}

	for status, want := range map[string]any{"0": "OK", "1": "Warning", "2": "Critical", "": nil, "9": nil} {
		r.Set(d.ID, func(d *hardware.Device) { d.OpStatus = status })

		if got := value(r.get(blocks+"/"+d.ID), "Status", "Health"); got != want {
			t.Errorf("with the status %q the health is %v", status, got)
		}
	}
}

func TestCollections_pagesAndExpansion(t *testing.T) {
	t.Parallel()

	r := newRig(t, face.Redfish{PageSize: 3})

	var (
		members []string
		pages   int
	)

	for next := blocks + "?$expand=.($levels=2)"; next != ""; pages++ {
		page := r.get(next)
		next = text(page, "Members@odata.nextLink")
		members = append(members, links(page, "Members")...)

		for _, m := range page["Members"].([]any) {
			m, _ := m.(obj)
			if text(m, "@odata.etag") == "" || m["CompositionStatus"] == nil {
				t.Errorf("a member is not expanded: %v", m)
			}

			for _, p := range m["Processors"].([]any) {
				if p, _ := p.(obj); p["Model"] == nil {
					t.Errorf("a processor is not expanded: %v", p)
				}
			}

			if zone := value(m, "Links", "Zones").([]any)[0].(obj); len(zone) != 1 {
				t.Errorf("a link is expanded though that was not asked for: %v", zone)
			}
		}
	}

	if pages != 3 || len(members) != 8 || len(slices.Compact(slices.Sorted(slices.Values(members)))) != 8 {
		t.Errorf("%d members on %d pages: %v", len(members), pages, members)
	}

	if all := r.get(system(0) + "?$expand=*"); value(all, "Links", "ResourceBlocks").([]any)[0].(obj)["Pool"] != "Active" {
		t.Errorf("with links expanded the system is %v", all)
	}

	plain := r.get(v1 + "/Systems?$skip=99")
	if len(plain["Members"].([]any)) != 0 || plain["Members@odata.count"] != 3.0 {
		t.Errorf("beyond the end there is %v", plain)
	}

	for query, status := range map[string]int{
		"$skip=-1": http.StatusBadRequest, "$expand=all": http.StatusBadRequest, "$filter=x": http.StatusNotImplemented,
	} {
		r.ask(status, http.MethodGet, v1+"/Systems?"+query, "")
	}

	r.Env.Tune(func(t *face.Tuning) { t.Redfish.NoExpand = true })
	r.ask(http.StatusNotImplemented, http.MethodGet, v1+"/Systems?$expand=.", "")
}

func TestSessions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, face.Redfish{})
		none := []string{"Authorization", "Basic eDp5"}
		sessions := v1 + "/SessionService/Sessions"

		r.ask(http.StatusOK, http.MethodGet, v1+"/", "", none...)
		r.ask(http.StatusUnauthorized, http.MethodGet, v1+"/Systems", "", none...)
		r.ask(http.StatusUnauthorized, http.MethodPost, sessions, `{"UserName":"x","Password":"y"}`, none...)
		r.ask(http.StatusBadRequest, http.MethodPost, sessions, `{"UserName":"x"}`, none...)

		login := func() (key, path string) {
			got := r.ask(http.StatusCreated, http.MethodPost, sessions,
				`{"UserName":"`+token.Username+`","Password":"`+token.Password+`"}`, none...)

			return got.header.Get("X-Auth-Token"), got.header.Get("Location")
		}

		key, path := login()
		r.ask(http.StatusOK, http.MethodGet, path, "", "X-Auth-Token", key)

		for range 5 { // used, it goes on
			time.Sleep(20 * time.Minute)
			r.ask(http.StatusOK, http.MethodGet, v1+"/Systems", "", "X-Auth-Token", key)
		}

		r.ask(http.StatusNoContent, http.MethodDelete, path, "", "X-Auth-Token", key)
		r.ask(http.StatusUnauthorized, http.MethodGet, v1+"/Systems", "", "X-Auth-Token", key)

		key, _ = login()
		time.Sleep(31 * time.Minute) // unused, it ends
		r.ask(http.StatusUnauthorized, http.MethodGet, v1+"/Systems", "", "X-Auth-Token", key)

		key, _ = login()
		r.Change(func(tx store.Tx, _ time.Time) error { return redfish.EndSessions(tx) })
		r.ask(http.StatusUnauthorized, http.MethodGet, v1+"/Systems", "", "X-Auth-Token", key)

		r.Env.Tune(func(t *face.Tuning) { t.Redfish.NoLogin = true })
		r.ask(http.StatusOK, http.MethodGet, v1+"/Systems", "", none...)
	})
}
