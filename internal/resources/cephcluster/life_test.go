// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

func TestCeph_life(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		o := w.apply(three())
		if o.Action != "create" || w.Get("fsid") != theFSID || w.Get("phase") != "Ready" || w.Get("is_ready") != true {
			t.Errorf("%s: %v", o.Action, w.State())
		}

		if id := w.Get("id"); id != theFSID+"@10.0.0.1,10.0.0.2,10.0.0.3/var/lib/ceph" {
			t.Errorf("id: %v", id)
		}

		if k, _ := w.Get("admin_keyring").(string); !strings.Contains(k, "[client.admin]") || !strings.Contains(k, adminKey) {
			t.Errorf("keyring: %v", k)
		}

		if w.Get("osds.0.host") != "h1" || w.Get("mons.a.in_quorum") != true || w.Get("capacity.total") != int64(300) || w.Get("mon.count") != int64(3) {
			t.Errorf("state: %v", w.State())
		}

		if o = w.Apply(w.ctx, nil); o.Errors != "" || w.Exists() || w.farm.how.Confirmation != "" {
			t.Errorf("destroy: %s, %+v", o.Errors, w.farm.how)
		}

		if !strings.Contains(o.Warnings, "Daemons of Ceph cluster prod will be stopped") {
			t.Errorf("the destroy said: %s", o.Warnings)
		}
	})
}

// TestCeph_wanted holds what the life cycle is told of a configuration.
func TestCeph_wanted(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.Provider = Map{"owner_id": "team"}
		w.apply(three(Map{
			"mon": Map{"count": 1, "failover_timeout": "0"}, "mgr": Map{"modules": Map{"prometheus": true, "balancer": Map{"mode": "upmap"}, "restful": false}},
			"network": Map{"ports": Map{"msgr2": 43300}}, "pool_defaults": Map{"failure_domain": "osd"}, "dashboard": Map{"port": 8080, "ssl": false},
			"hosts": Map{
				"h1": at("10.0.0.1", Map{"connection": Map{"type": "local"}, "crush_location": Map{"rack": "r1"}}), "h2": at("10.0.0.2", Map{"roles": []any{"osd"}}),
			},
			"storage": Map{
				"backend": "lvm", "file_size": "1.5T", "removal": Map{"allow": true}, "near" + "full_ratio": 0.7,
				"devices":   []any{Map{"host": "h1", "path": "/dev/sdb", "db_device": "/dev/sdz", "osds_per_device": 2, "encrypted": true, "initial_weight": 0.5}},
				"selectors": []any{Map{"hosts": []any{"h2"}, "path_regex": "/dev/x.*", "min_size": "100G", "rotational": false, "limit": 4}},
			},
		}))

		got := w.farm.wanted["create"]
		for what, is := range map[string]bool{
			"owner and name": got.Owner == "team" && got.Name == "prod" && got.Dir == "/var/lib/ceph",
			"monitors":       got.Mon.Count == 1 && slices.Equal(got.Mon.Hosts, []string{"h1"}) && got.Mon.Failover == 0,
			"managers":       got.Mgr.Count == 1 && slices.Equal(got.Mgr.Hosts, []string{"h1"}),
			"modules":        got.Mgr.Modules["prometheus"].Enabled && !got.Mgr.Modules["restful"].Enabled && got.Mgr.Modules["balancer"].Mode == "upmap" && len(got.Mgr.Modules) == 3,
			"ports":          got.Network.Msgr2 == 43300 && got.Network.Msgr1 == 6789,
			"failure domain": got.PoolDefaults.FailureDomain == "osd",
			"dashboard":      got.Dashboard.Managed && got.Dashboard.Enabled && got.Dashboard.Port == 8080 && !got.Dashboard.SSL,
			"hosts":          len(got.Hosts) == 2 && got.Hosts[0].Name == "h1" && got.Hosts[0].Place["rack"] == "r1" && slices.Equal(got.Hosts[1].Roles, []string{"osd"}),
			"sizes":          got.Storage.FileSize == 3<<39 && got.Storage.Selectors[0].MinSize == 100<<30,
			"device":         got.Storage.Devices[0].DB == "/dev/sdz" && got.Storage.Devices[0].Count == 2 && got.Storage.Devices[0].Encrypted && got.Storage.Devices[0].Weight == 0.5,
			"selector":       got.Storage.Selectors[0].Rotational != nil && !*got.Storage.Selectors[0].Rotational && got.Storage.Selectors[0].Limit == 4,
			"removal":        got.Storage.Removal.Allow && got.Storage.Removal.Timeout == 6*time.Hour && got.Storage.Removal.Parallel == 1,
			"ratios":         got.Storage.NearFull == 0.7 && got.Storage.Full == 0,
			"gate":           got.Ready.OSDs == "all" && got.Ready.Health == "ok_or_warn",
			"upgrade":        got.Upgrade.OkToStop == 10*time.Minute && got.Upgrade.Parallel == 20,
		} {
			if !is {
				t.Errorf("%s: %+v", what, got)
			}
		}

		if w.Get("dashboard_password") != "correct-horse" {
			t.Errorf("password: %v", w.Get("dashboard_password"))
		}

		if id := w.Get("id"); id != theFSID+"@local/var/lib/ceph" {
			t.Errorf("id: %v", id)
		}
	})
}

// TestCeph_failedCreate fails a create after the identity was made, and before.
func TestCeph_failedCreate(t *testing.T) {
	t.Parallel()

	broken := fmt.Errorf("mon.b on h2: %w: port 3300 is in use", ceph.ErrDied)

	for name, c := range map[string]struct {
		with            Map
		nothing         bool
		exists, tainted bool
		says            []string
	}{
		"nothing was made":                   {Map{}, true, false, false, []string{"Nothing is in the state", "port 3300"}},
		"nothing was made, and that is kept": {Map{"on_create_failure": "keep"}, true, false, false, []string{"Nothing is in the state"}},
		"what stands is tainted": {Map{}, false, true, true, []string{
			"Ceph cluster prod: the create did not finish", "port 3300 is in use.", "The identity of the cluster is made", "terraform untaint", "keeps all data", "goes on with it",
		}},
		"what stands is tainted, and a replacement destroys": {
			Map{"cleanup": Map{"confirmation": ceph.Confirmation}}, false, true, true, []string{"destroys what there is, data and all"},
		},
		"what stands is kept": {Map{"on_create_failure": "keep"}, false, true, false, []string{"the next apply goes on in place", "port 3300 is in use"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			onFarm(t, func(w world) {
				w.farm.fail["create"] = broken
				if c.nothing {
					w.farm.known["create"] = false
				}

				config := three(c.with)
				o := w.Apply(w.ctx, config)

				if w.Exists() != c.exists || w.Tainted != c.tainted {
					t.Fatalf("exists %v, tainted %v: %s %s", w.Exists(), w.Tainted, o.Errors, o.Warnings)
				}

				for _, says := range c.says {
					if !o.Says(says) {
						t.Errorf("it does not say %q: %s %s", says, o.Errors, o.Warnings)
					}
				}

				if c.exists && (w.Get("is_ready") != false || w.Get("phase") != ceph.PhaseFailure || w.Get("fsid") != theFSID || w.Get("mon_secret") != monSecret) {
					t.Errorf("state: %v", w.State())
				}

				w.farm.fail, w.farm.known = map[string]error{}, map[string]bool{}
				w.Untaint()

				if p := w.Plan(w.ctx, config); c.exists && (p.Action != "update" || p.Errors != "") {
					t.Errorf("the next plan is %q: %s", p.Action, p.Errors)
				}

				w.apply(config)
			})
		})
	}
}

// TestCeph_taintedIsReplaced goes through the replacement that a failed create leads to.
func TestCeph_taintedIsReplaced(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.farm.fail["create"] = errors.New("no quorum")
		w.Apply(w.ctx, three())

		w.farm.fail = map[string]error{}

		if o := w.apply(three()); o.Action != "replace" || w.called("delete") != 1 || w.farm.how.Confirmation != "" {
			t.Errorf("%q, %v, %+v", o.Action, w.farm.calls, w.farm.how)
		}
	})
}

// TestOTF01_limit has a create take longer than it may.
func TestOTF01_limit(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.farm.block["create"] = true

		o := w.Apply(w.ctx, three(Map{"timeouts": Map{"create": "2s"}}))
		if !w.Tainted || !o.Says("The limit of 2s (timeouts.create) was reached") || !o.Says("aiting for the quorum") || w.Get("fsid") != theFSID {
			t.Errorf("tainted %v: %s", w.Tainted, o.Errors)
		}
	})
}

// interruptedAfter is a context that the user cancels after a second.
func interruptedAfter(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	time.AfterFunc(time.Second, cancel)

	return ctx
}

// TestCeph_interrupted stops each verb.
func TestCeph_interrupted(t *testing.T) {
	t.Parallel()

	t.Run("a create is a warning, and goes on in place", func(t *testing.T) {
		t.Parallel()

		onFarm(t, func(w world) {
			w.farm.block["create"] = true

			o := w.Apply(interruptedAfter(w.ctx), three())
			if o.Errors != "" || w.Tainted || !w.Exists() || !strings.Contains(o.Warnings, "was interrupted") {
				t.Errorf("tainted %v: %s %s", w.Tainted, o.Errors, o.Warnings)
			}

			w.farm.block = map[string]bool{}

			if p := w.Plan(w.ctx, three()); p.Action != "update" {
				t.Errorf("the next plan is %q", p.Action)
			}
		})
	})

	for verb, config := range map[string]Map{"update": three(Map{"mon": Map{"count": 1}}), "delete": nil} {
		t.Run("the "+verb+" is an error, and keeps the cluster", func(t *testing.T) {
			t.Parallel()

			onFarm(t, func(w world) {
				w.apply(three())
				w.farm.block[verb] = true

				o := w.Apply(interruptedAfter(w.ctx), config)
				if !strings.Contains(o.Errors, "The run was interrupted") || !w.Exists() || w.Tainted {
					t.Errorf("%s", o.Errors)
				}
			})
		})
	}
}

// TestCeph_failedUpdate plans again what an update did not reach.
func TestCeph_failedUpdate(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(three())
		w.farm.fail["update"] = fmt.Errorf("device /dev/sdb of h1: %w", ceph.ErrInUse)

		o := w.Apply(w.ctx, three(Map{"mon": Map{"count": 1}}))
		if !strings.Contains(o.Errors, "the update did not finish") || !strings.Contains(o.Errors, "AttributeName(\"storage\")") || !strings.Contains(o.Errors, "Three monitors run") || w.Tainted {
			t.Errorf("%s", o.Errors)
		}

		w.farm.fail = map[string]error{}
		w.SkipRefresh = true

		if p := w.Plan(w.ctx, three(Map{"mon": Map{"count": 1}})); p.Action != "update" {
			t.Errorf("the next plan is %q", p.Action)
		}

		w.apply(three(Map{"mon": Map{"count": 1}}))
	})
}

// TestCeph_settingsTouchNothing changes what only the provider uses.
func TestCeph_settingsTouchNothing(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(three())
		w.apply(three(Map{
			"timeouts": Map{"create": "1h"}, "deletion_protection": true, "cleanup": Map{"confirmation": ceph.Confirmation}, "on_create_failure": "keep",
			"hosts": Map{"h1": at("10.0.0.1", Map{"connection": Map{"user": "admin", "sudo": true}}), "h2": at("10.0.0.2"), "h3": at("10.0.0.3")},
		}))

		if w.called("update") != 0 {
			t.Errorf("calls: %v", w.farm.calls)
		}
	})
}

// TestCeph_hostTakenOut hands over the host that is no longer configured.
func TestCeph_hostTakenOut(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(three(Map{"mon": Map{"count": 1}}))
		w.apply(three(Map{"mon": Map{"count": 1}, "hosts": Map{"h1": at("10.0.0.1"), "h2": at("10.0.0.2")}, "storage": Map{"devices": devices("h1:/dev/disk/by-id/a", "h2:/dev/disk/by-id/a")}}))

		if got := w.farm.wanted["update"].Former; len(got) != 1 || got[0].Name != "h3" {
			t.Errorf("former: %+v", got)
		}
	})
}

// TestOCEPH13_failedDelete keeps what could not be removed.
func TestOCEPH13_failedDelete(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(three(Map{"cleanup": Map{"confirmation": ceph.Confirmation, "wipe_devices": "full", "wipe_passes": 2, "allow_with_data": true}}))
		w.farm.fail["delete"] = errors.New("h2: /dev/sdc: wipe: device is busy")

		o := w.Apply(w.ctx, nil)
		if !w.Exists() || !strings.Contains(o.Errors, "h2: /dev/sdc: wipe: device is busy") || !strings.Contains(o.Errors, "Two OSDs run") || w.Get("phase") != ceph.PhaseDeleting {
			t.Errorf("%s: %v", o.Errors, w.State())
		}

		if how := w.farm.how; how != (ceph.CleanupSpec{Confirmation: ceph.Confirmation, Wipe: "full", Passes: 2, AllowWithData: true}) {
			t.Errorf("cleanup: %+v", how)
		}

		if !strings.Contains(o.Warnings, "Data of Ceph cluster prod will be destroyed") {
			t.Errorf("the plan said: %s", o.Warnings)
		}

		w.farm.fail = map[string]error{}

		if o := w.Apply(w.ctx, nil); o.Errors != "" || w.Exists() {
			t.Errorf("again: %s", o.Errors)
		}
	})
}

// TestCeph_panic makes a bug a diagnostic.
func TestCeph_panic(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.farm.panics = true

		if o := w.Apply(w.ctx, three()); !strings.Contains(o.Errors, "Bug in the provider") {
			t.Errorf("%s", o.Errors)
		}
	})
}
