// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// members is an etcd, or what is left of one.
type members struct {
	names, removed []string
	err            error
}

func (m *members) Members(context.Context) ([]nodes.Member, error) {
	var all []nodes.Member

	for i, name := range m.names {
		if !slices.Contains(m.removed, name) {
			all = append(all, nodes.Member{ID: name, Name: name, Leader: i == 0})
		}
	}

	return all, m.err
}

func (*members) MoveLeader(context.Context, nodes.Member) error { return nil }

func (m *members) Remove(_ context.Context, one nodes.Member) error {
	m.removed = append(m.removed, one.Name)

	return nil
}

// smaller is a cluster with its own etcd that is to have one control plane machine only.
func smaller(t *testing.T) cluster.Wanted {
	t.Helper()

	keys, err := bootstrap.Generate(bootstrap.PKI{}, bootstrap.PKIOptions{Algorithm: bootstrap.ECDSAP256, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}

	w := crew(1)
	w.Bootstrap = &cluster.Bootstrap{Kubeadm: bootstrap.Kubeadm{Version: "v1.37.2"}, PKI: keys}

	for i := range w.Pools {
		w.Pools[i].Rollout.Strategy = cluster.OnDelete // the profile was not there when they were made
	}

	return w
}

// TestLeave_etcdThatDoesNotAnswer: who cannot leave etcd stays, also where that may pass.
func TestLeave_etcdThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	inWard(t, 3, 6, func(w *ward) {
		run := w.verb(smaller(w.t))
		run.Etcd = func(context.Context, cluster.Machine) (nodes.Etcd, error) {
			return &members{err: wait.Transient(errors.New("no answer within 10s"))}, nil
		}

		ctx, cancel := context.WithTimeout(w.t.Context(), time.Hour)
		defer cancel()

		res := run.Update(ctx, w.record)
		if res.Err == nil {
			w.t.Error("no error")
		}

		for name, was := range w.record.Machines {
			if now := res.Record.Machines[name]; now.HostID != was.HostID || w.host(name).Node.InstanceUUID != was.ClaimID {
				w.t.Errorf("%s: %+v", name, now)
			}
		}
	})
}

// TestLeave_membersAreCalledAsNodesAre: a Node may have another name than its machine, and nobody waits
// for Nodes here.
func TestLeave_membersAreCalledAsNodesAre(t *testing.T) {
	t.Parallel()
	bubble(t, 6, func(r *rig) {
		w := &ward{rig: r, api: kubetest.New(r.t, kubetest.InMemory()), boots: map[string]int{}}
		w.record = r.run(crew(3)).Create(r.t.Context()).Record

		defer w.later.Wait()

		etcd := &members{}

		for name, m := range w.record.Machines {
			w.api.AddNode(kubetest.Node{Name: "n-" + name, ProviderID: m.ProviderID, Ready: "True"})

			if m.Role == cluster.ControlPlane {
				etcd.names = append(etcd.names, "n-"+name)
			}
		}

		run := w.verb(smaller(w.t))
		run.Etcd = func(context.Context, cluster.Machine) (nodes.Etcd, error) { return etcd, nil }

		res := run.Update(r.t.Context(), w.record)
		slices.Sort(etcd.removed)

		if res.Err != nil || !slices.Equal(etcd.removed, []string{"n-edge-cp-1", "n-edge-cp-2"}) {
			r.t.Errorf("removed %v: %v", etcd.removed, res.Err)
		}
	})
}

// TestScaleIn_afterASurgeThatFailed: the machine that is one too many is one that works, as long as the
// one that is to take its place does not.
func TestScaleIn_afterASurgeThatFailed(t *testing.T) {
	t.Parallel()
	inWard(t, 1, 5, func(w *ward) {
		want := crew(1)
		want.Wait.Level = cluster.LevelRegistered
		image := *want.Pools[1].Image
		image.URL = other
		want.Pools[1].Image = &image
		want.Pools[1].Rollout = cluster.Rollout{Strategy: cluster.Replace, MaxSurge: cluster.Share{Number: 1}}

		record := w.record

		for range 3 {
			res := w.verb(want).Update(w.t.Context(), record)
			if res.Err == nil {
				w.t.Fatal("no error, and edge-w-2 has no Node")
			}

			record = w.verb(want).Refresh(w.t.Context(), res.Record).Record
		}

		for _, name := range []string{"edge-w-0", "edge-w-1"} {
			if now, was := record.Machines[name], w.record.Machines[name]; now.HostID != was.HostID || now.Provisioned != was.Provisioned {
				w.t.Errorf("%s: %+v", name, now)
			}
		}

		// Once it is well, the rollout goes on.
		w.later.Go(func() {
			for range 60 {
				time.Sleep(15 * time.Second)

				for _, name := range []string{"edge-w-0", "edge-w-2", "edge-w-3", "edge-w-1"} {
					if w.api.Labels(name) == nil {
						w.api.AddNode(kubetest.Node{Name: name, Ready: "True"})
					}
				}
			}
		})

		res := w.verb(want).Update(w.t.Context(), record)
		if res.Err != nil || !res.Record.Ready || len(res.Record.Machines) != 3 {
			w.t.Errorf("%d machines, ready %t: %v", len(res.Record.Machines), res.Record.Ready, res.Err)
		}
	})
}

// TestScaleIn_drainsWhatNoEarlierLookFound: the first apply after an import knows no Nodes.
func TestScaleIn_drainsWhatNoEarlierLookFound(t *testing.T) {
	t.Parallel()
	inWard(t, 1, 5, func(w *ward) {
		want := crew(1)
		want.Wait.Level = cluster.LevelRegistered
		want.Pools[1].Replicas, want.Pools[1].Rollout.Drain = 1, cluster.DrainRequired

		res := w.verb(want).Update(w.t.Context(), w.record)
		if res.Err != nil || !slices.Contains(w.noted(), "node edge-w-1") || w.api.Labels("edge-w-1") != nil {
			w.t.Errorf("%v, the Node is there: %t: %v", w.noted(), w.api.Labels("edge-w-1") != nil, res.Err)
		}
	})
}

// TestScaleIn_whoHasNoHostGoesFirst: nothing runs there.
func TestScaleIn_whoHasNoHostGoesFirst(t *testing.T) {
	t.Parallel()
	bubble(t, 3, func(r *rig) {
		want := wanted()
		want.Partial = true
		want.Overrides = map[string]cluster.Override{"edge-w-0": {Selector: &choose.Selector{MatchLabels: map[string]string{"no": "host"}}}}

		was := r.run(want).Refresh(r.t.Context(), r.run(want).Create(r.t.Context()).Record).Record
		if was.Machines["edge-w-0"].HostID != "" || was.Machines["edge-w-1"].HostID == "" {
			r.t.Fatalf("%+v", was.Machines)
		}

		want.Pools[1].Replicas = 1

		res := r.run(want).Update(r.t.Context(), was)
		if m := res.Record.Machines["edge-w-1"]; res.Err != nil || m.HostID != was.Machines["edge-w-1"].HostID || len(res.Record.Machines) != 2 {
			r.t.Errorf("%+v: %v", m, res.Err)
		}
	})
}
