// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"net/http"
	"net/url"
	"strings"
)

// route is an endpoint in the mux.
type route struct {
	s   *Service
	run endpoint
}

func (h route) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.s.serve(w, r, h.run) }

// nodeRoutes are the paths of nodes.
var nodeRoutes = map[string]endpoint{
	"GET /v1/nodes":                                         (*call).listNodes,
	"GET /v1/nodes/detail":                                  (*call).detailNodes,
	"POST /v1/nodes":                                        (*call).createNode,
	"GET /v1/nodes/{node}":                                  (*call).showNode,
	"PATCH /v1/nodes/{node}":                                (*call).patchNode,
	"DELETE /v1/nodes/{node}":                               (*call).deleteNode,
	"GET /v1/nodes/{node}/states":                           (*call).showStates,
	"PUT /v1/nodes/{node}/states/provision":                 (*call).provision,
	"PUT /v1/nodes/{node}/states/power":                     (*call).power,
	"PUT /v1/nodes/{node}/states/raid":                      (*call).setRAID,
	"PUT /v1/nodes/{node}/states/boot_mode":                 (*call).setBootMode,
	"PUT /v1/nodes/{node}/states/secure_boot":               (*call).setSecureBoot,
	"PUT /v1/nodes/{node}/maintenance":                      (*call).setMaintenance,
	"DELETE /v1/nodes/{node}/maintenance":                   (*call).unsetMaintenance,
	"GET /v1/nodes/{node}/validate":                         (*call).validate,
	"GET /v1/nodes/{node}/inventory":                        (*call).showInventory,
	"GET /v1/nodes/{node}/traits":                           (*call).listTraits,
	"PUT /v1/nodes/{node}/traits":                           (*call).setTraits,
	"DELETE /v1/nodes/{node}/traits":                        (*call).clearTraits,
	"PUT /v1/nodes/{node}/traits/{trait}":                   (*call).addTrait,
	"DELETE /v1/nodes/{node}/traits/{trait}":                (*call).removeTrait,
	"GET /v1/nodes/{node}/history":                          (*call).listHistory,
	"GET /v1/nodes/{node}/history/{event}":                  (*call).showHistory,
	"GET /v1/nodes/{node}/allocation":                       (*call).showNodeAllocation,
	"DELETE /v1/nodes/{node}/allocation":                    (*call).deleteNodeAllocation,
	"GET /v1/nodes/{node}/management/boot_device":           (*call).showBootDevice,
	"PUT /v1/nodes/{node}/management/boot_device":           (*call).setBootDevice,
	"GET /v1/nodes/{node}/vmedia":                           (*call).listMedia,
	"POST /v1/nodes/{node}/vmedia":                          (*call).attachMedia,
	"DELETE /v1/nodes/{node}/vmedia":                        (*call).detachMedia,
	"GET /v1/nodes/{node}/bios":                             (*call).listBIOS,
	"GET /v1/nodes/{node}/firmware":                         (*call).listFirmware,
	"GET /v1/nodes/{node}/vifs":                             (*call).listVIFs,
	"POST /v1/nodes/{node}/vifs":                            (*call).attachVIF,
	"DELETE /v1/nodes/{node}/vifs/{vif}":                    (*call).detachVIF,
	"GET /v1/nodes/{node}/management/boot_device/supported": (*call).supportedBootDevices,
}

// otherRoutes are everything else; what no life of a host needs is an empty list.
var otherRoutes = map[string]endpoint{
	"GET /v1":                    (*call).showV1,
	"GET /v1/ports":              (*call).listPorts,
	"GET /v1/ports/detail":       (*call).detailPorts,
	"POST /v1/ports":             (*call).createPort,
	"GET /v1/ports/{port}":       (*call).showPort,
	"PATCH /v1/ports/{port}":     (*call).patchPort,
	"DELETE /v1/ports/{port}":    (*call).deletePort,
	"GET /v1/drivers":            (*call).listDrivers,
	"GET /v1/drivers/{driver}":   (*call).showDriver,
	"GET /v1/conductors":         (*call).listConductors,
	"GET /v1/conductors/{host}":  (*call).showConductor,
	"GET /v1/allocations":        (*call).listAllocations,
	"POST /v1/allocations":       (*call).createAllocation,
	"GET /v1/allocations/{a}":    (*call).showAllocation,
	"PATCH /v1/allocations/{a}":  (*call).patchAllocation,
	"DELETE /v1/allocations/{a}": (*call).deleteAllocation,
	"GET /v1/chassis":            empty("chassis"),
	"GET /v1/portgroups":         empty("portgroups"),
	"GET /v1/deploy_templates":   empty("deploy_templates"),
	"GET /v1/runbooks":           empty("runbooks"),
}

func (s *Service) routes() {
	s.mux = http.NewServeMux()

	for _, table := range []map[string]endpoint{nodeRoutes, otherRoutes} {
		for pattern, run := range table {
			s.mux.Handle(pattern, route{s, run})
		}
	}
}

func empty(list string) endpoint {
	return func(*call) (answer, error) {
		return answer{status: http.StatusOK, body: map[string]any{list: []any{}}}, nil
	}
}

func (c *call) showV1() (answer, error) {
	return answer{status: http.StatusOK, body: c.v1Document(c.base(), c.minor)}, nil
}

// ServeHTTP answers one request.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.script.around(s, w, r, s.dispatch)
}

func (s *Service) dispatch(w http.ResponseWriter, r *http.Request) {
	path := "/" + strings.Trim(r.URL.Path, "/")
	if path == "/" {
		w.Header().Set(minHeader, "1.1")
		s.respond(w, r, answer{status: http.StatusOK, body: s.rootDocument(base(r))})

		return
	}

	if path != r.URL.Path { // pecan does not mind a slash at the end; the mux would redirect
		r2 := *r
		u := *r.URL
		u.Path, u.RawPath = path, strings.TrimSuffix(r.URL.RawPath, "/")
		r2.URL = &u
		r = &r2
	}

	if _, pattern := s.mux.Handler(r); pattern != "" {
		s.mux.ServeHTTP(w, r)

		return
	}

	if _, ok := s.negotiate(w, r); ok {
		status := http.StatusNotFound
		if s.known(r) {
			status = http.StatusMethodNotAllowed
		}

		writePlainFault(w, status, "")
	}
}

// known tells whether the path exists with another method.
func (s *Service) known(r *http.Request) bool {
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPost, http.MethodDelete} {
		other := &http.Request{Method: method, URL: &url.URL{Path: r.URL.Path}, Host: r.Host}
		if _, pattern := s.mux.Handler(other); pattern != "" {
			return true
		}
	}

	return false
}
