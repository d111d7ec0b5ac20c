// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephlife_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// sh runs a shell script on a host, which finds the cluster.
func (m *many) sh(host, script string) string {
	m.t.Helper()

	return strings.TrimSpace(m.hosts.Run(host, "export CEPH_CONF=/var/lib/ceph/ceph.conf CEPH_ARGS='--keyring /var/lib/ceph/ceph.client.admin.keyring'\n"+script))
}

// kill ends daemons of a host at once: "mon.a", "osd.2".
func (m *many) kill(host string, daemons ...string) {
	m.t.Helper()

	for _, d := range daemons {
		kind, id, _ := strings.Cut(d, ".")
		m.sh(host, fmt.Sprintf(`p=$(pgrep -f -- '^ceph-%s -c [^ ]* -i %s ') && kill -9 $p; while kill -0 $p 2>/dev/null; do sleep 0.1; done`, kind, id))
	}
}

func (m *many) update(t *testing.T, rec ceph.Record) ceph.Record {
	t.Helper()

	rec = must(t, m.run(t).Update(t.Context(), rec))
	calm(t, rec)

	return rec
}

func (m *many) refresh(t *testing.T, rec ceph.Record) ceph.Record {
	t.Helper()

	return must(t, m.run(t).Refresh(t.Context(), rec))
}

// recovers waits until the cluster has found back to itself: all monitors in quorum, all managers
// known and one active, all OSDs up. A refresh starts nothing.
func (m *many) recovers(t *testing.T, rec ceph.Record) ceph.Record {
	t.Helper()

	for range 90 {
		if rec = m.refresh(t, rec); rec.Ready && len(rec.Mgrs) == m.wanted.Mgr.Count {
			return rec
		}

		time.Sleep(time.Second)
	}

	t.Fatalf("it does not recover: %+v", rec)

	return rec
}

// osdOn is the OSD of a host.
func osdOn(t *testing.T, rec ceph.Record, host string) int {
	t.Helper()

	for id, o := range rec.OSDs {
		if o.Host == host {
			return id
		}
	}

	t.Fatalf("%s has no OSD", host)

	return -1
}

// TestLife_thingsBreak breaks one cluster in many ways, one after the other.
func TestLife_thingsBreak(t *testing.T) {
	t.Parallel()

	m := newMany(t, 3)
	m.wanted.PoolDefaults = ceph.PoolDefaults{Size: 2, MinSize: 1}

	rec := m.cutOffAtCreation(t)
	m.sh("h1", "ceph osd pool create things 8 8; printf kept | rados -p things put thing -")

	rec = m.daemonsDie(t, rec)
	rec = m.hostIsOff(t, rec)
	rec = m.hostIsCutOff(t, rec)
	rec = m.keyringsBreak(t, rec)
	rec = m.identitiesGo(t, rec)
	rec = m.lastOSDOfHostGoes(t, rec)
	m.deleteNeedsAll(t, rec)
}

// cutOffAtCreation: a host is away before anything is made, and then in the middle of it.
func (m *many) cutOffAtCreation(t *testing.T) ceph.Record {
	t.Helper()
	m.hosts.Cut("h3")

	res := m.run(t).Create(t.Context())
	fails(t, res, "h3: ")

	if res.Known || res.Stands != "Nothing was made." {
		t.Fatalf("something was made: %+v", res)
	}

	m.hosts.Join("h3")

	run := m.run(t)
	log := run.Log
	run.Log = func(ctx context.Context, text string) {
		log(ctx, text)

		if strings.Contains(text, "making or starting") {
			m.hosts.Cut("h3") //nolint:contextcheck // the hosts have the context of the test
		}
	}

	start := time.Now()
	res = run.Create(t.Context())
	t.Logf("after %s", time.Since(start))
	fails(t, res, "h3")

	if !res.Known || res.Record.FSID == "" {
		t.Fatalf("it is not known what was made: %+v", res)
	}

	m.hosts.Join("h3")

	rec := m.update(t, res.Record)
	if rec.FSID != res.Record.FSID || len(rec.OSDs) != 3 {
		t.Fatalf("after the cable was in again: %+v", rec)
	}

	if ids := m.sh("h1", "ceph osd ls | wc -l"); ids != "3" {
		t.Fatalf("there are %s OSDs", ids)
	}

	return rec
}

// daemonsDie kills one of each kind: the next plan says so at once, the next apply mends it.
func (m *many) daemonsDie(t *testing.T, rec ceph.Record) ceph.Record {
	t.Helper()

	osd := fmt.Sprintf("osd.%d", osdOn(t, rec, "h2"))
	mgr := rec.Mgrs[rec.MgrActive].Host

	m.kill("h2", "mon.b", osd)
	m.kill(mgr, "mgr."+rec.MgrActive)

	drifts(t, m.refresh(t, rec), "mon.b on h2", osd+" on h2", "mgr."+rec.MgrActive+" on "+mgr)

	return m.update(t, rec)
}

// hostIsOff: a host loses power; when it is back none of its daemons runs.
func (m *many) hostIsOff(t *testing.T, rec ceph.Record) ceph.Record {
	t.Helper()
	m.hosts.Off("h2")
	m.hosts.On("h2")

	osd := fmt.Sprintf("osd.%d", osdOn(t, rec, "h2"))
	drifts(t, m.refresh(t, rec), "mon.b on h2", osd+" on h2")

	rec = m.update(t, rec)
	if got := m.sh("h2", "pgrep -c ceph-; timeout 30 rados -p things get thing -"); !strings.HasSuffix(got, "kept") || strings.HasPrefix(got, "0") {
		t.Fatalf("h2 has %s", got)
	}

	return rec
}

// hostIsCutOff: nothing is planned because of a host that does not answer, and nothing of it
// lost. It is the host that the cluster is asked through, and that of the active manager.
func (m *many) hostIsCutOff(t *testing.T, rec ceph.Record) ceph.Record {
	t.Helper()
	m.hosts.Cut("h1")

	start := time.Now()
	res := m.run(t).Refresh(t.Context(), rec)
	t.Logf("the refresh took %s: %q", time.Since(start), res.Record.Drift)

	if res.Err != nil || len(res.Warnings) == 0 || !strings.Contains(res.Warnings[0].Summary, "h1") || len(res.Record.OSDs) != 3 || len(res.Record.Mons) != 3 {
		t.Fatalf("the refresh: %+v", res)
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	start = time.Now()
	res = m.run(t).Update(ctx, rec)
	t.Logf("the update took %s: %v", time.Since(start), res.Record.Mgrs)
	fails(t, res, "h1")

	if len(res.Record.OSDs) != 3 || len(res.Record.Mons) != 3 || len(res.Record.Mgrs) < 2 || res.Record.FSID != rec.FSID {
		t.Fatalf("something was forgotten: %+v", res.Record)
	}

	m.hosts.Join("h1")

	rec = m.recovers(t, m.update(t, res.Record)) // a manager that was away starts anew by itself
	if got := m.sh("h1", "ls /var/lib/ceph/mgr") + m.sh("h2", "ls /var/lib/ceph/mgr") + m.sh("h3", "ls /var/lib/ceph/mgr"); got != "ab" || len(rec.Mgrs) != 2 {
		t.Fatalf("the managers are %q, %v", got, rec.Mgrs)
	}

	return rec
}

// keyringsBreak: a daemon that does not start is named, with its last words.
func (m *many) keyringsBreak(t *testing.T, rec ceph.Record) ceph.Record {
	t.Helper()

	for _, d := range []string{fmt.Sprintf("osd.%d", osdOn(t, rec, "h2")), "mon.b"} {
		folder := "/var/lib/ceph/" + strings.Replace(d, ".", "/", 1)
		m.sh("h2", fmt.Sprintf("cp -p %s/keyring /root/keyring; echo nonsense >%s/keyring", folder, folder))
		m.kill("h2", d)
		drifts(t, m.refresh(t, rec), d+" on h2")

		res := m.run(t).Update(t.Context(), rec)
		fails(t, res, d+" on h2", "keyring")

		if !errors.Is(res.Err, ceph.ErrDied) {
			t.Fatalf("it is no death: %v", res.Err)
		}

		m.sh("h2", fmt.Sprintf("cp -p /root/keyring %s/keyring", folder))

		rec = m.update(t, rec)
	}

	// The key of a manager is asked of the cluster: it comes back by itself. And so does that of the admin.
	mgr := rec.Mgrs[rec.MgrActive].Host
	m.sh(mgr, "echo nonsense >/var/lib/ceph/mgr/"+rec.MgrActive+"/keyring")
	m.kill(mgr, "mgr."+rec.MgrActive)
	m.sh("h1", "rm /var/lib/ceph/ceph.client.admin.keyring")

	drifts(t, m.refresh(t, rec), "files on h1", "mgr."+rec.MgrActive)

	return m.update(t, rec)
}

// identitiesGo: the identity is never made a second time.
func (m *many) identitiesGo(t *testing.T, rec ceph.Record) ceph.Record {
	t.Helper()

	const file = "/var/lib/ceph/identity.json"

	m.sh("h2", "rm "+file)
	drifts(t, m.refresh(t, rec), "files on h2")

	rec = m.update(t, rec)
	want := m.sh("h1", "cat "+file)

	for _, h := range []string{"h1", "h2", "h3"} {
		if got := m.sh(h, "cat "+file); got != want {
			t.Fatalf("%s has another identity", h)
		}

		m.sh(h, "rm "+file)
	}

	// Without state and identity nobody knows whose it is.
	fails(t, m.run(t).Create(t.Context()), "of cluster "+rec.FSID, "nothing of it is touched")

	if got := m.sh("h1", "ls "+file+" || :"); !strings.Contains(got, "No such file") && got != "" {
		t.Fatalf("an identity was made: %s", got)
	}

	drifts(t, m.refresh(t, rec), "files on h1, h2, h3")

	secret := rec.MonSecret

	rec = m.update(t, rec)
	if got := m.sh("h3", "cat "+file); !strings.Contains(got, rec.FSID) || rec.MonSecret != secret || !strings.Contains(got, `"last_mon": 3`) {
		t.Fatal("the identity is another")
	}

	// One of another cluster is not overwritten.
	m.sh("h2", "sed -i 's/"+rec.FSID+"/11111111-2222-4333-8444-555555555555/' "+file)

	for _, res := range []ceph.Result{m.run(t).Update(t.Context(), rec), m.run(t).Refresh(t.Context(), rec)} {
		fails(t, res, file+" on h2", "11111111-2222-4333-8444-555555555555")

		if !errors.Is(res.Err, ceph.ErrForeign) || res.Record.FSID != rec.FSID || res.Gone {
			t.Fatalf("it is not foreign: %+v", res)
		}
	}

	m.sh("h2", "sed -i 's/11111111-2222-4333-8444-555555555555/"+rec.FSID+"/' "+file)

	return m.update(t, rec)
}

// lastOSDOfHostGoes takes a host's only OSD away (O-CEPH-11).
func (m *many) lastOSDOfHostGoes(t *testing.T, rec ceph.Record) ceph.Record {
	t.Helper()

	id := osdOn(t, rec, "h3")
	devices := m.wanted.Storage.Devices
	m.wanted.Storage.Devices = devices[:2]
	m.wanted.Storage.Removal = ceph.RemovalSpec{Allow: true, Wipe: true, Timeout: 2 * time.Minute}

	rec = m.update(t, rec)
	left := m.sh("h1", fmt.Sprintf("ceph osd tree | grep -c h3; ceph auth ls 2>/dev/null | grep -c '^osd.%d$'; ceph osd ls | wc -l; timeout 30 rados -p things get thing -; :", id))

	if want := "0\n0\n2\nkept"; left != want {
		t.Fatalf("place, key, ids, object:\n%s", left)
	}

	if got := m.sh("h3", "ls /var/tmp/osd0.img /var/lib/ceph/osd /var/lib/ceph/slots 2>/dev/null | grep -v : || :"); got != "" {
		t.Fatalf("h3 keeps %s", got)
	}

	return rec
}

// deleteNeedsAll: with a host away nothing is stopped.
func (m *many) deleteNeedsAll(t *testing.T, rec ceph.Record) {
	t.Helper()
	m.hosts.Cut("h2")

	how := ceph.CleanupSpec{Confirmation: ceph.Confirmation, Wipe: ceph.WipeQuick}
	fails(t, m.run(t).Delete(t.Context(), rec, how), "h2", "Nothing was stopped")

	m.hosts.Join("h2")
	rec = m.recovers(t, rec)
	fails(t, m.run(t).Delete(t.Context(), rec, how), "pools hold data: things (", "Nothing was stopped")
	calm(t, m.refresh(t, rec))

	how.AllowWithData = true

	res := m.run(t).Delete(t.Context(), rec, how)
	if res.Err != nil || !res.Gone {
		t.Fatalf("delete: %v", res.Err)
	}

	for i := range 3 {
		if left := m.sh(m.hosts.Host(i+1).Name, "ls -A /var/lib/ceph /var/tmp 2>/dev/null | grep -v : || :; pgrep -a ceph- || :"); left != "" {
			t.Fatalf("h%d keeps %s", i+1, left)
		}
	}
}
