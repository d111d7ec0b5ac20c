// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/allocations"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/ports"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/trouble"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/version"
)

// otherRoutes are everything else; what no life of a host needs is an empty list.
var otherRoutes = map[string]api.Endpoint{
	"GET /v1":                   showV1,
	"GET /v1/drivers":           listDrivers,
	"GET /v1/drivers/{driver}":  showDriver,
	"GET /v1/conductors":        listConductors,
	"GET /v1/conductors/{host}": showConductor,
	"GET /v1/chassis":           empty("chassis"),
	"GET /v1/portgroups":        empty("portgroups"),
	"GET /v1/deploy_templates":  empty("deploy_templates"),
	"GET /v1/runbooks":          empty("runbooks"),
}

func (s *Service) routes() {
	s.mux = http.NewServeMux()

	for _, table := range []map[string]api.Endpoint{nodes.Routes, ports.Routes, allocations.Routes, otherRoutes} {
		for pattern, run := range table {
			s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, run) })
		}
	}
}

func empty(list string) api.Endpoint {
	return func(*api.Call) (api.Answer, error) {
		return api.OK(map[string]any{list: []any{}}), nil
	}
}

func showV1(c *api.Call) (api.Answer, error) {
	return api.OK(v1Document(c.Base(), c.Minor, c.Newest)), nil
}

// ServeHTTP answers one request.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	trouble.Serve(&s.Script, trouble.Far{Serve: s.dispatch, Pattern: s.pattern, Newest: s.settings.Newest, Conductor: s.settings.Host}, w, r)
}

func (s *Service) dispatch(w http.ResponseWriter, r *http.Request) {
	path := "/" + strings.Trim(r.URL.Path, "/")
	if path == "/" {
		w.Header().Set(version.MinHeader, "1.1")
		api.Answer{Status: http.StatusOK, Body: rootDocument(api.Base(r), s.settings.Newest)}.Write(w, r)

		return
	}

	if path != r.URL.Path { // pecan does not mind a slash at the end; the mux would redirect
		r2 := *r
		u := *r.URL
		u.Path, u.RawPath = path, strings.TrimSuffix(r.URL.RawPath, "/")
		r2.URL = &u
		r = &r2
	}

	if s.pattern(r) != "" {
		s.mux.ServeHTTP(w, r)

		return
	}

	if _, ok := version.Negotiate(w, r, s.settings.Newest); ok {
		status := http.StatusNotFound
		if s.known(r) {
			status = http.StatusMethodNotAllowed
		}

		fault.WritePlain(w, status, "")
	}
}

// pattern is the route that a request takes; "" for none.
func (s *Service) pattern(r *http.Request) string {
	_, pattern := s.mux.Handler(r)

	return pattern
}

// known tells whether the path exists with another method.
func (s *Service) known(r *http.Request) bool {
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPost, http.MethodDelete} {
		other := &http.Request{Method: method, URL: &url.URL{Path: r.URL.Path}, Host: r.Host}
		if s.pattern(other) != "" {
			return true
		}
	}

	return false
}
