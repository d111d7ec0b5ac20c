// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

func (m model) validateStorage(ctx context.Context, diags *diag.Diagnostics) {
	s, ok := value.Object[storageModel](ctx, m.Storage, diags)
	if !ok {
		return
	}

	s.validateRatios(diags)
	s.validateBackend(diags)
	m.validateDevices(ctx, s, diags)
	m.validateSelectors(ctx, s, diags)
}

// backend is the backend in force; ok is false while it is not known.
func (s storageModel) backend() (is string, ok bool) {
	if s.Backend.IsNull() {
		return ceph.BackendRaw, true
	}

	return s.Backend.ValueString(), !s.Backend.IsUnknown()
}

func (s storageModel) validateBackend(diags *diag.Diagnostics) {
	backend, ok := s.backend()
	if !ok {
		return
	}

	if backend == ceph.BackendFile && !s.AllowFile.IsUnknown() && !s.AllowFile.ValueBool() {
		diags.AddAttributeError(pathStorage.AtName("allow_file_osds"), "OSDs on files are not allowed",
			"backend = \"file\" is for trying things out: files share a disk, and with it its failure. Set allow_file_osds = true if that is meant.")
	}

	if backend == ceph.BackendFile && value.Known(s.Selectors) && len(s.Selectors.Elements()) > 0 {
		diags.AddAttributeError(pathStorage.AtName("selectors"), "Files cannot be selected", "With backend = \"file\" each OSD is one of devices.")
	}

	if backend == ceph.BackendRaw && value.Known(s.OSDsPerDevice) && s.OSDsPerDevice.ValueInt64() > 1 {
		diags.AddAttributeError(pathStorage.AtName("osds_per_device"), "Several OSDs need logical volumes", "With backend = \"raw\" an OSD takes all of its device. Set backend = \"lvm\".")
	}
}

// validateRatios wants them in the order in which they act.
func (s storageModel) validateRatios(diags *diag.Diagnostics) {
	ordered := []struct {
		name string
		v    types.Float64
	}{{"nearfull_ratio", s.NearFull}, {"backfillfull_ratio", s.BackfillFull}, {"full_ratio", s.Full}}

	// Those that are left out have Ceph's own values.
	otherwise := []float64{0.85, 0.90, 0.95}

	for i := 1; i < len(ordered); i++ {
		low, high := ordered[i-1], ordered[i]
		if low.v.IsUnknown() || high.v.IsUnknown() || low.v.IsNull() && high.v.IsNull() {
			continue
		}

		a, b := otherwise[i-1], otherwise[i]
		if value.Known(low.v) {
			a = low.v.ValueFloat64()
		}

		if value.Known(high.v) {
			b = high.v.ValueFloat64()
		}

		if a >= b {
			diags.AddAttributeError(pathStorage.AtName(high.name), "Ratios in the wrong order",
				fmt.Sprintf("%s (%g) must be less than %s (%g).", low.name, a, high.name, b))
		}
	}
}

func (m model) validateDevices(ctx context.Context, s storageModel, diags *diag.Diagnostics) {
	backend, sure := s.backend()
	devices, index := objects[deviceModel](ctx, s.Devices, diags)
	first := map[string]int{}

	for i, d := range devices {
		at := pathStorage.AtName("devices").AtListIndex(index[i])

		for name, v := range map[string]types.String{"host": d.Host, "path": d.Path} {
			if v.IsNull() {
				diags.AddAttributeError(at.AtName(name), "Device without "+name, name+" is required.")
			}
		}

		m.validateOSDHost(ctx, d.Host, at.AtName("host"), diags)

		if sure && backend != ceph.BackendLVM && (d.Encrypted.ValueBool() || value.Known(d.Count) && d.Count.ValueInt64() > 1) {
			diags.AddAttributeError(at, "Device "+d.Path.ValueString()+" needs logical volumes", "encrypted and osds_per_device need backend = \"lvm\".")
		}

		if !value.Known(d.Host) || !value.Known(d.Path) {
			continue
		}

		key := d.Host.ValueString() + ":" + d.Path.ValueString()
		if before, twice := first[key]; twice {
			diags.AddAttributeError(at.AtName("path"), "Device "+key+" is listed twice", fmt.Sprintf("devices[%d] and devices[%d] are the same.", before, index[i]))
		}

		first[key] = index[i]

		if d.DB.Equal(d.Path) {
			diags.AddAttributeError(at.AtName("db_device"), "Device "+key+" is its own database", "db_device must be another one.")
		}
	}
}

// validateOSDHost wants a host that may have OSDs.
func (m model) validateOSDHost(ctx context.Context, host types.String, at path.Path, diags *diag.Diagnostics) {
	if !value.Known(host) || !value.Known(m.Hosts) {
		return
	}

	name := host.ValueString()
	if _, there := m.Hosts.Elements()[name]; !there {
		diags.AddAttributeError(at, "Host "+name+" is not one of hosts", "It is named here, and the attribute hosts does not have it.")

		return
	}

	all, _ := m.hosts(ctx, diags)
	if h, ok := all[name]; ok && !value.HasUnknown(h.Roles) && !h.has(ceph.RoleOSD) {
		diags.AddAttributeError(at, "Host "+name+" is not for OSDs", "It does not have the role osd.")
	}
}

func (m model) validateSelectors(ctx context.Context, s storageModel, diags *diag.Diagnostics) {
	selectors, index := objects[selectorModel](ctx, s.Selectors, diags)
	backend, sure := s.backend()

	for i, one := range selectors {
		at := pathStorage.AtName("selectors").AtListIndex(index[i])

		if value.Known(one.Hosts) {
			for j, v := range one.Hosts.Elements() {
				name, _ := v.(types.String)
				m.validateOSDHost(ctx, name, at.AtName("hosts").AtListIndex(j), diags)
			}
		}

		says := false
		for _, v := range []interface{ IsNull() bool }{one.NameRegex, one.PathRegex, one.MinSize, one.MaxSize, one.Rotational} {
			says = says || !v.IsNull()
		}

		if !says && !one.All.IsUnknown() && !one.All.ValueBool() {
			diags.AddAttributeError(at, "Selector says nothing", "It would take every free device. If that is meant, set all = true; else say which: name_regex, path_regex, min_size, max_size, rotational.")
		}

		if value.Known(one.MinSize) && value.Known(one.MaxSize) && sizeOf(one.MinSize.ValueString()) > sizeOf(one.MaxSize.ValueString()) {
			diags.AddAttributeError(at.AtName("max_size"), "Selector takes nothing", "max_size is less than min_size.")
		}

		if sure && backend != ceph.BackendLVM && one.Encrypted.ValueBool() {
			diags.AddAttributeError(at.AtName("encrypted"), "Encryption needs logical volumes", "Set backend = \"lvm\".")
		}
	}
}
