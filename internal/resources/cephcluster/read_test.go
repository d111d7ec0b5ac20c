// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/resources/cephcluster"
)

// TestCeph_refresh holds what becomes of the state after each kind of look.
func TestCeph_refresh(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change           func(*farm)
		exists, kept     bool
		errors, warnings string
		action           string
	}{
		"all is well":          {func(*farm) {}, true, true, "", "", ""},
		"the cluster is gone":  {func(f *farm) { f.there = false }, false, false, "", "Ceph cluster prod is gone", "create"},
		"no host answers":      {func(f *farm) { f.fail["refresh"] = fmt.Errorf("h1: %w", ceph.ErrUnreachable) }, true, true, "", "is not refreshed", ""},
		"something else fails": {func(f *farm) { f.fail["refresh"] = errors.New("the answer is no JSON") }, true, true, "The answer is no JSON", "", ""},
		"no monitor answers": {func(f *farm) {
			f.record.Phase, f.record.Ready, f.record.Drift = ceph.PhaseUnavailable, false, []string{"no monitor answers"}
			f.warn = []ceph.Remark{{Summary: "No monitor answers", Detail: "the sockets say probing"}}
		}, true, false, "", "Ceph cluster prod: No monitor answers", "update"},
		"a check says something (OCEPH07)": {func(f *farm) {
			f.record.Health = "HEALTH_WARN"
			f.record.Checks = map[string]api.Check{"SOMETHING_NEW": {Severity: "HEALTH_WARN", Message: "new", Muted: true}}
		}, true, false, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			onFarm(t, func(w world) {
				w.apply(three())

				before := w.Dump()
				c.change(w.farm)

				o := w.Plan(w.ctx, three())
				if w.Exists() != c.exists || (w.Dump() == before) != c.kept || !strings.Contains(o.Errors, c.errors) || (c.errors == "") != (o.Errors == "") ||
					!strings.Contains(o.Warnings, c.warnings) || o.Action != c.action {
					t.Errorf("%q, exists %v, kept %v: %s %s", o.Action, w.Exists(), w.Dump() == before, o.Errors, o.Warnings)
				}
			})
		})
	}
}

// TestCeph_roundTrip puts everything that a record can hold into the state, and gives it
// back to the next verb.
func TestCeph_roundTrip(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		w.apply(three(Map{"dashboard": Map{}}))

		r := &w.farm.record
		r.Checks = map[string]api.Check{"MON_DOWN": {Severity: "HEALTH_WARN", Message: "1/3 down", Muted: true}}
		r.Rejected = map[string]map[string]string{"h1": {"/dev/sdx": "it is mounted"}}
		r.Owned = map[string][]string{"osd": {"osd_max_backfills"}}
		r.Drift, r.Ready = []string{"x"}, false
		r.Mons["b"] = ceph.MonRecord{Host: "h2", Addr: "[v2:10.0.0.2:3300]", OutSince: r.Conditions[0].LastTransition}

		w.Refresh(w.ctx)
		w.farm.fail["delete"] = errors.New("no")

		var was ceph.Record

		w.farm.seen = func(rec ceph.Record) { was = rec }
		w.Apply(w.ctx, nil)

		if got, want := fmt.Sprintf("%+v", was), fmt.Sprintf("%+v", normal(*r)); got != want {
			t.Errorf("the verb was told\n%s\nof\n%s", got, want)
		}

		if was.AdminKey != adminKey || was.MonSecret != monSecret || was.DashboardPassword != "correct-horse" {
			t.Error("keys were lost")
		}
	})
}

// normal is a record as it comes out of a state: times are in UTC.
func normal(r ceph.Record) ceph.Record {
	for i := range r.Conditions {
		r.Conditions[i].LastTransition = r.Conditions[i].LastTransition.UTC()
	}

	for name, m := range r.Mons {
		m.OutSince = m.OutSince.UTC()
		r.Mons[name] = m
	}

	return r
}

// TestCeph_noSecretIsTold looks for keys in all that is said.
func TestCeph_noSecretIsTold(t *testing.T) {
	t.Parallel()

	onFarm(t, func(w world) {
		var said string

		add := func(config Map) {
			o := w.Apply(w.ctx, config)
			said += o.Errors + o.Warnings
		}

		w.farm.fail["create"] = errors.New("no quorum")
		add(three(Map{"on_create_failure": "keep"}))

		w.farm.fail = map[string]error{}
		add(three())
		w.farm.fail["update"], w.farm.fail["delete"] = errors.New("no"), errors.New("no")
		add(three(Map{"mon": Map{"count": 1}}))
		add(nil)

		for _, secret := range []string{adminKey, monSecret} {
			if strings.Contains(said, secret) {
				t.Errorf("a key was told: %s", said)
			}
		}
	})
}

// TestCeph_external follows a cluster that somebody else runs.
func TestCeph_external(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "keyring")
	if err := os.WriteFile(file, []byte("[client.admin]\n\tkey = "+adminKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	for name, with := range map[string]Map{
		"with a key": {"key": adminKey}, "with a key that is only written": {"key_wo": adminKey, "key_wo_version": 1}, "with a keyring": {"keyring_file": file},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			onFarm(t, func(w world) {
				w.apply(external(with))

				got := w.farm.wanted["create"].External
				if got == nil || got.FSID != theFSID || got.User != "client.admin" || got.Key != adminKey || w.Get("phase") != ceph.PhaseConnected || w.Get("fsid") != theFSID {
					t.Errorf("%+v: %v", got, w.State())
				}

				if _, plain := with["key"]; !plain && strings.Contains(fmt.Sprint(w.Get("external")), adminKey) {
					t.Error("the key is in the state")
				}

				if id := w.Get("id"); id != theFSID+"@10.0.0.1/var/lib/ceph" {
					t.Errorf("id: %v", id)
				}

				if o := w.Apply(w.ctx, nil); o.Errors != "" || o.Warnings != "" {
					t.Errorf("destroy: %s %s", o.Errors, o.Warnings)
				}
			})
		})
	}

	onFarm(t, func(w world) {
		if o := w.Apply(w.ctx, external(Map{"keyring_file": file, "user": "client.other"})); !strings.Contains(o.Errors, "no key of client.other") || w.Exists() {
			t.Errorf("%s", o.Errors)
		}
	})
}

var _ cephcluster.Verbs = (*run)(nil)
