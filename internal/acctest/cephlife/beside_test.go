// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephlife_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/onhost"
)

// counted is a host that counts what is run on it.
type counted struct {
	remote.Host

	n atomic.Int32
}

func (c *counted) Run(ctx context.Context, cmd remote.Command) (remote.Result, error) {
	c.n.Add(1)

	return c.Host.Run(ctx, cmd)
}

func (c *counted) Open(ctx context.Context, cmd remote.Command) (remote.Session, error) {
	c.n.Add(1)

	return c.Host.Open(ctx, cmd)
}

// refreshLimit is how many commands the refresh of a cluster on one host may cost: a look (with
// a second one for the clock), a session, and what goes wrong.
const refreshLimit = 6

// TestLife_twoClustersOnOneHost: each is left alone when the other goes. And a refresh costs a
// few commands, however many OSDs there are.
func TestLife_twoClustersOnOneHost(t *testing.T) {
	t.Parallel()

	first, second := newOne(t, 43340, 1), newOne(t, 43350, 3)
	second.wanted.Name = "two"

	host, err := remote.New(remote.Config{Type: remote.Local})
	if err != nil {
		t.Fatal(err)
	}

	count := &counted{Host: host}
	second.wanted.Hosts[0].Host = onhost.New(count)

	for _, o := range []*one{first, second} {
		o.wanted.Config = fast()
		o.wanted.PoolDefaults = ceph.PoolDefaults{FailureDomain: "osd", Size: 1, MinSize: 1}
		o.wanted.Config["global"]["mon_allow_pool_size_one"] = "true"
	}

	a := must(t, first.run(t).Create(t.Context()))
	b := must(t, second.run(t).Create(t.Context()))

	if a.FSID == b.FSID {
		t.Fatalf("both have the fsid %s", a.FSID)
	}

	second.put(t, "kept")
	first.whole(t, a, 1)
	second.whole(t, b, 3)

	count.n.Store(0)
	calm(t, must(t, second.run(t).Refresh(t.Context(), b)))
	t.Logf("a refresh cost %d commands", count.n.Load())

	if n := count.n.Load(); n > refreshLimit {
		t.Fatalf("a refresh cost %d commands", n)
	}

	second.manySlots(t, b, count)

	// The name of the other cluster does not make it ours.
	stranger := *second
	stranger.wanted.Dir = first.wanted.Dir
	fails(t, stranger.run(t).Update(t.Context(), b), first.wanted.Dir, a.FSID)

	if res := stranger.run(t).Delete(t.Context(), b, second.cleanup()); res.Err == nil || res.Gone {
		t.Fatalf("the other cluster was deleted: %+v", res)
	}

	first.whole(t, a, 1)

	if res := first.run(t).Delete(t.Context(), a, first.cleanup()); res.Err != nil || !res.Gone {
		t.Fatalf("delete: %v", res.Err)
	}

	second.whole(t, b, 3)

	if got := second.get(t); got != "kept" {
		t.Fatalf("the object is %q", got)
	}
}

// manySlots has twelve records on the host: the refresh costs no more.
func (o *one) manySlots(t *testing.T, rec ceph.Record, count *counted) {
	t.Helper()

	slots := filepath.Join(o.wanted.Dir, "slots")
	o.sh(t, fmt.Sprintf(`cd %s
for f in */slot.json; do k=${f%%/*}; break; done
for i in 1 2 3 4 5 6 7 8 9; do
  mkdir more$i
  sed -e "s/$k/more$i/; s/\"uuid\": *\"......../\"uuid\": \"0000000$i/; s/osd[0-9].img/more$i.img/" $k/slot.json >more$i/slot.json
done`, slots))

	count.n.Store(0)

	seen := must(t, o.run(t).Refresh(t.Context(), rec))
	if n := count.n.Load(); n > refreshLimit || seen.Ready {
		t.Fatalf("with twelve records a refresh cost %d commands: %q", n, seen.Drift)
	}

	t.Logf("with twelve records a refresh cost %d commands: %q", count.n.Load(), seen.Drift)
	o.sh(t, "rm -r "+slots+"/more*")
}
