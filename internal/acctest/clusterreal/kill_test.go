// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clusterreal_test

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/tfrun"
)

// killed is a cluster whose runs are cut short.
type killed struct {
	*cluster

	struck, missed *atomic.Int32
}

// TestKill_createScaleRolloutDestroy cuts short a create, a growth, a rollout, a shrinkage and a
// destroy of a cluster, at random moments, by kill -9 of the provider, of Terraform, or of both.
// The next apply goes on with the same hosts, and the destroy leaves nothing.
func TestKill_createScaleRolloutDestroy(t *testing.T) {
	t.Parallel()

	var struck, missed atomic.Int32

	t.Cleanup(func() {
		t.Logf("%d runs were cut short, %d ended before their moment", struck.Load(), missed.Load())

		if !t.Failed() && missed.Load() > struck.Load() {
			t.Errorf("most runs ended before their moment: %d of %d", missed.Load(), struck.Load()+missed.Load())
		}
	})

	ironics(t, func(t *testing.T, r acctest.Real, class bool) { //nolint:thelper // it is the test
		k := &killed{cluster: newPool(t, r, 5, class).newCluster("k"), struck: &struck, missed: &missed}

		k.cuts("apply")
		hosts := k.settles(2, nil)

		k.wants(3)
		k.cuts("apply")
		hosts = k.settles(3, hosts)

		k.image, k.sum = r.Image(t, "cluster-kill-2.raw")
		k.wants(3)
		k.cuts("apply")
		hosts = k.settles(3, hosts)

		k.wants(1)
		k.cuts("apply")
		k.settles(1, hosts)

		k.cuts("destroy")
		k.destroyed()
		k.pool.over()
	})
}

// kills are the ways in which nobody is asked.
func kills() (out []tfrun.Strike) {
	for _, s := range tfrun.Strikes() {
		if !s.Asks {
			out = append(out, s)
		}
	}

	return out
}

// cuts strikes a run at a random moment of its first seconds.
func (k *killed) cuts(verb string) {
	k.T.Helper()

	s := kills()[rand.IntN(len(kills()))]
	before := fmt.Sprint(k.pool.claims(k.T.Context()), k.pool.states(k.T.Context()))
	later := time.Duration(rand.IntN(1000)) * time.Millisecond

	// The random moment begins with the first change in Ironic.
	r := k.Start(verb, "-auto-approve")
	hit := r.Cut(s, tfrun.Cut{Look: 30 * time.Millisecond, Later: later, Ready: func() bool {
		return fmt.Sprint(k.pool.claims(k.T.Context()), k.pool.states(k.T.Context())) != before
	}})

	if hit {
		k.struck.Add(1)
	} else {
		k.missed.Add(1)
	}

	claims := k.pool.claims(k.T.Context())
	k.T.Logf("%s: %s %s after its first change: hit %t, exit %d, %d claims", verb, s.Name, later, hit, r.Code, len(claims))

	if !hit && r.Code != 0 {
		k.T.Errorf("an undisturbed %s fails:\n%s", verb, r.Out)
	}
}

// settles applies until the cluster is ready: the machines that had a host have it still.
func (k *killed) settles(workers int, before map[string]string) map[string]string {
	k.T.Helper()

	if o := k.known(); o.Status != "" {
		k.T.Errorf("the cluster is %s", o.Status)
	}

	claims := k.pool.claims(k.T.Context())
	hosts := k.applied(workers)

	for machine, host := range hosts {
		if was := before[machine]; was != "" && was != host {
			k.T.Errorf("%s was on %s and is on %s", machine, was, host)
		}
	}

	now := k.pool.claims(k.T.Context())
	if len(now) != 1+workers {
		k.T.Errorf("%d hosts are claimed by %d machines", len(now), 1+workers)
	}

	on := map[string]string{}
	for host, claim := range now {
		on[claim] = host
	}

	for host, claim := range claims {
		if at := on[claim]; at != "" && at != host {
			k.T.Errorf("claim %s was on %s before the apply and is on %s", claim, host, at)
		}
	}

	return hosts
}
