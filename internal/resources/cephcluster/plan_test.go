// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// TestOTF05_unknownAtPlan has each input come from something that is created in the same apply.
func TestOTF05_unknownAtPlan(t *testing.T) {
	t.Parallel()

	full := three(Map{
		"fsid": theFSID, "ceph_version": ">= 16.2, < 21", "allow_unsupported_version": false, "packages": "require", "supervision": "auto",
		"data_dir": "/var/lib/ceph", "on_create_failure": "taint", "deletion_protection": false, "timeouts": Map{"create": "30m"},
		"mon":     Map{"count": 3, "hosts": []any{"h1", "h2", "h3"}, "allow_multiple_per_host": false, "failover_timeout": "10m"},
		"mgr":     Map{"count": 2, "hosts": []any{"h1", "h2"}, "modules": Map{"prometheus": true}},
		"network": Map{"public": []any{"10.0.0.0/24"}, "cluster": []any{"10.0.0.0/24"}, "encryption": false, "ports": Map{"msgr2": 3300}},
		"storage": Map{
			"backend": "raw", "file_size": "4G", "osds_per_device": 1, "devices": []any{Map{"host": "h1", "path": "/dev/sdb", "device_class": "ssd"}},
			"selectors": []any{Map{"hosts": []any{"h2"}, "path_regex": "/dev/x.*", "min_size": "100G"}}, "removal": Map{"allow": false}, "full_ratio": 0.95,
		},
		"config":        Map{"global": Map{"osd_pool_default_size": "3"}},
		"pool_defaults": Map{"failure_domain": "host"}, "upgrade": Map{"skip_checks": false}, "cleanup": Map{"confirmation": ""},
		"takeover": Map{"wipe_foreign_data": false}, "ready": Map{"health": "any"}, "dashboard": Map{"port": 8443},
		"hosts": Map{
			"h1": at("10.0.0.1", Map{"roles": []any{"mon", "mgr", "osd"}, "crush_location": Map{"rack": "r1"}, "connection": Map{"host": "n1", "private_key": "k", "port": 22}}),
			"h2": at("10.0.0.2"), "h3": at("10.0.0.3"),
		},
	})

	for _, path := range paths(full) {
		t.Run(strings.Join(path, "."), func(t *testing.T) {
			t.Parallel()
			acctest.OneIn(t, 30)

			onFarm(t, func(w world) {
				config, _ := replaced(full, path).(Map)

				if o := w.ApplyUnknown(w.ctx, config, full); o.Errors != "" || w.Get("is_ready") != true {
					t.Fatalf("create: %s", o.Errors)
				}

				w.Replaces = slices.Contains([]string{"name", "data_dir", "fsid"}, path[0]) // what is not known yet may be another one

				if o := w.Plan(w.ctx, config); o.Errors != "" {
					t.Errorf("update: %s", o.Errors)
				}
			})
		})
	}
}

// paths are all ways to something inside a configuration.
func paths(v any) [][]string {
	var out [][]string

	step := func(key string, inner any) {
		out = append(out, []string{key})
		for _, p := range paths(inner) {
			out = append(out, append([]string{key}, p...))
		}
	}

	switch v := v.(type) {
	case Map:
		for key, inner := range v {
			if key != "modules" { // the framework takes no half of what is dynamic
				step(key, inner)
			} else {
				out = append(out, []string{key})
			}
		}
	case []any:
		for i, inner := range v {
			step(string(rune('0'+i)), inner)
		}
	}

	return out
}

// replaced is a copy with an unknown value at a path.
func replaced(v any, path []string) any {
	if len(path) == 0 {
		return providertest.Unknown{}
	}

	switch v := v.(type) {
	case Map:
		out := merged(Map{}, v)
		out[path[0]] = replaced(v[path[0]], path[1:])

		return out
	case []any:
		out := slices.Clone(v)
		i := int(path[0][0] - '0')
		out[i] = replaced(v[i], path[1:])

		return out
	default:
		return v
	}
}

// moving are the attributes that an apply can change.
var moving = []string{
	"capacity", "conditions", "conf", "dashboard_url", "devices_rejected", "drift", "health", "health_checks", "is_ready", "max_mon_id", "mgr_active", "mgrs", "mon_endpoints",
	"mons", "osds", "owned_config", "phase", "versions",
}

// TestOTF03_planOpensOnlyWhatMoves looks at what a plan leaves open, and that nothing stable is.
func TestOTF03_planOpensOnlyWhatMoves(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(three())

		for name, c := range map[string]struct {
			config Map
			open   bool
		}{
			"a monitor less":          {three(Map{"mon": Map{"count": 1}}), true},
			"a device more":           {three(storage(Map{"devices": devices("h1:/dev/disk/by-id/a", "h2:/dev/disk/by-id/a", "h3:/dev/disk/by-id/a", "h1:/dev/disk/by-id/b")})), true},
			"an option":               {three(Map{"config": Map{"osd": Map{"osd_max_backfills": "1"}}}), true},
			"a role less":             {three(Map{"hosts": Map{"h1": at("10.0.0.1"), "h2": at("10.0.0.2"), "h3": at("10.0.0.3", Map{"roles": []any{"mon", "osd"}})}}), true},
			"what a destroy does":     {three(Map{"cleanup": Map{"confirmation": ceph.Confirmation}}), false},
			"timeouts":                {three(Map{"timeouts": Map{"create": "1h"}}), false},
			"protection":              {three(Map{"deletion_protection": true}), false},
			"how a host is reached":   {three(Map{"hosts": Map{"h1": at("10.0.0.1", Map{"connection": Map{"user": "admin", "sudo": true}}), "h2": at("10.0.0.2"), "h3": at("10.0.0.3")}}), false},
			"where a host is reached": {three(Map{"hosts": Map{"h1": at("10.0.0.1", Map{"connection": Map{"host": "n1.lan"}}), "h2": at("10.0.0.2"), "h3": at("10.0.0.3")}}), false},
			"pool defaults":           {three(Map{"pool_defaults": Map{"size": 2}}), false},
		} {
			o := w.Plan(w.ctx, c.config)
			if o.Errors != "" || o.Action != "update" {
				t.Errorf("%s: %q: %s", name, o.Action, o.Errors)
			}

			for _, attribute := range moving {
				if _, open := o.Planned[attribute].(providertest.Unknown); open != c.open {
					t.Errorf("%s: %s is open: %v", name, attribute, open)
				}
			}

			for _, stable := range []string{"fsid", "admin_keyring", "mon_secret", "name", "data_dir", "dashboard_password"} {
				if slices.Contains(o.Changed, stable) {
					t.Errorf("%s: %s changes", name, stable)
				}
			}

			if _, open := o.Planned["id"].(providertest.Unknown); open {
				t.Errorf("%s: the id is not known", name)
			}
		}
	})
}

// TestOTF03_theIDStays has a monitor's host whose address is known at apply only: an open id
// would replace all that is in the cluster.
func TestOTF03_theIDStays(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(three())

		was := w.Get("id")
		hosts := func(address any) Map {
			return three(Map{"hosts": Map{"h1": at("10.0.0.1"), "h2": at("10.0.0.2"), "h3": merged(at(""), Map{"address": address})}})
		}

		if o := w.Plan(w.ctx, hosts(providertest.Unknown{})); o.Errors != "" || o.Planned["id"] != was {
			t.Errorf("planned: %v, was %v: %s", o.Planned["id"], was, o.Errors)
		}

		if o := w.ApplyUnknown(w.ctx, hosts(providertest.Unknown{}), hosts("10.0.0.9")); o.Errors != "" {
			t.Fatal(o.Errors)
		}

		w.Refresh(w.ctx)

		if now, _ := w.Get("id").(string); now == was || !strings.Contains(now, "10.0.0.9") {
			t.Errorf("after a refresh it is %v", now)
		}
	})
}

// TestOCEPH09_whatMovesByItselfChangesNothing has the cluster look different at each refresh; a device
// has another name of the day.
func TestOCEPH09_whatMovesByItselfChangesNothing(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(three())

		w.farm.record.Health, w.farm.record.MgrActive = "HEALTH_WARN", "b"
		w.farm.record.Capacity.Used = 200
		w.farm.record.OSDs[0] = ceph.OSDRecord{Host: "h1", UUID: "u", Path: "/dev/disk/by-id/a", Device: "/dev/sdz", Up: true}

		if o := w.Plan(w.ctx, three()); o.Action != "" || o.Errors != "" || w.Get("health") != "HEALTH_WARN" || w.Get("osds.0.device") != "/dev/sdz" {
			t.Errorf("%q changes %v: %s", o.Action, o.Changed, o.Errors)
		}
	})
}

// TestCeph_driftIsPlanned has something of the cluster not be as configured.
func TestCeph_driftIsPlanned(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(three())

		w.farm.record.Drift, w.farm.record.Ready = []string{"mon.b on h2 does not run"}, false

		o := w.Plan(w.ctx, three())
		if o.Action != "update" || !strings.Contains(o.Warnings, "mon.b on h2 does not run") || slices.Contains(o.Changed, "id") {
			t.Errorf("%q changes %v: %s", o.Action, o.Changed, o.Warnings)
		}

		w.apply(three())

		if w.called("update") != 1 {
			t.Errorf("calls: %v", w.farm.calls)
		}
	})
}

// TestCeph_planTellsThePrice holds each warning of a plan, and that there is none where
// nothing is at stake.
func TestCeph_planTellsThePrice(t *testing.T) {
	t.Parallel()

	allowed := Map{"removal": Map{"allow": true, "timeout": "2h"}}
	less := Map{"devices": devices("h1:/dev/disk/by-id/a", "h2:/dev/disk/by-id/a")}

	for name, c := range map[string]struct {
		config Map
		want   string
	}{
		"nothing":                          {three(), ""},
		"timeouts":                         {three(Map{"timeouts": Map{"create": "1h"}}), ""},
		"monitors less":                    {three(Map{"mon": Map{"count": 1}}), "One of 3 will be left"},
		"a monitor that leaves its host":   {three(Map{"mon": Map{"count": 1, "hosts": []any{"h2"}}}), "mon.a on h1"},
		"a device more":                    {three(Map{"storage": Map{"devices": append(devices("h1:/dev/x"), three()["storage"].(Map)["devices"].([]any)...)}}), "OSDs of Ceph cluster prod will be added: AttributeName"},
		"a device less (OCEPH11)":          {three(Map{"storage": less}), "storage.removal.allow is false: h3:/dev/disk/by-id/a"},
		"a device less, allowed (OCEPH11)": {three(Map{"storage": merged(Map{}, less, allowed)}), "at most 2h0m0s"},
		"another public network":           {three(Map{"network": Map{"public": []any{"10.0.0.0/16"}}}), ""},
		"other ports":                      {three(Map{"network": Map{"ports": Map{"msgr2": 3301}}}), "get other addresses"},
		"encryption":                       {three(Map{"network": Map{"encryption": true}}), "may have to follow"},
		"pool defaults":                    {three(Map{"pool_defaults": Map{"size": 2}}), "no longer have an effect"},
		"the end of data":                  {three(Map{"cleanup": Map{"confirmation": ceph.Confirmation, "wipe_devices": "quick"}}), "will destroy its data"},
		"the end":                          {nil, "will be stopped"},
		"selectors":                        {three(Map{"storage": merged(Map{}, three()["storage"].(Map), Map{"selectors": []any{Map{"all": true}}})}), "Selectors of Ceph cluster prod change"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			acctest.OneIn(t, 4)

			onFarm(t, func(w world) {
				w.apply(three())

				o := w.Plan(w.ctx, c.config)
				want, _, _ := strings.Cut(c.want, ": AttributeName")

				if o.Errors != "" || (c.want == "") != (o.Warnings == "") || !strings.Contains(o.Warnings, want) {
					t.Errorf("warnings %q, errors %q", o.Warnings, o.Errors)
				}

				if o.Warnings != "" && !strings.Contains(o.Warnings, "Ceph cluster prod") {
					t.Errorf("the warning names no cluster: %s", o.Warnings)
				}
			})
		})
	}
}

// TestCeph_replacement changes what makes a cluster another one.
func TestCeph_replacement(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]Map{
		"the name": {"name": "other"}, "the folder": {"data_dir": "/srv/ceph"}, "the fsid": {"fsid": "99999999-2222-4333-8444-555555555555"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			onFarm(t, func(w world) {
				w.apply(three())

				w.Replaces = true

				if o := w.Plan(w.ctx, three(change)); o.Action != "replace" || !strings.Contains(o.Warnings, "will be stopped") {
					t.Errorf("%q: %s", o.Action, o.Warnings)
				}
			})
		})
	}

	onFarm(t, func(w world) {
		w.apply(three())

		if o := w.Plan(w.ctx, three(Map{"fsid": theFSID})); o.Action != "" {
			t.Errorf("giving the fsid that it has: %q changes %v", o.Action, o.Changed)
		}
	})
}

// TestCeph_protected refuses the end of a cluster in the plan.
func TestCeph_protected(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(three(Map{"deletion_protection": true}))

		if o := w.Plan(w.ctx, nil); !strings.Contains(o.Errors, "Ceph cluster prod is protected") {
			t.Errorf("destroy: %s", o.Errors)
		}

		w.Replaces = true

		if o := w.Plan(w.ctx, three(Map{"name": "other", "deletion_protection": true})); !strings.Contains(o.Errors, "is protected") {
			t.Errorf("replace: %s", o.Errors)
		}
	})
}

// TestOCEPH15_spellingIsNoDiff writes the same options in other ways.
func TestOCEPH15_spellingIsNoDiff(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(three(Map{"config": Map{"osd": Map{"osd_max_backfills": "1"}}}))

		if got := w.farm.wanted["create"].Config["osd"]["osd_max_backfills"]; got != "1" {
			t.Errorf("config: %v", w.farm.wanted["create"].Config)
		}

		for _, spelling := range []string{"osd max backfills", "osd-max-backfills", "osd_max backfills"} {
			if o := w.Plan(w.ctx, three(Map{"config": Map{"osd": Map{spelling: "1\r\n"}}})); o.Action != "" || o.Errors != "" {
				t.Errorf("%s: %q changes %v: %s", spelling, o.Action, o.Changed, o.Errors)
			}
		}

		if o := w.Plan(w.ctx, three(Map{"config": Map{"osd": Map{"osd max backfills": "2"}}})); o.Action != "update" {
			t.Errorf("another value: %q", o.Action)
		}

		w.apply(three()) // the option goes

		if got := w.farm.wanted["update"].WasConfig["osd"]; !slices.Equal(got, []string{"osd_max_backfills"}) {
			t.Errorf("what was set: %v", got)
		}
	})
}

// TestCeph_unknownProvider keeps the state where the provider's configuration is not known.
func TestCeph_unknownProvider(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(three())

		before := w.Dump()
		w.Options = append(w.options(), provider.WithEnvironment(func(string) string { return "" }))
		w.Provider = Map{"ssh": Map{"user": providertest.Unknown{}}}

		o := w.Refresh(w.ctx)
		if o.Errors != "" || !strings.Contains(o.Warnings, "not refreshed") || w.Dump() != before {
			t.Errorf("errors %q, warnings %q", o.Errors, o.Warnings)
		}
	})
}
