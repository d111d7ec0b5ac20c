// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephlife_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

var errCut = errors.New("somebody pressed ^C")

// cuts are how long after a step began a run is cut off.
var cuts = []time.Duration{0, 100 * time.Millisecond, 400 * time.Millisecond, 1500 * time.Millisecond}

// TestLife_cutOff cuts a creation off in every step, many times, and goes on each time. Then
// the cluster is deleted in every way that must not lose anything.
func TestLife_cutOff(t *testing.T) {
	t.Parallel()

	o := newOne(t, 43310, 2)
	o.wanted.Config = fast()
	o.wanted.PoolDefaults = ceph.PoolDefaults{FailureDomain: "osd", Size: 2, MinSize: 1}

	rec := o.createInPieces(t)
	o.whole(t, rec, 2)
	o.onlyMonDies(t, rec)

	o.put(t, "kept")
	o.wrongDeletes(t, rec)
	o.deleteKeeping(t, rec)
}

// createInPieces cuts a creation at each of its steps.
func (o *one) createInPieces(t *testing.T) ceph.Record {
	t.Helper()

	cut := map[string]int{}
	fsid := ""

	for tries := range 60 {
		ctx, cancel := context.WithCancelCause(t.Context())
		run := o.run(t)
		log := run.Log
		run.Log = func(ctx context.Context, text string) {
			log(ctx, text)

			kind := strings.Join(strings.Fields(text)[:2], " ")
			if n := cut[kind]; n < len(cuts) && ctx.Err() == nil {
				cut[kind]++

				time.AfterFunc(cuts[n], func() { cancel(errCut) })
			}
		}

		res := run.Create(ctx)
		cancel(nil)

		if res.Record.FSID != "" {
			if fsid == "" {
				fsid = res.Record.FSID
			}

			if res.Record.FSID != fsid {
				t.Fatalf("the fsid was %s and is %s", fsid, res.Record.FSID)
			}
		}

		if res.Err == nil {
			t.Logf("made in %d pieces, cut %v", tries+1, cut)

			return must(t, res)
		}

		if !errors.Is(res.Err, errCut) && !strings.Contains(res.Err.Error(), errCut.Error()) {
			t.Fatalf("it failed by itself: %v", res.Err)
		}
	}

	t.Fatalf("it never ends: %v", cut)

	return ceph.Record{}
}

// whole fails where anything is there twice, or left over.
func (o *one) whole(t *testing.T, rec ceph.Record, osds int) {
	t.Helper()

	again := must(t, o.run(t).Refresh(t.Context(), rec))
	calm(t, again)

	if len(again.OSDs) != osds || again.FSID != rec.FSID || len(again.Mons) != 1 || len(again.Mgrs) != 1 {
		t.Fatalf("it is not whole: %+v", again)
	}

	for kind, n := range map[string]int{"mon": 1, "mgr": 1, "osd": osds} {
		if all := o.pids(t, kind); len(all) != n {
			t.Fatalf("%d of %s run: %v", len(all), kind, all)
		}
	}

	out := o.sh(t, `ceph osd ls | wc -l
ceph osd tree -f json | tr -d ' \n' | grep -c '"stray":\[\]'
ceph auth ls 2>/dev/null | grep -c '^osd\.'
ceph auth ls 2>/dev/null | grep -c '^mgr\.'
ceph fsid
ls `+o.wanted.Dir+`/slots | wc -l
ls `+o.wanted.Dir+`/osd | wc -l`)

	n := string(rune('0' + osds))
	if want := strings.Join([]string{n, "1", n, "1", rec.FSID, n, n}, "\n"); out != want {
		t.Fatalf("ids, no strays, keys, fsid, records, folders:\n%s\nwanted\n%s", out, want)
	}
}

// onlyMonDies: without any monitor nothing is known, and nothing that was known is lost.
func (o *one) onlyMonDies(t *testing.T, rec ceph.Record) {
	t.Helper()
	o.kill(t, "mon.a")

	seen := must(t, o.run(t).Refresh(t.Context(), rec))
	drifts(t, seen, "mon.a on "+o.name, "no monitor answers")

	if seen.Phase != ceph.PhaseUnavailable || seen.FSID != rec.FSID || len(seen.OSDs) != 2 || seen.MonHost != rec.MonHost {
		t.Fatalf("without a monitor: %+v", seen)
	}

	o.whole(t, must(t, o.run(t).Update(t.Context(), seen)), 2)
}

func (o *one) wrongDeletes(t *testing.T, rec ceph.Record) {
	t.Helper()

	how := o.cleanup()
	fails(t, o.run(t).Delete(t.Context(), rec, how), "pools hold data: things (", "Nothing was stopped")
	o.whole(t, rec, 2)
}

// deleteKeeping deletes without the right confirmation: everything stays but the processes.
func (o *one) deleteKeeping(t *testing.T, rec ceph.Record) {
	t.Helper()

	for _, text := range []string{"Yes-really-destroy-data"} {
		how := o.cleanup()
		how.Confirmation, how.AllowWithData = text, true

		res := o.run(t).Delete(t.Context(), rec, how)
		if res.Err != nil || !res.Gone || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0].Detail, rec.FSID) {
			t.Fatalf("with %q: %+v", text, res)
		}

		t.Log(res.Warnings[0].Detail)

		for _, kind := range []string{"mon", "mgr", "osd"} {
			if all := o.pids(t, kind); len(all) > 0 {
				t.Fatalf("%s runs: %v", kind, all)
			}
		}

		// Nothing is in the state any more.
		again := must(t, o.run(t).Create(t.Context()))
		if again.FSID != rec.FSID || o.get(t) != "kept" {
			t.Fatalf("it did not come back: %+v", again)
		}

		o.whole(t, again, 2)
	}

	o.sh(t, "ceph config set mon mon_allow_pool_delete true; ceph osd pool rm things things --yes-i-really-really-mean-it")
}
