// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
)

// TestToken_isMadeWhenItsMachineIsDeployed: the lifetime of a token must not run while its machine waits
// for others, and it covers what its machine may need.
func TestToken_isMadeWhenItsMachineIsDeployed(t *testing.T) {
	t.Parallel()
	inWard(t, 1, 6, func(w *ward) {
		keys, err := bootstrap.Generate(bootstrap.PKI{}, bootstrap.PKIOptions{Algorithm: bootstrap.ECDSAP256, Now: time.Now()})
		if err != nil {
			w.t.Fatal(err)
		}

		want := crew(1)
		want.Bootstrap = &cluster.Bootstrap{Kubeadm: bootstrap.Kubeadm{Version: "v1.37.2"}, PKI: keys, TokenTTL: time.Minute}
		want.Timeouts.Provision, want.Wait.NodeTimeout = 20*time.Minute, 10*time.Minute
		want.Parallel.Provision = 1

		for i := range want.Pools {
			want.Pools[i].Rollout.Strategy = cluster.OnDelete
		}

		want.Pools[1].Replicas = 5

		w.api.OnRequest(kubetest.Fault{Method: http.MethodPost, Path: "/api/v1/namespaces/kube-system/secrets", Do: func(*http.Request) { w.note("token") }})

		run := hears(w.verb(want), func(text string) {
			if strings.HasPrefix(text, "deploying machine") {
				w.note("deploy")
			}
		})

		res := run.Update(w.t.Context(), w.record)
		if res.Err != nil {
			w.t.Fatal(res.Err)
		}

		var told []string

		for _, e := range w.noted() {
			if e == "token" || e == "deploy" {
				told = append(told, e)
			}
		}

		if !slices.Equal(told, []string{"token", "deploy", "token", "deploy", "token", "deploy"}) {
			w.t.Error(told)
		}
	})
}
