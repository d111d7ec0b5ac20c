// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/conf"
)

// OptionChange sets an option of the configuration store, or removes it.
type OptionChange struct {
	Who, Name, Value string
	Remove           bool
}

// OptionChanges are what is to be done so that the store holds what is configured. Options
// that an earlier apply set and that are no longer configured go; all others are left alone.
func OptionChanges(w *Wanted, have []api.Option) []OptionChange {
	var out []OptionChange

	wanted := w.options()

	for _, who := range sortedKeys(wanted) {
		for _, name := range sortedKeys(wanted[who]) {
			if value, ok := optionOf(have, who, name); !ok || !sameValue(value, wanted[who][name]) {
				out = append(out, OptionChange{Who: who, Name: name, Value: wanted[who][name]})
			}
		}
	}

	for _, who := range sortedKeys(w.WasConfig) {
		for _, name := range w.WasConfig[who] {
			name = conf.Key(name)
			if _, still := wanted[who][name]; still {
				continue
			}

			if _, ok := optionOf(have, who, name); ok {
				out = append(out, OptionChange{Who: who, Name: name, Remove: true})
			}
		}
	}

	return out
}

// options are those that users configured, with one spelling, and those that follow from the network.
func (w *Wanted) options() map[string]map[string]string {
	all := map[string]map[string]string{}
	set := func(who, name, value string) {
		if all[who] == nil {
			all[who] = map[string]string{}
		}

		all[who][name] = value
	}

	if w.Network.Encryption {
		for _, name := range []string{"ms_cluster_mode", "ms_service_mode", "ms_client_mode"} {
			set("global", name, "secure")
		}

		set("global", "rbd_default_map_options", "ms_mode=secure")
	}

	if w.Network.Compression {
		set("global", "ms_osd_compress_mode", "force")
	}

	if mode := w.Mgr.Modules["balancer"].Mode; mode != "" {
		set(RoleMgr, "mgr/balancer/mode", mode)
	}

	if w.Dashboard.Managed && w.Dashboard.Enabled {
		for name, value := range w.Dashboard.options() {
			set(RoleMgr, name, value)
		}
	}

	for who, options := range w.Config {
		for name, value := range options {
			set(who, conf.Key(name), conf.Value(value))
		}
	}

	return all
}

// OwnedOptions names the options that this configuration sets.
func (w *Wanted) OwnedOptions() map[string][]string {
	out := map[string][]string{}

	for who, options := range w.options() {
		out[who] = slices.Sorted(maps.Keys(options))
	}

	return out
}

// ModuleChange switches a module of the manager.
type ModuleChange struct {
	Name   string
	Enable bool
	Force  bool
}

// ModuleChanges are what is to be done so that modules are as configured; those that are not
// named are left alone.
func ModuleChanges(w *Wanted, have api.Mgr) []ModuleChange {
	var out []ModuleChange

	modules := w.modules()

	for _, name := range sortedKeys(modules) {
		on := slices.Contains(have.Modules, name) || slices.Contains(have.AlwaysOn, name)

		switch want := modules[name]; {
		case want && !on:
			out = append(out, ModuleChange{Name: name, Enable: true})
		case !want && slices.Contains(have.Modules, name):
			out = append(out, ModuleChange{Name: name})
		}
	}

	return out
}

// The kinds of settings.
const (
	setRatios    = "ratios"
	setMinCompat = "require-min-compat-client"
	setRelease   = "require-osd-release"
	setClass     = "device class"
	setPlace     = "crush location"
	setIn        = "osd in"
	setDashboard = "dashboard"
)

// Setting is something of the cluster that is not as it should be.
type Setting struct {
	What  string
	ID    int    // of an OSD
	Name  string // of a host
	Value string
	Place map[string]string
}

// String names the setting for people.
func (s Setting) String() string {
	switch s.What {
	case setClass:
		return fmt.Sprintf("%s %s of osd.%d", s.What, s.Value, s.ID)
	case setIn:
		return fmt.Sprintf("osd.%d in", s.ID)
	case setPlace:
		return s.What + " of " + s.Name
	default:
		return strings.TrimSpace(s.What + " " + s.Value)
	}
}

func (v *view) settings() []Setting {
	return slices.Concat(v.ratios(), v.release(), v.osdSettings(), v.places(), v.dashboard())
}

func otherSettings(v *view) Step {
	settings := v.settings()
	if len(settings) == 0 {
		return Step{}
	}

	names := make([]string, len(settings))
	for i, s := range settings {
		names[i] = s.String()
	}

	return Step{Do: setSettings, Message: "Configuring the Ceph cluster", Why: "setting " + strings.Join(names, ", "), Setting: settings}
}

// ratios are set where they differ by more than a percent of a percent: Ceph keeps them as
// 32-bit floats.
func (v *view) ratios() []Setting {
	m, s := v.s.Cluster.OSDMap, v.w.Storage

	for _, pair := range [][2]float64{{s.Full, m.Full}, {s.BackfillFull, m.BackfillFull}, {s.NearFull, m.NearFull}} {
		if pair[0] > 0 && (pair[0]-pair[1] > 1e-4 || pair[1]-pair[0] > 1e-4) {
			return []Setting{{What: setRatios}}
		}
	}

	return nil
}

// release follows the OSDs once all of them are up and say the same: one that is down is not
// counted among the versions, and after it could never start again.
func (v *view) release() []Setting {
	m := v.s.Cluster.OSDMap

	var out []Setting

	if mode := v.w.Mgr.Modules["balancer"].Mode; strings.HasPrefix(mode, "upmap") && (m.MinCompat == "" || m.MinCompat < "luminous") {
		out = append(out, Setting{What: setMinCompat, Value: "luminous"})
	}

	down := slices.ContainsFunc(m.OSDs, func(o api.OSD) bool { return !o.Up })
	if down || len(v.s.Cluster.Versions[RoleOSD]) != 1 {
		return out
	}

	for text := range v.s.Cluster.Versions[RoleOSD] {
		if ver, err := api.ParseVersion(text); err == nil && ver.Release != "" && m.RequireRelease != "" && m.RequireRelease != ver.Release {
			out = append(out, Setting{What: setRelease, Value: ver.Release})
		}
	}

	return out
}

func (v *view) osdSettings() []Setting {
	var out []Setting

	for _, l := range v.slots() {
		osd, known := v.osdByUUID(l.Slot.UUID)
		if !known || v.leaves(l.Host, l.Slot) || !v.configured(l.Host) {
			continue
		}

		if class := v.s.Choice.SpecOf(l.Host, l.Slot).Device.Class; class != "" && osd.Class != "" && osd.Class != class {
			out = append(out, Setting{What: setClass, ID: osd.ID, Value: class})
		}

		if osd.Up && !osd.In {
			out = append(out, Setting{What: setIn, ID: osd.ID})
		}
	}

	return out
}
