// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"slices"
	"strconv"
)

// moduleDashboard is the module of the manager that serves the dashboard.
const moduleDashboard = "dashboard"

// modules are the modules that we switch, the dashboard's own included.
func (w *Wanted) modules() map[string]bool {
	all := map[string]bool{}

	for name, m := range w.Mgr.Modules {
		all[name] = m.Enabled
	}

	if w.Dashboard.Managed {
		all[moduleDashboard] = w.Dashboard.Enabled
	}

	return all
}

// options are what the dashboard reads when it starts.
func (d Dashboard) options() map[string]string {
	all := map[string]string{"mgr/dashboard/ssl": strconv.FormatBool(d.SSL)}

	if d.Port > 0 {
		name := "mgr/dashboard/server_port"
		if d.SSL {
			name = "mgr/dashboard/ssl_server_port"
		}

		all[name] = strconv.Itoa(d.Port)
	}

	if d.Prefix != "" {
		all["mgr/dashboard/url_prefix"] = d.Prefix
	}

	return all
}

// dashboard wants a certificate and an administrator once: their password is in the identity.
func (v *view) dashboard() []Setting {
	d := v.w.Dashboard
	if !d.Managed || !d.Enabled || v.s.Identity.Dashboard != "" && (d.Password == "" || v.s.Identity.Dashboard == d.Password) {
		return nil
	}

	if !v.s.Cluster.Mgr.Available || !slices.Contains(v.s.Cluster.Mgr.Modules, moduleDashboard) {
		return nil
	}

	return []Setting{{What: setDashboard}}
}
