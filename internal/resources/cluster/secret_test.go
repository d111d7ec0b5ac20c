// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// TestCluster_writeOnlyUserData rolls out by the version, and never has the data in the state.
func TestCluster_writeOnlyUserData(t *testing.T) {
	t.Parallel()

	inLab(t, 4, func(w world) {
		config := func(version int, data string) Map {
			m := workersOf(Map{"user_data_wo": data, "user_data_wo_version": version})

			return m
		}

		w.apply(config(1, "S3cret"))

		if strings.Contains(w.Dump(), "S3cret") {
			t.Error("the data is in the state")
		}

		if o := w.Plan(w.ctx, config(1, "0ther")); o.Action != "" {
			t.Errorf("data of the same version: %v", o.Changed)
		}

		if o := w.apply(config(2, "0ther")); !strings.Contains(o.Warnings, "Disks of edge-w-0, edge-w-1") {
			t.Errorf("another version: %s", o.Warnings)
		}
	})
}

// profile is a cluster of the kubeadm profile that nobody waits for.
func profile(replicas int, parts ...Map) Map {
	return lived(replicas, append([]Map{{
		"bootstrap": Map{"kubeadm": Map{"version": "v1.37.2"}}, "wait": Map{"level": "provisioned"},
	}}, parts...)...)
}

// TestCluster_keysAreMadeOnce makes a cluster of the kubeadm profile and changes it: all its
// machines have the same keys, which no plan shows.
func TestCluster_keysAreMadeOnce(t *testing.T) {
	t.Parallel()

	inLab(t, 5, func(w world) {
		config := profile(1, control(Map{"data_template": theTemplate}), Map{"workers": Map{}})
		w.apply(config)

		ca, _ := w.Get("cluster_ca").(string)
		kubeconfig, _ := w.Get("kubeconfig").(string)

		if !strings.Contains(ca, "BEGIN CERTIFICATE") || !strings.Contains(kubeconfig, "https://192.0.2.249:6443") {
			t.Errorf("CA %q, kubeconfig %q", ca, kubeconfig)
		}

		if strings.Contains(fmt.Sprint(w.State()), "BEGIN PRIVATE KEY") {
			t.Error("a private key is in the state")
		}

		config["parallelism"] = Map{"provision": 2}
		w.apply(config)

		config["control_plane"].(Map)["automated_cleaning_mode"] = "disabled"
		w.apply(config)

		if w.Get("cluster_ca") != ca || w.Get("kubeconfig") != kubeconfig {
			t.Error("the keys changed")
		}

		if o := w.Apply(w.ctx, nil); o.Errors != "" {
			t.Errorf("destroy: %s", o.Errors)
		}
	})
}

// TestCluster_etcdWouldNotSurvive refuses the rollout of a control plane that holds its etcd alone.
func TestCluster_etcdWouldNotSurvive(t *testing.T) {
	t.Parallel()

	inLab(t, 3, func(w world) {
		of := func(url string, rollout Map) Map {
			return profile(1, control(Map{"image": image(Map{"url": url}), "rollout": rollout}), Map{"workers": Map{}})
		}

		w.apply(of(theImage, Map{}))

		if o := w.Plan(w.ctx, of(otherImage, Map{})); !strings.Contains(o.Errors, "would not survive its rollout") {
			t.Errorf("%s", o.Errors)
		}

		for _, rollout := range []Map{{"max_surge": "1"}, {"allow_disruption": true}} {
			if o := w.Plan(w.ctx, of(otherImage, rollout)); o.Errors != "" || acctest.Get(o.Planned, "ready") == true {
				t.Errorf("%v: %s", rollout, o.Errors)
			}
		}
	})
}

// TestCluster_controlPlaneThatNobodyCanAsk refuses the rollout of several machines in the dark, at plan.
func TestCluster_controlPlaneThatNobodyCanAsk(t *testing.T) {
	t.Parallel()

	inLab(t, 4, func(w world) {
		of := func(url string, parts ...Map) Map {
			return merged(controlOf(Map{"replicas": 3, "image": image(Map{"url": url})}), append([]Map{{"workers": Map{}}}, parts...)...)
		}

		w.apply(of(theImage))

		if o := w.Plan(w.ctx, of(otherImage)); !strings.Contains(o.Errors, "Nobody can tell") || !strings.Contains(o.Errors, "workload_api") {
			t.Errorf("%s", o.Errors)
		}

		allowed := of(otherImage)
		allowed["control_plane"].(Map)["rollout"] = Map{"allow_disruption": true}

		for name, config := range map[string]Map{
			"it may end": allowed, "its API is known": of(otherImage, Map{"workload_api": Map{"kubeconfig": "S3cret"}}),
		} {
			if o := w.Plan(w.ctx, config); strings.Contains(o.Errors, "Nobody can tell") {
				t.Errorf("%s: %s", name, o.Errors)
			}
		}
	})
}
