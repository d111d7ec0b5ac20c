// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// TestOTF04_import imports a cluster, and plans with the configuration that made it and with
// the one that Terraform would generate.
func TestOTF04_import(t *testing.T) {
	t.Parallel()

	ids := []string{"10.0.0.1/var/lib/ceph", theFSID + "@10.0.0.1,10.0.0.2,10.0.0.3/var/lib/ceph", "10.0.0.2,10.0.0.9/var/lib/ceph"}

	for _, id := range ids {
		t.Run(id, func(t *testing.T) {
			t.Parallel()

			onFarm(t, func(w world) {
				w.apply(three())

				id0 := w.Get("id")
				w.Forget()

				if o := w.Import(w.ctx, id); o.Errors != "" || w.Get("name") != "prod" || w.Get("id") != id0 || w.Get("mon_secret") != monSecret {
					t.Fatalf("%s: %v", o.Errors, w.State())
				}

				config := three()

				if o := w.Plan(w.ctx, config); o.Action != "" || o.Errors != "" {
					t.Errorf("the plan with the same configuration is %q, changes %v: %s", o.Action, o.Changed, o.Errors)
				}

				if o := w.Plan(w.ctx, w.Configurable()); o.Action != "" || o.Errors != "" {
					t.Errorf("the plan with a generated one is %q, changes %v: %s", o.Action, o.Changed, o.Errors)
				}

				if w.called("update")+w.called("delete") != 0 {
					t.Errorf("calls: %v", w.farm.calls)
				}
			})
		})
	}
}

// TestOTF04_importWhatOnlyTheUserKnows plans with a configuration of which the cluster does not
// know all: it is changed in place, and what touches no daemon asks nobody.
func TestOTF04_importWhatOnlyTheUserKnows(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.farm.slots = map[string][]ceph.Slot{"h1": {
			{UUID: "uuid-h1-/srv/0.img", Path: "/srv/0.img", Backend: "file", Class: "ssd", DB: "/srv/db"},
		}}
		config := three(Map{
			"mon": Map{"count": 1}, "mgr": Map{"count": 1},
			"hosts":         Map{"h1": at("127.0.0.1", Map{"connection": Map{"type": "local"}})},
			"network":       Map{"public": []any{"127.0.0.0/8"}, "ports": Map{"msgr2": 43300, "msgr1": 46789}},
			"pool_defaults": Map{"failure_domain": "osd", "size": 2},
			"storage":       Map{"backend": "file", "allow_file_osds": true, "devices": []any{Map{"host": "h1", "path": "/srv/0.img", "device_class": "ssd", "db_device": "/srv/db"}}},
		})

		w.farm.shown = []Map{
			{"name": "public_network", "value": "127.0.0.0/8", "source": "file"},
			{"name": "osd_crush_chooseleaf_type", "value": "0", "source": "file"},
			{"name": "osd_pool_default_size", "value": "2", "source": "file"},
			{"name": "osd_pool_default_min_size", "value": "1", "source": "mon"},
		}

		w.apply(config)
		w.Forget()

		if o := w.Import(w.ctx, "local/var/lib/ceph"); o.Errors != "" {
			t.Fatal(o.Errors)
		}

		if o := w.Plan(w.ctx, config); o.Action != "" {
			t.Errorf("%q changes %v: %s", o.Action, o.Changed, o.Errors)
		}

		config["cleanup"] = Map{"confirmation": ceph.Confirmation}
		config["timeouts"] = Map{"create": "1h"}

		if o := w.Plan(w.ctx, config); o.Action != "update" || !slices.Equal(o.Changed, []string{"cleanup", "timeouts"}) {
			t.Errorf("%q changes %v: %s", o.Action, o.Changed, o.Errors)
		}

		w.apply(config)

		if w.called("update") != 0 {
			t.Errorf("calls: %v", w.farm.calls)
		}
	})
}

// TestOCEPH14_importOfIPv6 has monitors at IPv6 addresses, which stand in brackets wherever a port follows.
func TestOCEPH14_importOfIPv6(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		config := three(Map{"hosts": Map{"h1": at("2001:db8::1"), "h2": at("2001:db8::2"), "h3": at("2001:db8::3")}})
		w.apply(config)

		for name, m := range w.farm.record.Mons {
			a := w.farm.wanted["create"].Hosts[name[0]-'a'].Address
			m.Addr = "[v1:[" + a + "]:6789,v2:[" + a + "]:3300]"
			w.farm.record.Mons[name] = m
		}

		w.Forget()

		if o := w.Import(w.ctx, "[2001:db8::1]/var/lib/ceph"); o.Errors != "" || w.Get("id") != theFSID+"@[2001:db8::1],[2001:db8::2],[2001:db8::3]/var/lib/ceph" {
			t.Fatalf("%v: %s", w.Get("id"), o.Errors)
		}

		if o := w.Plan(w.ctx, config); o.Action != "" {
			t.Errorf("%q changes %v: %s", o.Action, o.Changed, o.Errors)
		}
	})
}

// TestCeph_importOfNothing says why there is nothing to import.
func TestCeph_importOfNothing(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		id, want string
		change   func(*farm)
	}{
		"no id":                   {"prod", "no id of a Ceph cluster", nil},
		"another folder":          {"10.0.0.1/srv/ceph", "there is no identity of a cluster", nil},
		"another fsid":            {"99999999-2222-4333-8444-555555555555@10.0.0.1/var/lib/ceph", "99999999", nil},
		"a host without answer":   {"10.0.0.1/var/lib/ceph", "nobody answers", func(f *farm) { f.dead = fmt.Errorf("%w: nobody answers", ceph.ErrUnreachable) }},
		"monitors without answer": {"10.0.0.1/var/lib/ceph", "no monitor answers", func(f *farm) { f.record.Mons = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			onFarm(t, func(w world) {
				w.apply(three())
				w.Forget()

				if c.change != nil {
					c.change(w.farm)
				}

				if o := w.Import(w.ctx, c.id); !strings.Contains(o.Errors, c.want) || w.Exists() {
					t.Errorf("%s", o.Errors)
				}
			})
		})
	}
}

// TestCeph_list finds the clusters below the folders that it is given.
func TestCeph_list(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(three())

		for name, c := range map[string]struct {
			host     Map
			dirs     []any
			want     []string
			resource bool
		}{
			"the cluster of a folder": {Map{"host": "10.0.0.1", "user": "root"}, []any{"/srv/none", "/var/lib/ceph"}, []string{theFSID + "@10.0.0.1/var/lib/ceph"}, false},
			"with all that there is":  {Map{"host": "10.0.0.1"}, []any{"/var/lib/ceph"}, []string{theFSID + "@10.0.0.1/var/lib/ceph"}, true},
			"on this machine":         {Map{"type": "local"}, []any{"/var/lib/ceph"}, []string{theFSID + "@local/var/lib/ceph"}, false},
			"none":                    {Map{"host": "10.0.0.1"}, []any{"/srv/none"}, nil, false},
		} {
			got, problem := w.list(w.ctx, Map{"host": c.host, "data_dirs": c.dirs}, c.resource)
			if problem != "" || !slices.Equal(got, c.want) {
				t.Errorf("%s: %v: %s", name, got, problem)
			}
		}

		w.farm.dead = fmt.Errorf("%w: nobody answers", ceph.ErrUnreachable)

		if _, problem := w.list(w.ctx, Map{"host": Map{"host": "10.0.0.1"}, "data_dirs": []any{"/var/lib/ceph"}}, false); !strings.Contains(problem, "obody answers") {
			t.Errorf("problem: %s", problem)
		}
	})
}

// list asks the list resource, and returns the identities.
func (w world) list(ctx context.Context, config Map, whole bool) (ids []string, problem string) {
	w.t.Helper()

	s := providertest.NewServer(w.t, w.options()...) //nolint:contextcheck // a provider lives as long as its test
	s.Configure(w.t, Map{})                          //nolint:contextcheck // the same

	served, ok := s.ProviderServer.(tfprotov6.ListResourceServer)
	if !ok {
		w.t.Fatal("Terraform would find no lists in this server")
	}

	kind := s.Schema().ListResourceSchemas[theCluster].ValueType()

	d, err := tfprotov6.NewDynamicValue(kind, providertest.Value(kind, config))
	if err != nil {
		w.t.Fatal(err)
	}

	stream, err := served.ListResource(ctx, &tfprotov6.ListResourceRequest{TypeName: theCluster, Config: &d, IncludeResource: whole, Limit: 10})
	if err != nil {
		w.t.Fatal(err)
	}

	for one := range stream.Results {
		if text := providertest.Errors(one.Diagnostics); text != "" {
			return ids, text
		}

		v, err := one.Identity.IdentityData.Unmarshal(tftypes.Object{AttributeTypes: map[string]tftypes.Type{"id": tftypes.String}})
		if err != nil {
			w.t.Fatal(err)
		}

		m, _ := providertest.Plain(v).(Map)
		id, _ := m["id"].(string)
		ids = append(ids, id)

		if whole != (one.Resource != nil) || !strings.HasPrefix(one.DisplayName, "prod") {
			w.t.Errorf("result: %+v", one)
		}
	}

	return ids, ""
}
