// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephlife_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

var errHook = errors.New("the test says no")

// TestLife_osdsComeAndGo is all that becomes of OSDs and of settings on one cluster.
func TestLife_osdsComeAndGo(t *testing.T) {
	t.Parallel()

	o := newOne(t, 43320, 3)
	o.wanted.Config = fast()
	o.wanted.PoolDefaults = ceph.PoolDefaults{FailureDomain: "osd", Size: 2, MinSize: 1}
	o.wanted.Storage.Removal.Timeout = 2 * time.Minute

	rec := o.halfMade(t)
	o.put(t, "kept")

	rec = o.halfMadeGoes(t, rec)
	rec = o.removalNotAllowed(t, rec)
	rec = o.removalCutOff(t, rec)
	rec = o.removalOfTooMany(t, rec)
	rec = o.removalOfTwo(t, rec)
	rec = o.settingsChange(t, rec)
	rec = o.keyRevoked(t, rec)
	rec = o.endsAfterStart(t, rec)
	o.runsFull(t, rec)
}

// failing has something fail on the host as often as n says.
func (o *one) failing(what string, n int) {
	h := &o.wanted.Hosts[0]
	if was, ok := h.Host.(hooked); ok {
		h.Host = was.Host
	}

	left := make(chan bool, n)
	for range n {
		left <- true
	}

	h.Host = hooked{h.Host, func(now string) error {
		if !strings.HasPrefix(now, what) {
			return nil
		}

		select {
		case <-left:
			return errHook
		default:
			return nil
		}
	}}
}

func (o *one) ids(t *testing.T) string {
	t.Helper()

	return strings.Join(strings.Fields(o.sh(t, "ceph osd ls")), " ")
}

// halfMade has the store of one OSD fail after the cluster gave it an id (O-CEPH-12).
func (o *one) halfMade(t *testing.T) ceph.Record {
	t.Helper()
	o.failing("make osd", 1)

	res := o.run(t).Create(t.Context())
	fails(t, res, "osd", " on "+o.name, errHook.Error())

	if ids := o.ids(t); ids != "0 1 2" {
		t.Fatalf("the ids are %s", ids)
	}

	uuids := o.sh(t, "ceph osd dump -f json | tr ',' '\\n' | grep '\"uuid\"' | sort")

	rec := must(t, o.run(t).Update(t.Context(), res.Record))
	o.whole(t, rec, 3)

	if now := o.sh(t, "ceph osd dump -f json | tr ',' '\\n' | grep '\"uuid\"' | sort"); now != uuids {
		t.Fatalf("the OSDs were\n%s\nand are\n%s", uuids, now)
	}

	return rec
}

// halfMadeGoes takes an OSD out that never came to be.
func (o *one) halfMadeGoes(t *testing.T, rec ceph.Record) ceph.Record {
	t.Helper()
	o.osds(4)
	o.failing("make osd", 1)

	res := o.run(t).Update(t.Context(), rec)
	fails(t, res, "osd3.img on "+o.name)

	if ids := o.ids(t); ids != "0 1 2 3" {
		t.Fatalf("the ids are %s", ids)
	}

	o.osds(3)
	o.wanted.Storage.Removal.Allow, o.wanted.Storage.Removal.Wipe = true, true

	seen := must(t, o.run(t).Refresh(t.Context(), res.Record))
	drifts(t, seen, "is not configured")

	rec = must(t, o.run(t).Update(t.Context(), seen))
	o.whole(t, rec, 3)
	o.noFile(t, 3)

	return rec
}

func (o *one) noFile(t *testing.T, n int) {
	t.Helper()

	if _, err := os.Stat(fmt.Sprintf("%s/osd%d.img", o.dir, n)); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the file of device %d is there: %v", n, err)
	}
}

// removalNotAllowed takes a device out of the configuration, and nothing happens (O-CEPH-11).
func (o *one) removalNotAllowed(t *testing.T, rec ceph.Record) ceph.Record {
	t.Helper()
	o.osds(2)
	o.wanted.Storage.Removal.Allow = false

	calm(t, must(t, o.run(t).Refresh(t.Context(), rec)))

	run := o.run(t)
	run.Log = func(_ context.Context, text string) { t.Errorf("something is done: %s", text) }

	rec = must(t, run.Update(t.Context(), rec))
	o.whole(t, rec, 3)

	return rec
}

// removalCutOff has the removal of an OSD fail at each of its steps; then it goes on.
func (o *one) removalCutOff(t *testing.T, rec ceph.Record) ceph.Record {
	t.Helper()
	o.wanted.Storage.Removal.Allow = true

	seen := must(t, o.run(t).Refresh(t.Context(), rec))
	drifts(t, seen, "osd.", "is not configured")

	for _, step := range []string{"stop osd", "remove osd", "wipe"} {
		o.failing(step, 1)
		fails(t, o.run(t).Update(t.Context(), seen), "osd.", " on "+o.name, errHook.Error())
	}

	rec = must(t, o.run(t).Update(t.Context(), seen))
	o.whole(t, rec, 2)
	o.noFile(t, 2)

	if got := o.get(t); got != "kept" {
		t.Fatalf("the object is %q", got)
	}

	return rec
}

// removalOfTooMany asks for what can never be.
func (o *one) removalOfTooMany(t *testing.T, rec ceph.Record) ceph.Record {
	t.Helper()
	o.osds(1)

	fails(t, o.run(t).Update(t.Context(), rec), "keeps 2 copies", "1 OSDs would be left")

	o.osds(2)

	rec = must(t, o.run(t).Update(t.Context(), rec))
	o.whole(t, rec, 2)

	return rec
}

// removalOfTwo removes two at a time.
func (o *one) removalOfTwo(t *testing.T, rec ceph.Record) ceph.Record {
	t.Helper()
	o.osds(4)

	rec = must(t, o.run(t).Update(t.Context(), rec))
	o.whole(t, rec, 4)
	o.osds(2)

	o.wanted.Storage.Removal.Parallel = 2
	o.wanted.Storage.Removal.Wipe = false

	var drained int

	run := o.run(t)
	run.Log = func(_ context.Context, text string) {
		if strings.Contains(text, "draining 2 OSDs") {
			drained++
		}
	}

	rec = must(t, run.Update(t.Context(), rec))
	o.whole(t, rec, 2)

	if drained != 1 || o.get(t) != "kept" {
		t.Fatalf("two were drained %d times", drained)
	}

	return rec
}

// settingsChange adds, changes and removes options, places, classes and ratios.
func (o *one) settingsChange(t *testing.T, rec ceph.Record) ceph.Record {
	t.Helper()

	option := func(name string) string {
		return o.sh(t, fmt.Sprintf("ceph config dump -f json | tr '{' '\\n' | grep '\"section\":\"osd\".*\"name\":\"%s\"' | sed 's/.*\"value\":\"\\([^\"]*\\)\".*/\\1/' || :", name))
	}

	o.wanted.Config["osd"] = map[string]string{"osd max backfills": "3"}
	o.wanted.Hosts[0].Place = map[string]string{"rack": "r1"}
	o.wanted.Storage.Devices[0].Class = "nvme"
	o.wanted.Storage.Full, o.wanted.Storage.BackfillFull, o.wanted.Storage.NearFull = 0.9, 0.8, 0.7
	o.sh(t, "ceph config set osd osd_recovery_max_active 4")

	drifts(t, must(t, o.run(t).Refresh(t.Context(), rec)), "osd_max_backfills", "ratios", "device class nvme", "crush location")

	rec = must(t, o.run(t).Update(t.Context(), rec))
	calm(t, must(t, o.run(t).Refresh(t.Context(), rec)))

	tree := o.sh(t, "ceph osd find "+strings.Fields(o.ids(t))[0]+" -f json; ceph osd tree; ceph osd dump | grep ratio | sort | tr '\\n' ' '")
	if option("osd_max_backfills") != "3" || !strings.Contains(tree, `"rack":"r1","root":"default"`) || !strings.Contains(tree, "nvme") ||
		!strings.Contains(tree, "backfillfull_ratio 0.8 full_ratio 0.9 nearfull_ratio 0.7") {
		t.Fatal(tree)
	}

	// Data is placed where the host is now.
	if got := o.get(t); got != "kept" {
		t.Fatalf("the object is %q", got)
	}

	// Somebody changes it by hand.
	o.sh(t, "ceph config set osd osd_max_backfills 7; ceph osd set-full-ratio 0.93; ceph osd crush move r1 root=elsewhere; ceph osd out "+strings.Fields(o.ids(t))[0])

	seen := must(t, o.run(t).Refresh(t.Context(), rec))
	drifts(t, seen, "osd_max_backfills", "ratios", "is out", "crush location of "+o.name)

	rec = must(t, o.run(t).Update(t.Context(), seen))
	if option("osd_max_backfills") != "3" || option("osd_recovery_max_active") != "4" {
		t.Fatal("the options are not as they should be")
	}

	// It is changed, then taken out; what somebody else set stays.
	o.wanted.Config["osd"]["osd max backfills"] = "5"
	rec = must(t, o.run(t).Update(t.Context(), rec))

	if option("osd_max_backfills") != "5" {
		t.Fatal("the option was not changed")
	}

	delete(o.wanted.Config, "osd")
	o.wanted.WasConfig = rec.Owned

	drifts(t, must(t, o.run(t).Refresh(t.Context(), rec)), "is set and not configured")

	rec = must(t, o.run(t).Update(t.Context(), rec))
	calm(t, must(t, o.run(t).Refresh(t.Context(), rec)))

	if got := option("osd_max_backfills"); got != "" || option("osd_recovery_max_active") != "4" {
		t.Fatalf("the option is %q", got)
	}

	return rec
}

// keyRevoked takes the key of an OSD away: it is not started for ever.
func (o *one) keyRevoked(t *testing.T, rec ceph.Record) ceph.Record {
	t.Helper()

	d := "osd." + strings.Fields(o.ids(t))[0]
	o.sh(t, "ceph auth get "+d+" -o "+o.dir+"/key; ceph auth rm "+d)
	o.kill(t, d)

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()

	start := time.Now()
	fails(t, o.run(t).Update(ctx, rec), d)
	t.Logf("after %s", time.Since(start))

	o.sh(t, "ceph auth import -i "+o.dir+"/key; rm "+o.dir+"/key")

	rec = must(t, o.run(t).Update(t.Context(), rec))
	o.whole(t, rec, 2)

	return rec
}

// endsAfterStart has an OSD end soon after each start: that is tried a few times only.
func (o *one) endsAfterStart(t *testing.T, rec ceph.Record) ceph.Record {
	t.Helper()

	d := "osd." + strings.Fields(o.ids(t))[0]
	o.kill(t, d)

	plain := o.wanted.Hosts[0].Host
	o.wanted.Hosts[0].Host = hooked{plain, func(what string) error {
		if what == "start "+d {
			return errSkip
		}

		return nil
	}}

	fails(t, o.run(t).Update(t.Context(), rec), d+" on "+o.name, "3 times")

	o.wanted.Hosts[0].Host = plain

	return must(t, o.run(t).Update(t.Context(), rec))
}

// runsFull writes until Ceph takes no more: an apply says so, and ends in time.
func (o *one) runsFull(t *testing.T, rec ceph.Record) {
	t.Helper()
	o.wanted.Storage.Full, o.wanted.Storage.BackfillFull, o.wanted.Storage.NearFull = 0.04, 0.035, 0.03

	rec = must(t, o.run(t).Update(t.Context(), rec))

	o.sh(t, `dd if=/dev/urandom bs=1M count=20 of=`+o.dir+`/block 2>/dev/null
for i in 1 2 3 4 5 6 7 8 9 10; do timeout 10 rados -p things put big$i `+o.dir+`/block || break; done
rm `+o.dir+`/block
for i in $(seq 60); do ceph health detail | grep -q OSD_FULL && exit; sleep 0.5; done; ceph -s; ceph osd df; exit 1`)

	// It waits for all of its time. On a busy machine that has to do for the looks which find the
	// placement groups healthy: before them the health is no reason.
	const limit = 30 * time.Second

	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()

	start := time.Now()
	res := o.run(t).Update(ctx, rec)
	fails(t, res, "OSD_FULL")

	if took := time.Since(start); took > limit+10*time.Second || !errors.Is(res.Err, context.DeadlineExceeded) {
		t.Fatalf("it took %s: %v", took, res.Err)
	}

	o.wanted.Storage.Full, o.wanted.Storage.BackfillFull, o.wanted.Storage.NearFull = 0.95, 0.9, 0.85
	must(t, o.run(t).Update(t.Context(), rec))
	o.sh(t, "ceph config set mon mon_allow_pool_delete true; ceph osd pool rm things things --yes-i-really-really-mean-it")
}
